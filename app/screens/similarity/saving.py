"""The map, the analysis and single changes into files: asks where, writes off the window's thread, and says so."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QFileDialog

from app.core_link.session import Page
from app.dialogs.export import ask_place
from app.widgets.chart import Chart, save_picture
from mcp_tef import require_replaceable

KINDS: Final = {
    "png": "Picture (*.png)",
    "svg": "Drawing (*.svg)",
    "csv": "Table (*.csv)",
    "json": "JSON (*.json)",
    "html": "Report to read (*.html)",
    "pdf": "Report to print (*.pdf)",
}
NAME: Final = "tool-similarity"
Write = Callable[[Path], Awaitable[object]]


class Saving:
    """What the page saves with."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def ask(self, name: str, kind: str, write: Write) -> QFileDialog:
        """Ask where something is to go; `write` gets the file."""
        session = self._page.session
        form = KINDS[kind], kind
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
