"""Marks, colours and text styles for outcomes and table cells of the runs screen."""

from collections.abc import Iterable, Mapping

from app.screens.runs import labels
from app.screens.runs.run_table import CellTextStyle, RunTableRow
from app.theme import Role
from app.widgets import Cell, Mark, Segment, Span
from app.widgets import Row as TableRow

DRAWN_MARKS: Mapping[labels.VerdictMark, Mark] = {
    labels.VerdictMark.RIGHT: Mark.CHECK,
    labels.VerdictMark.RIGHT_NONE: Mark.DASH,
    labels.VerdictMark.WRONG: Mark.CROSS,
    labels.VerdictMark.EXTRA: Mark.BANG,
    labels.VerdictMark.FAILED: Mark.BROKEN,
    labels.VerdictMark.RUNNING: Mark.ARC,
    labels.VerdictMark.WAITING: Mark.WAITING,
    labels.VerdictMark.NEUTRAL: Mark.BLANK,
}

ROLES: Mapping[labels.VerdictMark, Role] = {
    labels.VerdictMark.RIGHT: Role.GOOD,
    labels.VerdictMark.RIGHT_NONE: Role.INFO,
    labels.VerdictMark.WRONG: Role.BAD,
    labels.VerdictMark.EXTRA: Role.WARN,
}

FILLS: Mapping[labels.VerdictMark, Role] = {
    labels.VerdictMark.RIGHT: Role.GOOD_FILL,
    labels.VerdictMark.RIGHT_NONE: Role.INFO_FILL,
    labels.VerdictMark.WRONG: Role.BAD_FILL,
    labels.VerdictMark.EXTRA: Role.WARN_FILL,
}

WRONG = (labels.VerdictMark.WRONG, labels.VerdictMark.EXTRA)
CHANGED = "≠"

MARK_LABELS: Mapping[labels.VerdictMark, str] = {
    labels.VerdictMark.RIGHT: "correct",
    labels.VerdictMark.RIGHT_NONE: "correctly no tool",
    labels.VerdictMark.WRONG: "wrong",
    labels.VerdictMark.EXTRA: "extra call",
    labels.VerdictMark.FAILED: "failed",
    labels.VerdictMark.RUNNING: "running",
    labels.VerdictMark.WAITING: "waiting",
    labels.VerdictMark.NEUTRAL: "not judged",
}


def role_of(mark: labels.VerdictMark) -> Role:
    """Return the text colour of a mark."""
    return ROLES.get(mark, Role.DIM)


def spans(parts: Iterable[labels.TextSpan], role: Role = Role.TEXT) -> tuple[Span, ...]:
    """Convert spans to drawn text: names in mono, differences on a tint, asides dim."""
    return tuple(
        Span(
            part.text,
            Role.DIM if part.dim else role,
            mono=part.mono,
            back=Role.MARK_DIFF if part.marked else None,
        )
        for part in parts
    )


def segments(bar: Iterable[tuple[labels.VerdictMark, float]]) -> tuple[Segment, ...]:
    """Return the segments of a bar; a gap before wrong ones and ticks on extra calls show them without colour."""
    made: list[Segment] = []
    for mark, share in bar:
        first_wrong = mark in WRONG and not any(item.gap for item in made)
        made.append(
            Segment(
                role=FILLS[mark],
                value=share,
                ticked=mark is labels.VerdictMark.EXTRA,
                gap=first_wrong and bool(made),
                name=MARK_LABELS[mark],
            )
        )
    return tuple(made)


def table_row(row: RunTableRow) -> TableRow:
    """Return the table row of a run; its cells are made on first paint."""
    return TableRow(row.id, lambda: _cells(row))


def _cells(row: RunTableRow) -> tuple[Cell, ...]:
    return (
        Cell(marks=(DRAWN_MARKS[row.mark],), tip=f"{row.accessible_text}. {row.changed_tools_text}".strip()),
        Cell(text=row.query),
        Cell(
            text=f"{CHANGED} {row.selected}" if row.changed_tools else row.selected,
            role=Role.TEXT if row.text_style is CellTextStyle.TOOL else Role.DIM,
            italic=row.text_style is CellTextStyle.NO_TOOL,
            prose=row.text_style is CellTextStyle.STATUS,
            tip=row.changed_tools_text,
        ),
        Cell(text=row.model, role=Role.DIM),
        Cell(
            text=row.confidence, role=Role.TEXT if row.confident_but_wrong else Role.DIM, strong=row.confident_but_wrong
        ),
    )
