"""Another name for a suite, so that it is found again among many."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtWidgets import QWidget

from app.core_link.session import Page
from app.screens.cases.front import Front
from app.screens.cases.presenter import CasesPresenter
from app.screens.cases.rows import KEPT, filters_to_keep
from app.theme import Role
from app.widgets import Action, Field, FlowText, LineEdit, Picker, PickItem, Sheet, one_line
from mcp_tef import InputError, free_suite_name

WHAT = "Its cases stay as they are, in their order. Batches keep the name that they were run under."


class SuiteSheet(Sheet):
    """`suite` is to be called `name`, once the sheet was accepted."""

    def __init__(self, suites: Sequence[str], suite: str, parent: QWidget) -> None:
        super().__init__("Rename a suite", parent, width=420)
        self.suite, self.name = suite, suite
        self._suites = tuple(suites)
        self.picker = Picker("Suite", "Choose a suite")
        self.picker.set_items([PickItem(id=name, title=name, mono=False) for name in suites])
        self.edit = LineEdit()
        self._field = Field("New name", self.edit)
        self.body.addWidget(FlowText(WHAT, role=Role.DIM))
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
        """Why this name cannot be had."""
        try:
            self.name = free_suite_name(self.edit.text(), [other for other in self._suites if other != self.suite])
        except InputError as error:
            return f"{error.message} {error.hint}"
        return ""


class Suites:
    """Asks for another name of a suite, and gives it, with a way back."""

    def __init__(self, page: Page, presenter: CasesPresenter, front: Front) -> None:
        self._page, self._session = page, page.session
        self._presenter, self._front = presenter, front

    def ask(self, suite: str = "") -> None:
        """Ask about this suite, or else that which the cases are narrowed to, that of the open case, or the first."""
        self._session.spawn(self._ask(suite))

    async def _ask(self, suite: str) -> None:
        presenter = self._presenter
        await presenter.save()
        there = presenter.all_suites()
        opened = presenter.desk.form.suites if presenter.desk else ()
        likely = (suite, presenter.wanted.suite, *opened, *there)
        sheet = SuiteSheet(there, next(name for name in likely if name in there), self._page)
        if await sheet.done_with() and sheet.name != sheet.suite:
            before, after = sheet.suite, sheet.name
            await self._rename(before, after)
            back, again = partial(self._rename, after, before), partial(self._rename, before, after)
            deed = f"rename the suite “{one_line(before, 40)}”"
            self._session.toast(f"The suite is called {one_line(after, 60)} now", back, again, deed=deed)

    async def _rename(self, suite: str, name: str) -> None:
        await self._presenter.rename_suite(suite, name)
        self._session.settings.set(KEPT, filters_to_keep(self._presenter.wanted))
        self._front.show()
