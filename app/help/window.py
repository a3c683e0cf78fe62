"""Help window: pages and search at the left, one page at the right."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.help.page_view import HelpText
from app.help.topics import ORDER, Topic, find, topics
from app.theme import Role, sized, theme
from app.widgets import CardList, CardRow, IconButton, ReadingOrder, Rule, SearchField, Span, column_layout, row_layout

WIDTH, HEIGHT, LIST_WIDTH = 1040, 760, 264
ROW, FOUND_ROW = 32, 52
NOTHING = CardRow(id="none", title="No help found", sub=(Span("Try another word.", Role.DIM),), light=True)


class HelpWindow(ReadingOrder, QWidget):
    """Window with all pages of the help; `address_wanted` is emitted for links to the web."""

    address_wanted = Signal(QUrl)

    def __init__(self, commands: Callable[[], Mapping[str, Sequence[Command]]], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._commands = commands
        self._pages: dict[str, Topic] = {}
        self._history: list[str] = []
        self._future: list[str] = []
        self.current = ""
        self.setWindowTitle("Help")
        self.setProperty("pane", "surface")
        self.resize(WIDTH, HEIGHT)
        theme().apply_to(self)
        self.search = SearchField("Search the help")
        self.topic_list = CardList("Pages of the help", row_height=sized(ROW))
        self.text = HelpText()
        self.back = IconButton("arrow-left", "Back")
        self.forward = IconButton("arrow-right", "Forward")
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        head = row_layout(None, self.back, self.forward, margins=(12, 12, 12, 8), spacing=4)
        head.addWidget(self.search, 1)
        left = QWidget()
        left.setFixedWidth(sized(LIST_WIDTH))
        column = column_layout(left, head)
        column.addWidget(self.topic_list, 1)
        row = row_layout(self, left, Rule(upright=True))
        row.addWidget(self.text, 1)

    def _connect(self) -> None:
        self.search.searched.connect(self._list)
        self.search.returnPressed.connect(self.topic_list.setFocus)
        self.topic_list.chosen.connect(
            lambda address: self.follow(address) if address not in ("", NOTHING.id) else None
        )
        self.text.followed.connect(self.follow)
        self.back.clicked.connect(self.go_back)
        self.forward.clicked.connect(self.go_forward)
        for keys, do in (("Alt+Left", self.go_back), ("Alt+Right", self.go_forward), ("Esc", self._leave)):
            self._bind(keys, do)
        self._bind("Ctrl+F", self.search.setFocus)

    def _leave(self) -> None:
        """Clear the search, or close the window if there is none."""
        if self.search.text():
            self.search.clear()
        else:
            self.close()

    def _bind(self, keys: str, do: Callable[[], object]) -> None:
        action = QAction(self)
        action.setShortcut(QKeySequence(keys))
        action.triggered.connect(do)
        self.addAction(action)

    def open_at(self, topic: str) -> None:
        """Show the window at a page; without one at the last page, or at the first."""
        self._pages = {page.key: page for page in topics(self._commands())}
        self.search.clear()
        self._list("")
        if topic or not self.current:
            self.follow(f"{topic or ORDER[0]}.md")
        self.show()
        self.raise_()
        self.activateWindow()

    def follow(self, address: str) -> None:
        """Open a link: to a page, to a section of one, or to the web."""
        page, _, section = address.partition("#")
        key = page.removesuffix(".md") or self.current
        if key not in self._pages:
            self.address_wanted.emit(QUrl(address))
            return
        if address != self._here():
            self._history.append(self._here())
            self._future.clear()
        self._show(key, section)

    def go_back(self) -> None:
        """Show the previous page."""
        self._step(self._history, self._future)

    def go_forward(self) -> None:
        """Show the page from which the user went back."""
        self._step(self._future, self._history)

    def _step(self, take: list[str], put: list[str]) -> None:
        while take and not take[-1]:
            take.pop()
        if take:
            put.append(self._here())
            page, _, section = take.pop().partition("#")
            self._show(page.removesuffix(".md"), section)

    def _here(self) -> str:
        return f"{self.current}.md" if self.current else ""

    def _show(self, key: str, section: str = "") -> None:
        if key != self.current:
            self.current = key
            self.text.show_markdown(self._pages[key].text)
        self.text.go_to(section)
        if not self.search.text():
            self._mark()
        self.back.setEnabled(any(self._history))
        self.forward.setEnabled(bool(self._future))

    def _mark(self) -> None:
        was = self.topic_list.blockSignals(True)
        self.topic_list.select(f"{self.current}.md")
        self.topic_list.blockSignals(was)

    def _list(self, query: str) -> None:
        """List the pages, or the sections that match the query."""
        was = self.topic_list.blockSignals(True)
        if query.strip():
            found = {one.address: one for one in find(self._pages.values(), query)}
            rows = [
                CardRow(id=address, title=one.heading, sub=(Span(one.title, Role.DIM),), tip=one.excerpt, light=True)
                for address, one in found.items()
            ]
            self.topic_list.set_rows(rows or [NOTHING])
        else:
            self.topic_list.set_rows(
                [CardRow(id=f"{key}.md", title=self._pages[key].title, light=True) for key in ORDER]
            )
        self.topic_list.verticalHeader().setDefaultSectionSize(sized(FOUND_ROW if query.strip() else ROW))
        self.topic_list.blockSignals(was)
        if not query.strip():
            self._mark()
