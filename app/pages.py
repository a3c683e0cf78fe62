"""Where a long report is cut into pages: between lines and rows, and never between a heading and what follows it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """What lies between two heights of the whole report."""

    top: float
    bottom: float

    @property
    def height(self) -> float:
        """How much room it takes."""
        return self.bottom - self.top


@dataclass(frozen=True, slots=True)
class Piece:
    """What is not cut: a line, a chart, a row. `keep` ties it to the next; `head` is the head of its table."""

    span: Span
    keep: bool = False
    head: Span | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page: what it shows, below the head of a table that goes on."""

    span: Span
    head: Span | None = None


def sheets(pieces: Sequence[Piece], height: float) -> list[Sheet]:
    """The pages of a height that the pieces, in their order, take."""
    made: list[Sheet] = []
    start = 0
    while start < len(pieces):
        head = pieces[start].head
        room = height - (head.height if head else 0)
        end = _end(pieces, start, room)
        made += _split(Span(pieces[start].span.top, pieces[end - 1].span.bottom), head, room)
        start = end
    return made


def _end(pieces: Sequence[Piece], start: int, room: float) -> int:
    """Where the page that begins at a piece ends: as late as it can, behind nothing that stays with the next."""
    top, end = pieces[start].span.top, start + 1
    while end < len(pieces) and pieces[end].span.bottom - top <= room:
        end += 1
    if end == len(pieces):
        return end
    loose = (at for at in range(end, start, -1) if not pieces[at - 1].keep)
    return next(loose, end)


def _split(span: Span, head: Span | None, room: float) -> list[Sheet]:
    """One page, or several where a single piece is higher than one."""
    count = max(1, -int(-span.height // room))
    tops = [span.top + room * at for at in range(count)]
    return [Sheet(Span(top, min(top + room, span.bottom)), head) for top in tops]
