"""Comparison of given with expected values, and expected values as text."""

import math
from typing import Any

import pytest

from mcp_tef.scoring.expectations import described, problems
from mcp_tef.scoring.matchers import fits
from mcp_tef.scoring.schema_walk import SchemaDocument, SchemaPlace
from tests.support.processes import computing_at_most
from tests.support.scoring_factories import expect, wanted


def place(schema: Any) -> SchemaPlace:
    return SchemaPlace(SchemaDocument(schema))


NUMBER = place({"type": "number"})
BOOLEAN = place({"type": ["boolean", "null"]})
TEXT = place({"type": "string"})
DEEP = place({"properties": {"size": {"properties": {"width": {"type": "integer"}}}}})


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ("Paris", "  paris "),
        ("STRASSE", "straße"),
        ("caf\u00e9", "cafe\u0301"),
        (1, 1.0),
        (1e3, 1000),
        (None, None),
        (True, True),
        (math.nan, math.nan),
        ([1, "A"], [1.0, "a"]),
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
        ({}, {}),
        ("2024-05-01T10:00:00Z", "2024-05-01T12:00:00+02:00"),
        ("2024-05-01T10:00:00", "2024-05-01 10:00"),
        ("2024-05-01", "2024-05-01T00:00:00Z"),
    ],
)
def test_values_that_mean_the_same_match(expected: Any, given: Any) -> None:
    assert fits(expected, given)
    assert fits(given, expected)


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ("Paris", "Rome"),
        (1, 2),
        (1, True),
        (0, False),
        (True, "true"),
        ("5", 5),
        (None, ""),
        (None, False),
        ([1, 2], [2, 1]),
        ([1], [1, 1]),
        ([1], 1),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": 1}),
        ({"A": 1}, {"a": 1}),
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z"),
        ("2024-05-01", "2024-05-02"),
    ],
)
def test_values_that_differ_do_not_match(expected: Any, given: Any) -> None:
    assert not fits(expected, given)
    assert not fits(given, expected)


@pytest.mark.parametrize(("one", "other"), [(5, "5"), ("5", 5.0), ("5.0", "5"), (-0.5, " -.5 "), ("1E3", 1000)])
def test_numeric_text_equals_the_number_only_where_the_schema_says_number(one: Any, other: Any) -> None:
    assert fits(one, other, NUMBER)
    assert fits(one, other, place({"anyOf": [{"type": "null"}, {"type": "integer"}]}))
    assert not fits(one, other, TEXT)


def test_boolean_text_equals_the_boolean_only_where_the_schema_says_boolean() -> None:
    assert fits(True, " TRUE ", BOOLEAN)
    assert fits("false", False, BOOLEAN)
    assert not fits(True, "false", BOOLEAN)
    assert not fits(True, "yes", BOOLEAN)
    assert not fits(True, "true", TEXT)
    assert not fits(1, "true", BOOLEAN)


def test_the_schema_is_followed_into_objects_and_lists() -> None:
    assert fits({"size": {"width": 5}}, {"size": {"width": "5"}}, DEEP)
    assert fits([5], ["5"], place({"items": {"type": "integer"}}))
    assert fits([5], ["5"], place({"prefixItems": [{"type": "integer"}]}))
    assert fits(
        {"any": 5},
        {"any": "5"},
        place({"additionalProperties": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "number"}}}),
    )


