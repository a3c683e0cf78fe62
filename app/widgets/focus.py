"""The order in which Tab goes through widgets that come and go."""

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def put_before(widgets: Iterable[QWidget], anchor: QWidget) -> None:
    """Let Tab reach these widgets, one after the other, just before `anchor`; all of them in one window."""
    before = _last_stop(anchor)
    for widget in widgets:
        QWidget.setTabOrder(before, widget)
        before = widget
    QWidget.setTabOrder(before, anchor)


def _last_stop(anchor: QWidget) -> QWidget:
    """Where the keyboard stops before `anchor`: Qt puts nothing in order behind widgets that take no keys."""
    widget = anchor.previousInFocusChain()
    while widget is not None and widget is not anchor:
        if widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.focusProxy() is None:
            return widget
        widget = widget.previousInFocusChain()
    return anchor
