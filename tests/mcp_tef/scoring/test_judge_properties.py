"""Properties of every verdict on generated input, repeated arguments, and the best assignment of calls."""

import json
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy  # type: ignore[import-untyped]  # scipy ships no types; its parts are loaded where they are used
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_tef.api.serializers.runs import verdict_to_json
from mcp_tef.model.answers import ActualCall
from mcp_tef.model.cases import Expectation, ExpectedCall
from mcp_tef.model.tools import Tool
from mcp_tef.model.verdicts import Classification, Verdict
from mcp_tef.scoring.bipartite_matching import best_pairs, pairs_up
from mcp_tef.scoring.expectations import described, problems
from mcp_tef.scoring.judge import judge
from tests.support.processes import computing_at_most
from tests.support.scoring_factories import expect, tool, wanted

NAMES = st.sampled_from(["read", "write", "find", "made_up"])
SERVERS = st.sampled_from(["docs", "wiki"])
KEYS = st.sampled_from(["a", "b", "c", "A", "d e"]) | st.text(max_size=3)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["a", "A ", "5", "true"])
    | st.text(max_size=5)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
MATCHER_NAMES = st.sampled_from(
    [
        "$any_of",
        "$any",
        "$optional",
        "$regex",
        "$approx",
        "$tolerance",
        "$contains",
        "$unordered",
        "$datetime",
        "$literal",
        "$odd",
    ]
)
EXPECTED = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.dictionaries(MATCHER_NAMES, inner | st.lists(inner, max_size=3), min_size=1, max_size=2)
    ),
    max_leaves=8,
)
KEYWORDS = (
    st.sampled_from(["type", "properties", "required", "items", "enum", "const", "anyOf", "oneOf", "allOf", "not"])
    | st.sampled_from(["if", "then", "$ref", "$defs", "pattern", "format", "minimum", "multipleOf", "contains"])
    | st.sampled_from(["additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames"])
    | st.sampled_from(["dependentRequired", "uniqueItems", "prefixItems", "$schema", "$id"])
)
SCHEMA_WORDS = SCALARS | st.sampled_from(
    ["string", "integer", "#", "#/$defs/a", "#/properties/a", "date", "^a", "object"]
)
ODD_SCHEMAS = st.recursive(
    SCHEMA_WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS | KEYS, inner, max_size=4),
    max_leaves=12,
)
SOUND_SCHEMAS = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.dictionaries(
            KEYS, st.sampled_from([{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {}, True]), max_size=4
        ),
    },
    optional={
        "required": st.lists(st.sampled_from(["a", "b", "c"]), unique=True),
        "additionalProperties": st.booleans(),
    },
)


@st.composite
def tools(draw: st.DrawFn, schemas: st.SearchStrategy[Any] = SOUND_SCHEMAS) -> list[Tool]:
    chosen = draw(st.lists(st.tuples(SERVERS, NAMES, schemas), max_size=4, unique_by=lambda each: (each[0], each[1])))
    return [
        Tool(server=server, name=name, description="", input_schema=schema, raw={}) for server, name, schema in chosen
    ]


ARGUMENTS = st.dictionaries(KEYS, VALUES, max_size=3)
CALLS = st.lists(st.builds(ActualCall, tool=NAMES, arguments=ARGUMENTS, server=st.none() | SERVERS), max_size=4)


def expectations(values: st.SearchStrategy[Any] = EXPECTED) -> st.SearchStrategy[Expectation]:
    parameters = st.none() | st.dictionaries(KEYS, values, max_size=3)
    calls = st.builds(ExpectedCall, tool=NAMES, server=st.none() | SERVERS, parameters=parameters, exact=st.booleans())
    answers = st.lists(st.lists(calls, max_size=3).map(tuple), max_size=2).map(tuple)
    return st.builds(Expectation, answers, ordered=st.booleans())


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same JSON value with every object's names in another order."""
    if isinstance(value, dict):
        names = list(value)
        chance.shuffle(names)
        return {name: shuffled(value[name], chance) for name in names}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


def without_positions(verdict: Verdict) -> Any:
    """All of a verdict except which index stands where; as text, because not-a-number equals nothing."""
    pairs = sorted(
        repr(replace(match, expected=match.expected is not None, actual=match.actual is not None))
        for match in verdict.matches
    )
    return repr(replace(verdict, matches=())), pairs


def in_any_order(text: Any) -> Any:
    """Findings quote objects, whose order is the given one: compare their letters."""
    summary, pairs = text
    return sorted(summary), sorted("".join(sorted(pair)) for pair in pairs)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(expectations(), tools(), CALLS, st.randoms(use_true_random=False))
def test_the_order_of_names_tools_and_unordered_calls_never_changes_a_verdict(
    expectation: Expectation, offered: list[Tool], calls: list[ActualCall], chance: random.Random
) -> None:
    expectation = replace(expectation, ordered=False)
    mixed_tools = [replace(tool, input_schema=shuffled(tool.input_schema, chance)) for tool in offered]
    mixed_calls = [replace(each, arguments=shuffled(each.arguments, chance)) for each in calls]
    chance.shuffle(mixed_tools)
    chance.shuffle(mixed_calls)
    mixed_answers = [
        chance.sample([replace(each, parameters=shuffled(each.parameters, chance)) for each in answer], len(answer))
        for answer in expectation.alternatives
    ]
    mixed = Expectation(tuple(map(tuple, mixed_answers)))
    before = judge(expectation, offered, calls)
    after = judge(mixed, mixed_tools, mixed_calls)
    assert in_any_order(without_positions(before)) == in_any_order(without_positions(after))