@pytest.mark.parametrize(
    ("matcher", "given", "outcome"),
    [
        ({"$any_of": ["py", "python"]}, "Python", True),
        ({"$any_of": ["py", "python"]}, "ruby", False),
        ({"$any_of": []}, "ruby", False),
        ({"$any": True}, {"what": "ever"}, True),
        ({"$any": True}, None, True),
        ({"$optional": 5}, 5, True),
        ({"$optional": 5}, 6, False),
        ({"$regex": r"^\d{3}-\d{4}$"}, "555-1234", True),
        ({"$regex": "b"}, "abc", True),
        ({"$regex": "B"}, "abc", False),
        ({"$regex": "(?i)B"}, "abc", True),
        ({"$regex": r"^4\d$"}, 42, True),
        ({"$regex": "true"}, True, False),
        ({"$approx": 3.0, "$tolerance": 0.01}, 3.01, True),
        ({"$approx": 3.0, "$tolerance": 0.01}, 3.011, False),
        ({"$approx": 1.0, "$tolerance": 0.1}, 1.1, True),
        ({"$approx": 50, "$tolerance": 10}, 40, True),
        ({"$approx": 2_000_000}, 2_000_001, True),
        ({"$approx": 2_000_000}, 2_000_003, False),
        ({"$approx": 3}, "3", False),
        ({"$approx": 1, "$tolerance": 1}, True, False),
        ({"$contains": "SRC"}, "./src/app", True),
        ({"$contains": "lib"}, "./src/app", False),
        ({"$contains": "b"}, ["a", "B"], True),
        ({"$contains": ["b", "a"]}, ["a", "x", "b"], True),
        ({"$contains": ["b", "c"]}, ["a", "x", "b"], False),
        ({"$contains": [1, 2]}, [[1, 2], 3], True),
        ({"$contains": {"a": 1}}, {"a": 1, "b": 2}, True),
        ({"$contains": {"a": 1}}, {"b": 2}, False),
        ({"$contains": 1}, 11, False),
        ({"$unordered": [1, 2, 2]}, [2, 1, 2], True),
        ({"$unordered": [1, 2, 2]}, [1, 1, 2], False),
        ({"$unordered": [1, 2]}, [1, 2, 2], False),
        ({"$unordered": ["a"]}, "a", False),
        ({"$datetime": "2024-05-01T10:00:00Z"}, "2024-05-01T12:00:00+02:00", True),
        ({"$datetime": "2024-05-01"}, "May 1, 2024", True),
        ({"$datetime": "2024-05-01"}, "1 May 2024", True),
        ({"$datetime": "2024-05-01"}, "2024/05/01", True),
        ({"$datetime": "2024-05-01T10:00:00Z"}, "Wed, 01 May 2024 10:00:00 GMT", True),
        ({"$datetime": "2024-05-01T10:00:00Z"}, 1714557600, True),
        ({"$datetime": "2024-05-01T10:00:00Z"}, 1714557600000, True),
        ({"$datetime": "2024-05-01"}, "05/01/2024", False),
        ({"$datetime": "2024-05-01"}, "2024-05-01T10:00:00Z", False),
        ({"$datetime": "2024-05-01"}, True, False),
        ({"$literal": {"$gt": 5}}, {"$gt": 5.0}, True),
        ({"$literal": {"$gt": 5}}, {"$gt": 6}, False),
        ({"$literal": {"a": {"$any": True}}}, {"a": {"$any": True}}, True),
        ({"$literal": {"a": {"$any": True}}}, {"a": 1}, False),
    ],
)
def test_each_matcher_accepts_what_it_says(matcher: Any, given: Any, outcome: bool) -> None:
    assert fits(matcher, given) is outcome


def test_matchers_nest_in_each_other_and_in_plain_values() -> None:
    expected = {
        "tags": {"$unordered": [{"$regex": "^a"}, {"$any_of": ["b", "ab"]}]},
        "where": {"$optional": {"$contains": {"city": {"$any_of": ["Rome", "Roma"]}}}},
        "size": [{"$approx": 1, "$tolerance": 0.5}, {"$any": True}],
    }
    assert fits(expected, {"tags": ["ab", "a"], "where": {"city": "roma", "zip": 1}, "size": [1.4, None]})
    assert fits(expected, {"tags": ["a", "ab"], "size": [0.5, 7]})
    assert not fits(expected, {"tags": ["b", "c"], "size": [0.5, 7]})
    assert not fits(expected, {"tags": ["a", "b"], "where": None, "size": [0.5, 7]})


def test_an_unordered_list_is_paired_up_even_where_the_first_choice_would_block_the_rest() -> None:
    anything_first = {"$unordered": [{"$any": True}, {"$any_of": [1, 2]}, 1]}
    assert fits(anything_first, [1, 2, 3])
    assert fits(anything_first, [3, 2, 1])
    assert not fits(anything_first, [3, 3, 1])


