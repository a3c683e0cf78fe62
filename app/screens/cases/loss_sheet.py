"""The sheet that tells what an export could not hold."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.text.formatting import count
from app.theme import Role, Size
from app.widgets import Action, FlowText, ScrollPane, Section, Sheet, Span
from mcp_tef import ExportReport

LIST_HEIGHT = 300
MOST_LINES = 100


def loss_sheet(parent: QWidget, file: Path, report: ExportReport) -> Sheet:
    """The cases that a form could not hold, or not whole."""
    sheet = Sheet(f"{file.name} does not hold everything", parent)
    words = f"{count(report.written, 'case')} written. Our own form holds everything."
    sheet.body.addWidget(FlowText(words, role=Role.DIM))
    left = [[Span("Left out  ", Role.BAD), Span(name, strong=True), _below(why)] for name, why in report.left_out]
    lost = [[Span("Not whole  ", Role.WARN), Span(name, strong=True), _below(what)] for name, what in report.lost]
    _list(sheet, left + lost)
    sheet.set_buttons([Action(text="Close", do=sheet.accept, kind="primary")])
    return sheet


def _below(text: str) -> Span:
    return Span(f"\n{text}", Role.DIM)


def _list(sheet: Sheet, lines: Sequence[list[Span]]) -> None:
    """The first of the lines in a pane that scrolls; nothing where there is none."""
    if not lines:
        return
    section = Section(margins=False)
    shown = [*lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append([Span(f"And {len(lines) - MOST_LINES} more.", Role.DIM)])
    for spans in shown:
        line = FlowText(size=Size.BODY)
        line.set_spans(spans)
        section.add(line)
    section.column.addStretch(1)
    pane = ScrollPane(section, "What is not held")
    pane.setMinimumHeight(min(LIST_HEIGHT, 60 * len(shown) + 24))
    sheet.body.addWidget(pane)
