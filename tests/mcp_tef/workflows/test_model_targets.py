"""Load of deployments over time, model servers of this machine, and the figures of compared routers."""

import math
from pathlib import Path

from mcp_tef import Engine
from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.model.model_groups import Deployment, ModelGroup
from mcp_tef.model.model_routers import RouteDecision, RouteScore
from mcp_tef.statistics.route_comparison import (
    RoutedCase,
    TargetRuns,
    route_arm,
    routed_parts,
    suggested_threshold,
    threshold_curve,
)
from mcp_tef.workflows.deployment_load import COOLDOWN_S, MINUTE, DeploymentLoad
from tests.support.model_replies import Reply
from tests.support.model_stub import ModelStub

ONE, TWO = Deployment(provider="openai", model="one", rpm=2), Deployment(provider="openai", model="two", rpm=1, tpm=100)
GROUP = ModelGroup(name="pair", deployments=(ONE, TWO))


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_full_deployment_waits_a_minute_and_a_failed_one_rests() -> None:
    clock = Clock()
    load = DeploymentLoad(clock)
    asked = []
    while load.wait(GROUP) == 0:
        first = load.order(GROUP)[0]
        asked.append(first.model)
        load.begin(GROUP, first)
        load.end(GROUP, first, tokens=10)
        clock.now += 1
    assert sorted(asked) == ["one", "one", "two"]
    assert 0 < load.wait(GROUP) <= MINUTE
    clock.now += load.wait(GROUP)
    assert load.wait(GROUP) == 0
    clock.now += MINUTE
    load.begin(GROUP, ONE)
    load.end(GROUP, ONE, error=ModelError(ModelFault.DOWN, "It is down."))
    assert load.order(GROUP)[0] is TWO
    clock.now += COOLDOWN_S
    load.begin(GROUP, TWO)
    load.end(GROUP, TWO, tokens=100)
    assert load.order(GROUP)[0] is ONE


async def test_servers_of_this_machine_are_found_with_their_models(tmp_path: Path) -> None:
    with ModelStub() as stub:
        gone = stub.url
    async with await Engine.open(tmp_path / "work.db") as engine:
        with ModelStub() as stub:
            stub.listing = Reply(body='{"object": "list", "data": [{"id": "llama3.2"}, {"id": "qwen3"}]}')
            found = await engine.model_checks.local_servers((("ollama", stub.url), ("vllm", gone)))
    assert [(one.provider, one.models) for one in found] == [("ollama", ("llama3.2", "qwen3"))]


def test_the_suggested_threshold_is_the_cheapest_that_is_not_clearly_worse() -> None:
    """Large is right on hard cases only; easy ones score low. Arms and curve are counted by hand."""

    def case(number: int, *, hard: bool) -> RoutedCase:
        score = RouteScore("large", 0.9 if hard else 0.35, 0.3)
        runs = {"small": TargetRuns(0 if hard else 2, 2, 0.001, 1.0), "large": TargetRuns(2, 2, 0.01, 3.0)}
        taken = RouteDecision("large", score, (score,)) if hard else RouteDecision("small", None, (score,))
        return RoutedCase(str(number), taken, runs)

    def decide(one: RoutedCase, threshold: float) -> str:
        return "large" if one.decision.scores[0].score >= threshold else "small"

    cases = [case(number, hard=number < 4) for number in range(10)]
    small = route_arm("always small", cases, lambda _: "small")
    assert (small.rate.value, small.rate.n, small.asked) == (0.6, 20, {"small": 10})
    assert math.isclose(small.cost_usd or 0, 0.001)
    curve = threshold_curve(cases, decide)
    shares = {point.threshold: point.share for point in curve}
    assert (shares[0.0], shares[0.5], shares[1.0]) == (1.0, 1.0, 0.6)
    assert all(point.low is not None and point.low <= point.share <= (point.high or 0) for point in curve)
    parts = [(one.name, one.rate.value, sum(one.asked.values())) for one in routed_parts(cases)]
    assert parts == [("large", 1.0, 4), ("", 1.0, 6)]
    best = suggested_threshold(curve, len(cases))
    assert 0.35 < best.threshold <= 0.9
    assert math.isclose(best.cost_usd or 0, (4 * 0.01 + 6 * 0.001) / 10)
