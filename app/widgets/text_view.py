"""Read-only texts: labels, elided lines, hairlines, wrapped paragraphs and code. None of them reads markup."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QTextCharFormat,
    QTextLayout,
    QTextLine,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QSizePolicy, QWidget

from app.theme import Role, Size, radius, sized, theme
from app.theme.tokens import line_height
from app.widgets.accessibility import Spoken
from app.widgets.actions import Action, show_menu
from app.widgets.rows import paint_focus
from app.widgets.safe_text import one_line, plain, tip, units, visible
from app.widgets.spans import LinePainter, Span, joined

LEAST_HEIGHT = 20
OUT_OF_SIGHT = 1e6
ELLIPSIS = "…"


class Label(QLabel):
    """A label without markup, for short texts of our own; hidden characters are made visible."""

    def __init__(self, text: str = "", *, size: Size = Size.BODY, role: Role = Role.TEXT, strong: bool = False,
                 label: bool = False, tabular: bool = False, parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(visible(text), parent)
        self._role = role
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(theme().font(size, strong=strong, label=label, tabular=tabular))
        theme().changed.connect(self._retint)
        self.set_role(role)

    def _retint(self) -> None:
        self.set_role(self._role)

    def changeEvent(self, event: QEvent) -> None:
        """Set the colours again: Qt restores the previous palette when the style sheet changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and self._is_stale():
            self._retint()

    def _is_stale(self) -> bool:
        return self.palette().color(QPalette.ColorRole.WindowText) != theme().colour(self._role)

    def setText(self, text: str) -> None:
        super().setText(visible(text))

    def set_role(self, role: Role) -> None:
        """Take another colour."""
        self._role = role
        colours = self.palette()
        colours.setColor(QPalette.ColorRole.WindowText, theme().colour(role))
        self.setPalette(colours)


