"""Base class of charts: drawn at any size, on screen or into a picture, with one accessible name."""

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QImage, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from app.theme import Role, theme
from app.widgets.accessibility import Spoken
from app.widgets.rows import paint_focus

if TYPE_CHECKING:
    from app.widgets.matrix import MatrixChart

PICTURE_SCALE = 2.0
DOTS_PER_INCH = 96
TITLE = 36
Drawn: TypeAlias = "Chart | MatrixChart"


class Chart(QWidget):
    """A drawing of data; a subclass draws it. `menu_wanted` gives the place of a click with the other button."""

    SPOKEN_AS = Spoken.Chart

    menu_wanted = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        theme().changed.connect(self.update)

    def whole(self) -> QSize:
        """The size of a picture of it."""
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
    """A chart as pixels under its title, in the colours of now."""
    size = _size(chart, title)
    image = QImage(size * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    image.fill(theme().colour(Role.SURFACE))
    _draw_on(image, chart, title)
    return image


def save_picture(chart: Drawn, file: Path, title: str) -> None:
    """Write a chart as SVG or, for every other ending, as PNG; raises OSError where the file cannot be written."""
    file.write_bytes(b"")
    if file.suffix.casefold() == ".svg":
        _save_svg(chart, file, title)
    elif not picture(chart, title).save(str(file), "PNG"):  # type: ignore[call-overload]  # the stubs want bytes, Qt takes text
        raise OSError(f"{file.name} could not be written")


def copy_picture(chart: Drawn, title: str = "") -> None:
    """Put a chart on the clipboard."""
    QGuiApplication.clipboard().setImage(picture(chart, title))


def _size(chart: Drawn, title: str) -> QSize:
    return chart.whole() + QSize(0, TITLE if title else 0)


def _save_svg(chart: Drawn, file: Path, title: str) -> None:
    size = _size(chart, title)
    generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    generator.setFileName(str(file))
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
        painter.drawText(QPointF(16, 22), title)
        painter.translate(0, TITLE)
    chart.draw(painter, QRectF(0, 0, size.width(), size.height()))
    painter.end()
