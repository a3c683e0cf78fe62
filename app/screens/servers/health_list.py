"""List of servers with a line of their latency, their errors as ticks, and their figures."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractItemView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.screens.servers.health_presenter import STATES, HealthRow, LatencyPoint, time_text
from app.theme import Role, Size, height, sized, theme
from app.theme.tokens import mark_size
from app.widgets import Mark, mark_pixmap, visible
from app.widgets.keyed_view import KeyedView
from app.widgets.rows import KeyedModel, paint_frame
from app.widgets.spans import LinePainter
from mcp_tef import HealthState

ROW_HEIGHT: Final = 72
SIDE, NAME, FIGURE, LAST, SCALE = 16, 150, 92, 104, 54
NARROW: Final = 680
PICTURE: Final = 760
MARKS: Final = {
    HealthState.HEALTHY: Mark.DOT,
    HealthState.DEGRADED: Mark.NOTE,
    HealthState.UNAVAILABLE: Mark.TRIANGLE,
    HealthState.UNKNOWN: Mark.RING,
}
ROLES: Final = {HealthState.DEGRADED: Role.WARN, HealthState.UNAVAILABLE: Role.BAD, HealthState.UNKNOWN: Role.DIM}
RIGHT: Final = Qt.AlignmentFlag.AlignRight


class HealthPlaces:
    """Places of the columns in a row; a narrow one has no last success."""

    def __init__(self, row: QRectF) -> None:
        inner = row.adjusted(sized(SIDE), 0, -sized(SIDE), 0)
        narrow = row.width() < sized(NARROW)
        self.name = QRectF(inner.left(), inner.top(), sized(NAME - 20 * narrow), inner.height())
        right = inner.right()
        places = []
        for wide in (0 if narrow else LAST, FIGURE, FIGURE):
            places.append(QRectF(right - sized(wide), inner.top(), sized(wide), inner.height()))
            right -= sized(wide)
        self.last, self.errors, self.times = places
        self.scale = QRectF(right - sized(SCALE), inner.top(), sized(SCALE), inner.height())
        left = self.name.right() + sized(12)
        self.line = QRectF(left, inner.top(), max(10.0, self.scale.left() - left - 4), inner.height())


class HealthHeads(QWidget):
    """Titles over the columns."""

    def __init__(self) -> None:
        super().__init__()
        self._line = LinePainter()
        self.setFixedHeight(height("table_row"))

    def paintEvent(self, _event: QPaintEvent) -> None:
        self.draw(QPainter(self), QRectF(self.rect()))

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the titles into an area."""
        font, places = theme().font(Size.SMALL, label=True), HealthPlaces(area)
        for place, text, right in (
            (places.name, "Server", False),
            (places.line, "Latency in the last hour", False),
            (places.times, "p50, p95", True),
            (places.errors, "Errors", True),
            (places.last, "Last success" if places.last.width() > 0 else "", True),
        ):
            align = RIGHT if right else Qt.AlignmentFlag.AlignLeft
            self._line.text(painter, place, text, font, Role.DIM, align)
        painter.fillRect(QRectF(area.left(), area.bottom() - 1, area.width(), 1), theme().colour(Role.LINE))


class HealthModel(KeyedModel[HealthRow]):
    """Servers in one column."""

    def text_of(self, row: HealthRow, column: int) -> str:
        return visible(row.spoken)


