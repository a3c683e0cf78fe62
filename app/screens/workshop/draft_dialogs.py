"""Dialogs of the workshop: a draft's name, cases to add, a newer listing in three columns, edits of source files."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from PySide6.QtWidgets import QWidget

from app.screens.workshop.trial_cases import shown_texts
from app.text.formatting import count
from app.theme import Role, Size
from app.widgets import (
    Action,
    Cell,
    CellKind,
    CheckableTable,
    Column,
    Dialog,
    Field,
    FlowText,
    LineEdit,
    ListTable,
    Picker,
    PickItem,
    Row,
    SearchField,
)
from app.widgets.checkable_table import MakeCells
from app.widgets.file_dialog import ask_path
from app.widgets.text_view import CodeView
from mcp_tef import CopyOnlyText, InputError, SourceEdit, TestCase, TextConflict, canonical, require_draft_name

CONFLICT_COLUMNS: Final = (
    Column(key="text", title="Text", kind=CellKind.MONO, width=150, tip="The text that both changed"),
    Column(key="was", title="Was", width=150, tip="The text in the listing under the draft"),
    Column(key="now", title="Now", width=150, tip="The text that the server lists now"),
    Column(key="draft", title="Draft", stretch=True, tip="The text in your draft"),
)

CASE_COLUMNS: Final = (
    Column(key="case", title="Case", width=200, tip="The test case"),
    Column(key="query", title="Query", stretch=True, role=Role.DIM, tip="The text that the user typed"),
    Column(key="now", title="Now", width=136, role=Role.DIM, tip="The list that the case is in now"),
)


class DraftNameDialog(Dialog):
    """Asks for the name of a draft and, for a new one, its server or tools file; they are set once it is accepted."""

    def __init__(
        self, title: str, name: str, taken: Sequence[str], parent: QWidget, servers: Sequence[str] = ()
    ) -> None:
        super().__init__(title, parent, width=420)
        self._taken = {one.casefold() for one in taken}
        self.name = name
        self.server_name = ""
        self.tools_file: str | None = None
        self.edit = LineEdit()
        self.edit.setText(name)
        self.edit.selectAll()
        self.name_field = Field("Name", self.edit)
        self.server = Picker("Server", "Select a server")
        self.body.addWidget(self.name_field)
        self._new = title.startswith("New")
        if self._new:
            self.server.set_items([PickItem(id=one, title=one, mono=False) for one in servers])
            self.server.set_current(next(iter(servers), ""))
            self.server_field = Field("Server", self.server, note="The draft starts from its tools; it is not changed.")
            self.body.addWidget(self.server_field)
            self.server_field.setVisible(bool(servers))
        left = [Action(text="Use a tools file…", do=self._ask_file)] if self._new else []
        done = Action(text="Create draft" if self._new else "Rename", do=self.agree, kind="primary")
        self.set_buttons([Action(text="Cancel", do=self.reject), done], left=left)
        self.edit.typed.connect(lambda _: self.name_field.tell(self._fault()))
        self.edit.setFocus()

    def agree(self) -> None:
        """Accept the dialog, or show what is wrong."""
        fault = self._fault()
        self.name_field.set_error(fault)
        if self._new and not fault and not (self.server.current() or self.tools_file):
            self.name_field.set_error("Select a server, or use a tools file.")
        elif not fault:
            self.name, self.server_name = self.edit.text().strip(), self.server.current()
            self.accept()

    def _fault(self) -> str:
        try:
            require_draft_name(self.edit.text())
        except InputError as error:
            return f"{error.message} {error.hint}"
        taken = self.edit.text().strip().casefold() in self._taken
        return "There is a draft with this name already. Use another name." if taken else ""

    def _ask_file(self) -> None:
        ask_path(self, "Select a tools file", lambda file: self.use_file(str(file)), filters="Tools file (*.json)")

    def use_file(self, path: str) -> None:
        """Take a tools file instead of a server."""
        self.tools_file = path
        self.agree()


class AddCasesDialog(Dialog):
    """Test cases to tick for a list of a trial; `chosen` are their ids once it is accepted.

    Each case comes with the other list that it is in now, if it is in one.
    """

    def __init__(self, title: str, cases: Sequence[tuple[TestCase, str]], parent: QWidget) -> None:
        super().__init__(f"Add {title[0].lower()}{title[1:]}", parent, width=720)
        self.chosen: tuple[str, ...] = ()
        self.search = SearchField("Search cases")
        self.table = CheckableTable(CASE_COLUMNS, "Cases to add")
        self.table.when_empty = "Every test case of this server is in the list."
        self.table.setMinimumHeight(280)
        makers: dict[str, MakeCells] = {case.id: partial(_case_cells, case, now) for case, now in cases}
        self.table.show_cells(makers, dict.fromkeys(makers, False))
        self.search.textChanged.connect(self.table.table_rows.find_rows)
        for part in (self.search, self.table):
            self.body.addWidget(part)
        add = Action(text="Add cases", do=self._agree, kind="primary")
        self.add = self.set_buttons([Action(text="Cancel", do=self.reject), add])[-1]
        self.table.ticks_changed.connect(self._show_number)
        self._show_number()
        self.search.setFocus()

    def _show_number(self) -> None:
        number = len(self.table.ticked())
        self.add.setText(f"Add {count(number, 'case')}" if number else "Add cases")
        self.add.setEnabled(bool(number))

    def _agree(self) -> None:
        self.chosen = self.table.ticked()
        self.accept()


def _case_cells(case: TestCase, now: str) -> tuple[Cell, ...]:
    name, query = shown_texts(case)
    return Cell(text=name, tip=name), Cell(text=query, tip=query), Cell(text=now, tip=now)


class ListingConflictsDialog(Dialog):
    """Texts that both the draft and the newer listing changed: was, now and draft. `keep_draft` is the answer."""

    def __init__(self, conflicts: Sequence[TextConflict], parent: QWidget) -> None:
        super().__init__("The listing changed the same texts", parent, width=760)
        self.keep_draft = True
        words = "The server changed these texts after the draft was made. Select which texts the draft has from now on."
        self.body.addWidget(FlowText(words, role=Role.DIM))
        self.table = ListTable(CONFLICT_COLUMNS, "Texts that both changed")
        self.table.set_rows([Row(str(place), _conflict_cells(one)) for place, one in enumerate(conflicts)])
        self.table.setMinimumHeight(160)
        self.body.addWidget(self.table)
        self.whole = FlowText(size=Size.SMALL)
        self.body.addWidget(self.whole)
        self.table.chosen.connect(lambda row: self.whole.set_text(_whole(conflicts[int(row)])) if row else None)
        self.table.select_first()
        take = Action(text="Take the listing’s texts", do=lambda: self._answer(keep=False))
        keep = Action(text="Keep the draft’s texts", do=lambda: self._answer(keep=True), kind="primary")
        self.set_buttons([Action(text="Cancel", do=self.reject), take, keep])

    def _answer(self, *, keep: bool) -> None:
        self.keep_draft = keep
        self.accept()


def _conflict_cells(one: TextConflict) -> tuple[Cell, ...]:
    values = (_value(value) for value in (one.was, one.now, one.draft))
    return (Cell(text=f"{one.tool}: {one.field}"), *(Cell(text=value, tip=value) for value in values))


def _whole(one: TextConflict) -> str:
    named = (("Was", one.was), ("Now", one.now), ("Draft", one.draft))
    return "\n".join(f"{label}: {_value(value)}" for label, value in named)


def _value(value: object) -> str:
    return "nothing" if value is None else value if isinstance(value, str) else canonical(value)


class SourceEditsDialog(Dialog):
    """Edits of the server's source as unified diffs, written once it is accepted, and texts that can only be copied."""

    def __init__(
        self, places: Sequence[SourceEdit | CopyOnlyText], copy: Callable[[str], object], parent: QWidget
    ) -> None:
        super().__init__("Change the server’s source", parent, width=760)
        edits = [one for one in places if isinstance(one, SourceEdit)]
        others = [one for one in places if isinstance(one, CopyOnlyText)]
        buttons = [Action(text="Cancel", do=self.reject)]
        if others:
            self.body.addWidget(FlowText(_why_only_copied(others), role=Role.TEXT))
            text = "\n\n".join(one.text for one in others)
            kind = "plain" if edits else "primary"
            buttons.append(Action(text="Copy the new text", do=partial(copy, text), kind=kind, icon="copy"))
        if edits:
            buttons.append(self._show_edits(edits))
        self.set_buttons(buttons)

    def _show_edits(self, edits: Sequence[SourceEdit]) -> Action:
        places = "\n".join(f"{edit.path}, line {edit.line:,}" for edit in edits)
        self.body.addWidget(FlowText(f"The old text stands once here:\n{places}", role=Role.DIM))
        view = CodeView("Changes of the source")
        view.show_text("\n".join(edit.diff for edit in edits))
        view.setMinimumHeight(240)
        self.body.addWidget(view)
        number = len({edit.path for edit in edits})
        text = "Write to the file" if number == 1 else f"Write to {number} files"
        return Action(text=text, do=self.accept, kind="primary")


def _why_only_copied(texts: Sequence[CopyOnlyText]) -> str:
    places = (f"{one.path}, line {one.line:,}: {one.reason}" for one in texts)
    return "\n".join(("Copy the new text and put it in by hand:", *places))
