"""Whatever a model answers, its run ends as completed or failed, and the batch as completed."""

from pathlib import Path

import pytest

from mcp_tef import Classification, RunStatus
from tests.support.hostile_answers import counted, ends_of, generated
from tests.support.model_replies import tool_calls

SOUND = tool_calls(("weather_report", {"city": "Oslo"})).body


def usage(sent: str, received: str) -> str:
    return SOUND.replace('"prompt_tokens": 120', f'"prompt_tokens": {sent}').replace(
        '"completion_tokens": 30', f'"completion_tokens": {received}'
    )


async def test_answers_of_any_kind_end_no_batch(tmp_path: Path) -> None:
    answers = generated(150)
    runs = await ends_of(answers, tmp_path)
    assert {run.status for run in runs} == {RunStatus.COMPLETED, RunStatus.FAILED}
    assert "failed: internal" not in counted(runs)


@pytest.mark.parametrize(
    ("sent", "received", "tokens"),
    [
        ("120", "30", 150),
        ("0", "1000000000", 1_000_000_000),
        ("-1000000", "30", 30),
        ("1000000000000000000", "1000000001", None),
        (str(2**63), "30", 30),
        ("9" * 400, "30", 30),
        ("1.5", '"7"', None),
        ("true", "30", 30),
        ("[1]", '{"a": 1}', None),
    ],
)
async def test_usage_that_cannot_be_meant_is_unknown_and_has_no_cost(
    sent: str, received: str, tokens: int | None, tmp_path: Path
) -> None:
    (run,) = await ends_of([usage(sent, received)], tmp_path)
    assert (run.status, run.classification) == (RunStatus.COMPLETED, Classification.TP)
    assert run.tokens == tokens
    assert run.cost_usd is None
