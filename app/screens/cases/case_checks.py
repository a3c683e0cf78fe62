"""Drafts of test cases, and the dialog of cases whose expectation or query may be wrong, with what answers each."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core_link.session import Page
from app.dialogs.draft_cases import draft_cases
from app.screens.cases.bulk_edit import BulkEdit
from app.screens.cases.case_checks_presenter import CaseChecksPresenter
from app.screens.cases.presenter import CasesPresenter
from app.screens.cases.rows import SERVER
from app.text.formatting import count
from app.text.glossary import explain
from app.theme import Role, Size
from app.widgets import Action, Column, Dialog, FlowText, Label, ListTable, Row, button, clear_layout, one_line
from mcp_tef import CaseAction, CaseDoubt, CaseFinding, CaseId

if TYPE_CHECKING:
    pass

DOUBTS: Final[Mapping[CaseDoubt, str]] = {
    CaseDoubt.OTHER_TOOL_CHOSEN: "Other tool selected",
    CaseDoubt.DUPLICATE: "Duplicate",
    CaseDoubt.NAMES_TOOL: "Names the tool",
    CaseDoubt.NOT_OFFERED: "Not offered",
}
COLUMNS: Final = (
    Column(key="doubt", title="Doubt", width=168, least=80, tip=explain("doubt")),
    Column(key="case", title="Case", width=220, least=120, role=Role.DIM),
    Column(key="sentence", title="Why", width=300, least=160, stretch=True),
)
EXPLANATION: Final = (
    "Models that agree on another tool, duplicates, queries that name the tool, and tools that are not offered. A case "
    "may still be right: decide for each. Every change can be undone with Ctrl+Z."
)
WIDTH, HEIGHT = 920, 560


class CaseChecksDialog(Dialog):
    """Doubtful cases in a table; below it, the whole sentence of the selected one and its actions as buttons."""

    autosaves = True

    def __init__(
        self,
        page: Page,
        checks: CaseChecksPresenter,
        ids: Sequence[CaseId],
        apply: Callable[[CaseFinding, CaseAction], Awaitable[None]],
    ) -> None:
        super().__init__(f"Check {count(len(ids), 'case')}", page, width=WIDTH)
        self.need(height=HEIGHT)
        self._session, self._ids, self._apply = page.session, frozenset(ids), apply
        self._checks = checks
        self.to_edit: CaseId | None = None
        self.findings: dict[str, CaseFinding] = {}
        self.summary = Label("Checking…", strong=True)
        self.table = ListTable(COLUMNS, "Doubtful cases")
        self.sentence = FlowText()
        self.answers = QHBoxLayout()
        self._buttons: list[QWidget] = []
        for part in (FlowText(EXPLANATION, size=Size.SMALL, role=Role.DIM), self.summary):
            self.body.addWidget(part)
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.sentence)
        self.body.addLayout(self.answers)
        self.set_buttons([Action(text="Close", do=self.reject)])
        self.table.chosen.connect(lambda _: self._show_finding())
        self.table.opened.connect(lambda _: self._focus_answer())
        QShortcut(QKeySequence.StandardKey.Undo, self).activated.connect(self.undo)
        self._session.spawn(self.read(), of=self)

    async def read(self) -> None:
        """Read the findings again and show them."""
        self.findings = await self._checks.findings(self._ids)
        place = max(0, self.table.currentIndex().row())
        self.table.set_rows([Row(row, partial(_cells, one)) for row, one in self.findings.items()])
        if not self.table.current_id() and self.findings:
            self.table.select(list(self.findings)[min(place, len(self.findings) - 1)])
        cases = len({one.case for one in self.findings.values()})
        self.summary.setText(f"{count(cases, 'case')} in doubt" if cases else "No case is in doubt.")
        self._show_finding()

    def _show_finding(self) -> None:
        finding = self.findings.get(self.table.current_id())
        clear_layout(self.answers)
        self.sentence.set_text(finding.sentence if finding else "")
        answers = [(action, finding) for action in finding.actions] if finding else []
        self._buttons = [
            button(Action(text=action_text(action, about), do=partial(self.answer, about, action)), self)
            for action, about in answers
        ]
        for one in self._buttons:
            self.answers.addWidget(one)
        self.answers.addStretch(1)

    def _focus_answer(self) -> None:
        # Not by the layout's items: PySide keeps their wrappers, which a later object at the same address would get.
        if self._buttons:
            self._buttons[0].setFocus()

    def answer(self, finding: CaseFinding, action: CaseAction) -> None:
        """Apply an action; to edit the query, close the dialog and name the case in `to_edit`."""
        if action is CaseAction.REWRITE_QUERY:
            self.to_edit = finding.case
            self.accept()
        else:
            self._session.spawn(self._change(self._apply(finding, action)), of=self)

    def undo(self) -> None:
        """Undo the last change of the window."""
        self._session.undo()
        self._session.spawn(self._change(self._session.undone()), of=self)

    async def _change(self, work: Awaitable[None]) -> None:
        await work
        await self.read()
        self.table.setFocus()


def _cells(finding: CaseFinding) -> tuple[str, ...]:
    return DOUBTS[finding.doubt], one_line(finding.name), one_line(finding.sentence)


def action_text(action: CaseAction, finding: CaseFinding) -> str:
    """Return the text of the button for an action."""
    proposed = one_line(finding.proposed.label, 60) if finding.proposed else ""
    return {
        CaseAction.ACCEPT_BOTH: "Accept both",
        CaseAction.CHANGE_EXPECTATION: f"Expect {proposed}",
        CaseAction.REWRITE_QUERY: "Edit the query",
        CaseAction.REMOVE: "Delete the case",
    }[action]


class CaseDrafts:
    """The commands that draft cases and check them; `edit_query` shows a case in the editor."""

    def __init__(
        self, page: Page, presenter: CasesPresenter, bulk: BulkEdit, edit_query: Callable[[CaseId], object]
    ) -> None:
        self._page, self._session = page, page.session
        self._presenter, self._bulk, self._edit_query = presenter, bulk, edit_query
        self._checks = CaseChecksPresenter(page.session.call)

    def draft(self) -> None:
        """Draft cases for one of the servers that the screen is filtered by, otherwise of all, and review them."""
        servers = self._presenter.view.filters.of(SERVER.name) or self._presenter.server_names()
        self._session.spawn(draft_cases(self._session, self._page, servers))

    def check(self, ids: Sequence[CaseId]) -> None:
        """List the doubtful ones of these cases."""
        self._session.spawn(self._check(ids))

    async def _check(self, ids: Sequence[CaseId]) -> None:
        await self._presenter.save()
        dialog = CaseChecksDialog(self._page, self._checks, ids, self.apply)
        await dialog.done_with()
        if dialog.to_edit is not None:
            self._edit_query(dialog.to_edit)

    async def apply(self, finding: CaseFinding, action: CaseAction) -> None:
        """Change or delete a case as an action says; can be undone."""
        if action is CaseAction.REMOVE:
            await self._bulk.remove([finding.case])
            return
        before = self._presenter.drafts([finding.case])
        after = await self._checks.answered(before[finding.case], finding, action)
        await self._bulk.change("the expectation", before, {finding.case: after})
