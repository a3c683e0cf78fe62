"""The Qt palette and style sheet, built from the design tokens, and the object that applies the sheet to windows.

Fonts are set in code, because QSS resets their weight.
"""

from collections.abc import Mapping
from string import Template

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from app.theme.tokens import Role, radius, sized

HEIGHTS = (18, 26, 28)
INSETS = (2, 3, 4, 5, 6, 8, 12)
BOX = 14
_SHEET = Template(
    """
QToolTip { background: $raised; color: $text; border: 1px solid $line; padding: 4px 6px; }
QPushButton, QCheckBox, QToolButton { outline: none; }
QAbstractScrollArea { border: none; background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QPushButton {
    background: $surface; color: $text; border: 1px solid $control; border-radius: ${corner}px;
    padding: 0 12px; min-height: ${h26}px;
}
QPushButton:hover { background: $hover; }
QPushButton:pressed, QPushButton:open { background: $selected; }
QPushButton:focus { border: ${ring}px solid $focus; padding: 0 ${in12}px; min-height: ${in_h26}px; }
QPushButton:disabled { color: $control; border-color: $line; background: $surface; }
QPushButton::menu-indicator { image: none; width: 0; }
QPushButton[hollow="true"] { color: $dim; }
QPushButton[kind="primary"] { background: $accent_fill; color: $on_accent; border: 1px solid $accent_fill; }
QPushButton[kind="primary"]:hover { background: $primary_hover; border-color: $primary_hover; }
QPushButton[kind="primary"]:pressed { background: $primary_down; border-color: $primary_down; }
QPushButton[kind="primary"]:focus { border: ${ring}px solid $text; }
QPushButton[kind="primary"]:disabled { background: $track; border-color: $track; color: $dim; }
QPushButton[kind="danger"] { color: $bad; border-color: $bad; }
QPushButton[kind="quiet"] { background: transparent; border: 1px solid transparent; padding: 0 8px; }
QPushButton[kind="quiet"]:hover { background: $hover; }
QPushButton[kind="quiet"]:focus { border: ${ring}px solid $focus; padding: 0 ${in8}px; }
QPushButton[kind="link"] {
    background: transparent; color: $accent; border: 1px solid transparent; padding: 0 2px 0 0; min-height: ${h18}px;
}
QPushButton[kind="link"]:hover { text-decoration: underline; }
QPushButton[kind="link"]:focus {
    border: ${ring}px solid $focus; border-left-width: 1px; padding: 0 ${in2}px 0 0; min-height: ${in_h18}px;
}
QPushButton[kind="link"]:disabled { color: $control; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: ${corner}px; padding: 3px; }
QToolButton:hover { background: $hover; }
QToolButton:pressed { background: $selected; }
QToolButton:focus { border: ${ring}px solid $focus; padding: ${in3}px; }
QLineEdit, QPlainTextEdit, QSpinBox, QDoubleSpinBox, QComboBox {
    background: $surface; color: $text; border: 1px solid $control; border-radius: ${corner}px;
    selection-background-color: $accent_fill; selection-color: $on_accent;
}
QLineEdit, QPlainTextEdit { placeholder-text-color: $dim; }
QLineEdit { padding: 0 8px; min-height: ${h26}px; }
QLineEdit:focus { border: ${ring}px solid $focus; padding: 0 ${in8}px; min-height: ${in_h26}px; }
QLineEdit[kind="search"] { padding: 0 6px 0 2px; }
QLineEdit[kind="search"]:focus { padding: 0 ${in6}px 0 ${in2}px; }
QAbstractScrollArea[pane="read"] { background: $surface; border: ${ring}px solid transparent; }
QAbstractScrollArea[pane="read"]:focus { border-color: $focus; }
QPlainTextEdit { padding: 4px 5px; }
QPlainTextEdit:focus { border: ${ring}px solid $focus; padding: ${in4}px ${in5}px; }
QLineEdit[wrong="true"], QPlainTextEdit[wrong="true"] { border-color: $bad; }
QLineEdit:disabled, QPlainTextEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled {
    background: $sunken; color: $dim; border-color: $line;
}
QLineEdit:read-only, QPlainTextEdit[readOnly="true"] { background: $sunken; }
QLineEdit:read-only:!focus, QPlainTextEdit[readOnly="true"]:!focus { border-color: $line; }
QSpinBox, QDoubleSpinBox { padding: 0 6px; min-height: ${h26}px; }
QSpinBox:focus, QDoubleSpinBox:focus {
    border: ${ring}px solid $focus; padding: 0 ${in6}px; min-height: ${in_h26}px;
}
QAbstractSpinBox QLineEdit { border: none; padding: 0; min-height: 0; background: transparent; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {
    border: none; background: transparent; width: 18px;
}
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url($up); width: 10px; height: 10px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url($down); width: 10px; height: 10px; }
QCheckBox { spacing: 8px; }
QCheckBox::indicator {
    width: ${tick_box}px; height: ${tick_box}px;
    border: 1px solid $control; border-radius: ${box}px; background: $surface;
}
QCheckBox::indicator:hover { background: $hover; }
QCheckBox::indicator:focus { border: ${ring}px solid $focus; width: ${in_box}px; height: ${in_box}px; }
QCheckBox::indicator:checked { background: $accent_fill; border-color: $accent_fill; image: url($tick); }
QCheckBox::indicator:checked:focus { border: ${ring}px solid $text; width: ${in_box}px; height: ${in_box}px; }
QCheckBox:disabled { color: $control; }
QMenu { background: $raised; color: $text; border: 1px solid $control; border-radius: ${popup}px; padding: 4px; }
QMenu::item { padding: 0 24px 0 12px; min-height: ${h28}px; border-radius: ${item}px; }
QMenu::item:selected { background: $selected; }
QMenu::item:disabled { color: $control; }
QMenu::icon { padding-left: 10px; }
QMenu::indicator { width: 16px; height: 16px; padding-left: 8px; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
QScrollBar:vertical { background: transparent; width: 8px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 8px; margin: 0; }
QScrollBar::handle { background: $scroll; border-radius: 2px; margin: 2px; }
QScrollBar[idle="true"]::handle { background: transparent; }
QScrollBar::handle:vertical { min-height: ${h28}px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: $dim; border-radius: 3px; margin: 1px; }
QScrollBar[focused="true"]::handle { background: $focus; border-radius: 4px; margin: 0; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QProgressBar { background: $track; border: none; border-radius: 3px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QSplitter::handle { background: $line; }
QFileDialog QHeaderView { background: $surface; }
QFileDialog QHeaderView::section {
    background: $surface; color: $dim; border: none; border-bottom: 1px solid $line; padding: 2px 8px;
}
QFileDialog QToolButton { background: $behind_dark_icons; padding: 2px; margin: 0 1px; }
QFileDialog QToolButton:disabled { background: transparent; }
QFileDialog QPushButton { qproperty-icon: none; }
QComboBox { padding: 0 8px; min-height: ${h26}px; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url($down); width: 10px; height: 10px; }
QWidget[pane="surface"] { background: $surface; }
QWidget[pane="sunken"] { background: $sunken; }
QWidget[pane="raised"] { background: $raised; }
QFrame[card="true"] { background: $raised; border: 1px solid $line; border-radius: ${popup}px; }
QFrame[popup="true"] { background: $raised; border: 1px solid $control; border-radius: ${popup}px; }
"""
)


