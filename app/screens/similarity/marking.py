"""What a revised text changes in the one that is there, word by word."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

LONGEST: Final = 600
LEAST_KEPT: Final = 0.2
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text; `changed` where the other text has something else."""

    text: str
    changed: bool = False


def changes(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both texts in pieces; where little or nothing is kept, or a text is very long, each is one unmarked piece."""
    old, new = _PIECES.findall(before), _PIECES.findall(after)
    if max(len(old), len(new)) > LONGEST * 2:
        return (Piece(before),), (Piece(after),)
    old_kept, new_kept = [False] * len(old), [False] * len(new)
    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        old_kept[block.a : block.a + block.size] = [True] * block.size
        new_kept[block.b : block.b + block.size] = [True] * block.size
    if _share(old, old_kept) < LEAST_KEPT:
        return (Piece(before),), (Piece(after),)
    return _joined(old, old_kept), _joined(new, new_kept)


def _share(pieces: Sequence[str], kept: Sequence[bool]) -> float:
    words = [keep for piece, keep in zip(pieces, kept, strict=True) if not piece.isspace()]
    return sum(words) / len(words) if words else 0.0


def _joined(pieces: Sequence[str], kept: Sequence[bool]) -> tuple[Piece, ...]:
    """Neighbours of the same kind as one; a blank between two changed words is changed with them."""
    made: list[Piece] = []
    for place, piece in enumerate(pieces):
        around = kept[max(0, place - 1) : place + 2]
        changed = not any(around) if piece.isspace() else not kept[place]
        if made and made[-1].changed == changed:
            made[-1] = Piece(made[-1].text + piece, changed)
        else:
            made.append(Piece(piece, changed))
    return tuple(made)
