"""Accessible roles and announcements for custom widgets, which Qt cannot know by itself."""

from functools import cache

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QAccessibleWidget, QWidget

from app.widgets.safe_text import tip

Spoken = QAccessible.Role


@cache
def install_accessible_roles() -> None:
    """Let every widget with a `SPOKEN_AS` be what that says, in this process."""
    QAccessible.installFactory(_told)


def announce(widget: QWidget, text: str) -> None:
    """Let screen readers say something that came up, wherever the focus is."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))


def describe(text: str, *parts: QWidget) -> None:
    """Have parts say more of themselves: on hover, and to screen readers."""
    for part in parts:
        part.setToolTip(tip(text))
        part.setAccessibleDescription(text)


def _told(_name: str, thing: QObject) -> QAccessibleWidget | None:
    role = getattr(thing, "SPOKEN_AS", None)
    return QAccessibleWidget(thing, role) if role is not None and isinstance(thing, QWidget) else None
