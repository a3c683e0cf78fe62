"""Sizes that are computed before anything is built."""

from typing import Any

import pytest

from mcp_tef.errors import InputError
from mcp_tef.model.cases import EarlierMessage, Speaker
from mcp_tef.prompts.templates import filled
from mcp_tef.trust.bounds import (
    LARGEST_PAGE,
    HeldBodies,
    fill_template,
    page_within,
    require_few_runs,
    unfolds_too_far,
)
from tests.support.case_factories import stored
from tests.support.workspace_files import draft


def tool(schema: dict[str, Any], name: str = "weather") -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def each_names_all(number: int, keyword: str = "properties", table: str = "$defs") -> dict[str, Any]:
    names = [f"D{index}" for index in range(number)]
    refs: Any = [{"$ref": f"#/{table}/{name}"} for name in names]
    inside = dict(zip(names, refs, strict=True)) if keyword == "properties" else refs
    return {"properties": {"a": refs[0]}, table: {name: {keyword: inside} for name in names}}


def doubling(levels: int, keyword: str) -> dict[str, Any]:
    refs = [{"$ref": f"#/$defs/D{level + 1}"} for level in range(levels)]
    defs = {f"D{level}": {keyword: [ref, ref]} for level, ref in enumerate(refs)}
    return {"properties": {"a": {"$ref": "#/$defs/D0"}}, "$defs": {**defs, f"D{levels}": {"type": "string"}}}


@pytest.mark.parametrize(
    "schema",
    [
        *(
            each_names_all(10, keyword, table)
            for keyword in ("properties", "anyOf")
            for table in ("$defs", "definitions")
        ),
        *(doubling(40, keyword) for keyword in ("allOf", "anyOf", "oneOf", "prefixItems")),
        {
            "properties": {str(number): {"$ref": "#/$defs/long"} for number in range(100)},
            "$defs": {"long": {"description": "x" * 100_000}},
        },
        {
            "$ref": "#/$defs/D0",
            "$defs": {f"D{number}": {"items": {"$ref": f"#/$defs/D{number + 1}"}} for number in range(5_000)},
        },
    ],
)
def test_a_schema_that_grows_without_bounds_is_named_at_once(schema: dict[str, Any]) -> None:
    assert unfolds_too_far([tool({"type": "object"}, "sound"), tool(schema)]) == "weather"


@pytest.mark.parametrize(
    "schema",
    [
        each_names_all(4),
        doubling(8, "anyOf"),
        {"$ref": "#/$defs/node", "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}}},
        {"description": "x" * 3_000_000, "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {}}},
        {"properties": {"$ref": {"type": "string"}}},
        {"$ref": 5, "$defs": [], "definitions": None},
    ],
)
def test_schemas_of_everyday_are_left_alone(schema: dict[str, Any]) -> None:
    assert unfolds_too_far([tool(schema)]) is None


def test_tools_that_grow_much_together_count_together() -> None:
    assert unfolds_too_far([tool(each_names_all(6), f"tool{number}") for number in range(200)]) is not None


@pytest.mark.parametrize(
    "template",
    ["{x}" * 20_000, ["{x}"] * 20_000, {f"{number}{{x}}": [{"a": "{x}", "b": "-{x}"}] for number in range(10_000)}],
)
@pytest.mark.parametrize("value", ["a" * 100_000, ["a" * 1_000] * 100, {"a": "b" * 100_000}])
def test_a_template_over_1_mb_is_refused_before_it_is_built(template: Any, value: Any) -> None:
    with pytest.raises(InputError, match="1 MB"):
        fill_template(template, {"x": value})


def test_a_template_of_everyday_is_filled() -> None:
    template = {"a": "{x}", "b": "to {x}", "c": "{y}", "d": ["{y}", "{z}"]}
    assert fill_template(template, {"x": {"k": 1}, "z": 2}) == {"a": {"k": 1}, "b": 'to {"k": 1}', "d": [2]}


def test_a_prompt_over_1_mb_is_refused_before_it_is_built() -> None:
    assert filled("{{x}}" * 10, {"x": "a" * 100_000}) == "a" * 1_000_000
    with pytest.raises(InputError, match="1 MB"):
        filled("{{x}}" * 20_000, {"x": "a" * 100_000})


def test_runs_are_counted_before_they_are_planned() -> None:
    case = stored(draft())
    require_few_runs([case] * 1_000, 10, 10)
    with pytest.raises(InputError, match="100,100 runs"):
        require_few_runs([case] * 1_001, 10, 10)


@pytest.mark.parametrize("where", ["query", "before"])
def test_the_texts_that_runs_store_are_counted_before_they_are_planned(where: str) -> None:
    text = "x" * 999_000
    changes: dict[str, Any] = {"query": text} if where == "query" else {"before": (EarlierMessage(Speaker.USER, text),)}
    require_few_runs([stored(draft(**changes))], 10, 50)
    with pytest.raises(InputError, match="runs would store 510 MB"):
        require_few_runs([stored(draft(**changes))], 10, 51)


def test_a_page_ends_within_its_bytes_and_holds_at_least_one_item() -> None:
    half = LARGEST_PAGE // 2
    assert page_within(["a", "b"], {"a": half, "b": half}.__getitem__) == (["a", "b"], 0)
    assert page_within(["a", "b"], {"a": half, "b": half + 1}.__getitem__) == (["a"], -1)
    assert page_within(["a", "b"], {"a": 3 * half, "b": 0}.__getitem__) == (["a"], -half)
    assert page_within(["a"], {"a": half + 1}.__getitem__, half) == ([], -1)


def test_bodies_are_held_within_one_bound_and_given_back() -> None:
    held = HeldBodies(10)
    with held.request() as first:
        with held.request() as second:
            assert [first(6), second(4), second(1), first(1)] == [True, True, False, False]
        assert first(4)
    with held.request() as third:
        assert third(10)
