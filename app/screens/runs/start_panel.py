"""Widgets of the start form: cases, selector, model with catalogue, key, and numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QWidget

from app.core_link.model_requests import KeyNeed
from app.dialogs.consent import ApiKeyField
from app.screens.runs.labels import UNKNOWN, ModelRow, search_models
from app.screens.runs.own_server import OwnServerFields, PromptField
from app.screens.runs.start_form import EVERY_CLIENT, CaseScope, StartForm
from app.screens.runs.start_form import StartField as Where
from app.text.formatting import count
from app.theme import Role, Size
from app.widgets import (
    Button,
    Cell,
    CellKind,
    Column,
    Field,
    FlowText,
    ListTable,
    MenuButton,
    Row,
    Segmented,
    Spoken,
    TextArea,
    column_layout,
    row_layout,
)
from mcp_tef import CallingMode, CaseId, ClientProfile, TestCase, ToolChoiceMode

TYPING_PAUSE_MS = 80
HEIGHT = 146

COLUMNS = (
    Column(key="model", title="Model", kind=CellKind.MONO, stretch=True),
    Column(key="context", title="Context", kind=CellKind.NUMBER, width=72, tip="Tokens that fit into one request."),
    Column(
        key="price",
        title="$ per M, in / out",
        kind=CellKind.NUMBER,
        width=128,
        tip="US dollars per million tokens, sent and received.",
    ),
    Column(key="tools", title="Calls tools", width=88, tip="Native tool calling."),
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
        self.edit.setPlaceholderText("Search the catalogue, or type PROVIDER/NAME; several with commas")
        self.edit.setAccessibleName("Model")
        self.table = ListTable(COLUMNS, "Model catalogue")
        self.table.setSelectionMode(ListTable.SelectionMode.SingleSelection)
        self.table.setFixedHeight(HEIGHT)
        self.summary = FlowText("Reading the catalogue…", size=Size.SMALL, role=Role.DIM)
        self.setFocusProxy(self.edit)
        column_layout(self, self.edit, self.table, self.summary, spacing=6)
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
        last = self.text().rpartition(",")[2].strip()
        known = any(model.label == last for model in self._models)
        found = search_models(self._models, "" if known else last)
        self.table.set_rows([_row(model) for model in found])
        if known:
            self.table.select(last)

    def _choose(self, label: str) -> None:
        before, comma, last = self.text().rpartition(",")
        if label and label != last.strip():
            self.edit.setText(f"{before}{comma}{' ' if comma else ''}{label}")
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
        lambda: (model.label, *map(_fact, (model.context, model.price, model.tools))),
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
FIRST = (Where.CASES, Where.REPEATS, Where.CONCURRENCY, Where.COST)
OFFLINE_SOURCE, PROVIDER_SOURCE, OWN_SOURCE = "offline", "provider", "own"
SOURCES = ((OFFLINE_SOURCE, "Offline baseline"), (PROVIDER_SOURCE, "Provider"), (OWN_SOURCE, "My own server"))
MODES = (
    (CallingMode.AUTO.value, "Automatic"),
    (CallingMode.NATIVE.value, "Native"),
    (CallingMode.JSON.value, "JSON"),
)
NO_CLIENT = "No client"
TOOL_CHOICES = ((ToolChoiceMode.AUTO.value, "May call a tool"), (ToolChoiceMode.REQUIRED.value, "Must call one"))


class StartPanel(QWidget):
    """Widgets for everything that can be set before a run."""

    changed = Signal()
    clients_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chosen: tuple[CaseId, ...] = ()
        self._client = ""
        self.cases = MenuButton("Cases to run")
        self.selector = Segmented(SOURCES, "Who answers")
        self.client = MenuButton("Client that shows the tools")
        self.client.set_choices([("", NO_CLIENT)], "")
        self.client.setMinimumWidth(150)
        self.client.installEventFilter(self)
        self.prompt = PromptField()
        self.offline_note = FlowText(OFFLINE, size=Size.SMALL, role=Role.DIM)
        self.model = ModelField()
        self.own = OwnServerFields()
        self.options = Button("", kind="link")
        self.baseline = QCheckBox("Also run the offline baseline, for comparison")
        self.key = ApiKeyField()
        self.base_url = QLineEdit()
        self.base_url.setPlaceholderText("Empty: the provider's own")
        self.mode = Segmented(MODES, "Calling mode")
        self.tool_choice = Segmented(TOOL_CHOICES, "Tool choice")
        self.system_prompt = TextArea("Put before the instructions of mcp-tef", lines=2)
        self.numbers = {where: QLineEdit() for where, _, _ in NUMBERS}
        self.fields = self._fields()
        self._lay_out()
        self._connect()
        self.show_form(StartForm())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Profiles are read when somebody comes near the menu, since most runs need none.
        if watched is self.client and event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn):
            self.clients_wanted.emit()
        return super().eventFilter(watched, event)

    def _fields(self) -> Mapping[Where, Field]:
        for where, label, note in NUMBERS:
            self.numbers[where].setToolTip(note)
            self.numbers[where].setAccessibleName(label)
        return {
            Where.CASES: Field("Cases", self.cases),
            Where.MODEL: Field("Model", self.model),
            Where.BASE_URL: Field("Address", self.base_url),
            Where.KEY: Field("Key", self.key),
            Where.PROMPT: Field("Prompt", self.prompt),
            **{where: Field(label, self.numbers[where]) for where, label, _ in NUMBERS},
        }

    def _lay_out(self) -> None:
        column = column_layout(self, self._grid(FIRST, columns=len(FIRST)), spacing=12)
        asked = row_layout(spacing=12)
        asked.addWidget(Field("Who answers", self.selector), 1)
        asked.addWidget(Field("Client", self.client))
        column.addLayout(asked)
        shown = (Where.MODEL, Where.KEY, Where.PROMPT)
        model, *others = (self.fields[where] for where in shown)
        for part in (self.offline_note, model, self.own, *others):
            column.addWidget(part)
        column.addWidget(self.options, 0, Qt.AlignmentFlag.AlignLeft)
        self.more = QWidget()
        more = column_layout(
            self.more,
            self._grid([where for where, _, _ in NUMBERS if where not in FIRST]),
            self.fields[Where.BASE_URL],
            Field("Calling mode", self.mode, note="Uses native tool calling if the model supports it."),
            Field("Tool choice", self.tool_choice),
            spacing=12,
        )
        self.before = Field("System prompt", self.system_prompt)
        more.addWidget(self.before)
        more.addWidget(self.baseline)
        column.addWidget(self.more)
        column.addStretch(1)

    def _grid(self, fields: Sequence[Where], columns: int = 3) -> QGridLayout:
        """Return rows of fields; the cases take the room of two."""
        grid = QGridLayout()
        grid.setSpacing(12)
        for number, where in enumerate(fields):
            grid.addWidget(self.fields[where], number // columns, number % columns, Qt.AlignmentFlag.AlignTop)
        for place in range(columns):
            grid.setColumnStretch(place, 2 if fields[place] is Where.CASES else 1)
        return grid

    def _connect(self) -> None:
        edits = (self.base_url, *self.numbers.values())
        self.selector.changed.connect(lambda _: self._show_parts())
        self.options.clicked.connect(lambda: self._show_options(shown=self.more.isHidden()))
        self.own.changed.connect(self.changed)
        for changed in (
            *(
                part.changed
                for part in (self.cases, self.client, self.selector, self.model, self.mode, self.tool_choice)
            ),
            *(edit.textEdited for edit in edits),
            self.baseline.toggled,
            self.key.edit.textChanged,
        ):
            changed.connect(lambda _: self.changed.emit())
        self.system_prompt.textChanged.connect(self.changed.emit)
        self.prompt.changed.connect(self.changed)
        self.prompt.changed.connect(lambda: self.before.setVisible(not self.prompt.label()))

    def _show_parts(self) -> None:
        source = self.selector.current()
        self.offline_note.setVisible(source == OFFLINE_SOURCE)
        self.own.setVisible(source == OWN_SOURCE)
        for where in (Where.MODEL, Where.BASE_URL):
            self.fields[where].setVisible(source == PROVIDER_SOURCE)
        for widget in (*(self.fields[one] for one in (Where.KEY, Where.COST, Where.PROMPT)), self.options):
            widget.setVisible(source != OFFLINE_SOURCE)
        self._show_options(shown=False)

    def _show_options(self, *, shown: bool) -> None:
        self.more.setVisible(shown)
        self.options.setText("Fewer options" if shown else "More options…")

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

    def show_clients(self, clients: Sequence[ClientProfile]) -> None:
        """Set the clients to select from; the selection stays if it still exists."""
        choices: list[tuple[str, str] | None] = [("", NO_CLIENT), (EVERY_CLIENT, "Every client, side by side"), None]
        choices += [(one.name, one.title) for one in clients]
        known = {choice[0] for choice in choices if choice}
        self.client.set_choices(choices, self._client if self._client in known else "")

    def show_form(self, form: StartForm) -> None:
        """Fill in a form."""
        self._chosen, self._client = form.selected, form.client
        self.client.set_current(form.client)
        key = f"{form.scope.value}:{form.name}" if form.scope in (CaseScope.SUITE, CaseScope.TAG) else form.scope.value
        self.cases.set_current(key)
        source = OWN_SOURCE if form.own_server else PROVIDER_SOURCE
        self.selector.set_current(OFFLINE_SOURCE if form.offline else source)
        self.model.set_text(form.model)
        self.own.address.setText(form.own_address)
        self.own.names.setText(form.own_model)
        self.baseline.setChecked(form.with_baseline)
        self.base_url.setText(form.base_url)
        self.mode.set_current(form.mode.value)
        self.tool_choice.set_current(form.tool_choice.value)
        self.system_prompt.setPlainText(form.system_prompt)
        self.prompt.show_prompt(form.prompt)
        self.before.setVisible(not form.prompt)
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
            client=self.client.current(),
            prompt=self.prompt.label(),
            variables=self.prompt.values(),
            offline=self.selector.current() == OFFLINE_SOURCE,
            own_server=self.selector.current() == OWN_SOURCE,
            own_address=self.own.address.text(),
            own_model=self.own.names.text(),
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
        self.key.set_provider(need.provider, can_remember=need.can_remember)
        self.fields[Where.KEY].set_note(need.hint if need.needed else "No key needed." if need.provider else "")

    def show_problems(self, problems: Mapping[Where, str]) -> None:
        """Show the problem of each field."""
        for where, field in self.fields.items():
            field.set_error(problems.get(where, ""))
        self.own.show_problems(problems.get(Where.BASE_URL, ""), problems.get(Where.MODEL, ""))

    def focus_problem(self, problems: Mapping[Where, str]) -> None:
        """Focus the first invalid field, among the options too."""
        fields = dict(self.fields)
        if self.selector.current() == OWN_SOURCE:
            fields |= {Where.MODEL: self.own.names_field, Where.BASE_URL: self.own.address_field}
        first = next((field for where, field in fields.items() if where in problems), None)
        if first is not None:
            self._show_options(shown=self.more.isVisible() or self.more.isAncestorOf(first))
            first.widget.setFocus()


def _group(scope: CaseScope, names: Sequence[str]) -> list[tuple[str, str] | None]:
    """Return the choices of one scope, set apart by a line above; none without names."""
    choices = [(f"{scope.value}:{name}", f"{scope.value.capitalize()}: {name}") for name in names]
    return [None, *choices] if choices else []


def with_cases(form: StartForm, chosen: tuple[CaseId, ...]) -> StartForm:
    """Return the form for cases selected on another screen; a single one runs once unless that is changed."""
    if not chosen:
        return form
    repeats = "1" if len(chosen) == 1 else form.repeats
    return replace(form, scope=CaseScope.SELECTED, selected=chosen, repeats=repeats)
