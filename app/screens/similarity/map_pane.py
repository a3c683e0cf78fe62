"""The heatmap with its toolbar and threshold, and the summary of the work list below it."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QDoubleSpinBox, QSizePolicy, QWidget

from app.screens.similarity.labels import MAP_HELP, MAP_LABELS, STATUS_HELP, STATUS_LABELS, MapKind, flagged_text
from app.screens.similarity.presenter import WorkList
from app.theme import Role, Size, sized, theme
from app.widgets import FlowText, IconButton, Label, MenuButton, column_layout, row_layout, tip
from app.widgets.heatmap import STEP, Heatmap
from app.widgets.heatmap_drawing import ramp
from app.widgets.heatmap_layout import Heat
from app.widgets.rows import paint_focus
from app.widgets.scale import ThresholdScale
from app.widgets.spans import LinePainter
from mcp_tef import OverlapWeights, PairStatus

DEBOUNCE_MS = 200
HEATMAP_HELP = (
    "Each cell is a pair of tools. Click one to see both side by side. The wheel zooms and dragging moves the map. "
    "Arrow keys move between cells, Enter opens a pair, 0 shows the whole map."
)


class WeightBar(QWidget):
    """Weights of the dimensions of the overlap. `changed` gives them after a pause in typing."""

    changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        start = OverlapWeights()
        self.fields = {
            "Similarity": _weight("Weight of similarity", start.semantic),
            "Parameters": _weight("Weight of parameters", start.parameters),
            "Wording": _weight("Weight of wording", start.description),
        }
        self._debounce = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._debounce.timeout.connect(self._tell)
        row = row_layout(self, margins=(8, 0, 0, 0), spacing=6)
        for title, field in self.fields.items():
            row.addWidget(Label(title, size=Size.SMALL, role=Role.DIM))
            row.addWidget(field)
            field.valueChanged.connect(lambda _: self._debounce.start())

    def weights(self) -> OverlapWeights:
        """Return the current weights."""
        return OverlapWeights(*(field.value() for field in self.fields.values()))

    def stop(self) -> None:
        """Tell nothing any more."""
        self._debounce.stop()

    def _tell(self) -> None:
        if any(field.value() for field in self.fields.values()):
            self.changed.emit(self.weights())


class MapPane(QWidget):
    """`kind_changed` gives a `MapKind`, `weights_changed` the weights, `opened` a pair, `threshold_changed` 0 to 1."""

    kind_changed = Signal(object)
    weights_changed = Signal(object)
    opened = Signal(int, int)
    threshold_changed = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self.kind = MenuButton("Colour of the map", [(kind.value, name) for kind, name in MAP_LABELS.items()])
        self.weights = WeightBar()
        self.heatmap = Heatmap("Map of similarity")
        self.scale = ThresholdScale("Threshold")
        self.heatmap.setAccessibleDescription(HEATMAP_HELP)
        self.zooms = self._zoom_buttons()
        self.kind.setFixedWidth(
            max(self.kind.fontMetrics().horizontalAdvance(name) for name in MAP_LABELS.values()) + 48
        )
        self._lay_out()
        self.heatmap.placed.connect(self.scale.set_span)
        self.heatmap.opened.connect(self.opened)
        self.scale.moved.connect(self._move_threshold)
        self.kind.changed.connect(lambda key: self.kind_changed.emit(MapKind(key)))
        self.weights.changed.connect(self.weights_changed)
        self.set_kind(MapKind.CONFUSABILITY)

    def _zoom_buttons(self) -> Sequence[IconButton]:
        does = (
            ("minus", "Smaller cells", lambda: self.heatmap.zoom(1 / STEP)),
            ("plus", "Larger cells", lambda: self.heatmap.zoom(STEP)),
            ("corners-out", "Show all tools", self.heatmap.fit),
        )
        made = []
        for icon, text, do in does:
            zoom = IconButton(icon, text)
            zoom.clicked.connect(lambda _=False, act=do: act())
            made.append(zoom)
        return made

    def _lay_out(self) -> None:
        bar = row_layout(None, self.kind, self.weights, margins=(16, 8, 12, 0), spacing=4)
        bar.addStretch(1)
        for zoom in self.zooms:
            bar.addWidget(zoom)
        column = column_layout(self, bar)
        column.addWidget(self.heatmap, 1)
        column.addWidget(self.scale)

    def set_kind(self, kind: MapKind) -> None:
        """Show what is coloured."""
        self.kind.set_current(kind.value)
        self.kind.setToolTip(tip(MAP_HELP[kind]))
        self.weights.setVisible(kind is MapKind.OVERLAP)

    def shown_kind(self) -> MapKind:
        """Return the matrix that the map shows."""
        return MapKind(self.kind.current())

    def show_heat(self, heat: Heat) -> None:
        """Show another map."""
        self.scale.set_ramp(ramp())
        self.heatmap.set_heat(heat)

    def show_flagged(self, flagged: int, pairs: int) -> None:
        """Say what the threshold does."""
        self.scale.say(flagged_text(flagged, pairs), f"Threshold {self.scale.threshold():.2f}")

    def set_threshold(self, threshold: float) -> None:
        """Outline pairs from this confusability on."""
        self.scale.set_threshold(threshold)
        self.heatmap.set_threshold(threshold)

    def _move_threshold(self, threshold: float) -> None:
        self.heatmap.set_threshold(threshold)
        self.threshold_changed.emit(threshold)


def _weight(name: str, value: float) -> QDoubleSpinBox:
    field = QDoubleSpinBox()
    field.setRange(0.0, 1.0)
    field.setSingleStep(0.05)
    field.setDecimals(2)
    field.setValue(value)
    field.setFixedWidth(sized(64))
    field.setAccessibleName(name)
    return field


HEIGHT = 48
EDGE = 16
NOTHING = "No pair reaches the threshold, and none was confused in runs."
UNREAD = "Counting the pairs that runs confused…"
TOO_MANY = "Too many pairs are flagged for a work list. Raise the threshold."


class WorkStateButton(QAbstractButton):
    """A number and what it counts; checked while the list is restricted to it."""

    def __init__(self, status: PairStatus, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.status = status
        self.number = 0
        self._line = LinePainter()
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedHeight(sized(HEIGHT))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setToolTip(tip(STATUS_HELP[status]))

    def set_number(self, number: int) -> None:
        """Count so many."""
        self.number = number
        self.setAccessibleName(f"{number:,} {STATUS_LABELS[self.status]}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(sized(180), sized(HEIGHT))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.isChecked() or self.underMouse():
            ground = Role.SELECTED if self.isChecked() else Role.HOVER
            painter.fillRect(self.rect().adjusted(0, 1, -1, 0), theme().colour(ground))
        painter.fillRect(self.width() - 1, 0, 1, self.height(), theme().colour(Role.LINE))
        if self.hasFocus():
            paint_focus(painter, self.rect().adjusted(0, 1, -1, 0))
        room = QRectF(self.rect()).adjusted(EDGE, 0, -EDGE, 0)
        figure = theme().font(Size.TITLE, strong=True, tabular=True)
        used = self._line.text(painter, room, f"{self.number:,}", figure, Role.TEXT)
        place = room.adjusted(used + 8, 1, 0, 1)
        self._line.text(painter, place, STATUS_LABELS[self.status], theme().font(), Role.DIM)


class WorkSummary(QWidget):
    """A cell for each status that has pairs. `chosen` gives the status, or None if a cell was unchecked."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.cells: Mapping[PairStatus, WorkStateButton] = {status: WorkStateButton(status) for status in STATUS_LABELS}
        self.words = FlowText(role=Role.DIM)
        row = row_layout(self, margins=(0, 1, 0, 0))
        for cell in self.cells.values():
            row.addWidget(cell, 1)
            cell.clicked.connect(lambda checked, one=cell: self._clicked(one, checked=checked))
        self._said = QWidget()
        row_layout(self._said, self.words, margins=(EDGE, 0, EDGE, 0), spacing=None)
        row.addWidget(self._said, 1)
        self.setFixedHeight(sized(HEIGHT) + 1)
        self.show_work(WorkList())
        self.words.set_text(UNREAD)

    def show_work(self, work: WorkList) -> None:
        """Show other counts."""
        shown = 0
        for status, cell in self.cells.items():
            cell.set_number(work.numbers.get(status, 0))
            cell.setVisible(cell.number > 0)
            shown += cell.number
        self.words.set_text(TOO_MANY if work.too_many else NOTHING)
        self._said.setVisible(not shown)

    def mark(self, status: PairStatus | None) -> None:
        """Show which status the list is restricted to."""
        for key, cell in self.cells.items():
            cell.setChecked(key is status)

    def _clicked(self, cell: WorkStateButton, *, checked: bool) -> None:
        self.mark(cell.status if checked else None)
        self.chosen.emit(cell.status if checked else None)

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, 0, self.width(), 1, theme().colour(Role.LINE))
