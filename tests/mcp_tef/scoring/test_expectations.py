"""Expected values in words, and those that cannot be understood."""

from typing import Any

import pytest

from mcp_tef.scoring.expectations import described, problems
from tests.support.judging_factories import expect, wanted


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
