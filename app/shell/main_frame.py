"""The top-level window: an empty frame at first, so that it appears at once; its content follows."""

from collections.abc import Callable
from functools import cache

from PySide6.QtCore import QObject, QRect
from PySide6.QtGui import QAccessible, QCloseEvent, QPaintEvent, QPalette
from PySide6.QtWidgets import QAccessibleWidget, QApplication, QLabel, QVBoxLayout, QWidget

from app.core_link.settings import Settings
from app.theme import Role, Size, height, theme, width

PRODUCT = "mcp-tef"


class MainFrame(QWidget):
    """The top-level window. It paints an empty frame at once and takes its content later."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        _tell_role()
        self.on_close: Callable[[], bool] = lambda: True
        self.on_painted: Callable[[], None] | None = None
        self._settings = settings
        self._content: QWidget | None = None
        self._first = self._first_panes()
        self.setWindowTitle(PRODUCT)
        self.setMinimumSize(960, 640)
        self._restore()

    def add_hidden(self, content: QWidget) -> None:
        """Add hidden content that is shown later, so that it is styled by then."""
        content.setParent(self)
        content.hide()

    def cover(self) -> QWidget | None:
        """Replace the content by a picture of itself, and return it, so that it can be taken apart unseen."""
        from PySide6.QtCore import Qt  # The first frame does without this namespace, which takes 20 ms to load.

        content, self._content = self._content, None
        if content is not None:
            picture = QLabel()
            picture.setCursor(Qt.CursorShape.WaitCursor)
            if self.isVisible():
                picture.setPixmap(content.grab())
            picture.setMinimumSize(1, 1)
            content.hide()
            self.set_content(picture)
        return content

    def set_content(self, content: QWidget) -> None:
        """Show a widget as the content."""
        for pane in self._first:
            pane.deleteLater()
        self._first.clear()
        layout = self.layout()
        if layout is None:
            layout = QVBoxLayout(self)
            layout.setContentsMargins(0, 0, 0, 0)
        if self._content is not None:
            layout.removeWidget(self._content)
            self._content.hide()
            self._content.deleteLater()
        self._content = content
        layout.addWidget(content)
        content.show()

    def save_geometry(self) -> None:
        """Save position and size in the settings."""
        place = self.normalGeometry()
        self._settings.set("window.place_and_size", [place.x(), place.y(), place.width(), place.height()])
        self._settings.set("window.maximised", self.isMaximized())

    def closeEvent(self, event: QCloseEvent) -> None:
        event.setAccepted(self.on_close())

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.on_painted is not None:
            self.on_painted()

    def _first_panes(self) -> list[QWidget]:
        """Return the first frame as plain panes: a `paintEvent` would load half of Qt's enums first."""
        nav, far = width("nav"), 10_000
        title = QLabel(PRODUCT, self)
        title.setFont(theme().font(Size.LEAD, strong=True))
        title.move(16, 14)
        panes = [
            _pane(self, Role.SUNKEN, QRect(0, 0, nav - 1, far)),
            _pane(self, Role.LINE, QRect(nav - 1, 0, 1, far)),
            _pane(self, Role.LINE, QRect(nav, height("page_header") - 1, far, 1)),
        ]
        loading = QLabel("Loading…", self)
        colours = loading.palette()
        colours.setColor(QPalette.ColorRole.WindowText, theme().colour(Role.DIM))
        loading.setPalette(colours)
        loading.setFont(theme().font(Size.BODY))
        loading.move(nav + 16, height("page_header") + 16)
        title.raise_()
        return [*panes, title, loading]

    def _restore(self) -> None:
        self.resize(1280, 800)
        values = self._settings.get("window.place_and_size", [])
        if len(values) == 4 and all(isinstance(value, int) and abs(value) < 20_000 for value in values):
            wanted = QRect(*values)
            if any(screen.availableGeometry().intersects(wanted) for screen in QApplication.screens()):
                self.setGeometry(wanted)


@cache
def _tell_role() -> None:
    """Give screen readers the role of the frame as soon as it is shown; those of its contents follow."""
    QAccessible.installFactory(_told)


def _told(_name: str, thing: QObject) -> QAccessibleWidget | None:
    return QAccessibleWidget(thing, QAccessible.Role.Window) if isinstance(thing, MainFrame) else None


def _pane(parent: QWidget, role: Role, place: QRect) -> QWidget:
    made = QWidget(parent)
    colours = made.palette()
    colours.setColor(QPalette.ColorRole.Window, theme().colour(role))
    made.setPalette(colours)
    made.setAutoFillBackground(True)
    made.setGeometry(place)
    return made
