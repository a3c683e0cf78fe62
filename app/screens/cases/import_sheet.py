"""The sheet that shows what an import would do, before anything is done, and what an export could not hold."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.text import count
from app.theme import Role, Size
from app.widgets import Action, FlowText, ScrollPane, Section, Sheet, Span
from mcp_tef import ExportReport, ImportedCase, ImportFate, ImportPreview

LIST_HEIGHT = 300
MOST_LINES = 100
FATES = (
    (ImportFate.REFUSED, "Refused", Role.BAD),
    (ImportFate.CHANGED, "Changed", Role.WARN),
    (ImportFate.ADDED, "Added", Role.GOOD),
)


def preview_words(preview: ImportPreview) -> str:
    """How many cases of each fate, in one line."""
    counts = ((len(preview.of(fate)), fate.value) for fate in ImportFate)
    return ", ".join(f"{number} {word}" for number, word in counts if number) or "The file holds no cases"


def import_sheet(parent: QWidget, preview: ImportPreview) -> Sheet:
    """What would be added, changed and refused, and why; accepted where it is to be done."""
    sheet = Sheet(f"Import {preview.source}", parent, width=600)
    sheet.body.addWidget(FlowText(f"{preview_words(preview)}. Nothing is changed yet.", role=Role.DIM))
    _list(sheet, list(_preview_lines(preview)))
    number = len(preview.of(ImportFate.ADDED)) + len(preview.of(ImportFate.CHANGED))
    close = Action(text="Close" if preview.changes_nothing else "Cancel", do=sheet.reject)
    do = Action(text=f"Import {count(number, 'case')}", do=sheet.accept, kind="primary")
    sheet.set_buttons([close] if preview.changes_nothing else [close, do])
    return sheet


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


def _preview_lines(preview: ImportPreview) -> Iterator[list[Span]]:
    for server in preview.servers:
        words = f"\nA tools file with {count(len(server.tools), 'tool')}, at {server.path}"
        yield [Span("New server  ", Role.GOOD), Span(server.name, strong=True), Span(words, Role.DIM)]
    for fate, word, role in FATES:
        for case in preview.of(fate):
            yield [Span(f"{word}  ", role), Span(case.label, strong=True), *_details(case)]


def _details(case: ImportedCase) -> Iterator[Span]:
    if case.reason:
        yield _below(f"{case.place}: {case.reason}")
    for change in case.changes:
        yield _below(f"{change.field}: {change.before} → {change.after}")
    for note in case.notes:
        yield _below(note)


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
    pane = ScrollPane(section)
    pane.setMinimumHeight(min(LIST_HEIGHT, 60 * len(shown) + 24))
    sheet.body.addWidget(pane)