@settings(max_examples=60, deadline=None)
@given(NAMES, ARGUMENTS, st.booleans())
def test_a_call_is_always_a_match_for_itself(name: str, arguments: dict[str, Any], exact: bool) -> None:
    schema = {"properties": {key: {} for key in arguments}, "required": list(arguments)}
    tool = Tool(server="", name=name, description="", input_schema=schema, raw={})
    expected = {key: {"$literal": value} for key, value in arguments.items()}
    expectation = Expectation(((ExpectedCall(tool=name, parameters=expected, exact=exact),),))
    verdict = judge(expectation, [tool], [ActualCall(tool=name, arguments=json.loads(json.dumps(arguments)))])
    assert verdict.classification is Classification.TP
    assert (verdict.completeness, verdict.correctness, verdict.parameters_ok) == (1.0, 1.0, True)


@settings(max_examples=60, deadline=None)
@given(CALLS, st.booleans())
def test_a_set_of_calls_is_always_a_match_for_itself(calls: list[ActualCall], ordered: bool) -> None:
    answer = tuple(
        ExpectedCall(
            tool=each.tool, server=each.server, parameters={k: {"$literal": v} for k, v in each.arguments.items()}
        )
        for each in calls
    )
    verdict = judge(Expectation((answer,), ordered=ordered), [], calls)
    assert verdict.mark.correct_tool
    assert verdict.correctness in (None, 1.0)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    expectations(),
    tools(ODD_SCHEMAS),
    st.none() | CALLS,
    st.none() | st.floats() | st.integers(),
)
def test_no_input_of_any_shape_raises_and_every_score_is_from_0_to_1(
    expectation: Expectation, offered: list[Tool], calls: list[ActualCall] | None, confidence: float | None
) -> None:
    verdict = judge(expectation, offered, calls, confidence)
    scores = [verdict.completeness, verdict.correctness]
    scores += [score for match in verdict.matches for score in (match.completeness, match.correctness)]
    assert all(score is None or 0 <= score <= 1 for score in scores)
    assert verdict.explanation.endswith(".")
    shape = verdict_to_json(verdict)
    assert json.dumps(json.loads(json.dumps(shape))) == json.dumps(shape)


@settings(max_examples=60, deadline=None)
@given(EXPECTED)
def test_every_expected_value_can_be_described_in_one_line_and_checked(expected: Any) -> None:
    line = described(expected)
    assert line
    assert "\n" not in line
    expectation = Expectation(((ExpectedCall(tool="t", parameters={"p": expected}),),))
    assert all(problem.endswith(".") for problem in problems(expectation))


@settings(max_examples=60, deadline=None)
@given(EXPECTED, VALUES)
def test_a_value_that_a_broken_matcher_should_judge_is_never_right_by_accident(expected: Any, value: Any) -> None:
    """A parameter counts as right exactly where nothing is found to be wrong with it."""
    expectation = Expectation(((ExpectedCall(tool="t", parameters={"p": expected}),),))
    verdict = judge(expectation, [], [ActualCall(tool="t", arguments={"p": value})])
    assert (verdict.correctness == 1.0) is verdict.parameters_ok


TOOLS = [tool("search_code")]


@pytest.mark.parametrize(
    ("repeated", "told"),
    [
        ((), "Selected `search_code` on docs, as expected."),
        (
            ("query",),
            "Selected `search_code` on docs, as expected."
            " The argument `query` was given more than once; the last value was judged.",
        ),
        (
            ("a", "b"),
            "Selected `search_code` on docs, as expected."
            " The arguments `a` and `b` were given more than once; the last value was judged.",
        ),
    ],
)
def test_an_argument_that_was_given_twice_is_told(repeated: tuple[str, ...], told: str) -> None:
    verdict = judge(
        expect(wanted("search_code")),
        TOOLS,
        [ActualCall(tool="search_code", arguments={"query": "x"}, repeated=repeated)],
    )
    assert verdict.explanation == told


Worth = dict[tuple[int, int], int]


@given(
    rows=st.integers(0, 6),
    columns=st.integers(0, 6),
    worth=st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.integers(1, 9)),
)
def test_the_total_worth_is_that_of_scipy_and_nothing_is_used_twice(rows: int, columns: int, worth: Worth) -> None:
    worth = {(row, column): value for (row, column), value in worth.items() if row < rows and column < columns}
    pairs = best_pairs(rows, columns, worth)
    assert len({row for row, _ in pairs}) == len(pairs) == len({column for _, column in pairs})
    table = np.zeros((rows, columns))
    for place, value in worth.items():
        table[place] = value
    best = table[scipy.optimize.linear_sum_assignment(table, maximize=True)].sum()
    assert sum(worth[pair] for pair in pairs) == best


def test_a_thousand_equal_calls_are_paired_at_once() -> None:
    with computing_at_most(1):
        pairs = best_pairs(5, 1_000, {(row, column): 10**40 for row in range(5) for column in range(1_000)})
    assert len(pairs) == 5


@given(st.lists(st.lists(st.integers(0, 5), max_size=6), max_size=6))
def test_rows_pair_up_exactly_when_scipy_can_seat_them_all(columns: list[list[int]]) -> None:
    table = np.zeros((len(columns), 6))
    for row, fitting in enumerate(columns):
        table[row, fitting] = 1
    seated = table[scipy.optimize.linear_sum_assignment(table, maximize=True)].sum()
    assert pairs_up(len(columns), lambda row: columns[row]) is bool(seated == len(columns))
