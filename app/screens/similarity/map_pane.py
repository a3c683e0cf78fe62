"""The heatmap with its toolbar, and the threshold scale below it."""

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QVBoxLayout, QWidget

from app.screens.similarity.labels import MAP_HELP, MAP_LABELS, MapKind, flagged_text
from app.theme import Role, Size, sized
from app.widgets import IconButton, Label, MenuButton, tip
from app.widgets.heatmap import STEP, Heatmap
from app.widgets.heatmap_data import Heat
from app.widgets.heatmap_drawing import ramp
from app.widgets.scale import ThresholdScale
from mcp_tef import OverlapWeights

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
            "Meaning": _weight("Weight of meaning", start.semantic),
            "Parameters": _weight("Weight of parameters", start.parameters),
            "Wording": _weight("Weight of wording", start.description),
        }
        self._debounce = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._debounce.timeout.connect(self._tell)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 0, 0)
        row.setSpacing(6)
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
        self.set_kind(MapKind.SIMILARITY)

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
        bar = QHBoxLayout()
        bar.setContentsMargins(16, 8, 12, 0)
        bar.setSpacing(4)
        bar.addWidget(self.kind)
        bar.addWidget(self.weights)
        bar.addStretch(1)
        for zoom in self.zooms:
            bar.addWidget(zoom)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
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
        """Outline pairs from this similarity on."""
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
