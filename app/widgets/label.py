"""One-line texts: plain labels, elided lines, lines of styled spans, and hairlines."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

from app.theme import Role, Size, sized, theme
from app.theme.tokens import line_height
from app.widgets.accessibility import Spoken
from app.widgets.safe_text import one_line, tip, visible
from app.widgets.spans import LinePainter, Span, joined


class Label(QLabel):
    """A label that never reads markup, for short texts of our own; what a stranger put into one is made visible."""

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
    """One line of foreign text, made safe and elided; the whole of it is the tooltip."""

    SPOKEN_AS = Spoken.StaticText

    def __init__(self, text: str = "", *, size: Size = Size.BODY, role: Role = Role.TEXT, strong: bool = False,
                 mono: bool = False, parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(parent)
        self._font = theme().font(size, strong=strong, mono=mono)
        self._height = max(sized(20), line_height(size))
        self._role = role
        self._line = LinePainter()
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_text(text)

    def set_text(self, text: str, role: Role | None = None) -> None:
        """Show another text."""
        self._role = role or self._role
        self._text = one_line(text)
        self.setAccessibleName(self._text)
        self.setToolTip(tip(text))
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """Return the whole text, not elided."""
        return self._text

    def sizeHint(self) -> QSize:
        return QSize(round(self._line.width(self._text, self._font)) + 2, self._height)

    def minimumSizeHint(self) -> QSize:
        return QSize(24, self._height)

    def paintEvent(self, _event: QPaintEvent) -> None:
        self._line.text(QPainter(self), QRectF(self.rect()), self._text, self._font, self._role)


class Rule(QFrame):
    """A hairline, lying or standing."""

    def __init__(self, *, upright: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        (self.setFixedWidth if upright else self.setFixedHeight)(1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), theme().colour(Role.LINE))


TALL = 20


class SpanLine(QWidget):
    """Spans of untrusted text on one line; `hint` is the tooltip, the whole line where there is none."""

    SPOKEN_AS = Spoken.StaticText

    def __init__(self, spans: Sequence[Span] = (), *, size: Size = Size.BODY, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._size = size
        self._spans: tuple[Span, ...] = ()
        self._line = LinePainter()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)
        self.set_spans(spans)

    def set_spans(self, spans: Sequence[Span], hint: str = "") -> None:
        """Show these pieces."""
        self._spans = tuple(
            Span(_safe(span.text), span.role, span.strong, span.mono, span.italic, span.back) for span in spans
        )
        self.setAccessibleName(visible(joined(self._spans)))
        self.setToolTip(tip(hint or joined(spans)))
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """Return the whole text, not elided."""
        return joined(self._spans)

    def sizeHint(self) -> QSize:
        wide = sum(self._line.width(span.text, span.font(self._size)) for span in self._spans)
        return QSize(round(wide) + 2, sized(TALL))

    def minimumSizeHint(self) -> QSize:
        return QSize(24, sized(TALL))

    def paintEvent(self, _event: QPaintEvent) -> None:
        self._line.spans(QPainter(self), QRectF(self.rect()), self._spans, self._size)


def _safe(text: str) -> str:
    """One line, with the space before and after it kept: spans stand side by side."""
    start = " " if text[:1].isspace() else ""
    end = " " if text[-1:].isspace() and text.strip() else ""
    return f"{start}{one_line(text)}{end}"
