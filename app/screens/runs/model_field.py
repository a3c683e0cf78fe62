"""A field for a model: any name may be typed, and the catalogue below it shows what fits."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app.screens.runs.catalogue import UNKNOWN, ModelRow, search
from app.theme import Role, Size
from app.widgets import Cell, CellKind, Column, FlowText, ListTable, Row, Spoken

QUIET_MS = 80
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
        self._quiet = QTimer(self, singleShot=True, interval=QUIET_MS)
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
        """Whether the catalogue is there."""
        return bool(self._models)

    def text(self) -> str:
        """What is typed or chosen."""
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
        found = search(self._models, "" if known else self.text())
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