class HealthDelegate(QStyledItemDelegate):
    """Paints one server."""

    def __init__(self, view: "HealthList") -> None:
        super().__init__(view)
        self._list = view
        self._line = LinePainter()

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = self._list.rows.row(index.row())
        focused = self._list.focus_visible and index.row() == self._list.currentIndex().row()
        painter.save()
        paint_frame(painter, option, hovered=index.row() == self._list.hovered, focused=focused)
        self.draw(painter, QRectF(option.rect), row)
        painter.restore()

    def draw(self, painter: QPainter, area: QRectF, row: HealthRow) -> None:
        """Draw a server into an area."""
        places = HealthPlaces(area)
        self._paint_name(painter, places.name, row)
        if row.note:
            wide = places.line.adjusted(0, 0, sized(SCALE + 2 * FIGURE), 0)
            self._line.text(painter, _upper(wide), row.note, theme().font(), Role.DIM)
        else:
            self._paint_latency(painter, places, row)
        bad = ROLES.get(row.state, Role.TEXT) if row.state is not HealthState.UNKNOWN else Role.TEXT
        self._paint_figures(painter, places.times, row.times, Role.TEXT)
        self._paint_figures(painter, places.errors, row.failed, bad if row.failing else Role.DIM)
        if places.last.width() > 0:
            late = Role.BAD if row.state is HealthState.UNAVAILABLE else Role.DIM
            self._paint_figures(painter, places.last, (row.last_success, ""), late)

    def _paint_name(self, painter: QPainter, place: QRectF, row: HealthRow) -> None:
        side = mark_size("table")
        upper, lower = _upper(place), _lower(place)
        top = int(upper.center().y() - side / 2 + 0.5)
        painter.drawPixmap(int(place.left()) - 2, top, mark_pixmap(MARKS[row.state], side))
        for part, text, role in (
            (upper, row.name, Role.TEXT),
            (lower, STATES[row.state], ROLES.get(row.state, Role.TEXT)),
        ):
            font = theme().font(Size.BODY if part is upper else Size.SMALL, strong=role in (Role.WARN, Role.BAD))
            self._line.text(painter, part.adjusted(sized(22), 0, 0, 0), text, font, role)

    def _paint_figures(self, painter: QPainter, place: QRectF, texts: tuple[str, str], role: Role) -> None:
        font = theme().font(strong=role in (Role.WARN, Role.BAD), tabular=True)
        self._line.text(painter, _upper(place), texts[0], font, role, RIGHT)
        self._line.text(painter, _lower(place), texts[1], theme().font(Size.SMALL, tabular=True), Role.DIM, RIGHT)

    def _paint_latency(self, painter: QPainter, places: HealthPlaces, row: HealthRow) -> None:
        box = places.line.adjusted(0, sized(14), 0, -sized(22))
        line = theme().colour(Role.LINE)
        for edge in (box.top(), box.bottom()):
            painter.fillRect(QRectF(box.left(), round(edge), box.width(), 1), line)
        scale = QRectF(places.scale.left(), box.top() - sized(9), places.scale.width(), sized(18))
        self._line.text(painter, scale, time_text(row.top_ms), theme().font(Size.SMALL, tabular=True), Role.DIM)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        low = [_at(box, point, point.p50_ms, row.top_ms) for point in row.line]
        high = [_at(box, point, point.p95_ms, row.top_ms) for point in row.line]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().colour(Role.ACCENT_FILL if not theme().dark else Role.ACCENT_TINT))
        painter.setOpacity(1.0 if theme().dark else 0.35)
        painter.drawPolygon(QPolygonF([*high, *reversed(low)]))
        painter.setOpacity(1.0)
        painter.setPen(QPen(theme().colour(Role.ACCENT), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(low))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        for place in row.errors:
            tick = QRectF(round(box.left() + place * box.width()) - 1, box.bottom() + 4, 2, sized(6))
            painter.fillRect(tick, theme().colour(Role.BAD))


class HealthList(KeyedView[HealthRow]):
    """All servers, one selected."""

    def __init__(self) -> None:
        super().__init__(HealthModel(), sized(ROW_HEIGHT))
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setAccessibleName("Health of servers")
        self.heads, self._delegate = HealthHeads(), HealthDelegate(self)
        self.setItemDelegate(self._delegate)
        self.fill_width()

    def whole(self) -> QSize:
        """Return the size of a picture of all servers."""
        rows = len(self.rows.ids())
        return QSize(max(PICTURE, self.width()), self.heads.height() + rows * sized(ROW_HEIGHT))

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the titles and all servers into an area."""
        top, high = area.top() + self.heads.height(), sized(ROW_HEIGHT)
        self.heads.draw(painter, QRectF(area.left(), area.top(), area.width(), self.heads.height()))
        for place in range(len(self.rows.ids())):
            row = QRectF(area.left(), top + place * high, area.width(), high)
            self._delegate.draw(painter, row, self.rows.row(place))
            painter.fillRect(QRectF(row.left(), row.bottom() - 1, row.width(), 1), theme().colour(Role.LINE))

    def show_rows(self, rows: Sequence[HealthRow]) -> None:
        """Show these; the first one is selected where none is."""
        self.set_rows(rows)
        if rows and not self.current_id():
            self.select_first()


def _at(box: QRectF, point: LatencyPoint, value: int, top: int) -> QPointF:
    return QPointF(box.left() + point.place * box.width(), box.bottom() - box.height() * min(1.0, value / (top or 1)))


def _upper(place: QRectF) -> QRectF:
    return QRectF(place.left(), place.top() + sized(12), place.width(), sized(22))


def _lower(place: QRectF) -> QRectF:
    return QRectF(place.left(), place.top() + sized(34), place.width(), sized(20))
