"""One line of text in several looks, elided where it does not fit."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Size, sized, theme
from app.widgets.plain import one_line, tip, visible
from app.widgets.spans import LinePainter, Span, joined
from app.widgets.spoken import Spoken

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
        """What is shown, not elided."""
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
