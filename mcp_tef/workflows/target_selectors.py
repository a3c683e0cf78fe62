"""Selectors for groups and routers, which choose a model for each call and record which one answered."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from mcp_tef.errors import RETRYABLE, ModelError, ModelFault
from mcp_tef.model.answers import Answer
from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.model_groups import Deployment, ModelGroup
from mcp_tef.model.model_routers import RouteDecision
from mcp_tef.model.runs import ModelSettings
from mcp_tef.ports import Question, Selectors
from mcp_tef.workflows.deployment_load import DeploymentLoad
from mcp_tef.workflows.model_targets import ModelTargets, deployed, target_settings

MAY_PASS: Final = RETRYABLE | {ModelFault.DOWN, ModelFault.QUOTA}
"""Failures after which a group asks its next deployment: another one may well answer."""
TargetsOf: TypeAlias = Callable[[], ModelTargets]
Pause: TypeAlias = Callable[[float], Awaitable[None]]


class GroupSelector:
    """Satisfies `Selector` for groups: asks the deployment with the most room, then the next after each failure."""

    def __init__(self, inner: Selectors, targets: TargetsOf, load: DeploymentLoad, sleep: Pause) -> None:
        self._inner = inner
        self._targets = targets
        self._load = load
        self._sleep = sleep

    async def prepare(self, question: Question) -> None:
        """Wait until a deployment has room by its requests and tokens a minute; NotFoundError without the group."""
        group = await self._targets().group(question.settings.model)
        while (seconds := self._load.wait(group)) > 0:
            await self._sleep(seconds)

    async def select(self, question: Question) -> Answer:
        """Return the answer of the first deployment that gives one; raises ModelError."""
        group = await self._targets().group(question.settings.model)
        failures: list[tuple[Deployment, ModelError]] = []
        for deployment in self._load.order(group):
            try:
                answer = await self._ask(group, deployment, question)
            except ModelError as error:
                failures.append((deployment, error))
                if error.fault not in MAY_PASS:
                    raise _failed(group, failures) from error
            else:
                return _recorded(answer, deployment, failures)
        raise _failed(group, failures)

    async def close(self) -> None:
        """Give back nothing: the selectors of the deployments are closed by those that made them."""

    async def _ask(self, group: ModelGroup, deployment: Deployment, question: Question) -> Answer:
        asked = _readdressed(question, deployed(question.settings, deployment))
        selector = self._inner.selector_for(asked.settings)
        self._load.begin(group, deployment)
        tokens, failure = 0, None
        try:
            await selector.prepare(asked)
            answer = await selector.select(asked)
            tokens = (answer.tokens_in or 0) + (answer.tokens_out or 0)
        except ModelError as error:
            failure = error
            raise
        finally:
            self._load.end(group, deployment, tokens, failure)
        return answer


def _readdressed(question: Question, settings: ModelSettings) -> Question:
    return replace(question, settings=settings, key=question.keys.get(settings.destination))


def _recorded(answer: Answer, deployment: Deployment, failures: Sequence[tuple[Deployment, ModelError]]) -> Answer:
    tried: list[Json] = [{"deployment": one.label_at, "failure": error.message} for one, error in failures]
    return _with_routing(answer, {"deployment": deployment.label_at, "failed": tried})


def _with_routing(answer: Answer, routing: JsonObject) -> Answer:
    """Return an answer with what chose its model, beside what the group that a router asked recorded before."""
    before = answer.routing if isinstance(answer.routing, Mapping) else {}
    return replace(answer, routing={**routing, **before})


def _failed(group: ModelGroup, failures: Sequence[tuple[Deployment, ModelError]]) -> ModelError:
    """Return one error for a group, with the fault of the last deployment; retryable where one of them may pass."""
    last = failures[-1][1]
    passing = next((error for _, error in failures if error.retryable), last)
    waits = [error.retry_after for _, error in failures if error.retry_after is not None]
    if len(failures) == 1:
        message = f"The group {group.name} gave no answer. {last.message}"
    else:
        reasons = " ".join(f"{one.label_at}: {error.message}" for one, error in failures)
        message = f"No deployment of the group {group.name} answered. {reasons}"
    return ModelError(
        (passing if last.fault in MAY_PASS else last).fault,
        message,
        hint=last.hint,
        retry_after=min(waits, default=None),
        context=last.context,
    )


class RouterSelector:
    """Satisfies `Selector` for routers: asks the model whose route is nearest to the query."""

    def __init__(self, selectors: Selectors, targets: TargetsOf) -> None:
        self._selectors = selectors
        self._targets = targets

    async def prepare(self, question: Question) -> None:
        """Compute the vectors of the utterances; NotFoundError without the router, EmbeddingError."""
        await self._targets().decide(question.settings.model, question.query)

    async def select(self, question: Question) -> Answer:
        """Return the answer of the model that the router chose; raises ModelError, EmbeddingError."""
        decision = await self._targets().decide(question.settings.model, question.query)
        settings = await self._selectors.resolve(target_settings(question.settings, decision.target))
        asked = _readdressed(question, settings)
        selector = self._selectors.selector_for(settings)
        await selector.prepare(asked)
        return _with_routing(await selector.select(asked), _decision_to_json(decision))

    async def close(self) -> None:
        """Give back nothing: the selectors of the targets are closed by those that made them."""


def _decision_to_json(decision: RouteDecision) -> dict[str, Json]:
    """Return what a run records of a decision; without a route the default was asked."""
    route, second = decision.route, decision.runner_up
    return {
        "asked": decision.target,
        "route": route and route.target,
        "score": route and round(route.score, 4),
        "runner_up": second and second.target,
        "runner_up_score": second and round(second.score, 4),
    }
