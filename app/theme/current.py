"""The current theme: its colour scheme, icons and fonts.

The first frame needs this, so it imports nothing slow: the namespace `Qt` alone takes 20 ms.
"""

from collections.abc import Callable, Hashable, Mapping
from enum import Enum
from functools import cache

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QPen, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from app.theme.style_sheet import StyleSheetApplier, palette, sheet
from app.theme.tokens import TOKENS_FILE, Role, Size, TextSize, pixels, scheme_colours, weight, width

STYLE_OPTION = ("-style", "Fusion")
"""Option of Qt at the start of an application: the one style that the sheet is made for."""


class ThemeMode(Enum):
    """Colour scheme chosen by the user: the system's, or always one."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Contrast(Enum):
    """Contrast chosen by the user: the system's, or always normal or high."""

    SYSTEM = "system"
    NORMAL = "normal"
    HIGH = "high"


class Theme(QObject):
    """Colours, fonts and icons by role; emits `changed` when all of them are different."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.mode = ThemeMode.SYSTEM
        self.contrast = Contrast.SYSTEM
        self.dark = False
        self.high = False
        self.sheet = ""
        self._application_wide = True
        self._born_dark = False
        self._colours = _colours(dark=False, high=False)
        self._fonts: dict[Hashable, QFont] = {}
        self._pixmaps: dict[Hashable, QPixmap] = {}
        self._applier = StyleSheetApplier()

    def install(
        self,
        mode: ThemeMode = ThemeMode.SYSTEM,
        contrast: Contrast = Contrast.SYSTEM,
        *,
        application_wide: bool = True,
        has_style: bool = False,
    ) -> None:
        """Style the application for its first frame; call `follow` later.

        Without `application_wide`, each part of a window gets the sheet by itself, by `apply_to`. A page is then built
        unstyled and styled once, which takes a third of the time: Qt applies the application's sheet to all that is
        inside a widget again whenever that widget gets a parent. An application that was started with `STYLE_OPTION`
        has its style: to ask for it loads a class that takes 20 ms.
        """
        self._application_wide = application_wide
        if not has_style and application().style().name() != "fusion":
            application().setStyle(STYLE_OPTION[1])
        application().setFont(self.font())
        if not self.sheet:
            self._born_dark = _palette_is_dark()
        self.mode, self.contrast = mode, contrast
        dark = self._born_dark if mode is ThemeMode.SYSTEM else mode is ThemeMode.DARK
        self._apply(dark, high=contrast is Contrast.HIGH)

    def set_text_size(self, percent: int) -> None:
        """Make text larger or smaller, in all that is built from now on."""
        if TextSize.factor != percent / 100:
            TextSize.factor = percent / 100
            self._fonts.clear()
            application().setFont(self.font())
            self._apply(self.dark, self.high)

    def follow(self) -> None:
        """Follow the colour scheme and contrast of the system."""
        hints = application().styleHints()
        for changed in (hints.colorSchemeChanged, hints.accessibility().contrastPreferenceChanged):
            changed.connect(lambda _: self._change())
        self._change()

    def set_mode(self, mode: ThemeMode) -> None:
        """Change to another mode at once."""
        self.mode = mode
        self._change()

    def set_contrast(self, contrast: Contrast) -> None:
        """Change to another contrast at once."""
        self.contrast = contrast
        self._change()

    def _change(self) -> None:
        by_system = self.mode is ThemeMode.SYSTEM
        dark = _system_is_dark(self._born_dark) if by_system else self.mode is ThemeMode.DARK
        high = _system_asks_for_more() if self.contrast is Contrast.SYSTEM else self.contrast is Contrast.HIGH
        if (dark, high) != (self.dark, self.high):
            self._apply(dark, high)

    def _apply(self, dark: bool, high: bool) -> None:
        self.dark, self.high = dark, high
        self._colours = _colours(dark=dark, high=high)
        self._pixmaps.clear()
        application().setPalette(palette(self._colours))
        self.sheet = sheet(self._colours, _images(self._colours), self.ring)
        applied = self.sheet if self._application_wide else ""
        if application().styleSheet() != applied:
            application().setStyleSheet(applied)
        self._applier.set_sheet("" if self._application_wide else self.sheet)
        self.changed.emit()

    def apply_to(self, part: QWidget) -> None:
        """Apply the sheet to a part of a window and all inside it, now and after each change.

        A part is a page, a dialog or the navigation. The event loop styles one part at a time, so none may be larger
        than a page.
        """
        self._applier.add(part)

    def forget(self, part: QWidget) -> None:
        """Stop styling a part that is about to be deleted."""
        self._applier.forget(part)

    @property
    def ring(self) -> int:
        """Width of the focus ring, in pixels."""
        return width("focus_high_contrast" if self.high else "focus")

    def outline(self, role: Role) -> QPen:
        """Return the outline of a tint: none, or a line at high contrast, because a tint alone may be invisible."""
        return QPen(self.colour(role) if self.high else QColor(0, 0, 0, 0))

    def colour(self, role: Role) -> QColor:
        """Return the colour of a role now."""
        return self._colours[role]

    def font(
        self,
        size: Size = Size.BODY,
        *,
        strong: bool = False,
        label: bool = False,
        mono: bool = False,
        italic: bool = False,
        tabular: bool = False,
    ) -> QFont:
        """Return a shared font: `strong` 600, `label` 500; `mono` is a pixel smaller; `tabular` aligns figures."""
        key = (size, strong, label, mono, italic, tabular)
        if key not in self._fonts:
            self._fonts[key] = made = QFont(_system_font(mono))
            made.setPixelSize(pixels(size) - (1 if mono else 0))
            made.setWeight(QFont.Weight(weight("strong" if strong else "label" if label else "text")))
            made.setItalic(italic)
            made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
            if tabular:
                made.setFeature(QFont.Tag("tnum"), 1)
            if mono:
                made.setFeature(QFont.Tag("calt"), 0)
        return self._fonts[key]

    def pixmap(self, name: str, role: Role = Role.DIM, size: int = 16, scale: float = 0.0) -> QPixmap:
        """Return an icon as pixels; `scale` 0 takes the main screen's device pixel ratio."""
        from app.theme import icons

        ratio = scale or application().devicePixelRatio()
        return self.cached((name, role, size, ratio), lambda: icons.draw(name, self.colour(role), size, ratio))

    def cached(self, key: Hashable, draw: Callable[[], QPixmap]) -> QPixmap:
        """Return the result of `draw` for `key`, cached until the theme changes."""
        if key not in self._pixmaps:
            self._pixmaps[key] = draw()
        return self._pixmaps[key]

    def icon(self, name: str, role: Role = Role.DIM, size: int = 16) -> QIcon:
        """Return an icon for buttons, fields and menus; ask again after `changed`."""
        return QIcon(self.pixmap(name, role, size))


