"""Charts: their base class, pictures of them in files, and the panel that shows one as a picture or as a table."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from PySide6.QtCore import QBuffer, QIODevice, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QGuiApplication, QImage, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QSizePolicy, QStackedLayout, QWidget

from app.theme import Role, Size, sized, theme
from app.widgets.accessibility import Spoken
from app.widgets.actions import Action, IconButton, show_menu
from app.widgets.layouts import column_layout, row_layout
from app.widgets.matrix import MatrixChart
from app.widgets.rows import Cell, CellKind, Column, Row, paint_focus
from app.widgets.safe_text import tip
from app.widgets.table import ListTable
from app.widgets.text_view import FlowText, LineText

PICTURE_SCALE = 2.0
DOTS_PER_INCH = 96
TITLE_SIDE, TITLE_ABOVE, TITLE_BELOW = 16, 8, 10


class Drawn(Protocol):
    """A drawing that can be saved as a picture."""

    def whole(self) -> QSize:
        """Return the size of a picture of it."""
        ...

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw all of it into an area."""
        ...


class Chart(QWidget):
    """A drawing of data; a subclass draws it. `menu_wanted` gives the place of a click with the other button."""

    SPOKEN_AS = Spoken.Chart

    menu_wanted = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        theme().changed.connect(self.update)

    def whole(self) -> QSize:
        """Return the size of a picture of it."""
        return self.size().expandedTo(QSize(480, 300))

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw all of it into an area."""

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.draw(painter, QRectF(self.rect()))
        if self.hasFocus():
            paint_focus(painter, self.rect())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_wanted.emit(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Menu:
            self.menu_wanted.emit(self.mapToGlobal(self.rect().center()))
        else:
            super().keyPressEvent(event)


def picture(chart: Drawn, title: str = "", scale: float = PICTURE_SCALE) -> QImage:
    """Return a chart as pixels under its title, in the colours of now."""
    size = _size(chart, title)
    image = QImage(size * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    image.fill(theme().colour(Role.SURFACE))
    _draw_on(image, chart, title)
    return image


def encoded_picture(chart: Drawn, ending: str, title: str) -> bytes:
    """Return a chart as SVG or, for every other ending, as PNG."""
    made = QBuffer()
    made.open(QIODevice.OpenModeFlag.WriteOnly)
    if ending.casefold() == ".svg":
        _draw_svg(chart, made, title)
    else:
        picture(chart, title).save(made, "PNG")  # type: ignore[call-overload]  # the stubs want bytes, Qt takes text
    return bytes(made.data().data())


def copy_picture(chart: Drawn, title: str = "") -> None:
    """Put a chart on the clipboard."""
    QGuiApplication.clipboard().setImage(picture(chart, title))


def _size(chart: Drawn, title: str) -> QSize:
    return chart.whole() + QSize(0, _title_height(chart, title))


def _title_height(chart: Drawn, title: str) -> int:
    """Return the height of a title in as many lines as it needs, since a picture has no tooltip."""
    room = QRect(0, 0, chart.whole().width() - 2 * TITLE_SIDE, 10_000)
    lines = QFontMetrics(theme().font(strong=True)).boundingRect(room, Qt.TextFlag.TextWordWrap.value, title)
    return TITLE_ABOVE + lines.height() + TITLE_BELOW if title else 0


def _draw_svg(chart: Drawn, device: QIODevice, title: str) -> None:
    size = _size(chart, title)
    generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    generator.setOutputDevice(device)
    generator.setTitle(title)
    generator.setSize(size)
    generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
    generator.setResolution(DOTS_PER_INCH)
    _draw_on(generator, chart, title)


def _draw_on(device: QImage | QSvgGenerator, chart: Drawn, title: str) -> None:
    size, whole = chart.whole(), _size(chart, title)
    painter = QPainter(device)
    painter.fillRect(QRectF(0, 0, whole.width(), whole.height()), theme().colour(Role.SURFACE))
    if title:
        painter.setFont(theme().font(strong=True))
        painter.setPen(theme().colour(Role.TEXT))
        high = _title_height(chart, title)
        place = QRectF(TITLE_SIDE, TITLE_ABOVE, whole.width() - 2 * TITLE_SIDE, high)
        painter.drawText(place, Qt.TextFlag.TextWordWrap.value, title)
        painter.translate(0, high)
    chart.draw(painter, QRectF(0, 0, size.width(), size.height()))
    painter.end()


Values = Sequence[Sequence[str]]
MakeValues = Callable[[], Values]
HEAD, HEADING = 32, 96


class ChartPanel(QWidget):
    """`save_wanted` gives `png`, `svg` or `csv`; `enlarge_wanted` asks for all the room there is, or less again.

    `own_actions` are those of the chart itself, which come first in its menu.
    """

    save_wanted = Signal(str)
    enlarge_wanted = Signal()

    def __init__(self, title: str, chart: Chart | MatrixChart) -> None:
        super().__init__()
        self.title = title
        self.chart = chart
        self.large = False
        self.own_actions: Callable[[], Sequence[Action]] = tuple
        self.table: ListTable | None = None
        self._columns: tuple[str, ...] = ()
        self._tips: tuple[str, ...] = ()
        self._make: MakeValues = tuple
        self._heading = LineText(title, size=Size.SMALL, role=Role.DIM)
        self._note = LineText(size=Size.SMALL, role=Role.DIM)
        self._enlarge = IconButton("corners-out", f"Enlarge or put back: {title}")
        self._enlarge.clicked.connect(self.enlarge_wanted)
        self._more = IconButton("dots-three", f"More: {title}")
        self._more.clicked.connect(lambda: self.open_menu(self._more.mapToGlobal(QPoint(0, self._more.height()))))
        self._message = FlowText(role=Role.DIM)
        chart.menu_wanted.connect(self.open_menu)
        self._lay_out()

    def _lay_out(self) -> None:
        self._head = row_layout(margins=(16, 0, 10, 0), spacing=8)
        self._heading.setMinimumWidth(min(self._heading.sizeHint().width(), HEADING))
        self._note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)  # the heading comes first
        self._head.addWidget(self._heading)
        self._head.addWidget(self._note, 1)
        self._head.addWidget(self._enlarge)
        self._head.addWidget(self._more)
        message_pane = QWidget()
        box = column_layout(message_pane, self._message, margins=(16, 8, 16, 8), spacing=None)
        box.addStretch(1)
        stack = QWidget()
        self._stack = QStackedLayout(stack)
        self._stack.addWidget(self.chart)
        self._stack.addWidget(message_pane)
        column = column_layout(self)
        head = QWidget()
        head.setFixedHeight(sized(HEAD))
        head.setLayout(self._head)
        column.addWidget(head)
        column.addWidget(stack, 1)

    def add_tool(self, widget: QWidget) -> None:
        """Put a small button before the menu's."""
        self._head.insertWidget(self._head.count() - 2, widget)

    def set_note(self, note: str, explained: str = "") -> None:
        """Words at the right of the heading; the explanation is shown on hover over the heading."""
        self._note.set_text(note)
        self._heading.setToolTip(tip(explained))
        self.chart.setAccessibleDescription(explained)

    def picture_title(self) -> str:
        """Return the title of a picture of the chart: its heading with the words beside it."""
        return " · ".join(filter(None, (self.title, self._note.text())))

    def set_message(self, message: str) -> None:
        """Say this in place of the chart; empty shows the chart."""
        self._message.set_text(message)
        self._place()

    def set_values(self, columns: Sequence[str], make: MakeValues, tips: Sequence[str] = ()) -> None:
        """Set the same data as a table, made when it is looked at; `tips` explain its columns."""
        self._columns, self._make = tuple(columns), make
        self._tips = tuple(tips) or ("",) * len(self._columns)
        if self.table is not None:
            self.table.set_rows(_rows(make()))

    def shows_table(self) -> bool:
        """Return True if the table is shown in place of the chart."""
        return self.table is not None and self._stack.currentWidget() is self.table

    def toggle_table(self) -> None:
        """Show the table in place of the picture, or the picture again."""
        if self.shows_table():
            self._stack.setCurrentWidget(self.chart)
            self.chart.setFocus()
            return
        if self.table is None:
            values = self._make()
            self.table = ListTable(_columns(self._columns, values, self._tips), self.title)
            self._stack.addWidget(self.table)
            self.table.set_rows(_rows(values))
        self._stack.setCurrentWidget(self.table)
        self.table.setFocus()

    def menu(self) -> list[Action]:
        """Actions on the chart."""
        return [
            *self.own_actions(),
            Action(text="Show as picture" if self.shows_table() else "Show as table", do=self.toggle_table),
            Action(text="Back to its place" if self.large else "Enlarge", do=self.enlarge_wanted.emit),
            Action(text="Save as PNG…", do=self._saver("png"), apart=True),
            Action(text="Save as SVG…", do=self._saver("svg")),
            Action(text="Save as CSV…", do=self._saver("csv")),
            Action(text="Copy picture", do=lambda: copy_picture(self.chart, self.picture_title()), apart=True),
            Action(text="Copy data", do=self._copy),
        ]

    def open_menu(self, at: QPoint) -> None:
        """Open the menu at a place on the screen."""
        show_menu(self.menu(), at, self)

    def _saver(self, kind: str) -> Callable[[], None]:
        return lambda: self.save_wanted.emit(kind)

    def _copy(self) -> None:
        lines = ["\t".join(self._columns), *("\t".join(row) for row in self._make())]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _place(self) -> None:
        if self._message.text():
            self._stack.setCurrentIndex(1)
        elif self._stack.currentIndex() == 1:
            self._stack.setCurrentWidget(self.chart)


def _columns(names: Sequence[str], values: Values, tips: Sequence[str]) -> tuple[Column, ...]:
    """Columns wide enough for their words; those of numbers are set flush right."""
    return tuple(
        Column(key=str(place), title=name, kind=_kind(values, place), width=_width(name, values, place), tip=explained)
        for place, (name, explained) in enumerate(zip(names, tips, strict=True))
    )


def _kind(values: Values, place: int) -> CellKind:
    return CellKind.NUMBER if values and all(_number(row[place]) is not None for row in values) else CellKind.TEXT


def _width(name: str, values: Values, place: int) -> int:
    longest = max((len(row[place]) for row in values[:200]), default=0)
    return max(56, min(240, 24 + 7 * max(len(name), longest)))


def _rows(values: Values) -> list[Row]:
    return [Row(str(number), partial(_cells, row)) for number, row in enumerate(values)]


def _cells(row: Sequence[str]) -> list[Cell]:
    return [_cell(text) for text in row]


def _cell(text: str) -> Cell:
    number = _number(text)
    return Cell(text=text, sort=number if number is not None and text != "–" else None)


def _number(text: str) -> float | None:
    if text == "–":
        return -1.0
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
