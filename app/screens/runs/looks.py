"""How the words of the runs screen look: which drawn mark, which colour, which kind of text."""

from collections.abc import Iterable, Mapping

from app.screens.runs import words
from app.screens.runs.rows import Look, Row
from app.theme import Role
from app.widgets import Cell, Mark, Segment, Span
from app.widgets import Row as TableRow

MARKS: Mapping[words.Mark, Mark] = {
    words.Mark.RIGHT: Mark.CHECK,
    words.Mark.RIGHT_NONE: Mark.DASH,
    words.Mark.WRONG: Mark.CROSS,
    words.Mark.EXTRA: Mark.BANG,
    words.Mark.FAILED: Mark.BROKEN,
    words.Mark.RUNNING: Mark.ARC,
    words.Mark.WAITING: Mark.WAITING,
    words.Mark.NEUTRAL: Mark.BLANK,
}

ROLES: Mapping[words.Mark, Role] = {
    words.Mark.RIGHT: Role.GOOD,
    words.Mark.RIGHT_NONE: Role.INFO,
    words.Mark.WRONG: Role.BAD,
    words.Mark.EXTRA: Role.WARN,
}

FILLS: Mapping[words.Mark, Role] = {
    words.Mark.RIGHT: Role.GOOD_FILL,
    words.Mark.RIGHT_NONE: Role.INFO_FILL,
    words.Mark.WRONG: Role.BAD_FILL,
    words.Mark.EXTRA: Role.WARN_FILL,
}

WRONG = (words.Mark.WRONG, words.Mark.EXTRA)
CHANGED = "≠"

SAID: Mapping[words.Mark, str] = {
    words.Mark.RIGHT: "right",
    words.Mark.RIGHT_NONE: "rightly no tool",
    words.Mark.WRONG: "wrong",
    words.Mark.EXTRA: "too much",
    words.Mark.FAILED: "failed",
    words.Mark.RUNNING: "being asked",
    words.Mark.WAITING: "waiting",
    words.Mark.NEUTRAL: "not judged",
}


def role_of(mark: words.Mark) -> Role:
    """The text colour that goes with a mark."""
    return ROLES.get(mark, Role.DIM)


def spans(parts: Iterable[words.Span], role: Role = Role.TEXT) -> tuple[Span, ...]:
    """Words as drawn text: names in mono, differences on a tint, asides dim."""
    return tuple(
        Span(
            part.text,
            Role.DIM if part.dim else role,
            mono=part.mono,
            back=Role.MARK_DIFF if part.marked else None,
        )
        for part in parts
    )


def segments(bar: Iterable[tuple[words.Mark, float]]) -> tuple[Segment, ...]:
    """A bar: right and wrong stand apart, and calls too many are ticked, so that it reads without colour."""
    made: list[Segment] = []
    for mark, share in bar:
        first_wrong = mark in WRONG and not any(item.gap for item in made)
        made.append(
            Segment(
                role=FILLS[mark],
                value=share,
                ticked=mark is words.Mark.EXTRA,
                gap=first_wrong and bool(made),
                name=SAID[mark],
            )
        )
    return tuple(made)


def table_row(row: Row) -> TableRow:
    """A run as cells, made when it is first painted."""
    return TableRow(row.id, lambda: _cells(row))


def _cells(row: Row) -> tuple[Cell, ...]:
    return (
        Cell(marks=(MARKS[row.mark],), tip=f"{row.spoken}. {row.outdated_words}".strip()),
        Cell(text=row.query),
        Cell(
            text=f"{CHANGED} {row.selected}" if row.outdated else row.selected,
            role=Role.TEXT if row.look is Look.NAME else Role.DIM,
            italic=row.look is Look.ASIDE,
            prose=row.look is Look.QUIET,
            tip=row.outdated_words,
        ),
        Cell(text=row.model, role=Role.DIM),
        Cell(text=row.confidence, role=Role.TEXT if row.loud else Role.DIM, strong=row.loud),
    )
