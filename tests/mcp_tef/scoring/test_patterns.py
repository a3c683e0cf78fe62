"""Patterns of strangers."""

import pytest

from mcp_tef.scoring.patterns import PatternError, found, why_broken


def test_a_pattern_is_looked_for_anywhere_in_the_text() -> None:
    assert found("b+", "abbc")
    assert not found("^b", "abbc")


@pytest.mark.parametrize(
    "pattern", [r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", r"^\d{4}-\d{2}-\d{2}$", r"^.{1,4096}$"]
)
def test_everyday_patterns_are_small_enough(pattern: str) -> None:
    assert why_broken(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "is not a regular expression"),
        ("a{100000}", "is too large"),
        ("(ab{100}){1000}", "is too large"),
        ("(a{200})(?#pause){20000}", "has comments in it"),
        ("(?ix)(a{200}) {20000}", "has comments in it"),
        ("a" * 3_000, "is too large"),
    ],
)
def test_other_patterns_are_refused_with_the_reason(pattern: str, why: str) -> None:
    assert why_broken(pattern) == why
    with pytest.raises(PatternError, match=why):
        found(pattern, "a")
