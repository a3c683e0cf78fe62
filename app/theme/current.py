"""The look in force: which scheme, its colours, and the icons and fonts that go with it.

The first frame is painted with this, so it imports nothing dear: the namespace `Qt` alone costs 20 ms.
"""

from collections.abc import Callable, Hashable
from enum import Enum
from functools import cache

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from app.theme import fonts
from app.theme.palette import palette
from app.theme.sheet import sheet
from app.theme.tokens import TOKENS_FILE, Role, Size, TextSize, scheme_colours
from app.theme.wardrobe import Wardrobe


class ThemeMode(Enum):
    """What the user wants: the system's scheme, or always one."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Theme(QObject):
    """Colours, fonts and icons by role; `changed` tells that all of them are different now."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.mode = ThemeMode.SYSTEM
        self.dark = False
        self.sheet = ""
        self._whole = True
        self._colours = _colours(dark=False)
        self._pixmaps: dict[Hashable, QPixmap] = {}
        self._wardrobe = Wardrobe()

    def install(self, mode: ThemeMode = ThemeMode.SYSTEM, *, whole: bool = True) -> None:
        """Dress the application for its first frame; `follow` comes after it.

        Where not the `whole` application wears the sheet, the parts of its windows do, each by itself: see `wear`.
        Pages are then built bare and dressed once, which takes a third of the time: what the application wears is put
        on anew by everything inside a widget whenever that widget finds its place.
        """
        self._whole = whole
        if application().style().name() != "fusion":
            application().setStyle("Fusion")
        application().setFont(self.font())
        self.mode = mode
        self._dress(_palette_is_dark() if mode is ThemeMode.SYSTEM else mode is ThemeMode.DARK)

    def set_text_size(self, percent: int) -> None:
        """Make text larger or smaller, in all that is built from now on."""
        if TextSize.factor != percent / 100:
            TextSize.factor = percent / 100
            fonts.font.cache_clear()
            application().setFont(self.font())
            self._dress(self.dark)

    def follow(self) -> None:
        """Ask the system which scheme it has, and hear of it when that changes."""
        application().styleHints().colorSchemeChanged.connect(lambda _: self._follow_system())
        self._follow_system()

    def set_mode(self, mode: ThemeMode) -> None:
        """Change to another mode at once."""
        self.mode = mode
        self._dress(_system_is_dark() if mode is ThemeMode.SYSTEM else mode is ThemeMode.DARK)

    def _dress(self, dark: bool) -> None:
        self.dark = dark
        self._colours = _colours(dark=self.dark)
        self._pixmaps.clear()
        application().setPalette(palette(self._colours))
        self.sheet = sheet(self._colours, _images())
        worn = self.sheet if self._whole else ""
        if application().styleSheet() != worn:
            application().setStyleSheet(worn)
        self._wardrobe.change("" if self._whole else self.sheet)
        self.changed.emit()

    def wear(self, part: QWidget) -> None:
        """Have a part of a window, and all inside it, wear the sheet from now on.

        A part is what is shown as a piece: a page, a sheet, the navigation. Parts are dressed one a turn of the event
        loop, so none may be larger than a page.
        """
        self._wardrobe.put_on(part)

    def forget(self, whole: QWidget) -> None:
        """Leave what is about to go as it is."""
        self._wardrobe.forget(whole)

    def colour(self, role: Role) -> QColor:
        """The colour of a role now."""
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
        """A shared font: `strong` 600, `label` 500; `mono` is a pixel smaller; `tabular` aligns figures."""
        return fonts.font(size, strong=strong, label=label, mono=mono, italic=italic, tabular=tabular)

    def pixmap(self, name: str, role: Role = Role.DIM, size: int = 16, scale: float = 0.0) -> QPixmap:
        """An icon as pixels; `scale` 0 takes the main screen's device pixel ratio."""
        from app.theme import icons

        ratio = scale or application().devicePixelRatio()
        return self.cached((name, role, size, ratio), lambda: icons.draw(name, self.colour(role), size, ratio))

    def cached(self, key: Hashable, draw: Callable[[], QPixmap]) -> QPixmap:
        """What `draw` made for `key` since the last change of the look."""
        if key not in self._pixmaps:
            self._pixmaps[key] = draw()
        return self._pixmaps[key]

    def icon(self, name: str, role: Role = Role.DIM, size: int = 16) -> QIcon:
        """An icon for buttons, fields and menus; ask again after `changed`."""
        return QIcon(self.pixmap(name, role, size))

    def _follow_system(self) -> None:
        known = application().styleHints().colorScheme().name != "Unknown"
        if self.mode is ThemeMode.SYSTEM and known and _system_is_dark() is not self.dark:
            self._dress(_system_is_dark())


@cache
def theme() -> Theme:
    """The one look of this process."""
    return Theme()


def application() -> QApplication:
    """The running application."""
    running = QApplication.instance()
    if not isinstance(running, QApplication):
        raise RuntimeError("A theme needs a QApplication first.")
    return running


def _palette_is_dark() -> bool:
    """The system's palette, before ours covers it, tells the scheme without the dear enum."""
    return application().palette().window().color().lightness() < 128


def _system_is_dark() -> bool:
    return application().styleHints().colorScheme().name == "Dark"


def _colours(*, dark: bool) -> dict[Role, QColor]:
    return {role: QColor(code) for role, code in scheme_colours(dark).items()}


def _images() -> dict[str, str]:
    return {name: (TOKENS_FILE.parent / f"{name}.svg").as_posix() for name in ("tick", "up", "down")}
