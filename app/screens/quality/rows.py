"""How tools and servers look in their lists."""

from collections.abc import Mapping
from typing import Final

from app.screens.quality.presenter import LEVELS, ServerCard
from app.screens.quality.words import SEVERITIES, Level, danger, level, worst
from app.text.formatting import count
from app.text.glossary import explain
from app.theme import Role
from app.widgets import Cell, CellKind, Column, Mark, RailRow, Row, Segment, Span
from mcp_tef import LintFinding, Severity, ToolQuality

EVERY: Final = "every"
COLUMNS: Final = (
    Column(
        key="score",
        title="Score",
        kind=CellKind.NUMBER,
        width=60,
        least=56,
        tip=explain("quality score"),
    ),
    Column(key="tool", title="Tool", kind=CellKind.MONO, width=148, least=80),
    Column(key="server", title="Server", width=96, role=Role.DIM),
    Column(key="worst", title="Worst finding", stretch=True, tip=explain("finding")),
    Column(key="findings", title="Findings", kind=CellKind.NUMBER, width=80, least=56, tip=explain("finding")),
    Column(
        key="tokens",
        title="Tokens",
        kind=CellKind.NUMBER,
        width=76,
        least=56,
        tip=explain("token weight"),
    ),
)
SERVER: Final = 2
FINDINGS: Final = 4
MARKS: Final[Mapping[Level, Mark]] = {
    Level.ERROR: Mark.CROSS,
    Level.WARNING: Mark.BANG,
    Level.NOTE: Mark.DASH,
    Level.FINE: Mark.CHECK,
}
SAID: Final[Mapping[Level, str]] = {
    Level.ERROR: "with an error",
    Level.WARNING: "with a warning",
    Level.NOTE: "with a note",
    Level.FINE: "with nothing to mend",
}
_FILLS: Final[Mapping[Level, Role]] = {
    Level.ERROR: Role.BAD_FILL,
    Level.WARNING: Role.WARN_FILL,
    Level.NOTE: Role.INFO_FILL,
    Level.FINE: Role.GOOD_FILL,
}


def severity_mark(severity: Severity) -> Mark:
    """The mark of a severity."""
    return MARKS[Level(severity.value)]


def tool_row(quality: ToolQuality) -> Row:
    """A tool as cells, made when they are first needed."""
    return Row(quality.tool.id, lambda: _cells(quality))


def _cells(quality: ToolQuality) -> tuple[Cell, ...]:
    tool = quality.tool.tool
    return (
        Cell(text=str(quality.score), sort=quality.score, strong=level(quality) is Level.ERROR),
        Cell(text=tool.name),
        Cell(text=tool.server),
        _worst_cell(quality),
        Cell(text=f"{len(quality.findings):,}", sort=len(quality.findings), role=Role.DIM),
        Cell(text=f"{quality.tokens:,}", sort=quality.tokens, role=Role.DIM),
    )


def _worst_cell(quality: ToolQuality) -> Cell:
    found, place = worst(quality), LEVELS.index(level(quality))
    if found is None:
        return Cell(text="Nothing to mend", role=Role.DIM, marks=(Mark.CHECK,), sort=place)
    role = Role.BAD if danger(found.rule) else Role.TEXT
    said = _tip(found)
    return Cell(
        text=found.rule.title,
        role=role,
        strong=role is Role.BAD,
        marks=(severity_mark(found.rule.severity),),
        sort=f"{place} {found.rule.title}",
        tip=said,
    )


def _tip(found: LintFinding) -> str:
    aimed = danger(found.rule)
    return f"{SEVERITIES[found.rule.severity]}{f', {aimed}' if aimed else ''}: {found.sentence}"


def card_row(card: ServerCard) -> RailRow:
    """A server as a card: tools, weight, and a bar of how its tools stand."""
    errors = card.levels[Level.ERROR]
    return RailRow(
        id=f"server:{card.name}" if card.name else EVERY,
        title=card.name or "All servers",
        right=Span(count(card.tools, "tool"), Role.DIM),
        sub=(Span(count(card.tokens, "token"), Role.DIM),),
        sub_right=Span(f"{errors:,} faulty", Role.BAD, strong=True) if errors else None,
        bar=level_segments(card.levels),
        tip=f"{card.name or 'All servers'}: {level_words(card.levels)}",
    )


def level_segments(levels: Mapping[Level, int]) -> tuple[Segment, ...]:
    """How tools stand, as shares; warnings are ticked, and what is fine stands apart."""
    return tuple(
        Segment(
            role=_FILLS[one],
            value=levels[one],
            ticked=one is Level.WARNING,
            gap=one is Level.FINE,
            name=SAID[one],
        )
        for one in LEVELS
    )


def level_words(levels: Mapping[Level, int]) -> str:
    """The same in words."""
    return ", ".join(f"{levels[one]:,} {SAID[one]}" for one in LEVELS if levels[one])
