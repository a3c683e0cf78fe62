"""Widgets of the start form: cases, selector, model with catalogue, key, and numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QVBoxLayout, QWidget

from app.core_link.model_requests import KeyNeed
from app.dialogs.api_key import ApiKeyField
from app.screens.runs.labels import UNKNOWN, ModelRow, search_models
from app.screens.runs.start_presenter import CaseScope, StartForm
from app.screens.runs.start_presenter import StartField as Where
from app.text.formatting import count
from app.theme import Role, Size
from app.widgets import (
    Cell,
    CellKind,
    Column,
    Field,
    FlowText,
    ListTable,
    MenuButton,
    Row,
    Rule,
    Segmented,
    Spoken,
    TextArea,
)
from mcp_tef import CallingMode, CaseId, TestCase, ToolChoiceMode

TYPING_PAUSE_MS = 80
HEIGHT = 176

COLUMNS = (
    Column(key="model", title="Model", kind=CellKind.MONO, stretch=True),
    Column(key="context", title="Context", kind=CellKind.NUMBER, width=84, tip="Tokens that fit into one request."),
    Column(
        key="price",
        title="$ per M, in / out",
        kind=CellKind.NUMBER,
        width=128,
        tip="US dollars per million tokens, sent and received.",
    ),
    Column(key="tools", title="Calls tools", width=96, tip="Native tool calling."),
    Column(key="vision", title="Vision", width=92, tip="Understands images."),
)


class ModelField(QWidget):
    """Line for a model, with the catalogue below it. `changed` emits the text."""

    SPOKEN_AS = Spoken.Grouping

    changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._models: tuple[ModelRow, ...] = ()
        self._quiet = QTimer(self, singleShot=True, interval=TYPING_PAUSE_MS)
        self._quiet.timeout.connect(self._search)
        self.edit = _Line(self._down)
        self.edit.setPlaceholderText("Search the catalogue, or type PROVIDER/NAME")
        self.edit.setAccessibleName("Model")
        self.table = ListTable(COLUMNS, "Model catalogue")
        self.table.setSelectionMode(ListTable.SelectionMode.SingleSelection)
        self.table.setFixedHeight(HEIGHT)
        self.summary = FlowText("Reading the catalogue…", size=Size.SMALL, role=Role.DIM)
        self.setFocusProxy(self.edit)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        for part in (self.edit, self.table, self.summary):
            column.addWidget(part)
        self.edit.textEdited.connect(self._typed)
        self.table.clicked.connect(lambda index: self._choose(self.table.rows.row(index.row()).id))
        self.table.opened.connect(self._choose)

    def show_models(self, models: Sequence[ModelRow]) -> None:
        """Set the models of the catalogue."""
        self._models = tuple(models)
        self._search()

    def has_models(self) -> bool:
        """Return True if the catalogue is loaded."""
        return bool(self._models)

    def text(self) -> str:
        """Return the text, without spaces at its ends."""
        return self.edit.text().strip()

    def set_text(self, text: str) -> None:
        """Set the text."""
        self.edit.setText(text)
        self._search()

    def say(self, text: str) -> None:
        """Say below what is known of the model."""
        self.summary.set_text(text)

    def _typed(self, text: str) -> None:
        self._quiet.start()
        self.changed.emit(text)

    def _search(self) -> None:
        known = any(model.label == self.text() for model in self._models)
        found = search_models(self._models, "" if known else self.text())
        self.table.set_rows([_row(model) for model in found])
        if known:
            self.table.select(self.text())

    def _choose(self, label: str) -> None:
        if label and label != self.edit.text():
            self.edit.setText(label)
            self.changed.emit(label)

    def _down(self) -> None:
        self.table.setFocus(Qt.FocusReason.TabFocusReason)


class _Line(QLineEdit):
    """A line whose down key goes to the list below it."""

    def __init__(self, down: Callable[[], None]) -> None:
        super().__init__()
        self._down = down

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down:
            self._down()
        else:
            super().keyPressEvent(event)


def _row(model: ModelRow) -> Row:
    return Row(
        model.label,
        lambda: (model.label, *map(_fact, (model.context, model.price, model.tools, model.vision))),
    )


def _fact(text: str) -> Cell:
    return Cell(text=text, role=Role.DIM if text == UNKNOWN else Role.TEXT)


OFFLINE = "Ranks the tools by the words of the query, like a search. Needs no key and no network."

NUMBERS = (
    (Where.REPEATS, "Repeats", "Number of runs of each case."),
    (Where.CONCURRENCY, "Parallel runs", "Requests to one provider at the same time."),
    (Where.TEMPERATURE, "Temperature", "From 0 to 2; lower answers vary less."),
    (Where.TIMEOUT, "Timeout in s", "From 1 to 300 seconds for one answer."),
    (Where.RETRIES, "Maximum retries", "From 0 to 10, after a rate limit or an error of the provider."),
    (Where.COST, "Cost cap in $", "No run starts that could exceed it. Empty: no cap."),
    (Where.PRICE, "Price in, out", "US dollars per million tokens, such as 0.15,0.6. Empty: the catalogue's price."),
    (Where.LIMIT, "Answer limit", "Most tokens of one answer. Empty: 1,024 with a cost cap, else the model's own."),
    (Where.SEED, "Seed", "Makes answers repeatable where the provider supports it."),
)
MODEL_ONLY = (Where.TEMPERATURE, Where.TIMEOUT, Where.RETRIES, Where.COST, Where.PRICE, Where.LIMIT, Where.SEED)
MODES = (
    (CallingMode.AUTO.value, "Automatic"),
    (CallingMode.NATIVE.value, "Native"),
    (CallingMode.JSON.value, "JSON"),
)
TOOL_CHOICES = ((ToolChoiceMode.AUTO.value, "May call a tool"), (ToolChoiceMode.REQUIRED.value, "Must call one"))


class StartPanel(QWidget):
    """Widgets for everything that can be set before a run."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chosen: tuple[CaseId, ...] = ()
        self.cases = MenuButton("Cases to run")
        self.selector = Segmented((("offline", "Offline baseline"), ("model", "A model")), "Selector")
        self.offline_note = FlowText(OFFLINE, size=Size.SMALL, role=Role.DIM)
        self.model = ModelField()
        self.baseline = QCheckBox("Also run the offline baseline, for comparison")
        self.key = ApiKeyField()
        self.base_url = QLineEdit()
        self.base_url.setPlaceholderText("For your own server, such as http://localhost:11434/v1")
        self.mode = Segmented(MODES, "Calling mode")
        self.tool_choice = Segmented(TOOL_CHOICES, "Tool choice")
        self.system_prompt = TextArea("Put before the instructions of mcp-tef", lines=2)
        self.numbers = {where: QLineEdit() for where, _, _ in NUMBERS}
        self.fields = self._fields()
        self._lay_out()
        self._connect()
        self.show_form(StartForm())

    def _fields(self) -> Mapping[Where, Field]:
        for where, label, note in NUMBERS:
            self.numbers[where].setToolTip(note)
            self.numbers[where].setAccessibleName(label)
        return {
            Where.CASES: Field("Cases", self.cases),
            Where.MODEL: Field("Model", self.model),
            Where.BASE_URL: Field("Address", self.base_url),
            Where.KEY: Field("Key", self.key),
            **{where: Field(label, self.numbers[where]) for where, label, _ in NUMBERS},
        }

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(self.fields[Where.CASES])
        column.addWidget(Field("Selector", self.selector))
        column.addWidget(self.offline_note)
        self.model_part = QWidget()
        part = QVBoxLayout(self.model_part)
        part.setContentsMargins(0, 0, 0, 0)
        part.setSpacing(12)
        for where in (Where.MODEL, Where.BASE_URL, Where.KEY):
            part.addWidget(self.fields[where])
        part.addWidget(Field("Calling mode", self.mode, note="Uses native tool calling if the model supports it."))
        part.addWidget(Field("Tool choice", self.tool_choice))
        part.addWidget(Field("System prompt", self.system_prompt))
        part.addWidget(self.baseline)
        column.addWidget(self.model_part)
        column.addWidget(Rule())
        column.addLayout(self._number_grid())
        column.addStretch(1)

    def _number_grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(12)
        for number, (where, _, _) in enumerate(NUMBERS):
            grid.addWidget(self.fields[where], number // 3, number % 3)
        for place in range(3):
            grid.setColumnStretch(place, 1)
        return grid

    def _connect(self) -> None:
        edits = (self.base_url, *self.numbers.values())
        self.selector.changed.connect(lambda _: self._show_parts())
        for changed in (
            *(part.changed for part in (self.cases, self.selector, self.model, self.mode, self.tool_choice)),
            *(edit.textEdited for edit in edits),
            self.baseline.toggled,
            self.key.edit.textChanged,
        ):
            changed.connect(lambda _: self.changed.emit())
        self.system_prompt.textChanged.connect(self.changed.emit)

    def _show_parts(self) -> None:
        model = self.selector.current() == "model"
        self.model_part.setVisible(model)
        self.offline_note.setVisible(not model)
        for where in MODEL_ONLY:
            self.fields[where].setVisible(model)

    def show_cases(self, cases: Sequence[TestCase], suites: Sequence[str], tags: Sequence[str]) -> None:
        """Set the cases, suites and tags to select from; the selection stays if it still exists."""
        everything = "The only case" if len(cases) == 1 else f"All {len(cases):,} cases"
        choices: list[tuple[str, str] | None] = [(CaseScope.ALL.value, everything)]
        if self._chosen:
            choices.insert(0, (CaseScope.SELECTED.value, count(len(self._chosen), "selected case")))
        choices += [*_group(CaseScope.SUITE, suites), *_group(CaseScope.TAG, tags)]
        known = [choice[0] for choice in choices if choice]
        current = self.cases.current() if self.cases.current() in known else known[0]
        self.cases.set_choices(choices, current)

    def show_form(self, form: StartForm) -> None:
        """Fill in a form."""
        self._chosen = form.selected
        key = f"{form.scope.value}:{form.name}" if form.scope in (CaseScope.SUITE, CaseScope.TAG) else form.scope.value
        self.cases.set_current(key)
        self.selector.set_current("offline" if form.offline else "model")
        self.model.set_text(form.model)
        self.baseline.setChecked(form.with_baseline)
        self.base_url.setText(form.base_url)
        self.mode.set_current(form.mode.value)
        self.tool_choice.set_current(form.tool_choice.value)
        self.system_prompt.setPlainText(form.system_prompt)
        for where, edit in self.numbers.items():
            edit.setText(getattr(form, where.value))
        self._show_parts()

    def form(self) -> StartForm:
        """Return the current values."""
        scope, _, name = self.cases.current().partition(":")
        numbers: dict[str, Any] = {where.value: edit.text() for where, edit in self.numbers.items()}
        return StartForm(
            scope=CaseScope(scope),
            name=name,
            selected=self._chosen,
            offline=self.selector.current() == "offline",
            with_baseline=self.baseline.isChecked(),
            model=self.model.text(),
            base_url=self.base_url.text(),
            system_prompt=self.system_prompt.text(),
            mode=CallingMode(self.mode.current()),
            tool_choice=ToolChoiceMode(self.tool_choice.current()),
            **numbers,
        )

    def show_key_need(self, need: KeyNeed) -> None:
        """Say whether the model needs a key; a key typed for another provider is cleared."""
        self.key.set_provider(need.provider)
        self.fields[Where.KEY].set_note(need.hint if need.needed else "No key needed.")

    def show_problems(self, problems: Mapping[Where, str]) -> None:
        """Show the problem of each field."""
        for where, field in self.fields.items():
            field.set_error(problems.get(where, ""))

    def tell_problems(self, problems: Mapping[Where, str]) -> None:
        """Show problems while the user types: each appears when typing pauses."""
        for where, field in self.fields.items():
            field.tell(problems.get(where, ""))

    def focus_problem(self, problems: Mapping[Where, str]) -> None:
        """Focus the first invalid field."""
        first = next((where for where in self.fields if where in problems), None)
        if first is not None:
            self.fields[first].widget.setFocus()


def _group(scope: CaseScope, names: Sequence[str]) -> list[tuple[str, str] | None]:
    """Return the choices of one scope, set apart by a line above; none without names."""
    choices = [(f"{scope.value}:{name}", f"{scope.value.capitalize()}: {name}") for name in names]
    return [None, *choices] if choices else []


def with_cases(form: StartForm, chosen: tuple[CaseId, ...]) -> StartForm:
    """Return the form for cases selected on another screen."""
    return replace(form, scope=CaseScope.SELECTED, selected=chosen) if chosen else form
