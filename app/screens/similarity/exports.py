"""Exports of the map, the analysis and recommended changes."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QFileDialog

from app.core_link.session import Page, Session
from app.dialogs.export import ask_place, copy_markdown, printed
from app.screens.similarity.labels import MAP_LABELS, MapKind
from app.screens.similarity.map_pane import MapPane
from app.screens.similarity.pair_list import PairIndices
from app.screens.similarity.presenter import SimilarityPresenter, SimilarityState
from app.widgets import Action
from app.widgets.chart import Chart, copy_picture, save_picture
from mcp_tef import require_replaceable

FILE_TYPES: Final = {
    "png": "Picture (*.png)",
    "svg": "Drawing (*.svg)",
    "csv": "Table (*.csv)",
    "json": "JSON (*.json)",
    "html": "Report to read (*.html)",
    "pdf": "Report to print (*.pdf)",
}
NAME: Final = "tool-similarity"
Write = Callable[[Path], Awaitable[object]]


class SimilarityFileWriter:
    """What the page saves with."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def ask(self, name: str, kind: str, write: Write) -> QFileDialog:
        """Ask where something is to go; `write` gets the file."""
        session = self._page.session
        form = FILE_TYPES[kind], kind
        return ask_place(self._page, f"Save {name}", name, form, lambda file: session.spawn(self.save(file, write)))

    async def save(self, file: Path, write: Write) -> None:
        """Write a file, and say so, or why not; no workspace is replaced."""
        session = self._page.session
        await asyncio.to_thread(require_replaceable, file)
        try:
            await write(file)
        except OSError as error:
            hint = "Choose another folder, or close the program that has the file open."
            session.failed.emit(f"{file.name} could not be written.", hint, error.strerror or str(error))
            return
        session.toast(f"Saved {file.name}")


def write_chart(chart: Chart, title: str) -> Write:
    """What writes a chart as PNG or SVG."""

    async def write(file: Path) -> None:
        save_picture(chart, file, title)

    return write


def write_text(text: str) -> Write:
    """What writes a text in UTF-8."""

    async def write(file: Path) -> None:
        await asyncio.to_thread(file.write_text, text, encoding="utf-8")

    return write


FORMS = (
    ("csv", "Pairs as CSV…"),
    ("json", "Everything as JSON…"),
    ("html", "Report as HTML…"),
    ("pdf", "Report as PDF…"),
)
OVERLAP_FORMS = (
    ("csv", "Overlap as CSV…"),
    ("json", "Overlap as JSON…"),
    ("html", "Overlap report as HTML…"),
    ("pdf", "Overlap report as PDF…"),
)
OVERLAP_NAME = "tool-overlap"


@dataclass(frozen=True, slots=True)
class SimilarityExports:
    """What is exported, and what with."""

    presenter: SimilarityPresenter
    pane: MapPane
    saving: SimilarityFileWriter
    session: Session
    pair: Callable[[], PairIndices | None]

    def actions(self) -> list[Action]:
        """The map as PNG and SVG, all pairs as CSV, JSON, HTML and PDF; where the map shows the overlap, that."""
        if self.presenter.state is not SimilarityState.FULL:
            return [Action(text="There is nothing to export yet", do=lambda: None, enabled=False)]
        pictures = [Action(text=f"Map as {kind.upper()}…", do=self._picture(kind)) for kind in ("png", "svg")]
        copied = Action(text="Copy map", do=lambda: copy_picture(self.pane.heatmap, self.title()))
        overlap = self.pane.shown_kind() is MapKind.OVERLAP
        forms = [
            Action(text=text, do=self._overlap(kind) if overlap else self._form(kind), apart=place == 0)
            for place, (kind, text) in enumerate(OVERLAP_FORMS if overlap else FORMS)
        ]
        return [*pictures, copied, *forms, *self._copied_work(), *self._copied_pair()]

    def _copied_work(self) -> list[Action]:
        """The pairs to work on for the clipboard."""

        def copy() -> None:
            markdown = self.presenter.work_markdown(self.pane.scale.threshold())
            self.session.spawn(copy_markdown(self.session, markdown, "the pairs"))

        return [Action(text="Copy the pairs to work on as Markdown", do=copy, icon="copy", apart=True)]

    def _copied_pair(self) -> list[Action]:
        """The open pair for the clipboard."""
        pair = self.pair()
        if pair is None:
            return []

        def copy() -> None:
            self.session.spawn(copy_markdown(self.session, self.presenter.pair_markdown(pair), "the pair"))

        return [Action(text="Copy the pair as Markdown", do=copy, icon="copy")]

    def title(self) -> str:
        """What stands above a picture."""
        return f"{MAP_LABELS[self.pane.shown_kind()]} of {len(self.pane.heatmap.heat()):,} tools"

    def _picture(self, kind: str) -> Callable[[], object]:
        return lambda: self.saving.ask(NAME, kind, write_chart(self.pane.heatmap, self.title()))

    def _overlap(self, kind: str) -> Callable[[], object]:
        weights = self.pane.weights.weights
        if kind == "pdf":
            write = printed(lambda: self.presenter.overlap_html(weights()), "What do tools share?")
            return lambda: self.saving.ask(OVERLAP_NAME, kind, write)
        return lambda: self.saving.ask(OVERLAP_NAME, kind, lambda file: self.presenter.write_overlap(file, weights()))

    def _form(self, kind: str) -> Callable[[], object]:
        threshold = self.pane.scale.threshold
        if kind == "pdf":
            write = printed(lambda: self.presenter.report_html(threshold()), "Which tools look alike?")
            return lambda: self.saving.ask(NAME, kind, write)
        return lambda: self.saving.ask(NAME, kind, lambda file: self.presenter.write_report(file, threshold()))
