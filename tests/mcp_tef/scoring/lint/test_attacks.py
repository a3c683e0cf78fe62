"""The gate stops every bad definition of the table by the rule of its family, and lets honest ones through."""

import pytest

from mcp_tef.model.quality import Severity
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.lint import disclosure_phrases, order_phrases
from mcp_tef.scoring.lint.definition_texts import folded
from mcp_tef.scoring.lint.linter import lint
from mcp_tef.scoring.lint.order_phrases import OrderPhrase
from tests.support.attack_texts import ATTACKS, HONEST, bad_tools
from tests.support.scoring_factories import GOOD, make, taking

FAMILIES = {
    "hidden": ("hidden-",),
    "filler": ("description-placeholder",),
    "name": ("name-lookalike",),
    "limit": ("description-over-limit",),
    "contradiction": ("description-contradicts-name", "annotation-contradicts-description"),
}


def errors(tool: Tool) -> list[str]:
    """The rules of which a tool has errors."""
    return [finding.rule.id for finding in lint(tool) if finding.rule.severity is Severity.ERROR]


@pytest.mark.parametrize(("family", "kind", "tool"), list(bad_tools()))
def test_a_bad_definition_is_an_error_of_its_family(family: str, kind: str, tool: Tool) -> None:
    rules = FAMILIES.get(family, (f"poisoning-{family}",))
    assert [rule for rule in errors(tool) if rule.startswith(rules)], kind


@pytest.mark.parametrize("text", HONEST)
def test_an_honest_description_has_no_error(text: str) -> None:
    assert errors(make(description=f"{GOOD} {text}")) == []


@pytest.mark.parametrize(("family", "kind", "text"), [row for row in ATTACKS if row[0] not in ("hidden", "markup")])
def test_a_parameter_that_gives_orders_is_found_too(family: str, kind: str, text: str) -> None:
    assert f"poisoning-{family}" in errors(taking({"note": {"type": "string", "description": text}})), kind


def test_the_table_holds_many_texts_in_many_languages() -> None:
    assert len(ATTACKS) >= 100
    assert {"German", "French", "Spanish", "Chinese", "Russian", "Japanese"} <= {kind for _, kind, _ in ATTACKS}


TABLES = {**vars(order_phrases), **vars(disclosure_phrases)}.values()
PHRASES = [phrase for table in TABLES if isinstance(table, tuple) for phrase in table]
ERRORS = [one for one in PHRASES if one not in (*order_phrases.STEPS, *order_phrases.PRESSING)]
TEXTS = [folded(text) for _, _, text in ATTACKS]


@pytest.mark.parametrize("phrase", ERRORS, ids=lambda one: one.needed[0][0])
def test_each_phrase_alone_stops_a_text(phrase: OrderPhrase) -> None:
    others = [one for one in ERRORS if one is not phrase]
    stopped = [text for text in TEXTS if phrase.may_be_in(text) and phrase.pattern.search(text)]
    assert [text for text in stopped if not any(one.pattern.search(text) for one in others)]


def test_phrases_need_their_stems() -> None:
    for phrase in PHRASES:
        assert all(phrase.may_be_in(text) for text in TEXTS if phrase.pattern.search(text)), phrase


@pytest.mark.parametrize(
    "character", ["a", " ", "_", "!", "\\", "<", "[", "ignore ", "a b ", "\u0430", "%61", "when a_b "]
)
def test_long_texts_take_time_in_proportion(character: str) -> None:
    """A text of the largest size is judged; a pattern that backtracks would never end."""
    lint(make(description=character * (200_000 // len(character))))
