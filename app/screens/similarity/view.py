"""Layout of the similarity screen below its header."""

import asyncio
from functools import cached_property

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core_link.settings import Settings
from app.screens.similarity.advice_pane import AdvicePane
from app.screens.similarity.map_pane import MapPane, WorkSummary
from app.screens.similarity.notices import BUSY, ICON, SimilarityNotices
from app.screens.similarity.pair_pane import ToolPairPane
from app.screens.similarity.table_panes import ToolGroupsPane, ToolPairsPane
from app.theme import roomy, sized, width
from app.widgets import EmptyState, FittingPane, Split, column_layout

VIEWS = (("map", "Map"), ("pairs", "Pairs"), ("groups", "Groups"))
BESIDE = 900
MAX_NOTICES_HEIGHT = 200
PAUSE_S = 0.01
SPLIT_KEY = "similarity.split"


class SimilarityView(QWidget):
    """Everything below the header. Where there is little room, a pair takes the place of the map.

    Pairs, groups and the pair are made when first wanted, since all at once would hold the window up; `made` then gets
    the widget. `build_views` makes them ahead, one a turn.
    """

    view_built = Signal(object)

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self.notices = SimilarityNotices()
        self.empty = EmptyState(ICON, *BUSY)
        self.map = MapPane()
        self.work_summary = WorkSummary()
        self.views = QStackedWidget()
        self.main = QWidget()
        self.split = Split([self.main], "Map and pair")
        self._whole = QStackedWidget()
        self._pair_open = False
        self._lay_out()

    @cached_property
    def pairs(self) -> ToolPairsPane:
        """Every pair as a row."""
        pane = ToolPairsPane()
        self.views.addWidget(pane)
        self.view_built.emit(pane)
        return pane

    @cached_property
    def groups(self) -> ToolGroupsPane:
        """Groups and near-duplicates."""
        pane = ToolGroupsPane()
        self.views.addWidget(pane)
        self.view_built.emit(pane)
        return pane

    @cached_property
    def advice(self) -> AdvicePane:
        """Recommendations of the pair; built apart from the pair, because both together take too long."""
        return AdvicePane()

    @cached_property
    def pair(self) -> ToolPairPane:
        """One pair side by side."""
        pane = ToolPairPane(self.advice)
        pane.hide()
        self.split.addWidget(pane)
        self.split.set_stretch(0)
        self.split.setSizes([746, roomy(width("pair_panel"))])
        self.split.restore_layout(self._settings.get(SPLIT_KEY, []))
        self.view_built.emit(pane)
        return pane

    async def build_views(self) -> None:
        """Make what is not there yet, one a turn."""
        for name in ("advice", "pairs", "pair", "groups"):
            if name not in self.__dict__:
                await asyncio.sleep(PAUSE_S)
                getattr(self, name)
        await asyncio.sleep(PAUSE_S)

    def _lay_out(self) -> None:
        self.views.addWidget(self.map)
        column = column_layout(self.main)
        column.addWidget(self.views, 1)
        column.addWidget(self.work_summary)
        self._whole.addWidget(self.empty)
        self._whole.addWidget(self.split)
        outer = column_layout(self)
        notices = FittingPane(self.notices, "Notices", lambda: MAX_NOTICES_HEIGHT)
        notices.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        outer.addWidget(notices)
        outer.addWidget(self._whole, 1)

    def show_map(self, full: bool) -> None:
        """Show the map and the rest, or that there is nothing."""
        self._whole.setCurrentWidget(self.split if full else self.empty)

    def is_map_shown(self) -> bool:
        """Return True if the map is shown."""
        return self._whole.currentWidget() is self.split

    def turn(self, key: str) -> None:
        """Show map, pairs or groups."""
        self.views.setCurrentWidget(getattr(self, key))

    def show_pair(self, shown: bool) -> None:
        """Open the pair beside the map, or put it away."""
        self._pair_open = shown
        self._place()

    @property
    def pair_open(self) -> bool:
        """True while a pair is shown."""
        return self._pair_open

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        narrow = self.width() < sized(BESIDE)
        if self._pair_open or "pair" in self.__dict__:
            self.pair.setVisible(self._pair_open)
        self.main.setVisible(not (self._pair_open and narrow))

    def save_layout(self) -> None:
        """Keep how it was left."""
        if self._pair_open and self.width() >= sized(BESIDE):
            self._settings.set(SPLIT_KEY, self.split.layout_state())
