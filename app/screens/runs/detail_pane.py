"""One run in full: the verdict, the tools offered, the raw exchange and the settings, each on its tab."""

from collections.abc import Mapping
from types import MappingProxyType

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from app.core_link.links import Lead
from app.screens.runs.leads import run_leads
from app.screens.runs.record import exchange, offered_rows, settings_rows
from app.screens.runs.record_panes import ExchangePane, SettingsPane, ToolsPane
from app.screens.runs.verdict import verdict_view
from app.screens.runs.verdict_pane import VerdictPane
from app.theme import Role
from app.widgets import DetailPane, FlowText
from mcp_tef import DefinitionChange, RunDetail

NOTHING: Mapping[str, DefinitionChange] = MappingProxyType({})


class RunPane(QWidget):
    """Shows one run at a time; tabs that are not looked at are filled when they are. `closed` asks to go back.

    `retry_wanted` comes from a failed run; `led` gives the screen that a run leads to, and what is to be shown there.
    """

    closed = Signal()
    retry_wanted = Signal()
    led = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self._run: RunDetail | None = None
        self._since = NOTHING
        self._stale: set[str] = set()
        self.verdict = VerdictPane(self.retry_wanted.emit, self.led.emit)
        self.tools = ToolsPane()
        self.exchange = ExchangePane()
        self.settings = SettingsPane()
        self.tabs = DetailPane("Run")
        for key, label, pane in (
            ("verdict", "Verdict", self.verdict),
            ("tools", "Tools offered", self.tools),
            ("exchange", "Raw exchange", self.exchange),
            ("settings", "Settings", self.settings),
        ):
            self.tabs.add_tab(key, label, pane, scroll=False)
        self._nothing = _words("Choose a run to see how it was judged, and why.")
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(self.tabs)
        self.tabs.changed.connect(self._fill)

    def show_run(self, run: RunDetail | None, since: Mapping[str, DefinitionChange] = NOTHING) -> None:
        """Show another run, or none; `since` is what became of its tools."""
        self._run, self._since = run, since
        self._stale = {"verdict", "tools", "exchange", "settings"}
        self._stack.setCurrentWidget(self.tabs if run else self._nothing)
        self._fill(self.tabs.current())

    def leads(self) -> Mapping[str, Lead]:
        """Where the run that is shown leads to."""
        return run_leads(verdict_view(self._run)) if self._run else {}

    def set_retry(self, text: str) -> None:
        """What the button of a failed run says; empty while nothing can be retried."""
        self.verdict.head.set_retry(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def _fill(self, key: str) -> None:
        run = self._run
        if run is None or key not in self._stale:
            return
        self._stale.discard(key)
        if key == "verdict":
            self.verdict.show_view(verdict_view(run))
        elif key == "tools":
            self.tools.show_rows(offered_rows(run, self._since))
        elif key == "exchange":
            self.exchange.show_exchange(exchange(run))
        else:
            self.settings.show_settings(settings_rows(run))


def _words(text: str) -> QWidget:
    pane = QWidget()
    column = QVBoxLayout(pane)
    column.setContentsMargins(16, 20, 16, 16)
    column.addWidget(FlowText(text, role=Role.DIM))
    column.addStretch(1)
    return pane
