"""Ways of tools into the library and out of it: tools files, servers, exports, and serving over MCP."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.core_link.session import Page, Session
from app.dialogs.consent import with_consent
from app.dialogs.export import ask_file
from app.screens.library.dialogs import ServeDialog
from app.screens.library.presenter import LibraryPresenter
from app.text.formatting import count
from app.widgets import Action, show_menu_under
from app.widgets.dialog import ask
from app.widgets.file_dialog import ask_path
from mcp_tef import Draft, ImportedItem, ImportStatus, SourceKind, TakenTools, ToolSource, new_token

MOST_SHOWN: Final = 12


class LibraryTransfer:
    """Imports and exports of a page."""

    def __init__(self, page: Page, presenter: LibraryPresenter) -> None:
        self._page = page
        self._presenter = presenter

    def export(self, names: Sequence[str]) -> QFileDialog:
        """Ask for a file, and write tools to it from which an import makes the same."""
        name = names[0] if len(names) == 1 else "library"
        write = partial(self._presenter.write_file, names=names)
        return ask_file(self._page, self._page.session, "Export library tools", name, {"json": write})

    async def open_import(self) -> None:
        """Offer a tools file, each server and each draft as the source of tools."""
        servers, drafts = await self._presenter.sources()
        take = [
            Action(text=f"Tools of {one}", do=partial(self._take, ToolSource(names=(one,))), apart=not place)
            for place, one in enumerate(servers)
        ]
        take += [
            Action(text=f"Draft {one.name}", do=partial(self._take_draft, one), apart=not place)
            for place, one in enumerate(drafts)
        ]
        buttons = self._page.header.buttons()
        opener = next((one for one in buttons if one.text().startswith("Import")), self._page.first_focus())
        show_menu_under([Action(text="Tools file…", do=self._ask_file), *take], opener or self._page)

    def _ask_file(self) -> None:
        title, filters = "Take tools into the library", "Tools files (*.json)"
        ask_path(self._page, title, lambda file: self._take(_file_source(file)), filters=filters)

    def _take(self, source: ToolSource) -> None:
        self._page.session.spawn(self.take(partial(self._presenter.take, source)))

    def _take_draft(self, draft: Draft) -> None:
        self._page.session.spawn(self.take(partial(self._presenter.take_draft, draft.id)))

    async def take(self, work: Callable[..., Awaitable[TakenTools]]) -> None:
        """Take tools into the library; consent is asked for a server that must be started, a yes for changed tools.

        All of it can be undone at once.
        """
        session = self._page.session
        taken = await with_consent(session, self._page, work)
        if taken is None:
            return
        if changes := [one for one in taken.items if one.fate is ImportStatus.CHANGED]:
            taken = await self._with_changes(work, taken, changes)
        what = f"{count(len(taken.added) + len(taken.changed), 'tool')} into the library"
        if taken.added or taken.changed:
            undo = partial(self._presenter.put_back, taken)
            session.toast(f"Took {what}", undo, action=f"take {what}")
        if taken.refused:
            session.failed.emit(*_refusal(taken))

    async def _with_changes(
        self, work: Callable[..., Awaitable[TakenTools]], taken: TakenTools, changes: Sequence[ImportedItem]
    ) -> TakenTools:
        """Change tools that are there already, after a yes; without one nothing of them is a failure."""
        names = {one.name for one in changes}
        taken = replace(taken, refused=tuple(one for one in taken.refused if one[0] not in names))
        if not await ask(self._page, *_question(changes), yes="Change"):
            return taken
        changed = await with_consent(self._page.session, self._page, partial(work, replacing=True))
        return replace(changed, added=taken.added) if changed else taken


def _file_source(file: Path) -> ToolSource:
    return ToolSource(kind=SourceKind.FILES, names=(str(file),))


def _question(items: Sequence[ImportedItem]) -> tuple[str, str]:
    """Return the title of a question about tools that would change, and their fields with both values."""
    lines = [f"{one.name}: {it.field}: {it.before} → {it.after}" for one in items for it in one.changes]
    more = f"\n… and {len(lines) - MOST_SHOWN} more" if len(lines) > MOST_SHOWN else ""
    return f"Change {count(len(items), 'tool')} of the library?", "\n".join(lines[:MOST_SHOWN]) + more


def _refusal(taken: TakenTools) -> tuple[str, str, str]:
    lines = "\n".join(f"{name}: {reason}" for name, reason in taken.refused)
    return f"{count(len(taken.refused), 'tool')} could not be taken.", "See the details for the reasons.", lines


class LibraryServing(QObject):
    """At most one address at a time. `address_known` carries it to the window's thread; `changed` follows."""

    address_known = Signal(str)
    changed = Signal()

    def __init__(self, session: Session, presenter: LibraryPresenter, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._presenter = session, presenter
        self._page = parent
        self._task: asyncio.Task[None] | None = None
        self._dialog: ServeDialog | None = None
        self.address = self.token = ""
        self.address_known.connect(self._show)

    def open(self, names: Sequence[str]) -> ServeDialog:
        """Open the dialog that explains both ways and starts or stops the address."""
        dialog = ServeDialog(self._session.workspace, names, self._page)
        self._dialog = dialog
        dialog.show_address(self.address, self.token)
        dialog.start_wanted.connect(self.start)
        dialog.stop_wanted.connect(self.stop)
        dialog.finished.connect(self._forget)
        dialog.open()
        return dialog

    def start(self) -> None:
        """Serve at a free port of this computer, once the programs of the tools are allowed."""
        if self._task is None:
            self._task = self._session.spawn(self._serve())

    def stop(self) -> None:
        """Stop serving."""
        if self._task is not None:
            self._task.cancel()

    async def _serve(self) -> None:
        session, token = self._session, new_token()
        try:
            if await with_consent(session, self._dialog or self._page, self._presenter.allowed_to_serve) is None:
                return
            self.token = token
            await self._presenter.serve(session.call_long, self.address_known.emit, token)
        finally:
            self._task = None
            self._show("")

    def _show(self, address: str) -> None:
        self.address = address
        if self._dialog is not None:
            self._dialog.show_address(address, self.token)
        self.changed.emit()

    def _forget(self) -> None:
        self._dialog = None
