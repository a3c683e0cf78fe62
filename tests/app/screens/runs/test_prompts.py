"""The prompt of a run: chosen in the form with the values that it lacks, refused in one sentence where one is empty."""

from dataclasses import replace

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.screens.runs.own_server import PromptField
from app.screens.runs.start_form import StartField, StartForm, form_from_settings, form_to_settings, parse_start_form
from mcp_tef import CallingMode, PromptKind, PromptTemplate
from tests.support.run_factories import case

CASES = (case(1),)
MODEL = StartForm(offline=False, model="openai/gpt-4.1-mini", prompt="counter@3")
COUNTER = PromptTemplate(
    name="counter", version=3, kind=PromptKind.JSON, text="Be {{tone}}. {{tools}}", variables={"tone": ""}
)
PROMPTS = {COUNTER.label: COUNTER}


def test_a_run_is_asked_with_a_version_of_a_prompt_and_needs_its_variables() -> None:
    refused = parse_start_form(MODEL, CASES, prompts=PROMPTS)
    assert refused.request is None
    assert "tone" in refused.problems[StartField.PROMPT]
    request = parse_start_form(replace(MODEL, variables=(("tone", "kind"),)), CASES, prompts=PROMPTS).request
    assert request is not None
    (settings,) = request.models
    assert (settings.prompt, settings.system_prompt, settings.mode) == ("counter@3", COUNTER.text, CallingMode.JSON)
    assert dict(settings.variables) == {"tone": "kind"}
    offline = parse_start_form(replace(MODEL, offline=True), CASES, prompts=PROMPTS).request
    assert offline is not None
    assert not offline.models[0].prompt
    assert form_from_settings(form_to_settings(MODEL)).prompt == "counter@3"


def test_the_field_asks_for_the_variables_of_the_chosen_prompt(qapp: QApplication) -> None:
    field = PromptField()
    field.show_prompt("counter@3")
    assert field.label() == "counter@3", "a saved prompt stays chosen until the prompts are read"
    field.show_prompts(PROMPTS)
    QTest.keyClicks(field.variables.edits["tone"], "kind")
    assert field.values() == (("tone", "kind"),)
    field.menu.changed.emit("")
    assert (field.label(), field.values()) == ("", ())
