"""Widget that shows one help page: headings, tables, and pictures from the help folder only."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from PySide6.QtCore import QRectF, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QImage,
    QImageReader,
    QPainter,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFragment,
    QTextFrameFormat,
    QTextTable,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from app.help.topics import FOLDER, anchor
from app.theme import Role, Size, theme

SIDE: Final = 32
WIDEST: Final = 760
INDENT: Final = 20
OBJECT: Final = "\ufffc"
IMAGE: Final = QTextDocument.ResourceType.ImageResource.value
ABOVE_PICTURE, BELOW_PICTURE = 4, 12
_HEADINGS: Final = {1: (Size.TITLE, 0, 8), 2: (Size.LEAD, 20, 4), 3: (Size.BODY, 12, 2)}


class HelpText(QTextBrowser):
    """Text of a help page; `followed` gives the address of a clicked link."""

    followed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._markdown = self._at = ""
        self._undrawn: list[str] = []
        self._turns = QTimer(self, interval=0)
        self._turns.timeout.connect(self._draw_next)
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName("Help")
        self.setProperty("pane", "read")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.anchorClicked.connect(lambda url: self.followed.emit(url.toString()))
        theme().changed.connect(self._draw)

    def show_markdown(self, text: str) -> None:
        """Show a page from its top."""
        self._markdown = text
        self._draw()
        self.go_to("")

    def go_to(self, wanted: str) -> None:
        """Scroll to the section with this anchor; without one, to the top of the page."""
        self._at = wanted
        headings = (block for block in self._blocks() if block.blockFormat().headingLevel())
        found = next(
            (block for block in headings if wanted and anchor(block.text()) == wanted), self.document().begin()
        )
        self.setTextCursor(QTextCursor(found))
        place = self.document().documentLayout().blockBoundingRect(found).top() if wanted else 0
        self.verticalScrollBar().setValue(int(place) - 8)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Return a blank image until the picture is drawn, because drawing all of a page blocks the window."""
        return _blank() if _file(QUrl(name).path()) else None

    def has_drawn(self) -> bool:
        """Return True if every picture of the page is drawn."""
        return not self._undrawn

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_pictures()
        if self._at:
            self.go_to(self._at)

    def _draw(self) -> None:
        if self.document().defaultFont() != theme().font():  # the page before would be laid out once more
            self.document().setDefaultFont(theme().font())
        self.document().setMarkdown(self._markdown)
        self.document().setDocumentMargin(SIDE)
        self.document().setIndentWidth(INDENT)
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        for block in self._blocks():
            self._dress_block(block)
            for fragment in list(_fragments(block)):
                self._dress_words(fragment)
        for table in self.document().rootFrame().childFrames():
            if isinstance(table, QTextTable):
                _dress_table(table)
        cursor.endEditBlock()
        self._fit_pictures()

    def _blocks(self) -> Iterator[QTextBlock]:
        block = self.document().begin()
        while block.isValid():
            yield block
            block = block.next()

    def _dress_block(self, block: QTextBlock) -> None:
        looks, cursor = QTextBlockFormat(), QTextCursor(block)
        level = block.blockFormat().headingLevel()
        if level:
            size, above, below = _HEADINGS[min(level, 3)]
            looks.setTopMargin(above)
            looks.setBottomMargin(below)
            words = QTextCharFormat()
            words.setFont(theme().font(size, strong=True))
            cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
            cursor.setCharFormat(words)
        elif cursor.currentTable() is None and OBJECT not in block.text():
            looks.setLineHeight(130, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        elif OBJECT in block.text():
            looks.setTopMargin(ABOVE_PICTURE)
            looks.setBottomMargin(BELOW_PICTURE)
        QTextCursor(block).mergeBlockFormat(looks)

    def _dress_words(self, fragment: QTextFragment) -> None:
        given, looks = fragment.charFormat(), QTextCharFormat()
        if given.fontFixedPitch():
            looks.setFont(theme().font(mono=True))
        if given.isAnchor():
            looks.setForeground(theme().colour(Role.ACCENT))
        cursor = QTextCursor(self.document())
        cursor.setPosition(fragment.position())
        cursor.setPosition(fragment.position() + fragment.length(), QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(looks)

    def _draw_next(self) -> None:
        if self._undrawn:
            name = self._undrawn.pop(0)
            self.document().addResource(IMAGE, QUrl(name), self._picture(name))
            self.viewport().update()
        else:
            self._turns.stop()

    def _picture(self, name: str) -> QImage:
        """Return a picture, drawn once for its size."""
        scale = self.devicePixelRatio()
        whole = QImage(_file(name)).convertToFormat(QImage.Format.Format_RGB32)
        smooth = whole.scaledToWidth(round(self._room() * scale), Qt.TransformationMode.SmoothTransformation)
        smooth.setDevicePixelRatio(scale)
        painter = QPainter(smooth)
        painter.setPen(theme().colour(Role.LINE))
        painter.drawRect(QRectF(0.5, 0.5, smooth.width() / scale - 1, smooth.height() / scale - 1))
        painter.end()
        return smooth

    def _room(self) -> int:
        return max(200, min(WIDEST, self.viewport().width() - 2 * SIDE))

    def _fit_pictures(self) -> None:
        """Limit pictures to the width of the page, and draw each in a separate turn of the event loop."""
        room = self._room()
        self._undrawn = []
        for block in self._blocks():
            for fragment in list(_fragments(block)):
                if fragment.charFormat().isImageFormat():
                    picture = fragment.charFormat().toImageFormat()
                    if file := _file(picture.name()):
                        whole = QImageReader(file).size()
                        picture.setHeight(room * whole.height() / max(1, whole.width()))
                        self._undrawn.append(picture.name())
                    picture.setWidth(room)
                    cursor = QTextCursor(self.document())
                    cursor.setPosition(fragment.position())
                    cursor.setPosition(fragment.position() + 1, QTextCursor.MoveMode.KeepAnchor)
                    cursor.setCharFormat(picture)
        self._turns.start()


@cache
def _blank() -> QImage:
    made = QImage(1, 1, QImage.Format.Format_ARGB32)
    made.fill(Qt.GlobalColor.transparent)
    return made


def _file(name: str) -> str:
    """Return the path of a picture in the help folder; "" for anything else."""
    file = (FOLDER / name).resolve()
    return str(file) if FOLDER.resolve() in file.parents and file.suffix == ".png" else ""


def _fragments(block: QTextBlock) -> Iterator[QTextFragment]:
    place = block.begin()
    while not place.atEnd():
        yield place.fragment()
        place += 1


def _dress_table(table: QTextTable) -> None:
    looks = table.format()
    looks.setBorderCollapse(True)
    looks.setBorder(1)
    looks.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    looks.setBorderBrush(theme().colour(Role.LINE))
    looks.setCellPadding(6)
    looks.setCellSpacing(0)
    looks.setTopMargin(8)
    looks.setBottomMargin(8)
    table.setFormat(looks)