@pytest.mark.parametrize(
    "broken",
    [
        {"$unknown": 1},
        {"$any": False},
        {"$any_of": "x"},
        {"$regex": "("},
        {"$regex": 5},
        {"$approx": "x"},
        {"$approx": 1, "$tolerance": "x"},
        {"$tolerance": 1},
        {"$unordered": 5},
        {"$datetime": "soon"},
        {"$regex": "a", "$optional": "a"},
    ],
)
def test_a_broken_matcher_matches_nothing(broken: Any) -> None:
    assert not any(fits(broken, given) for given in ("a", "x", 1, 5, [5], None, {"$unknown": 1}))


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "(a|aa)+$", "(a{1,1000}){1,1000}b", "a{1000000000}", "((a{1000}){1000}){1000}", "(" * 5000]
)
def test_a_pattern_that_would_take_for_ever_costs_little_and_matches_nothing(pattern: str) -> None:
    with computing_at_most(2):
        assert not fits({"$regex": pattern}, "a" * 5_000 + "!")


def test_extreme_numbers_are_compared_and_do_not_overflow() -> None:
    assert fits(10**400, 10**400)
    assert not fits(10**400, 1e308)
    assert not fits({"$approx": 1, "$tolerance": 1}, math.inf)
    assert not fits({"$approx": math.nan, "$tolerance": 1}, 1)
    assert not fits(5, "1e999", NUMBER)


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ("src", "“src”"),
        (5, "5"),
        ({"$any_of": ["py", "python", 3]}, "“py”, “python” or 3"),
        ({"$approx": 50, "$tolerance": 10}, "50 ± 10"),
        ({"$tolerance": 10, "$approx": 50}, "50 ± 10"),
        ({"$contains": "src"}, "something that contains “src”"),
        ({"$regex": "^a"}, "a match of the pattern “^a”"),
        ({"$datetime": "2024-05-01"}, "the moment “2024-05-01”"),
        ({"$unordered": [1, 2]}, "[1, 2] in any order"),
        ({"$optional": {"$any_of": [1, 2]}}, "1 or 2 or nothing"),
        ({"$any": True}, "anything"),
        ({"$literal": {"$gt": 5}}, '{"$gt": 5}'),
        ({"$gt": 5}, '{"$gt": 5}, which is not a matcher'),
    ],
)
def test_an_expected_value_completes_the_word_expected(expected: Any, words: str) -> None:
    assert described(expected) == words


@pytest.mark.parametrize(
    ("expected", "problem"),
    [
        ({"$gt": 5}, "`$gt` is not a matcher, in `p` of `t`; to expect it as it stands, wrap it in `$literal`."),
        (
            [{"a": {"$any_off": [1]}}],
            "`$any_off` is not a matcher, in `p` of `t`; to expect it as it stands, wrap it in `$literal`.",
        ),
        ({"$any_of": "x"}, "`$any_of` needs a list, in `p` of `t`."),
        ({"$any": False}, "`$any` needs the value true, in `p` of `t`."),
        ({"$regex": "("}, "`$regex` needs a pattern that works, and “(” is not a regular expression, in `p` of `t`."),
        ({"$regex": "a{999999}"}, "`$regex` needs a pattern that works, and “a{999999}” is too large, in `p` of `t`."),
        ({"$approx": "5"}, "`$approx` needs a number, and a `$tolerance` that is a number from 0 up, in `p` of `t`."),
        ({"$datetime": "soon"}, "`$datetime` needs a date or time such as 2024-05-01T10:00Z, in `p` of `t`."),
        ({"$optional": {"$unordered": 5}}, "`$unordered` needs a list, in `p` of `t`."),
    ],
)
def test_a_matcher_that_cannot_be_understood_is_told_in_one_sentence(expected: Any, problem: str) -> None:
    assert list(problems(expect(wanted("t", p=expected)))) == [problem]


def test_sound_expectations_have_no_problems() -> None:
    sound: dict[str, Any] = {
        "a": {"$any_of": [{"$regex": "^a"}, {"b": {"$contains": 1}}]},
        "c": {"$literal": {"$gt": 5}},
        "d": {},
    }
    assert list(problems(expect(wanted("t", **sound), wanted("u")))) == []
