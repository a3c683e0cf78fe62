"""Progress and estimated cost of a model request."""

from dataclasses import dataclass

from app.dialogs.model_request_dialog import ModelTask, RequestProgress, estimate_text
from mcp_tef import Estimate


@dataclass(frozen=True)
class Answer:
    """An answer to one item."""

    cost: float | None = None
    failure: str | None = None


async def never(*_: object) -> Estimate:
    raise AssertionError("nothing is asked")


TASK = ModelTask(
    title="Ask",
    explanation="Why",
    noun="tool",
    activity="reviews definitions",
    result="reviewed",
    estimate=never,
    run=never,
    cost=lambda answer: answer.cost,
)


def progress(*answers: Answer) -> RequestProgress:
    """Progress of a request for three tools after these answers."""
    made = RequestProgress(task=TASK, model="openai/gpt", total=3)
    for answer in answers:
        made.add(answer)
    return made


def test_progress_counts_failures_and_cost() -> None:
    now = progress(Answer(cost=0.01), Answer(failure="junk"))
    assert now.lead == "2 of 3 tools"
    assert now.parts == ["1 failed", "$0.01", "openai/gpt reviews definitions"]
    assert now.summary(stopped=True) == "Stopped: openai/gpt reviewed 1 tool, 1 failed · $0.01"


def test_a_cost_that_is_not_known_for_every_answer_is_not_shown() -> None:
    assert progress(Answer(cost=0.01), Answer()).summary(stopped=False) == "openai/gpt reviewed 2 tools"


def test_an_estimate_names_an_unknown_cost_and_rounds_tokens() -> None:
    unknown = Estimate(runs=2, tokens=None, cost_usd=None, seconds=9)
    assert estimate_text(2, "tool", unknown) == "2 tools · about 9.0 s · cost unknown"
    known = Estimate(runs=1, tokens=12_345, cost_usd=0.01, seconds=None)
    assert estimate_text(1, "pair", known) == "1 pair · about 12,000 tokens · about $0.01"
