"""Marks, colours and text styles for outcomes and table cells of the runs screen."""

from collections.abc import Iterable, Mapping

from app.screens.kit.run_marks import RUN_MARK_ROLES, RUN_MARK_SHAPES
from app.screens.runs import labels
from app.screens.runs.run_table import CellTextStyle, RunTableRow
from app.text.formatting import MARK_TEXTS
from app.theme import Role
from app.widgets import Cell, Mark, Segment, Span
from app.widgets import Row as TableRow

DRAWN_MARKS: Mapping[labels.VerdictMark, Mark] = {
    **{mark: RUN_MARK_SHAPES[one] for one, mark in labels.RUN_MARKS.items()},
    labels.VerdictMark.NOTE: Mark.BANG,
    labels.VerdictMark.FAILED: Mark.BROKEN,
    labels.VerdictMark.RUNNING: Mark.ARC,
    labels.VerdictMark.WAITING: Mark.WAITING,
    labels.VerdictMark.NEUTRAL: Mark.BLANK,
}

ROLES: Mapping[labels.VerdictMark, Role] = {
    **{mark: RUN_MARK_ROLES[one] for one, mark in labels.RUN_MARKS.items()},
    labels.VerdictMark.NOTE: Role.WARN,
}

FILLS: Mapping[labels.VerdictMark, Role] = {
    labels.VerdictMark.CORRECT: Role.GOOD_FILL,
    labels.VerdictMark.WRONG_ARGUMENTS: Role.WARN_FILL,
    labels.VerdictMark.WRONG: Role.BAD_FILL,
}

CHANGED = "≠"

MARK_LABELS: Mapping[labels.VerdictMark, str] = {
    **{mark: MARK_TEXTS[one] for one, mark in labels.RUN_MARKS.items()},
    labels.VerdictMark.NOTE: "noted",
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
    """Return the segments of a bar; a gap before wrong runs and ticks on wrong arguments show them without colour."""
    return tuple(
        Segment(
            role=FILLS[mark],
            value=share,
            ticked=mark is labels.VerdictMark.WRONG_ARGUMENTS,
            gap=mark is labels.VerdictMark.WRONG and place > 0,
            name=MARK_LABELS[mark],
        )
        for place, (mark, share) in enumerate(bar)
    )


def table_row(row: RunTableRow) -> TableRow:
    """Return the table row of a run; its cells are made on first paint."""
    return TableRow(row.id, lambda: _cells(row))


def _cells(row: RunTableRow) -> tuple[Cell, ...]:
    return (
        Cell(marks=(DRAWN_MARKS[row.mark],), tip=f"{row.accessible_text}. {row.changed_tools_text}".strip()),
        Cell(text=row.repeat, tip=row.repeat, role=Role.DIM) if row.follows else Cell(text=row.query),
        Cell(text=row.expected, role=Role.DIM, tip=row.expected_tip),
        Cell(
            text=f"{CHANGED} {row.selected}" if row.changed_tools else row.selected,
            role=Role.TEXT if row.text_style is CellTextStyle.TOOL else Role.DIM,
            italic=row.text_style is CellTextStyle.NO_TOOL,
            prose=row.text_style is CellTextStyle.STATUS,
            tip=f"{row.selected_tip} {row.changed_tools_text}".strip(),
        ),
        Cell(text=row.model, role=Role.DIM),
        Cell(text=row.correct, role=Role.DIM),
        Cell(
            text=row.confidence, role=Role.TEXT if row.confident_but_wrong else Role.DIM, strong=row.confident_but_wrong
        ),
    )