class LineText(QWidget):
    """One line of untrusted text, or of spans of it, made safe and elided; the whole of it is the tooltip."""

    SPOKEN_AS = Spoken.StaticText

    def __init__(self, text: str = "", *, size: Size = Size.BODY, role: Role = Role.TEXT, strong: bool = False,
                 mono: bool = False, parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(parent)
        self._size = size
        self._style = Span("", role, strong, mono)
        self._spans: tuple[Span, ...] = ()
        self._line = LinePainter()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)
        self.set_text(text)

    def set_text(self, text: str, role: Role | None = None) -> None:
        """Show another text."""
        self._style = replace(self._style, role=role or self._style.role)
        self.set_spans([replace(self._style, text=text)])

    def set_spans(self, spans: Sequence[Span], hint: str = "") -> None:
        """Show these pieces; `hint` replaces the whole line as the tooltip."""
        self._spans = tuple(replace(span, text=_safe(span.text)) for span in spans)
        self.setAccessibleName(visible(self.text()))
        self.setToolTip(tip(hint or joined(spans)))
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """Return the whole text, not elided."""
        return joined(self._spans)

    def sizeHint(self) -> QSize:
        wide = sum(self._line.width(span.text, span.font(self._size)) for span in self._spans)
        return QSize(round(wide) + 2, self.minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(24, max(sized(LEAST_HEIGHT), line_height(self._size)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        self._line.spans(QPainter(self), QRectF(self.rect()), self._spans, self._size)


class Rule(QFrame):
    """A horizontal or vertical hairline."""

    def __init__(self, *, upright: bool = False) -> None:
        super().__init__()
        (self.setFixedWidth if upright else self.setFixedHeight)(1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), theme().colour(Role.LINE))


def _safe(text: str) -> str:
    """One line, with the space before and after it kept: spans stand side by side."""
    start = " " if text[:1].isspace() and text.strip() else ""
    end = " " if text[-1:].isspace() and text.strip() else ""
    return f"{start}{one_line(text)}{end}"


class FlowText(QWidget):
    """A paragraph. Texts are made safe to show; line breaks are kept; the context menu copies."""

    SPOKEN_AS = Spoken.StaticText

    def __init__(self, text: str = "", *, size: Size = Size.BODY, role: Role = Role.TEXT, strong: bool = False,
                 mono: bool = False, max_lines: int = 0, parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(parent)
        self._size = size
        self._max_lines = max_lines
        self._plain_look = Span("", role, strong=strong, mono=mono)
        self._spans: tuple[Span, ...] = ()
        self._layouts: list[tuple[QTextLayout, list[tuple[int, int, Role]]]] = []
        self._laid_width = -1
        self._heights: dict[int, int] = {}  # by width: Qt asks for the same ones again with every change around it
        self._cut_at: QPointF | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme().changed.connect(self._remake)
        self.set_text(text)

    def set_text(self, text: str, role: Role | None = None) -> None:
        """Show one text in the look given at the start."""
        look = self._plain_look
        self.set_spans([Span(text, role or look.role, look.strong, look.mono)])

    def set_spans(self, spans: Sequence[Span]) -> None:
        """Show these pieces one after the other."""
        self._spans = tuple(replace(span, text=plain(span.text)) for span in spans)
        self.setAccessibleName(visible(joined(self._spans)))
        self._remake()

    def text(self) -> str:
        """Return the shown text."""
        return joined(self._spans)

    def width_of(self, text: str) -> int:
        """Return the width of a text on one line."""
        return ceil(QFontMetricsF(self._plain_look.font(self._size)).horizontalAdvance(text))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if width not in self._heights:
            self._heights[width] = self._lay_out(width)
        return self._heights[width]

    def sizeHint(self) -> QSize:
        return QSize(120, self.height() if self.testAttribute(Qt.WidgetAttribute.WA_Resized) else 20)

    def minimumSizeHint(self) -> QSize:
        return QSize(24, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._settle()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._laid_width != self.width():
            self._lay_out(self.width())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for layout, marks in self._layouts:
            for start, end, back in marks:
                _paint_mark(painter, layout, start, end, back)
            painter.setPen(theme().colour(Role.TEXT))
            layout.draw(painter, QPointF(0, 0))
        if self._cut_at is not None:
            painter.setFont(self._plain_look.font(self._size))
            painter.drawText(self._cut_at, ELLIPSIS)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        copy = Action(text="Copy text", do=lambda: QGuiApplication.clipboard().setText(self.text()), icon="copy")
        show_menu([copy], event.globalPos(), self)

    def _remake(self) -> None:
        self._layouts = [self._layout(line) for line in _split_lines(self._spans)]
        self._laid_width = -1
        self._heights.clear()
        self._settle()
        self.update()

    def _settle(self) -> None:
        if self.width() > 0:
            self.setFixedHeight(max(1, self.heightForWidth(self.width())))

    def _layout(self, spans: Sequence[Span]) -> tuple[QTextLayout, list[tuple[int, int, Role]]]:
        layout = QTextLayout(joined(spans), theme().font(self._size))
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        formats, marks, start = [], [], 0
        for span in spans:
            length = units(span.text)
            formats.append(_format(span, self._size, start, length))
            if span.back is not None:
                marks.append((start, start + length, span.back))
            start += length
        layout.setFormats(formats)
        return layout, marks

    def _lay_out(self, width: int) -> int:
        self._laid_width = width
        step, top, lines = line_height(self._size), 0.0, 0
        self._cut_at = None
        for layout, _ in self._layouts:
            layout.beginLayout()
            while (line := layout.createLine()).isValid():
                if self._max_lines and lines >= self._max_lines:
                    line.setPosition(
                        QPointF(0, OUT_OF_SIGHT)
                    )  # a line that exists is drawn, at the top if nowhere else
                    break
                line.setLineWidth(max(1, width))
                line.setPosition(QPointF(0, top + (step - line.height()) / 2))
                if lines + 1 == self._max_lines and line.textStart() + line.textLength() < units(layout.text()):
                    line.setLineWidth(max(1, width - self.width_of(ELLIPSIS)))
                    self._cut_at = QPointF(line.naturalTextWidth(), line.y() + line.ascent())
                top += step
                lines += 1
            layout.endLayout()
        return round(top)


def _format(span: Span, size: Size, start: int, length: int) -> QTextLayout.FormatRange:
    look = QTextCharFormat()
    look.setFont(span.font(size))
    look.setForeground(theme().colour(span.role))
    part = QTextLayout.FormatRange()
    part.start, part.length, part.format = start, length, look
    return part


def _split_lines(spans: Sequence[Span]) -> list[list[Span]]:
    lines: list[list[Span]] = [[]]
    for span in spans:
        for number, piece in enumerate(span.text.split("\n")):
            if number:
                lines.append([])
            lines[-1].append(replace(span, text=piece))
    return lines


def _paint_mark(painter: QPainter, layout: QTextLayout, start: int, end: int, back: Role) -> None:
    painter.setPen(theme().outline(Role.CONTROL))
    painter.setBrush(theme().colour(back))
    for number in range(layout.lineCount()):
        line = layout.lineAt(number)
        first, last = max(start, line.textStart()), min(end, line.textStart() + line.textLength())
        if first < last:
            left, right = _x(line, first), _x(line, last)
            box = QRectF(left - 1, line.y() - 0.5, right - left + 2, line.height() + 1)
            painter.drawRoundedRect(box, radius("text_mark"), radius("text_mark"))


def _x(line: QTextLine, position: int) -> float:
    found = line.cursorToX(position)
    first = found[0] if isinstance(found, tuple) else found
    return first if isinstance(first, float) else 0.0


LONGEST = 100_000


class CodeView(QPlainTextEdit):
    """Text in mono that can be read, selected and copied, and not changed."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._text = ""
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(theme().font(Size.BODY, mono=True))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus():
            paint_focus(QPainter(self.viewport()), self.viewport().rect())

    def show_text(self, text: str) -> None:
        """Show another text."""
        if text != self._text:
            self._text = text
            self.setPlainText(plain(text, LONGEST, LONGEST))
