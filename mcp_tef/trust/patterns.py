"""Patterns of users, servers and files, bounded in time and memory."""

import re
from functools import lru_cache

import regex

SECONDS = 0.05
LONGEST_PATTERN = 2_000
LARGEST_EXPANSION = 20_000
LONGEST_RANGES = 200


class PatternError(ValueError):
    """A pattern that is broken, too large, or took too long; the text is a sentence's end."""


def found(pattern: str, text: str) -> bool:
    """Return True if the pattern is somewhere in the text (as JSON Schema's `pattern`); raises PatternError."""
    try:
        return _compiled(pattern).search(text, timeout=SECONDS, concurrent=True) is not None
    except TimeoutError:
        raise PatternError(f"took longer than {SECONDS * 1000:.0f} ms") from None
    except (RecursionError, MemoryError):
        raise PatternError("is too complicated") from None


def why_broken(pattern: str) -> str | None:
    """Why a pattern cannot be used; None where it can."""
    try:
        _compiled(pattern)
    except PatternError as error:
        return str(error)
    return None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> "regex.Pattern[str]":
    if _COMMENTS.search(pattern):
        raise PatternError("has comments in it")
    if len(pattern) > LONGEST_PATTERN or expanded_size(pattern) > LARGEST_EXPANSION:
        raise PatternError("is too large")
    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError, ValueError, IndexError, KeyError):
        raise PatternError("is not a regular expression") from None


_COMMENTS = regex.compile(r"\(\?(?:#|[A-Za-z0-9-]*x)")
_COUNT = regex.compile(r"\{\s*(\d*)\s*(?:,\s*\d*\s*)?\}")


def expanded_size(pattern: str) -> int:
    """About how many nodes a pattern has once its `{n}` are written out; the engine writes them out."""
    levels = [0]
    atom, position = 0, 0
    while position < len(pattern):
        step, atom = _read(pattern, position, levels, atom)
        position += step
    return sum(levels)


def _read(pattern: str, position: int, levels: list[int], atom: int) -> tuple[int, int]:
    """Read one piece: add it to the innermost group; how long it was, and the size of what a `{n}` would repeat."""
    sign = pattern[position]
    if sign == "(":
        levels.append(1)
        return 1, 0
    if sign == ")" and len(levels) > 1:
        size = levels.pop()
        levels[-1] += size
        return 1, size
    if sign == "{" and (count := _COUNT.match(pattern, position)):
        extra = atom * max(int(count[1][:9] or 0) - 1, 0)
        levels[-1] += extra
        return len(count[0]), atom + extra
    levels[-1] += 1
    return (2 if sign == "\\" else 1), 1


@lru_cache(maxsize=64)
def character_ranges(written: str) -> tuple[tuple[str, str], ...]:
    r"""Return the first and last character of each range in a text such as `A-Za-z0-9_-`; raises PatternError.

    It looks like the inside of a character class, but is never one: `\` stands before a sign that is meant itself.
    """
    if len(written) > LONGEST_RANGES:
        raise PatternError(f"is longer than {LONGEST_RANGES} characters")
    parts = _RANGE.findall(written)
    if "".join(map("".join, parts)) != written:
        raise PatternError("is not a list of characters and ranges")
    ranges = tuple((first[-1], last[-1] if last else first[-1]) for first, last in parts)
    if any(first > last for first, last in ranges):
        raise PatternError("has a range that ends before it begins")
    return ranges


_RANGE = re.compile(r"(\\[^A-Za-z0-9]|[^\\\[\]])(-(?:\\[^A-Za-z0-9]|[^\\\[\]]))?", re.DOTALL)


def replaced_outside(written: str, text: str, instead: str) -> str:
    """Return a text with `instead` for each character outside the ranges of `character_ranges`."""
    ranges = character_ranges(written)
    outside = {sign for sign in set(text) if not any(first <= sign <= last for first, last in ranges)}
    return text.translate(dict.fromkeys(map(ord, outside), instead)) if outside else text
