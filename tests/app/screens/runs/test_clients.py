"""The client of a run: chosen in the form, and told in the verdict, which tells not shown and not selected apart."""

from dataclasses import replace

from app.screens.runs.start_form import (
    EVERY_CLIENT,
    StartForm,
    form_from_settings,
    form_to_settings,
    parse_start_form,
    run_button_text,
)
from app.screens.runs.verdict import verdict_view
from mcp_tef import NOT_OFFERED_CODE, FailureInfo, ModelSettings
from tests.support.run_factories import case, detail, failed_run, judged_detail, wrong_detail

CODEX = ModelSettings(provider="openai", model="x", client="codex-cli@1")
CASES = (case(1), case(2), case(3))
MODEL = StartForm(offline=False, model="openai/gpt-4.1-mini")
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


def test_a_client_or_every_client_shows_the_tools_of_each_model() -> None:
    clients = {"plain-api": "plain-api@1", "zed": "zed@2"}
    one = parse_start_form(replace(MODEL, client="zed"), CASES, clients).request
    assert one is not None
    assert [settings.asked for settings in one.models] == ["openai/gpt-4.1-mini via zed@2"]
    reading = parse_start_form(replace(MODEL, client=EVERY_CLIENT, with_baseline=True), CASES, clients)
    assert reading.request is not None
    assert len({settings.asked for settings in reading.request.models}) == 4
    assert run_button_text(reading) == "Run 3 cases on 1 model and the baseline as 2 clients"
    gone = parse_start_form(replace(MODEL, client="gone"), CASES, clients).request
    assert gone is not None
    assert gone.models[0].client == ""
    assert form_from_settings(form_to_settings(replace(MODEL, client="zed"))).client == "zed"
