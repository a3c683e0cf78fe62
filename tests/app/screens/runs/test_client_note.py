"""A run as a client shows its tools: not shown and shown but not selected are told apart."""

from dataclasses import replace

from app.screens.runs.verdict import verdict_view
from mcp_tef import NOT_OFFERED_CODE, FailureInfo, ModelSettings
from tests.support.run_factories import detail, failed_run, judged_detail, wrong_detail

CODEX = ModelSettings(provider="openai", model="x", client="codex-cli@1")
MISSING = "It is not among the 8 tools that the search of Codex CLI finds."


def test_a_tool_that_the_client_showed_and_one_that_its_search_lost_read_differently() -> None:
    shown = verdict_view(replace(wrong_detail(), settings=CODEX)).note
    assert "codex-cli@1 showed the expected tool among" in shown
    assert "not selected" in shown
    lost = replace(failed_run(), failure=FailureInfo(NOT_OFFERED_CODE, MISSING, "Change the name."))
    view = verdict_view(detail(lost, settings=CODEX))
    assert view.headline[0].text == MISSING
    assert "not offered" in view.note
    for other in (wrong_detail(), replace(judged_detail(), settings=CODEX)):
        assert "codex" not in verdict_view(other).note
