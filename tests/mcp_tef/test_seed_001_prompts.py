"""Rules of seed 001 on prompt templates, one row each, with those that MODELS.md §1 adds."""

from dataclasses import replace
from datetime import date

import pytest

from mcp_tef.errors import InputError
from mcp_tef.model.definitions import PromptKind, PromptTemplate, prompt_label, require_prompt_name
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.prompts.templates import (
    BUILT_IN_TEMPLATES,
    filled,
    given_values,
    require_sound,
    selection_values,
    variables_in,
)

OFFERED = tuple(
    OfferedTool(name, Tool(server=server, name=name, description="", input_schema={}, raw={}))
    for name, server in (("find", "shop"), ("stock", "shop"), ("rain", "city"))
)


def template(text: str, kind: PromptKind = PromptKind.SYSTEM, **variables: str) -> PromptTemplate:
    """A template with variables of its own."""
    return PromptTemplate(name="counter", version=1, kind=kind, text=text, variables=variables)


RULES: dict[str, tuple[PromptTemplate, str]] = {
    "seed 001, validation: no variable is used though some are declared": (
        template("Be brief.", tone="short"),
        "none of its variables: tone",
    ),
    "§1: an undeclared variable names the nearest": (template("Be {{tonne}}.", tone="short"), "Did you mean tone?"),
    "§1: a misspelt built-in variable names the nearest": (template("On {{dat}}."), "Did you mean date?"),
    "§1: a variable of another kind is unknown": (template("See {{definition}}."), "not declared"),
    "§1: braces without a name": (template("Be {{ }}."), "not a variable"),
    "§1: no code": (template("{{ tone.upper() }}", tone="a"), "not a variable"),
    "§1: an opening without an end": (template("Be {{tone", tone="a"), "not a variable"),
    "§1: a name that is none": (replace(template("{{tone}}"), variables={"my tone": ""}), "name of a variable"),
    "§1: no text": (template("  "), "no text"),
    "§1: JSON without the tools": (template("Answer.", PromptKind.JSON), "needs {{tools}}"),
    "§1: a review without the definition": (template("Grade it.", PromptKind.REVIEW), "needs {{definition}}"),
    "§1: a rewriting without definitions": (template("Write.", PromptKind.REWRITING), "needs {{definitions}}"),
}
SOUND = {
    "seed 001, validation: one of those declared is enough": template("Be {{tone}}.", tone="short", place="shop"),
    "seed 001, validation: none is declared, none is needed": template("Be brief."),
    "§1: built-in variables need no declaration": template("{{date}} {{server_names}} {{tool_count}} {{language}}"),
    "§1: JSON braces are no variables": template('Answer {"calls": [{"tool": {}}]} with {{tools}}', PromptKind.JSON),
    **{f"§1: {one.label}": one for one in BUILT_IN_TEMPLATES.values()},
}
VALUES: dict[str, tuple[dict[str, str], str]] = {
    "seed 001, PromptVariables: an unfilled one": ({}, "tone of counter@1 has no value"),
    "seed 001, PromptVariables: an empty one": ({"tone": " "}, "--var tone=VALUE"),
    "seed 001, PromptVariables: a misspelt one names the nearest": ({"tne": "short"}, "Did you mean tone?"),
}
LABELS = {
    "seed 001, PromptVersion: pinned": ("counter@3", ("counter", 3)),
    "seed 001, PromptVersion: default is the latest": ("Shop counter", ("Shop counter", None)),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_broken_rule_is_one_sentence_with_a_way_out(rule: str) -> None:
    broken, said = RULES[rule]
    with pytest.raises(InputError) as caught:
        require_sound(broken)
    assert said in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("rule", SOUND)
def test_what_the_rules_allow_is_sound(rule: str) -> None:
    require_sound(SOUND[rule])


@pytest.mark.parametrize("rule", VALUES)
def test_values_that_a_run_lacks_or_misspells(rule: str) -> None:
    given, said = VALUES[rule]
    with pytest.raises(InputError) as caught:
        given_values(template("Be {{tone}}.", tone=""), given)
    assert said in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("rule", LABELS)
def test_names_and_versions(rule: str) -> None:
    text, found = LABELS[rule]
    assert prompt_label(text) == found


@pytest.mark.parametrize("text", ["counter@0", "counter@", "counter@x", "counter@-1"])
def test_a_version_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="names no version"):
        prompt_label(text)


@pytest.mark.parametrize(
    "name", ["", "a@2", "short with hints", "x via y", "x" * 61, "Built-in", "built-in-mine", "a\x07"]
)
def test_names_that_cannot_be_used(name: str) -> None:
    with pytest.raises(InputError):
        require_prompt_name(name)


def test_values_are_put_in_once_and_given_ones_go_first() -> None:
    values = selection_values(OFFERED, date(2026, 11, 22))
    text = "{{date}}: {{tool_count}} tools of {{server_names}}, in {{ language }}. {{tone}}"
    own = {"tone": "{{date}}", "language": "German"}
    assert filled(text, values | own) == "2026-11-22: 3 tools of shop, city, in German. {{date}}"
    assert variables_in(text) == ("date", "tool_count", "server_names", "language", "tone")
    assert given_values(template("{{tone}}", tone="short"), {"language": "German"}) == {
        "tone": "short",
        "language": "German",
    }
