"""Character ranges of client profiles, which are never patterns."""

import pytest

from mcp_tef.trust.patterns import PatternError, character_ranges, replaced_outside


@pytest.mark.parametrize(
    ("ranges", "shown"),
    [
        ("A-Za-z0-9_-", "a-B____"),
        (r"A-Za-z0-9_\-.:", "a-B__.:"),
        ("-a", "a-_____"),
        ("^a", "a______"),
    ],
)
def test_characters_outside_the_ranges_are_replaced(ranges: str, shown: str) -> None:
    assert replaced_outside(ranges, "a-B é.:", "_") == shown


@pytest.mark.parametrize("text", ["x](a+)+$|[a", r"\w", "z-a", "[a", "a\\", "a" * 201])
def test_what_is_no_list_of_ranges_is_refused(text: str) -> None:
    with pytest.raises(PatternError):
        character_ranges(text)
