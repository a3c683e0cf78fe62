"""Rows and columns of widgets: Qt's box layouts, without margins and spacing unless some are given."""

from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

Margins = tuple[int, int, int, int]
NO_MARGINS: Margins = (0, 0, 0, 0)


def column_layout(
    parent: QWidget | None = None,
    *parts: QWidget | QLayout,
    margins: Margins = NO_MARGINS,
    spacing: int | None = 0,
) -> QVBoxLayout:
    """Return a layout that places its parts below each other; with `spacing` None as far apart as Qt's style does."""
    made = QVBoxLayout() if parent is None else QVBoxLayout(parent)
    _fill(made, parts, margins, spacing)
    return made


def row_layout(
    parent: QWidget | None = None,
    *parts: QWidget | QLayout,
    margins: Margins = NO_MARGINS,
    spacing: int | None = 0,
) -> QHBoxLayout:
    """Return a layout that places its parts beside each other, from left to right."""
    made = QHBoxLayout() if parent is None else QHBoxLayout(parent)
    _fill(made, parts, margins, spacing)
    return made


def _fill(layout: QBoxLayout, parts: tuple[QWidget | QLayout, ...], margins: Margins, spacing: int | None) -> None:
    layout.setContentsMargins(*margins)
    if spacing is not None:
        layout.setSpacing(spacing)
    for part in parts:
        if isinstance(part, QWidget):
            layout.addWidget(part)
        else:
            layout.addLayout(part)


def clear_layout(layout: QLayout, keep: int = 0) -> None:
    """Delete the widgets of a layout, but for the first ones to `keep`."""
    while (item := layout.takeAt(keep)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
