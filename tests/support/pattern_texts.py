"""Texts made for one pattern: what it would repeat, many times, with what stands before it and no end."""

import random
import re
from collections.abc import Iterator
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

ALPHABET: Final = "a1 .-_A\"'`<>[](){}/\\:=#$@!,;*|&?~^%\n\r\té“”‘’…\u0301\U0001f600\u200b"
REPEATS: Final = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
MANY: Final = 8
"""A repeat that may go on longer than this is one to pump."""


def pumped(pattern: "re.Pattern[Any]", seed: int) -> Iterator[tuple[str, str]]:
    """Yield beginnings, each with the piece to repeat behind it."""
    dice = random.Random(seed)
    pieces = set(_pumps(list(parser.parse(pattern.pattern, pattern.flags)), "", dice))
    for before, body in sorted(pieces):
        yield from {(before, body), ("", body), ("", before + body), ("", before)}


def _pumps(nodes: list[Any], before: str, dice: random.Random) -> Iterator[tuple[str, str]]:
    for position, (kind, value) in enumerate(nodes):
        start = before + "".join(_sample(node, dice) for node in nodes[:position])
        if str(kind) in REPEATS and int(value[1]) > MANY:
            yield start, "".join(_sample(node, dice) for node in value[2]) or "a"
        for branch in _branches(str(kind), value):
            yield from _pumps(branch, start, dice)


def _branches(kind: str, value: Any) -> list[list[Any]]:
    if kind in REPEATS:
        return [list(value[2])]
    if kind == "SUBPATTERN":
        return [list(value[3])]
    if kind == "BRANCH":
        return [list(branch) for branch in value[1]]
    return [list(value)] if kind == "ATOMIC_GROUP" else [list(value[1])] if kind in ("ASSERT", "ASSERT_NOT") else []


def _sample(node: Any, dice: random.Random) -> str:
    kind, value = str(node[0]), node[1]
    if kind == "LITERAL":
        return chr(value)
    if kind in ("IN", "ANY", "NOT_LITERAL"):
        fitting = [sign for sign in ALPHABET if kind == "ANY" or _fits(node, sign)]
        return dice.choice(fitting or [chr(value[0][1][0]) if kind == "IN" and str(value[0][0]) == "RANGE" else "a"])
    if kind in REPEATS:
        return "".join(_sample(one, dice) for one in value[2]) * max(int(value[0]), dice.choice((0, 1)))
    branches = [] if kind in ("ASSERT", "ASSERT_NOT") else _branches(kind, value)
    return "".join(_sample(one, dice) for one in dice.choice(branches)) if branches else ""


def _fits(node: Any, sign: str) -> bool:
    from re import _compiler as compiler  # type: ignore[attr-defined]

    tree = parser.parse("")
    tree.data = [node]
    return compiler.compile(tree).match(sign) is not None
