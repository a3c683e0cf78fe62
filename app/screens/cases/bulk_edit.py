"""Change several cases at once: names, expected tool, copies, deletions and suites, each as one undo step."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.core_link.session import Page
from app.screens.cases.calls import ToolChoice
from app.screens.cases.presenter import CasesPresenter
from app.screens.cases.rows import FIELDS, SUITE
from app.screens.cases.undo_steps import VisibleCasesPage
from app.screens.cases.view import CasesTable
from app.screens.kit import ViewStates
from app.text.formatting import count
from app.theme import Role
from app.widgets import (
    Action,
    Dialog,
    Field,
    FlowText,
    LineEdit,
    MenuButton,
    Picker,
    PickItem,
    TokensEdit,
    one_line,
    row_layout,
)
from mcp_tef import NO_TOOL, CaseDraft, CaseId, Expectation, ExpectedCall, InputError, ToolLabel, free_suite_name

LABELS_NOTE = "Everything else stays unchanged."
Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NameChange:
    """Names to add to every case, and names to remove."""

    add: Names = ()
    remove: Names = ()

    def __bool__(self) -> bool:
        return bool(self.add or self.remove)

    def of(self, names: Names) -> Names:
        """Return the names of one case after the change."""
        kept = tuple(name for name in names if name not in self.remove)
        return (*kept, *(name for name in self.add if name not in kept))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelChanges:
    """Changes of the tags, suites and servers of cases."""

    tags: NameChange = NameChange()
    suites: NameChange = NameChange()
    servers: NameChange = NameChange()

    def __bool__(self) -> bool:
        return bool(self.tags or self.suites or self.servers)

    def of(self, draft: CaseDraft) -> CaseDraft:
        """Return a case with the changes applied."""
        tags, suites = self.tags.of(draft.tags), self.suites.of(draft.suites)
        return replace(draft, tags=tags, suites=suites, servers=self.servers.of(draft.servers))


class LabelsDialog(Dialog):
    """Dialog that asks for names to add to the selected cases and to remove; `label_changes` is the answer."""

    def __init__(
        self, drafts: Collection[CaseDraft], *, tags: Names, suites: Names, servers: Names, parent: QWidget
    ) -> None:
        number = count(len(drafts), "case")
        super().__init__(f"Tags, suites and servers of {number}", parent)
        self.body.addWidget(FlowText(LABELS_NOTE, role=Role.DIM))
        self._tags = self._fields("tag", tags, {tag for draft in drafts for tag in draft.tags})
        self._suites = self._fields("suite", suites, {suite for draft in drafts for suite in draft.suites})
        used = {server for draft in drafts for server in draft.servers}
        self._servers = self._fields("server", servers, used, only_known=True)
        self.body.addStretch(1)
        cancel = Action(text="Cancel", do=self.reject)
        _, self._do = self.set_buttons([cancel, Action(text=f"Change {number}", do=self.accept, kind="primary")])
        self._tags[0].setFocus()
        self._judge()

    @property
    def label_changes(self) -> LabelChanges:
        """Changes entered in the dialog."""
        fields = (self._tags, self._suites, self._servers)
        tags, suites, servers = (NameChange(add.tokens(), remove.tokens()) for add, remove in fields)
        return LabelChanges(tags=tags, suites=suites, servers=servers)

    def _fields(
        self, what: str, known: Names, used: Collection[str], *, only_known: bool = False
    ) -> tuple[TokensEdit, TokensEdit]:
        """Add a field for names to add and, if names are in use, one for names to remove."""
        add = TokensEdit(what, f"Add a {what}", only_known=only_known, framed=True)
        add.set_known(known)
        remove = TokensEdit(what, f"Select a {what}", only_known=True, framed=True)
        remove.set_known(sorted(used, key=str.lower))
        beside = row_layout(spacing=16)
        for title, edit in ((f"Add {what}s", add), (f"Remove {what}s", remove)):
            field = Field(title, edit)
            field.setVisible(edit is add or bool(used))
            beside.addWidget(field, 1)
            edit.changed.connect(self._judge)
        self.body.addLayout(beside)
        return add, remove

    def _judge(self) -> None:
        self._do.setEnabled(bool(self.label_changes))


EXPECTATION_NOTE = "Expected values stay unchanged. The tool's server is added to cases that do not offer it yet."
ANY = "Any expected tool"
NONE = "no tool"


@dataclass(frozen=True, slots=True)
class ExpectedToolChange:
    """Replacement of the expected tool `before` (None: any) by `after` (None: no tool)."""

    before: ToolLabel | None
    after: ToolChoice | None

    def of(self, draft: CaseDraft) -> CaseDraft:
        """Return a case with the new expectation; unchanged if it does not expect `before`."""
        if self.before is not None and self.before not in expected_tools([draft]):
            return draft
        if self.after is None:
            return replace(draft, expectation=NO_TOOL)
        servers = draft.servers if self.after.server in draft.servers else (*draft.servers, self.after.server)
        return replace(draft, expectation=self._expectation(draft.expectation, self.after), servers=servers)

    def _expectation(self, now: Expectation, after: ToolChoice) -> Expectation:
        calls = [call for answer in now.alternatives for call in answer]
        if self.before is None and len(calls) != 1:
            return Expectation(((ExpectedCall(tool=after.name, server=after.server),),))
        answers = (tuple(self._call(call, after) for call in answer) for answer in now.alternatives)
        return replace(now, alternatives=tuple(answers))

    def _call(self, call: ExpectedCall, after: ToolChoice) -> ExpectedCall:
        meant = self.before is None or _label(call) == self.before
        return replace(call, tool=after.name, server=after.server) if meant else call


def _label(call: ExpectedCall) -> ToolLabel:
    return ToolLabel(tool=call.tool, server=call.server)


def expected_tools(drafts: Collection[CaseDraft]) -> tuple[ToolLabel, ...]:
    """Return the tools that cases expect, without duplicates."""
    answers = (answer for draft in drafts for answer in draft.expectation.alternatives)
    return tuple(dict.fromkeys(_label(call) for answer in answers for call in answer))


class ExpectedToolDialog(Dialog):
    """Dialog that asks which expected tool to replace, and by which."""

    def __init__(self, drafts: Mapping[CaseId, CaseDraft], tools: Sequence[ToolChoice], parent: QWidget) -> None:
        super().__init__(f"Expected tool of {count(len(drafts), 'case')}", parent)
        self._drafts = drafts
        self._known = {_words(label): label for label in expected_tools(drafts.values())}
        self._tools = {f"{tool.server}\n{tool.name}": tool for tool in tools}
        self.before = MenuButton("In place of", [("", ANY), *((words, words) for words in self._known)])
        self.after = Picker("Expected tool", "Select the tool that should be called")
        none = PickItem(id=NONE, title=NONE, detail="The answer calls no tool", mono=False)
        self.after.set_items([none, *(_item(key, tool) for key, tool in self._tools.items())])
        self.after.set_footer("{shown} of {all}. Enter to select, Esc to cancel.")
        self.body.addWidget(FlowText(EXPECTATION_NOTE, role=Role.DIM))
        for title, widget in (("In place of", self.before), ("Expect", self.after)):
            self.body.addWidget(Field(title, widget))
        self.body.addStretch(1)
        cancel = Action(text="Cancel", do=self.reject)
        _, self._do = self.set_buttons([cancel, Action(text="Change cases", do=self.accept, kind="primary")])
        self.before.changed.connect(lambda _: self._judge())
        self.after.picked.connect(lambda _: self._judge())
        self.after.setFocus()
        self._judge()

    def changed(self) -> dict[CaseId, CaseDraft]:
        """Return the new drafts of the cases that change."""
        if not self.after.current():
            return {}
        wanted = ExpectedToolChange(self._known.get(self.before.current()), self._tools.get(self.after.current()))
        after = {case_id: wanted.of(draft) for case_id, draft in self._drafts.items()}
        return {case_id: draft for case_id, draft in after.items() if draft != self._drafts[case_id]}

    def _judge(self) -> None:
        number = len(self.changed())
        self._do.setText(f"Change {count(number, 'case')}" if number else "Change cases")
        self._do.setEnabled(number > 0)


def _words(label: ToolLabel) -> str:
    return f"{label.server} / {label.tool}" if label.server else f"{label.tool}"


def _item(key: str, tool: ToolChoice) -> PickItem:
    return PickItem(id=key, title=tool.name, detail=tool.sentence, right=tool.server, lead=tool.server)


Way = Callable[[], Awaitable[object]]
Drafts = Mapping[CaseId, CaseDraft]


class BulkEdit:
    """Commands on the selected cases; their undo steps work on whichever cases page is visible then."""

    def __init__(
        self, page: Page, presenter: CasesPresenter, table: CasesTable, visible_page: VisibleCasesPage
    ) -> None:
        self._page = page
        self._session = page.session
        self._presenter = presenter
        self._table = table
        self._visible_page = visible_page

    def selected(self) -> tuple[CaseId, ...]:
        """Return the ids of the selected cases."""
        return tuple(CaseId(row_id) for row_id in self._table.selected_ids())

    def suites(self) -> tuple[str, ...]:
        """Return the suites of the selected cases."""
        drafts = self._presenter.drafts(self.selected()).values()
        return tuple(dict.fromkeys(suite for draft in drafts for suite in draft.suites))

    def copy_queries(self) -> None:
        """Copy the selected queries to the clipboard, one per line."""
        QGuiApplication.clipboard().setText(self._presenter.queries(self.selected()))

    def duplicate(self) -> None:
        """Duplicate the selected cases and show the first copy."""
        self._session.spawn(self._duplicate(self.selected()))

    def delete(self) -> None:
        """Delete the selected cases; can be undone."""
        self._session.spawn(self.remove(self.selected()))

    def label(self) -> None:
        """Ask for new tags, suites and servers of the selected cases."""
        self._session.spawn(self._label(self.selected()))

    def make_family(self) -> None:
        """Put the selected cases into one family, named after the first that has one or else after the first case."""
        self._session.spawn(self._make_family(self.selected()))

    def expect(self) -> None:
        """Ask for another expected tool of the selected cases."""
        self._session.spawn(self._expect(self.selected()))

    async def _duplicate(self, ids: Sequence[CaseId]) -> None:
        copies = await self._presenter.duplicate(ids)
        if copies:
            self._visible_page.show(copies[0])
            self._tell("duplicate", copies, partial(self._remove, copies), partial(self._restore, copies))

    async def remove(self, ids: Sequence[CaseId]) -> None:
        """Delete cases; can be undone."""
        gone = await self._remove(ids)
        if gone:
            self._tell("delete", gone, partial(self._restore, gone), partial(self._remove, gone))

    async def _remove(self, ids: Sequence[CaseId]) -> tuple[CaseId, ...]:
        after = self._visible_page.neighbour_of(ids)
        gone = await self._presenter.remove(ids)
        self._visible_page.show(after if self._presenter.current is None else "")
        return gone

    async def _restore(self, ids: Sequence[CaseId]) -> None:
        await self._presenter.restore(ids)
        self._visible_page.show(ids[0])

    async def _label(self, ids: Sequence[CaseId]) -> None:
        presenter = self._presenter
        await presenter.save()
        before = presenter.drafts(ids)
        dialog = LabelsDialog(
            before.values(),
            tags=presenter.all_tags(),
            suites=presenter.all_suites(),
            servers=presenter.server_names(),
            parent=self._page,
        )
        if await dialog.done_with():
            after = {case_id: dialog.label_changes.of(draft) for case_id, draft in before.items()}
            await self.change("tags, suites and servers", before, after)

    async def _make_family(self, ids: Sequence[CaseId]) -> None:
        await self._presenter.save()
        before = self._presenter.drafts(ids)
        names = [*filter(None, (draft.family for draft in before.values())), *(draft.name for draft in before.values())]
        await self.change("the family", before, {key: replace(one, family=names[0]) for key, one in before.items()})

    async def _expect(self, ids: Sequence[CaseId]) -> None:
        presenter = self._presenter
        await presenter.save()
        before = presenter.drafts(ids)
        dialog = ExpectedToolDialog(before, presenter.tools.of(()), self._page)
        if await dialog.done_with():
            await self.change("the expected tool", before, dialog.changed())

    async def change(self, what: str, before: Drafts, wanted: Drafts) -> None:
        """Store all changed drafts as one undo step."""
        after = {case_id: draft for case_id, draft in wanted.items() if draft != before[case_id]}
        if not after:
            self._session.toast("No cases changed")
            return
        await self._edit(after, before)
        back = partial(self._edit, {case_id: before[case_id] for case_id in after}, after)
        cases, again = count(len(after), "case"), partial(self._edit, after, before)
        self._session.toast(f"Changed {what} of {cases}", back, again, action=f"change {what} of {cases}")

    async def _edit(self, drafts: Drafts, seen: Drafts) -> None:
        await self._presenter.edit_all(drafts, seen)
        self._visible_page.show()

    def _tell(self, verb: str, ids: Sequence[CaseId], back: Way, again: Way) -> None:
        what = count(len(ids), "case")
        self._session.toast(f"{verb}d {what}".capitalize(), back, again, action=f"{verb} {what}")


RENAME_NOTE = "The suite keeps its cases and their order. Batches keep the name they ran with."


class RenameSuiteDialog(Dialog):
    """Dialog that renames `suite` to `name`."""

    def __init__(self, suites: Sequence[str], suite: str, parent: QWidget) -> None:
        super().__init__("Rename a suite", parent, width=420)
        self.suite, self.name = suite, suite
        self._suites = tuple(suites)
        self.picker = Picker("Suite", "Select a suite")
        self.picker.set_items([PickItem(id=name, title=name, mono=False) for name in suites])
        self.edit = LineEdit()
        self._field = Field("New name", self.edit)
        self.body.addWidget(FlowText(RENAME_NOTE, role=Role.DIM))
        self.body.addWidget(Field("Suite", self.picker))
        self.body.addWidget(self._field)
        self.set_buttons([Action(text="Cancel", do=self.reject), Action(text="Rename", do=self._agree, kind="primary")])
        self.picker.picked.connect(self._choose)
        self.edit.typed.connect(lambda _: self._field.tell(self._fault()))
        self._choose(suite)

    def _choose(self, suite: str) -> None:
        self.suite = suite
        self.picker.set_current(suite)
        self._field.set_error("")
        self.edit.setText(suite)
        self.edit.selectAll()
        self.edit.setFocus()

    def _agree(self) -> None:
        fault = self._fault()
        self._field.set_error(fault)
        if not fault:
            self.accept()

    def _fault(self) -> str:
        """Return why the name is not allowed; empty if it is."""
        try:
            self.name = free_suite_name(self.edit.text(), [other for other in self._suites if other != self.suite])
        except InputError as error:
            return f"{error.message} {error.hint}"
        return ""


class SuiteRenaming:
    """Renaming of suites, with undo."""

    def __init__(self, page: Page, presenter: CasesPresenter, visible_page: VisibleCasesPage) -> None:
        self._page, self._session = page, page.session
        self._presenter, self._visible_page = presenter, visible_page

    def ask(self, suite: str = "") -> None:
        """Ask for a new name; preselect the given suite, the filtered one, that of the open case, or the first."""
        self._session.spawn(self._ask(suite))

    async def _ask(self, suite: str) -> None:
        presenter = self._presenter
        await presenter.save()
        there = presenter.all_suites()
        opened = presenter.edited.form.suites if presenter.edited else ()
        likely = (suite, presenter.view.filters.first(SUITE.name), *opened, *there)
        dialog = RenameSuiteDialog(there, next(name for name in likely if name in there), self._page)
        if await dialog.done_with() and dialog.name != dialog.suite:
            before, after = dialog.suite, dialog.name
            await self._rename(before, after)
            back, again = partial(self._rename, after, before), partial(self._rename, before, after)
            action = f"rename the suite “{one_line(before, 40)}”"
            self._session.toast(f"Renamed the suite to {one_line(after, 60)}", back, again, action=action)

    async def _rename(self, suite: str, name: str) -> None:
        await self._presenter.rename_suite(suite, name)
        ViewStates(self._session.settings, self._session.workspace, self._page.key).save(self._presenter.view, FIELDS)
        self._visible_page.show()
