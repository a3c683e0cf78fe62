"""Dialogs of the Prompts tab: a new prompt, and two versions to compare by a trial."""

from collections.abc import Collection, Sequence
from typing import Final

from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.dialogs.prompt_variables import VariableFields
from app.screens.models.prompts_presenter import KIND_TEXTS, PromptTrials
from app.text.formatting import count
from app.theme import Role
from app.widgets import Action, Dialog, Field, FlowText, LineEdit, MenuButton
from mcp_tef import LONGEST_PROMPT_NAME, InputError, PromptTemplate, require_prompt_name

WHAT: Final = "Both prompts are asked with the same cases, until it is clear which one is better. No tool is executed."


class NewPromptDialog(Dialog):
    """Asks for the `name` of a new prompt and its `source`, the one to copy; both are set once it is accepted."""

    def __init__(self, prompts: Sequence[PromptTemplate], source: str, parent: QWidget) -> None:
        super().__init__("New prompt", parent, width=440)
        self._taken: Collection[str] = {one.name.casefold() for one in prompts}
        self.name = self.source = ""
        self.edit = LineEdit()
        self.edit.setMaxLength(LONGEST_PROMPT_NAME)
        self.start = MenuButton("Start as a copy of")
        self.start.set_choices([(one.name, f"{one.name} ({KIND_TEXTS[one.kind].lower()})") for one in prompts], source)
        self.field = Field("Name", self.edit, note="Runs name it so, such as counter@1.")
        self.body.addWidget(self.field)
        self.body.addWidget(Field("Start as a copy of", self.start, note="Its kind and variables are copied too."))
        done = Action(text="Create prompt", do=self.agree, kind="primary")
        self.set_buttons([Action(text="Cancel", do=self.reject), done])
        self.edit.typed.connect(lambda _: self.field.tell(self._fault()))
        self.edit.setFocus()

    def agree(self) -> None:
        """Accept the name, unless it is taken or cannot be one."""
        fault = self._fault()
        self.field.set_error(fault)
        if not fault:
            self.name, self.source = require_prompt_name(self.edit.text()), self.start.current()
            self.accept()

    def _fault(self) -> str:
        try:
            name = require_prompt_name(self.edit.text())
        except InputError as error:
            return error.message
        return "A prompt has this name." if name.casefold() in self._taken else ""


class ComparePromptsDialog(Dialog):
    """Asks which version is tried against which one, on which cases, and for values that they lack.

    `agreed` are the labels, the values and the suite ("" for all cases), once the dialog is accepted.
    """

    def __init__(self, session: Session, trials: PromptTrials, label: str, parent: QWidget) -> None:
        super().__init__("Compare two versions", parent, width=480)
        self._session, self._trials = session, trials
        self.agreed: tuple[tuple[str, str], dict[str, str], str] | None = None
        labels = [(one, one) for one in trials.prompts]
        label = label if label in trials.prompts else next(iter(trials.prompts))
        self.tried, self.against = MenuButton("Try", labels), MenuButton("Against", labels)
        self.tried.set_current(label)
        self.against.set_current(trials.before(label))
        self.suite = MenuButton(
            "Cases", [("", f"All {count(len(trials.cases), 'case')}"), *((one, one) for one in trials.suites)]
        )
        self.suite.set_current("")
        self.variables = VariableFields("Variables that each run must give")
        self.problem = FlowText(role=Role.BAD)
        self.body.addWidget(FlowText(WHAT, role=Role.DIM))
        for name, button in (("Try", self.tried), ("Against", self.against), ("Cases", self.suite)):
            self.body.addWidget(Field(name, button))
            button.changed.connect(lambda _: self._show())
        for part in (self.variables, self.problem):
            self.body.addWidget(part)
        self.variables.typed.connect(lambda: self._check())
        done = Action(text="Select the model…", do=self.agree, kind="primary")
        self.set_buttons([Action(text="Cancel", do=self.reject), done])
        self._show()
        self.tried.setFocus()

    @property
    def labels(self) -> tuple[str, str]:
        """The label that is tried, and the one against which."""
        return self.tried.current(), self.against.current()

    @property
    def values(self) -> dict[str, str]:
        """Values of the variables that the versions lack."""
        return self.variables.values()

    @property
    def suite_name(self) -> str:
        """The suite to ask, "" for all cases."""
        return self.suite.current()

    def agree(self) -> None:
        """Accept, unless something keeps the trial from being started."""
        self._session.spawn(self._agree(), of=self)

    async def _agree(self) -> None:
        if not await self._fault():
            self.agreed = (self.labels, self.values, self.suite_name)
            self.accept()

    def _show(self) -> None:
        known = self.variables.values()
        self.variables.show_values({name: known.get(name, "") for name in self._trials.needed(self.labels)})
        self._check()

    def _check(self) -> None:
        self._session.spawn(self._fault(), of=self)

    async def _fault(self) -> str:
        fault = await self._trials.problem(self.labels, self.values, self.suite_name)
        self.problem.set_text(fault)
        self.problem.setVisible(bool(fault))
        return fault
