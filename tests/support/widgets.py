"""Shown widgets, and what their signals gave."""

from typing import Any, TypeVar

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.theme import theme

W = TypeVar("W", bound=QWidget)


def placed(qtbot: QtBot, widget: W, *size: int, shown: bool = False) -> W:
    """Style a widget as part of a window, and have the test delete it; give it a size and show it, if asked to."""
    qtbot.addWidget(widget)
    theme().apply_to(widget)
    if size:
        widget.resize(*size)
    if shown or size:
        widget.show()
    return widget


def recorded(signal: Any) -> list[Any]:
    """Return a list that gets the value of each emission, or a tuple of them."""
    values: list[Any] = []
    signal.connect(lambda *given: values.append(given[0] if len(given) == 1 else given))
    return values
