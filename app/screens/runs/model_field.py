"""A field for a model: any name can be typed, and the catalogue below it shows the models that match."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app.screens.runs.labels import BASELINE_NAME, is_baseline
from app.theme import Role, Size
from app.widgets import Cell, CellKind, Column, FlowText, ListTable, Row, Spoken
from mcp_tef import ModelInfo

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One model: its label, and its facts ready to show; `searched` is what a search looks in."""

    label: str
    context: str
    price: str
    tools: str
    vision: str
    searched: str


def model_rows(catalogue: Sequence[ModelInfo]) -> tuple[ModelRow, ...]:
    """A row for every model but the baseline, which has a choice of its own."""
    return tuple(model_row(info) for info in catalogue if not is_baseline(info.label))


def model_row(info: ModelInfo) -> ModelRow:
    """The row of a model; what is not known says "unknown", never "no" or "free"."""
    return ModelRow(
        label=info.label,
        context=format_tokens(info.context_tokens),
        price=format_price(info),
        tools=_ability(info.tool_calling),
        vision=_ability(info.vision),
        searched=info.label.casefold(),
    )


def format_tokens(number: int | None) -> str:
    """`128 k`, `1 M`, `unknown`."""
    if not number:
        return UNKNOWN
    if number >= 1_000_000:
        return f"{number / 1_000_000:.3g} M"
    return f"{number / 1000:.3g} k" if number >= 1000 else str(number)


def format_price(info: ModelInfo) -> str:
    """US dollars per million tokens in and out, `$0.40 / $1.60`; `unknown` where the table has none."""
    if info.input_price is None or info.output_price is None:
        return UNKNOWN
    return f"${_million(info.input_price)} / ${_million(info.output_price)}"


def _million(per_token: float) -> str:
    amount = per_token * 1_000_000
    return f"{amount:.2f}" if amount >= 0.01 or not amount else f"{amount:.4f}"


def _ability(known: bool | None) -> str:
    return UNKNOWN if known is None else "yes" if known else "no"


def search_models(rows: Sequence[ModelRow], text: str) -> tuple[ModelRow, ...]:
    """The models whose label holds every word typed; those that start with the first word come first."""
    words = text.casefold().split()
    if not words:
        return tuple(rows)
    found = [row for row in rows if all(word in row.searched for word in words)]
    return tuple(sorted(found, key=lambda row: (_distance(row, words[0]), row.searched.count("/"), row.searched)))


def _distance(row: ModelRow, word: str) -> int:
    if row.searched == word:
        return 0
    name = row.searched.rsplit("/", 1)[-1]
    return 1 if name.startswith(word) else 2 if row.searched.startswith(word) else 3


def model_summary(info: ModelInfo | None) -> str:
    """One line under the chosen model; says plainly where the catalogue knows nothing."""
    if info is None:
        return "Not in the catalogue: context, price and abilities are unknown."
    if is_baseline(info.label):
        return f"The {BASELINE_NAME} ranks tools by the words of the query. It needs no key and no network."
    calls = {None: "tool calling unknown", True: "calls tools natively", False: "no native tool calling"}
    cost = format_price(info)
    paid = f"{cost} per million tokens in / out" if cost != UNKNOWN else "price unknown"
    context = (
        "context unknown" if not info.context_tokens else f"{format_tokens(info.context_tokens)} tokens of context"
    )
    return " · ".join((context, paid, calls[info.tool_calling]))


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
    Column(key="tools", title="Calls tools", width=96, tip="Whether it calls tools natively."),
    Column(key="vision", title="Vision", width=92, tip="Whether it reads pictures."),
)


class ModelField(QWidget):
    """A line to type into, and the catalogue to choose from. `changed` gives the text."""

    SPOKEN_AS = Spoken.Grouping

    changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._models: tuple[ModelRow, ...] = ()
        self._quiet = QTimer(self, singleShot=True, interval=TYPING_PAUSE_MS)
        self._quiet.timeout.connect(self._search)
        self.edit = _Line(self._down)
        self.edit.setPlaceholderText("Search the catalogue, or write PROVIDER/NAME")
        self.edit.setAccessibleName("Model")
        self.table = ListTable(COLUMNS, "Model catalogue")
        self.table.setSelectionMode(ListTable.SelectionMode.SingleSelection)
        self.table.setFixedHeight(HEIGHT)
        self.summary = FlowText("The catalogue is being read…", size=Size.SMALL, role=Role.DIM)
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
        """Offer these models."""
        self._models = tuple(models)
        self._search()

    def has_models(self) -> bool:
        """Return True if the catalogue is loaded."""
        return bool(self._models)

    def text(self) -> str:
        """Return the text, without spaces at its ends."""
        return self.edit.text().strip()

    def set_text(self, text: str) -> None:
        """Type for the user."""
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
        lambda: (
            model.label,
            _fact(model.context),
            _fact(model.price),
            _fact(model.tools),
            _fact(model.vision),
        ),
    )


def _fact(text: str) -> Cell:
    return Cell(text=text, role=Role.DIM if text == UNKNOWN else Role.TEXT)