_PALETTE = {
    Role.SURFACE: ("Window", "Base", "Button"),
    Role.SUNKEN: ("AlternateBase",),
    Role.RAISED: ("ToolTipBase",),
    Role.TEXT: ("WindowText", "Text", "ButtonText", "ToolTipText"),
    Role.BAD: ("BrightText",),
    Role.DIM: ("PlaceholderText",),
    Role.ACCENT_FILL: ("Highlight", "Accent"),
    Role.ON_ACCENT: ("HighlightedText",),
    Role.ACCENT: ("Link", "LinkVisited"),
    Role.LINE: ("Light", "Midlight", "Mid", "Dark", "Shadow"),
}


def palette(colours: Mapping[Role, QColor]) -> QPalette:
    """Return the Qt palette, for painting that the style sheet does not reach; disabled text is as dim as controls."""
    made = QPalette()
    for role, places in _PALETTE.items():
        for place in places:
            made.setColor(QPalette.ColorRole[place], colours[role])
    for place in ("WindowText", "Text", "ButtonText"):
        made.setColor(QPalette.ColorGroup.Disabled, QPalette.ColorRole[place], colours[Role.CONTROL])
    return made


def sheet(colours: Mapping[Role, QColor], images: Mapping[str, str], ring: int) -> str:
    """Return the style sheet of a scheme; `images` are the paths of `tick`, `up` and `down`, `ring` shows the focus."""
    names = {role.value: colour.name() for role, colour in colours.items()}
    fill = colours[Role.ACCENT_FILL]
    corners = {"corner": radius("field_and_button"), "box": radius("check_box"), "popup": radius("popup")}
    heights = {f"h{number}": sized(number) for number in HEIGHTS}
    grown = ring - 1
    insets = {f"in{number}": number - grown for number in INSETS}
    insets |= {f"in_h{number}": sized(number) - 2 * grown for number in HEIGHTS} | {"in_box": BOX - 2 * grown}
    shades = {"primary_hover": fill.darker(108).name(), "primary_down": fill.darker(120).name()}
    dark = colours[Role.SURFACE].lightness() < 128
    shades["behind_dark_icons"] = names["control"] if dark else "transparent"
    sizes = {"ring": ring, "tick_box": BOX, "item": radius("menu_item"), **heights, **insets}
    return _SHEET.substitute(names, **corners, **sizes, **shades, **images)


