"""How everything looks: colour roles, sizes, fonts, icons, palette and style sheet, for both schemes."""

from app.theme.current import Theme, ThemeMode, theme
from app.theme.tokens import Role, Size, height, radius, roomy, sized, space, unroomy, unsized, width

__all__ = [
    "Role",
    "Size",
    "Theme",
    "ThemeMode",
    "height",
    "radius",
    "roomy",
    "sized",
    "space",
    "theme",
    "unroomy",
    "unsized",
    "width",
]
