"""The Qt palette of a scheme, for whatever the style sheet and our own painting do not reach."""

from collections.abc import Mapping

from PySide6.QtGui import QColor, QPalette

from app.theme.tokens import Role

_ROLES = {
    QPalette.ColorRole.Window: Role.SURFACE,
    QPalette.ColorRole.Base: Role.SURFACE,
    QPalette.ColorRole.AlternateBase: Role.SUNKEN,
    QPalette.ColorRole.Button: Role.SURFACE,
    QPalette.ColorRole.ToolTipBase: Role.RAISED,
    QPalette.ColorRole.WindowText: Role.TEXT,
    QPalette.ColorRole.Text: Role.TEXT,
    QPalette.ColorRole.ButtonText: Role.TEXT,
    QPalette.ColorRole.ToolTipText: Role.TEXT,
    QPalette.ColorRole.BrightText: Role.BAD,
    QPalette.ColorRole.PlaceholderText: Role.DIM,
    QPalette.ColorRole.Highlight: Role.ACCENT_FILL,
    QPalette.ColorRole.HighlightedText: Role.ON_ACCENT,
    QPalette.ColorRole.Link: Role.ACCENT,
    QPalette.ColorRole.LinkVisited: Role.ACCENT,
    QPalette.ColorRole.Accent: Role.ACCENT_FILL,
    QPalette.ColorRole.Light: Role.LINE,
    QPalette.ColorRole.Midlight: Role.LINE,
    QPalette.ColorRole.Mid: Role.LINE,
    QPalette.ColorRole.Dark: Role.LINE,
    QPalette.ColorRole.Shadow: Role.LINE,
}
_FADED = (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText)


def palette(colours: Mapping[Role, QColor]) -> QPalette:
    """All groups alike, but disabled text takes the colour of controls."""
    made = QPalette()
    for place, role in _ROLES.items():
        made.setColor(place, colours[role])
    for place in _FADED:
        made.setColor(QPalette.ColorGroup.Disabled, place, colours[Role.CONTROL])
    return made
