"""Ways out of a draft: its new texts copied, exported with the evidence of its trial, or written to the source."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QObject

from app.core_link.session import Page
from app.dialogs.export import ask_file, copy_text, file_name, text_writer
from app.screens.kit.menus import command_action
from app.screens.workshop.commands import SOURCE
from app.screens.workshop.draft_dialogs import SourceEditsDialog
from app.screens.workshop.presenter import WorkshopPresenter
from app.screens.workshop.trial_presenter import TrialPresenter
from app.widgets import Action, show_menu_under
from mcp_tef import DraftFormat, SourceEdit

EXPORTS: Final[Mapping[DraftFormat, tuple[str, str]]] = {
    DraftFormat.PATCH: ("Patch (RFC 6902)", "json"),
    DraftFormat.OVERRIDE: ("Override (ToolHive)", "json"),
    DraftFormat.TOOLS: ("Tools file", "json"),
    DraftFormat.MARKDOWN: ("Markdown for a pull request", "md"),
    DraftFormat.HTML: ("HTML page", "html"),
}


class DraftExports(QObject):
    """Copies, saves and writes the selected draft; what was typed is saved first."""

    def __init__(
        self, page: Page, drafts: WorkshopPresenter, trial: TrialPresenter, save: Callable[[], Awaitable[object]]
    ) -> None:
        super().__init__(page)
        self._page, self._session, self._drafts, self._trial, self._save = page, page.session, drafts, trial, save

    def copy(self) -> None:
        """Copy the new text; where there are several, ask for the field."""
        texts = self._drafts.changed_texts()
        if len(texts) == 1:
            copy_text(self._session, texts[0][1], "the new text")
            return
        actions = [
            Action(text=label, do=partial(copy_text, self._session, text, f"the new text of {label}"))
            for label, text in texts
        ]
        whole = "\n\n".join(f"{label}:\n{text}" for label, text in texts)
        every = Action(text="All new texts", do=partial(copy_text, self._session, whole, "all new texts"), apart=True)
        show_menu_under([*actions, every], self._page.header.buttons()[-1])

    def actions(self) -> list[Action]:
        """Return the entries that copy or save the draft in a format, or write its texts to the server's source."""
        copies = [
            Action(text=f"Copy {label[0].lower()}{label[1:]}", do=partial(self.copy_as, kind), icon="copy")
            for kind, (label, _) in list(EXPORTS.items())[:4]
        ]
        saves = [
            Action(text=f"Save {label[0].lower()}{label[1:]}…", do=partial(self.save_as, kind), apart=not place)
            for place, (kind, (label, _)) in enumerate(EXPORTS.items())
        ]
        source = next(one for one in self._page.commands() if one.id == SOURCE)
        return [*copies, *saves, command_action(source, "Change the server’s source…", apart=True)]

    def open_menu(self) -> None:
        """Open the menu of exports under its button."""
        show_menu_under(self.actions(), self._page.header.buttons()[0])

    def copy_as(self, kind: DraftFormat) -> None:
        """Copy the draft in a format."""
        self._session.spawn(self._copy_as(kind))

    async def _copy_as(self, kind: DraftFormat) -> None:
        copy_text(self._session, await self._text(kind), f"the draft as {EXPORTS[kind][0]}")

    def save_as(self, kind: DraftFormat) -> None:
        """Ask for a file, and save the draft in a format."""
        self._session.spawn(self._save_as(kind))

    async def _save_as(self, kind: DraftFormat) -> None:
        draft, (label, ending) = self._drafts.draft, EXPORTS[kind]
        if draft is not None:
            writer = text_writer(await self._text(kind))
            ask_file(self._page, self._session, f"Save: {label}", f"{file_name(draft.name)}-{kind}", {ending: writer})

    async def _text(self, kind: DraftFormat) -> str:
        """Return the draft in a format, for readers with what its last trial showed."""
        await self._save()
        draft = self._drafts.draft
        assert draft is not None
        return await self._trial.draft_text(draft, kind)

    async def change_source(self) -> None:
        """Show the edit of the server's own source, and write it after a click; it can be undone."""
        await self._save()
        places = await self._drafts.source_edits()
        if not places:
            self._session.toast("No file on this computer holds the old text exactly once.")
            return
        edits = [one for one in places if isinstance(one, SourceEdit)]
        copy = partial(copy_text, self._session, what="the new text")
        if await SourceEditsDialog(places, copy, self._page).done_with():
            await _write_source(edits)
            undo = partial(_write_source, edits, back=True)
            self._session.toast("Changed the server’s source", undo=undo, action="change the server’s source")


async def _write_source(edits: Sequence[SourceEdit], *, back: bool = False) -> None:
    """Write edits of source files, or put back what was there."""
    from mcp_tef import undo_source_edit, write_source_edit

    for edit in edits:
        await asyncio.to_thread(undo_source_edit if back else write_source_edit, edit)
