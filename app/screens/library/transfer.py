"""Ways of tools into the library and out of it: tools files, registered servers, exports."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from app.core_link.session import Page
from app.dialogs.consent import with_consent
from app.dialogs.export import ask_file
from app.screens.library.presenter import LibraryPresenter
from app.text.formatting import count
from app.widgets import Action, show_menu_under
from mcp_tef import Draft, SourceKind, TakenTools, ToolSource


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
        dialog = QFileDialog(self._page, "Take tools into the library", "", "Tools files (*.json)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda file: self._take(_file_source(file)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _take(self, source: ToolSource) -> None:
        self._page.session.spawn(self.take(partial(self._presenter.take, source)))

    def _take_draft(self, draft: Draft) -> None:
        self._page.session.spawn(self.take(partial(self._presenter.take_draft, draft.id)))

    async def take(self, work: Callable[[], Awaitable[TakenTools]]) -> None:
        """Take tools into the library, asking for consent if a server must be started; this can be undone."""
        session = self._page.session
        taken = await with_consent(session, self._page, work)
        if taken is None:
            return
        what = f"{count(len(taken.added), 'tool')} into the library"
        if taken.added:
            undo = partial(self._presenter.delete, taken.added)
            session.toast(f"Took {what}", undo, action=f"take {what}")
        if taken.refused:
            session.failed.emit(*_refusal(taken))


def _file_source(file: str) -> ToolSource:
    return ToolSource(kind=SourceKind.FILES, names=(str(Path(file)),))


def _refusal(taken: TakenTools) -> tuple[str, str, str]:
    lines = "\n".join(f"{name}: {reason}" for name, reason in taken.refused)
    return f"{count(len(taken.refused), 'tool')} could not be taken.", "See the details for the reasons.", lines
