"""What is done to several cases at once: copies, deletions, other tags, suites, servers and tools; each is one step."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from PySide6.QtGui import QGuiApplication

from app.core_link.session import Page
from app.screens.cases.expecting import ExpectSheet
from app.screens.cases.front import Front
from app.screens.cases.labelling import LabelSheet
from app.screens.cases.presenter import CasesPresenter
from app.screens.cases.table import CasesTable
from app.text.formatting import count
from mcp_tef import CaseDraft, CaseId

Way = Callable[[], Awaitable[object]]
Drafts = Mapping[CaseId, CaseDraft]


class Many:
    """Works on what is selected in the table; the ways back need no table, only whatever stands at the front then."""

    def __init__(self, page: Page, presenter: CasesPresenter, table: CasesTable, front: Front) -> None:
        self._page = page
        self._session = page.session
        self._presenter = presenter
        self._table = table
        self._front = front

    def selected(self) -> tuple[CaseId, ...]:
        """The cases that are chosen."""
        return tuple(CaseId(row_id) for row_id in self._table.selected_ids())

    def suites(self) -> tuple[str, ...]:
        """The suites that chosen cases are in."""
        drafts = self._presenter.drafts(self.selected()).values()
        return tuple(dict.fromkeys(suite for draft in drafts for suite in draft.suites))

    def copy_queries(self) -> None:
        """What the users say, a line each, into the clipboard."""
        QGuiApplication.clipboard().setText(self._presenter.queries(self.selected()))

    def duplicate(self) -> None:
        """Copy the chosen cases and show the first copy."""
        self._session.spawn(self._duplicate(self.selected()))

    def delete(self) -> None:
        """Delete the chosen cases, with a way back."""
        self._session.spawn(self._delete(self.selected()))

    def label(self) -> None:
        """Ask for other tags, suites and servers of the chosen cases."""
        self._session.spawn(self._label(self.selected()))

    def expect(self) -> None:
        """Ask for another expected tool of the chosen cases."""
        self._session.spawn(self._expect(self.selected()))

    async def _duplicate(self, ids: Sequence[CaseId]) -> None:
        copies = await self._presenter.duplicate(ids)
        if copies:
            self._front.show(copies[0])
            self._tell("duplicate", copies, partial(self._remove, copies), partial(self._restore, copies))

    async def _delete(self, ids: Sequence[CaseId]) -> None:
        gone = await self._remove(ids)
        if gone:
            self._tell("delete", gone, partial(self._restore, gone), partial(self._remove, gone))

    async def _remove(self, ids: Sequence[CaseId]) -> tuple[CaseId, ...]:
        after = self._front.after(ids)
        gone = await self._presenter.remove(ids)
        self._front.show(after if self._presenter.current is None else "")
        return gone

    async def _restore(self, ids: Sequence[CaseId]) -> None:
        await self._presenter.restore(ids)
        self._front.show(ids[0])

    async def _label(self, ids: Sequence[CaseId]) -> None:
        presenter = self._presenter
        await presenter.save()
        before = presenter.drafts(ids)
        sheet = LabelSheet(
            before.values(),
            tags=presenter.all_tags(),
            suites=presenter.all_suites(),
            servers=presenter.server_names(),
            parent=self._page,
        )
        if await sheet.done_with():
            after = {case_id: sheet.labelling.of(draft) for case_id, draft in before.items()}
            await self._change("tags, suites and servers", before, after)

    async def _expect(self, ids: Sequence[CaseId]) -> None:
        presenter = self._presenter
        await presenter.save()
        before = presenter.drafts(ids)
        sheet = ExpectSheet(before, presenter.tools.of(()), self._page)
        if await sheet.done_with():
            await self._change("the expected tool", before, sheet.changed())

    async def _change(self, what: str, before: Drafts, wanted: Drafts) -> None:
        """One step for all that become others."""
        after = {case_id: draft for case_id, draft in wanted.items() if draft != before[case_id]}
        if not after:
            self._session.toast("Nothing of the cases is another now")
            return
        await self._edit(after)
        back, again = partial(self._edit, {case_id: before[case_id] for case_id in after}), partial(self._edit, after)
        cases = count(len(after), "case")
        self._session.toast(f"Changed {what} of {cases}", back, again, deed=f"change {what} of {cases}")

    async def _edit(self, drafts: Drafts) -> None:
        await self._presenter.edit_all(drafts)
        self._front.show()

    def _tell(self, verb: str, ids: Sequence[CaseId], back: Way, again: Way) -> None:
        what = count(len(ids), "case")
        self._session.toast(f"{verb}d {what}".capitalize(), back, again, deed=f"{verb} {what}")
