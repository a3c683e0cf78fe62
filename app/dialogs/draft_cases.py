"""The dialog that drafts test cases for the tools of a server and has each one kept, edited or dropped."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QWidget
from shiboken6 import isValid

from app.core_link.session import Session
from app.dialogs.draft_cases_presenter import CaseDraftingPresenter, ReviewDecision, ReviewedDraft, refusals_text
from app.dialogs.model_request_dialog import ModelRequestDialog, ModelTask, last_form
from app.text.formatting import count, error_text
from app.theme import Role, Size
from app.widgets import (
    Action,
    Button,
    Cell,
    CellKind,
    Column,
    Dialog,
    FlowText,
    GrowingEdit,
    Label,
    ListTable,
    Mark,
    MenuButton,
    Notice,
    Row,
    button,
    one_line,
)
from mcp_tef import DraftedCases, DraftKind, ExpectedCall, TefError

EXPLANATION: Final = (
    "Drafts come from the definitions of the tools. Keep those that somebody would really ask; nothing is added before "
    "you say so. Generated cases are often easier than real ones, so results count them apart."
)
KINDS: Final[Mapping[DraftKind, str]] = {
    DraftKind.DIRECT: "Direct",
    DraftKind.INDIRECT: "Indirect",
    DraftKind.NEAR_MISS: "Near miss",
    DraftKind.NO_TOOL: "No tool",
}
KIND_HELP: Final[Mapping[DraftKind, str]] = {
    DraftKind.DIRECT: "It names what to do.",
    DraftKind.INDIRECT: "It says what somebody needs, not what to do.",
    DraftKind.NEAR_MISS: "It is close to a look-alike: {other}.",
    DraftKind.NO_TOOL: "No tool of the server is for it.",
}
DECISIONS: Final[Mapping[ReviewDecision, tuple[Mark, str]]] = {
    ReviewDecision.KEPT: (Mark.CHECK, "Kept"),
    ReviewDecision.DROPPED: (Mark.CROSS, "Dropped"),
    ReviewDecision.LEFT: (Mark.BLANK, "Left to decide"),
}
COLUMNS: Final = (
    Column(key="decision", title="", kind=CellKind.MARK, width=40, sortable=False),
    Column(key="query", title="Query", width=300, least=160, stretch=True, sortable=False),
    Column(key="tool", title="Expected tool", kind=CellKind.MONO, width=140, least=80, sortable=False),
    Column(key="arguments", title="Arguments", kind=CellKind.MONO, width=170, least=60, sortable=False, role=Role.DIM),
    Column(key="kind", title="Kind", width=80, least=40, sortable=False, role=Role.DIM),
)
WIDTH, HEIGHT = 1160, 680


def call_text(call: ExpectedCall | None) -> str:
    """Return the arguments of an expected call: `size: "M", text: contains "bike"`."""
    parameters: Mapping[str, Any] = (call.parameters or {}) if call else {}
    return ", ".join(f"{name}: {_value_text(value)}" for name, value in parameters.items())


def _value_text(value: Any) -> str:
    match list(value.items()) if isinstance(value, Mapping) else ():
        case [(str(name), inner)] if name.startswith("$"):
            return f"{name[1:]} {_value_text(inner)}"
    return json.dumps(value, ensure_ascii=False)


def draft_cells(one: ReviewedDraft) -> tuple[Cell, ...]:
    """Return the table row of a draft."""
    mark, word = DECISIONS[one.decision]
    role = Role.DIM if one.decision is ReviewDecision.DROPPED else Role.TEXT
    tool = one.case.tool
    return (
        Cell(marks=(mark,), tip=word),
        Cell(text=one_line(one.query), role=role),
        Cell(text=one_line(tool) or "no tool", role=role if tool else Role.DIM, italic=not tool),
        Cell(text=one_line(call_text(one.case.draft.expectation.first_call))),
        Cell(text=KINDS[one.case.kind], tip=KIND_HELP[one.case.kind].format(other=one.case.other)),
    )


class DraftsTable(ListTable):
    """Table of drafts; `decided` gives the key that was pressed, K, E or D."""

    decided = Signal(str)

    def __init__(self) -> None:
        super().__init__(COLUMNS, "Drafted cases")
        self.describe_keys(K="Keep the cases", E="Edit the query", D="Drop the cases", Enter="Edit the query")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.text().upper()
        if key and key in "KED" and self.current_id():
            self.decided.emit(key)
        else:
            super().keyPressEvent(event)


class DraftCasesDialog(Dialog):
    """Review of drafted cases; once accepted, the kept ones are to be added."""

    progressed = Signal(float)
    """Share of tools that a model has drafted for; emitted on the core's thread."""
    discard_question = ("Discard the review?", "None of the drafts was added. Your decisions and edits would be lost.")

    def __init__(
        self, session: Session, presenter: CaseDraftingPresenter, servers: Sequence[str], title: str, parent: QWidget
    ) -> None:
        super().__init__(title, parent, width=WIDTH)
        self.need(height=HEIGHT)
        self._session, self._presenter, self._review = session, presenter, presenter.review
        self._work: asyncio.Task[None] | None = None
        self.server = MenuButton("Server", [(name, name) for name in servers])
        self.server.set_current(servers[0])
        self.server.setVisible(len(servers) > 1)
        self.counts = Label(strong=True, tabular=True)
        self.table = DraftsTable()
        self.query = GrowingEdit("Query", least=2, most=3)
        self.about = FlowText(size=Size.SMALL, role=Role.DIM, max_lines=2)
        self.notice = Notice("warn")
        self._lay_out()
        self._connect()
        self.draft()

    def _lay_out(self) -> None:
        head, deciding = QHBoxLayout(), QHBoxLayout()
        head.addWidget(self.server)
        head.addWidget(self.counts, 1)
        self.ask = button(Action(text="Ask a model…", do=self.ask_model, icon="sparkle"), self)
        head.addWidget(self.ask)
        actions = (("Keep", "K", "check"), ("Edit", "E", "pencil-simple"), ("Drop", "D", "x"))
        self.decide: dict[str, Button] = {}
        for text, key, icon in actions:
            action = Action(text=f"{text}  {key}", do=partial(self.press, key), icon=icon)
            self.decide[key] = button(action, self)
            self.decide[key].setAccessibleName(text)
            deciding.addWidget(self.decide[key])
        deciding.addStretch(1)
        self.undoing = button(Action(text="Undo  Ctrl+Z", do=self.undo, kind="quiet"), self)
        self.undoing.setAccessibleName("Undo")
        deciding.addWidget(self.undoing)
        self.table.when_empty = "No drafts. Ask a model, or select another server."
        self.body.addWidget(FlowText(EXPLANATION, size=Size.SMALL, role=Role.DIM))
        self.body.addWidget(self.notice)
        self.body.addLayout(head)
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.query)
        self.body.addWidget(self.about)
        self.body.addLayout(deciding)
        cancel = Action(text="Cancel", do=self.ask_to_close)
        self.add = self.set_buttons([cancel, Action(text="Add cases", do=self.accept, kind="primary")])[-1]

    def _connect(self) -> None:
        self.server.changed.connect(lambda _: self.draft())
        self.table.decided.connect(self.press)
        self.table.chosen.connect(lambda _: self._show_draft())
        self.table.opened.connect(lambda _: self.press("E"))
        self.table.rename_wanted.connect(lambda _: self.press("E"))
        self.table.delete_wanted.connect(lambda _: self.press("D"))
        self.query.edited.connect(self._edit)
        self.query.installEventFilter(self)
        self.progressed.connect(self._show_progress)
        QShortcut(QKeySequence.StandardKey.Undo, self).activated.connect(self.undo)

    def has_unsaved_work(self) -> bool:
        return self._review.is_started

    def close_innermost(self) -> bool:
        """Go back from the query to the table."""
        inside = self.query.hasFocus()
        if inside:
            self.table.setFocus()
        return inside

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the case on Enter in its query."""
        enters = isinstance(event, QKeyEvent) and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enters and event.type() == QEvent.Type.KeyPress:
            self.press("K")
            return True
        return super().eventFilter(watched, event)

    # ------------------------------------------------------------ deciding

    def press(self, key: str) -> None:
        """Keep, edit or drop the selected drafts, and go on to the next undecided one."""
        current = self.table.current_id()
        if key == "E" and current:
            self.query.setFocus()
            self.query.selectAll()
        elif current:
            decision = ReviewDecision.KEPT if key == "K" else ReviewDecision.DROPPED
            rows = self.table.selected_ids() or (current,)
            if key == "K" and (problem := self._review.rows[current].problem):
                self.notice.show_message(problem)
                return
            self._review.decide(rows, decision)
            self._show_rows(rows)
            self._go_on(rows[-1])

    def undo(self) -> None:
        """Undo the last decision or edit, and show its draft."""
        if row := self._review.undo():
            self._show_all()
            self.table.select(row)
            self._show_draft()
            self.table.setFocus()

    def _go_on(self, row: str) -> None:
        following = self._review.next_left(row)
        if following:
            self.table.select(following)
        self._show_draft()
        (self.table if following or not self.add.isEnabled() else self.add).setFocus()

    def _edit(self, query: str) -> None:
        row = self.table.current_id()
        if row in self._review.rows:
            self._review.edit(row, query)
            self._show_rows([row])
            self.about.set_text(_about(self._review.rows[row]))

    # ------------------------------------------------------------ showing

    def _show_rows(self, rows: Sequence[str]) -> None:
        self.table.upsert([self._row(row) for row in rows if row in self._review.rows])
        self._show_counts()

    def _show_all(self) -> None:
        self.table.set_rows([self._row(row) for row in self._review.rows])
        if not self.table.current_id():
            self.table.select_first()
        self._show_counts()
        self._show_draft()

    def _row(self, row: str) -> Row:
        one = self._review.rows[row]
        return Row(row, lambda: draft_cells(one))

    def _show_counts(self) -> None:
        kept = len(self._review.with_decision(ReviewDecision.KEPT))
        self.counts.setText(self._review.counts_text)
        self.add.setText(f"Add {count(kept, 'case')}" if kept else "Add cases")
        self.add.setEnabled(kept > 0)
        self.undoing.setEnabled(self._review.can_undo)

    def _show_draft(self) -> None:
        one = self._review.rows.get(self.table.current_id())
        for part in (self.query, *self.decide.values()):
            part.setEnabled(one is not None)
        self.query.set_text(one.query if one else "")
        self.about.set_text(_about(one) if one else "")

    # ------------------------------------------------------------ drafting

    def draft(self) -> None:
        """Draft cases for the selected server from its definitions."""
        self._start("Drafting cases…", self._draft())

    async def _draft(self) -> None:
        if told := refusals_text(await self._presenter.draft(self.server.current())):
            self.notice.show_message(told)

    def ask_model(self) -> None:
        """Ask for a model and let it draft the cases, or stop it."""
        if self._work is not None:
            self._work.cancel()
        else:
            self._session.spawn(self._ask_model(), of=self)

    async def _ask_model(self) -> None:
        task = drafting_task(self._presenter)
        dialog = ModelRequestDialog(
            self._session, task, [("", self._presenter.tools())], last_form(self._session.settings), self
        )
        await dialog.done_with()
        if dialog.agreed is not None:
            words = f"{dialog.agreed.label} {task.activity} for {count(len(dialog.items()), task.noun)}…"
            asked = self._presenter.ask(
                dialog.items(), dialog.agreed, self._take, dialog.max_cost_usd, self.progressed.emit
            )
            self._start(words, asked, stop=True)

    def _show_progress(self, share: float) -> None:
        tools = len(self._presenter.tools())
        if self._work is not None:
            self.counts.setText(f"{round(share * tools)} of {count(tools, 'tool')} done…")

    def _take(self, found: DraftedCases) -> None:
        self._presenter.take(found)
        if told := refusals_text(found):
            self.notice.show_message(told)

    def _start(self, words: str, work: Any, *, stop: bool = False) -> None:
        self._work = self._session.spawn(self._run(words, work), of=self)
        self.ask.setText("Stop" if stop else "Ask a model…")
        self.ask.setEnabled(stop)

    async def _run(self, words: str, work: Any) -> None:
        self.notice.hide()
        self.counts.setText(words)
        try:
            await work
        except TefError as error:
            told = error_text(error)
            self.notice.show_message(told.message, told.hint, details=told.details)
        finally:
            self._work = None
            if isValid(self):  # closing the dialog cancels the work, and deletes its widgets
                self.ask.setText("Ask a model…")
                self.ask.setEnabled(bool(self._presenter.tools()))
                self._show_all()
        self.table.setFocus()


def _about(one: ReviewedDraft) -> str:
    call = one.case.draft.expectation.first_call
    problem = f"{one.problem} " if one.problem else ""
    expected = f"Expects {call.tool}({call_text(call)})." if call else "Expects no tool."
    return f"{problem}{expected} {KINDS[one.case.kind]}: {KIND_HELP[one.case.kind].format(other=one.case.other)}"


def drafting_task(presenter: CaseDraftingPresenter) -> ModelTask:
    """Return the request that asks a model to draft cases."""
    return ModelTask(
        title="Ask a model for test cases",
        explanation=(
            "A model reads each definition with its look-alikes and writes requests. What names the tool, repeats its "
            "description or does not fit its schema is left out. Drafts that you have not decided on are replaced."
        ),
        noun="tool",
        activity="drafts cases",
        result="drafted cases for",
        estimate=presenter.estimate,
        run=presenter.ask,
        cost=lambda found: found.cost_usd,
    )


async def draft_cases(session: Session, parent: QWidget, servers: Sequence[str], tools: Sequence[str] = ()) -> None:
    """Open the review of drafts for tools of a server and add the kept cases, which can be undone."""
    presenter = CaseDraftingPresenter(session.call, tools)
    what = one_line(tools[0], 60) if len(tools) == 1 else count(len(tools), "tool") if tools else ""
    title = f"Draft cases for {what or one_line(servers[0], 60)}" if what or len(servers) == 1 else "Draft cases"
    if await DraftCasesDialog(session, presenter, servers, title, parent).done_with():
        ids = await presenter.add()
        cases = count(len(ids), "case")
        undo, redo = partial(presenter.remove, ids), partial(presenter.restore, ids)
        session.toast(f"Added {cases}", undo, redo, action=f"add {cases}")
