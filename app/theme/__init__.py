"""Appearance: colour roles, sizes, fonts, icons, palette and style sheet, for light and dark schemes."""

from app.theme.current import STYLE_OPTION, Contrast, Theme, ThemeMode, theme
from app.theme.tokens import Role, Size, height, radius, roomy, sized, space, unroomy, unsized, width

__all__ = [
    "STYLE_OPTION", "Contrast", "Role", "Size", "Theme", "ThemeMode", "height", "radius", "roomy", "sized", "space",
    "theme", "unroomy", "unsized", "width",
]  # fmt: skip
