"""One-line texts, plain or elided, and hairlines."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

from app.theme import Role, Size, sized, theme
from app.theme.tokens import line_height
from app.widgets.accessibility import Spoken
from app.widgets.safe_text import one_line, tip, visible
from app.widgets.spans import LinePainter, Span, joined

LEAST_HEIGHT = 20


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
    """One line of foreign text, or of spans of it, made safe and elided; the whole of it is the tooltip."""

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
    """A hairline, lying or standing."""

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