class StyleSheetApplier(QObject):
    """Applier of the style sheet to parts of windows, one part at a time.

    A style sheet on a whole window restyles hundreds of widgets in one go, which blocks keys for too long.
    """

    def __init__(self) -> None:
        super().__init__()
        self._sheet = ""
        self._parts: list[QWidget] = []
        self._due: list[QWidget] = []
        self._frozen: list[QWidget] = []
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._style_next)

    def add(self, part: QWidget) -> None:
        """Apply the sheet to a part, now and after each change."""
        self._parts = [part for part in self._parts if isValid(part)]
        if not any(other is part or other.isAncestorOf(part) for other in self._parts):
            self._parts.append(part)
            if self._sheet:
                part.setStyleSheet(self._sheet)

    def forget(self, removed: QWidget) -> None:
        """Stop styling a part and all inside it."""
        self._parts = [
            part for part in self._parts if isValid(part) and not (part is removed or removed.isAncestorOf(part))
        ]

    def set_sheet(self, sheet: str) -> None:
        """Apply another sheet, visible parts first; paint nothing until all visible parts have it."""
        self._sheet = sheet
        self._parts = [part for part in self._parts if isValid(part)]
        self._due = list(self._parts)
        self._unfreeze()
        self._frozen = list({id(part.window()): part.window() for part in self._due if part.isVisible()}.values())
        for window in self._frozen:
            window.setUpdatesEnabled(False)
        self._timer.start()

    def _style_next(self) -> None:
        self._due = [part for part in self._due if isValid(part)]
        seen = next((part for part in self._due if part.isVisible()), None)
        if seen is None:
            self._unfreeze()
        if not self._due:
            self._timer.stop()
            return
        part = seen or self._due[0]
        self._due.remove(part)
        part.setStyleSheet(self._sheet)

    def _unfreeze(self) -> None:
        for window in self._frozen:
            if isValid(window):
                window.setUpdatesEnabled(True)
        self._frozen = []
