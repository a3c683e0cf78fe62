"""Folders and files of the application on this computer, and their sizes."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core_link.session import Session
from app.text.formatting import count
from app.theme import Role, Size
from app.widgets import Action, FlowText, Label, Rule, Section, button

VECTORS = "vectors"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsPaths:
    """Paths of the workspace, settings and log; `show` opens a folder."""

    workspace: Path | None
    settings: Path | None
    log: Path | None
    show: Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class DataPart:
    """One place: what it is, where, why, and its size in bytes."""

    title: str
    path: Path
    why: str
    size: int


def parts(places: SettingsPaths) -> tuple[DataPart, ...]:
    """Every place with its size; it may take a while."""
    from mcp_tef import default_workspace

    data = default_workspace().parent
    known = [
        ("Workspace", places.workspace, "Servers, cases and runs. Copy it to keep it."),
        ("Data folder", data, "All that this program keeps for you, with what stands below."),
        ("Models", data / "models", "Embedding models that were downloaded."),
        (VECTORS.capitalize(), data / VECTORS, "What was embedded before, so that it is quick the next time."),
        ("Log", places.log, "What happened, for a report of a mistake. No key and no answer stands in it."),
        ("Settings", places.settings, "What is set here, and how the window was left."),
    ]
    return tuple(DataPart(title, path, why, _size(path)) for title, path, why in known if path is not None)


def size_words(size: int) -> str:
    """A size as people say it."""
    for unit, limit in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size >= limit:
            return f"{size / limit:.1f} {unit}" if size < 10 * limit else f"{size / limit:,.0f} {unit}"
    return count(size, "byte") if size else "nothing yet"


class DataSection(Section):
    """Measured when somebody turns to it."""

    def __init__(self, session: Session, places: SettingsPaths) -> None:
        super().__init__(margins=False)
        self._session = session
        self._places = places

    async def load(self) -> None:
        """Measure and show."""
        self._show(await asyncio.to_thread(parts, self._places))

    def _show(self, found: Sequence[DataPart]) -> None:
        self.clear()
        for number, part in enumerate(found):
            if number:
                self.add(Rule())
            self.add(self._row(part))
        self.column.addStretch(1)

    def _row(self, part: DataPart) -> QWidget:
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(12)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(Label(part.title, strong=True))
        words.addWidget(FlowText(str(part.path), mono=True, max_lines=2))
        words.addWidget(FlowText(part.why, size=Size.SMALL, role=Role.DIM))
        row.addLayout(words, 1)
        top = Qt.AlignmentFlag.AlignTop
        row.addWidget(Label(size_words(part.size), role=Role.DIM, tabular=True), 0, top)
        if part.path.name == VECTORS:
            clear = button(Action(text="Clear", do=self._clear_soon, enabled=part.size > 0))
            clear.setAccessibleName("Clear the vectors")
            row.addWidget(clear, 0, top)
        folder = part.path if part.path.suffix == "" else part.path.parent
        show = button(Action(text="Show", do=lambda: self._places.show(folder)))
        show.setAccessibleName(f"Show the folder of {part.title}")
        row.addWidget(show, 0, top)
        return holder

    def _clear_soon(self) -> None:
        self._session.spawn(self._clear(), of=self)

    async def _clear(self) -> None:
        await self._session.call(lambda core: core.embedders.forget_vectors())
        await self.load()


def _size(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    found = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return sum(os.path.getsize(name) for name in found if os.path.isfile(name))
