"""Lint of weight: what a definition costs on every request, and what makes it heavy."""

import json
import re
from typing import Any

import pytest

from mcp_tef.scoring.lint.definition_size import definition_text
from tests.support.lint_factories import CITY, GOOD, found, make, rules_broken, taking


@pytest.mark.parametrize(
    ("tokens", "rules"),
    [(500, []), (501, ["weight-heavy"]), (1_500, ["weight-heavy"]), (1_501, ["weight-very-heavy"])],
)
def test_more_than_500_tokens_are_a_note_and_more_than_1500_a_warning(tokens: int, rules: list[str]) -> None:
    assert rules_broken(make(), tokens) == rules


def test_what_is_heavy_is_named() -> None:
    (finding,) = found(make(description=GOOD * 12), "weight-heavy", tokens=600)
    assert "600 tokens" in finding.sentence
    assert re.search(r"; \d\d % of it is the description\.$", finding.sentence)
    long = taking({"origin": CITY, "route": {**CITY, "enum": ["x" * 900]}})
    assert "parameter `route`" in found(long, "weight-heavy", tokens=600)[0].sentence
    shared = make(schema={"type": "object", "$defs": {"route": {"enum": ["x" * 900]}}})
    assert "`inputSchema.$defs`" in found(shared, "weight-heavy", tokens=600)[0].sentence


def test_more_than_fifteen_parameters_are_many() -> None:
    assert not found(taking({f"p{number}": CITY for number in range(15)}), "parameters-too-many")
    (finding,) = found(taking({f"p{number}": CITY for number in range(16)}), "parameters-too-many")
    assert "16 parameters" in finding.sentence


def test_parameters_may_nest_four_levels() -> None:
    schema: dict[str, Any] = CITY
    for _ in range(3):
        schema = {"type": "object", "description": "A leg", "properties": {"leg": schema}}
    assert not found(taking({"leg": schema}), "parameters-too-deep")
    deeper = {"type": "object", "description": "A leg", "properties": {"leg": schema}}
    (finding,) = found(taking({"leg": deeper}), "parameters-too-deep")
    assert finding.place == "parameter leg.leg.leg.leg.leg"
    assert "5 levels" in finding.sentence


def test_the_text_that_is_weighed_is_what_a_request_sends_in_one_form_whatever_the_order_of_keys() -> None:
    tool = make(schema={"type": "object", "properties": {}}, annotations={"title": "not sent"})
    turned = make(schema={"properties": {}, "type": "object"})
    assert definition_text(tool) == definition_text(turned)
    assert json.loads(definition_text(tool)) == {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
    }


def test_a_definition_that_nests_absurdly_deep_is_weighed_all_the_same() -> None:
    schema: dict[str, Any] = {"description": "the innermost"}
    for _ in range(5_000):
        schema = {"items": schema}
    assert "the innermost" in definition_text(make(schema=schema))