@cache
def theme() -> Theme:
    """Return the theme of this process."""
    return Theme()


@cache
def _system_font(mono: bool) -> QFont:
    which = QFontDatabase.SystemFont.FixedFont if mono else QFontDatabase.SystemFont.GeneralFont
    return QFontDatabase.systemFont(which)


def application() -> QApplication:
    """Return the running application."""
    running = QApplication.instance()
    if not isinstance(running, QApplication):
        raise RuntimeError("A theme needs a QApplication first.")
    return running


def _palette_is_dark() -> bool:
    """Return True if the system's palette, before ours covers it, is dark: its enum is slow to import."""
    return application().palette().window().color().lightness() < 128


def _system_is_dark(at_first: bool) -> bool:
    """Return True if the system uses a dark scheme; `at_first` is the fallback where it reports none."""
    return {"Dark": True, "Light": False}.get(application().styleHints().colorScheme().name, at_first)


def _system_asks_for_more() -> bool:
    hints = application().styleHints()  # Keeps alive what `accessibility()` returns.
    return hints.accessibility().contrastPreference().name == "HighContrast"


def _colours(*, dark: bool, high: bool) -> dict[Role, QColor]:
    return {role: QColor(code) for role, code in scheme_colours(dark, high=high).items()}


def _images(colours: Mapping[Role, QColor]) -> dict[str, str]:
    tick = "tick" if colours[Role.ON_ACCENT].lightness() > 128 else "tick_black"
    files = {"tick": tick, "up": "up", "down": "down"}
    return {name: (TOKENS_FILE.parent / f"{file}.svg").as_posix() for name, file in files.items()}
