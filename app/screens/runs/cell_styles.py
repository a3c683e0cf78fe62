"""Marks, colours and text styles for outcomes and table cells of the runs screen."""

from collections.abc import Iterable, Mapping

from app.screens.runs import labels
from app.screens.runs.run_table import Look, Row
from app.theme import Role
from app.widgets import Cell, Mark, Segment, Span
from app.widgets import Row as TableRow

MARKS: Mapping[labels.Mark, Mark] = {
    labels.Mark.RIGHT: Mark.CHECK,
    labels.Mark.RIGHT_NONE: Mark.DASH,
    labels.Mark.WRONG: Mark.CROSS,
    labels.Mark.EXTRA: Mark.BANG,
    labels.Mark.FAILED: Mark.BROKEN,
    labels.Mark.RUNNING: Mark.ARC,
    labels.Mark.WAITING: Mark.WAITING,
    labels.Mark.NEUTRAL: Mark.BLANK,
}

ROLES: Mapping[labels.Mark, Role] = {
    labels.Mark.RIGHT: Role.GOOD,
    labels.Mark.RIGHT_NONE: Role.INFO,
    labels.Mark.WRONG: Role.BAD,
    labels.Mark.EXTRA: Role.WARN,
}

FILLS: Mapping[labels.Mark, Role] = {
    labels.Mark.RIGHT: Role.GOOD_FILL,
    labels.Mark.RIGHT_NONE: Role.INFO_FILL,
    labels.Mark.WRONG: Role.BAD_FILL,
    labels.Mark.EXTRA: Role.WARN_FILL,
}

WRONG = (labels.Mark.WRONG, labels.Mark.EXTRA)
CHANGED = "≠"

SAID: Mapping[labels.Mark, str] = {
    labels.Mark.RIGHT: "right",
    labels.Mark.RIGHT_NONE: "rightly no tool",
    labels.Mark.WRONG: "wrong",
    labels.Mark.EXTRA: "too much",
    labels.Mark.FAILED: "failed",
    labels.Mark.RUNNING: "being asked",
    labels.Mark.WAITING: "waiting",
    labels.Mark.NEUTRAL: "not judged",
}


def role_of(mark: labels.Mark) -> Role:
    """The text colour that goes with a mark."""
    return ROLES.get(mark, Role.DIM)


def spans(parts: Iterable[labels.Span], role: Role = Role.TEXT) -> tuple[Span, ...]:
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


def segments(bar: Iterable[tuple[labels.Mark, float]]) -> tuple[Segment, ...]:
    """A bar: right and wrong stand apart, and calls too many are ticked, so that it reads without colour."""
    made: list[Segment] = []
    for mark, share in bar:
        first_wrong = mark in WRONG and not any(item.gap for item in made)
        made.append(
            Segment(
                role=FILLS[mark],
                value=share,
                ticked=mark is labels.Mark.EXTRA,
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
