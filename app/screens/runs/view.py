"""Layout of the runs screen: three panes, empty states, and the bars of running batches at the foot of the window."""

from collections.abc import Callable, Iterable, Mapping

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget

from app.core_link.settings import Settings
from app.screens.runs.batch_summaries import BatchActivity, BatchCard
from app.screens.runs.cell_styles import segments
from app.screens.runs.detail_pane import RunDetailPane
from app.screens.runs.filter_controls import BatchListPane
from app.screens.runs.runs_list import RunsList
from app.text.formatting import count
from app.theme import Role, sized, width
from app.widgets import Action, Activities, ActivityBar, CardRow, EmptyState, IncrementalBuild, Span, Split
from app.widgets.panes import DetailWithBack
from mcp_tef import BatchId

Callback = Callable[[], object]


def show_no_cases(state: EmptyState, to_cases: Callback, to_sample: Callback) -> None:
    """Show that there are no cases."""
    sentence = "A run asks a model to select a tool for a test case. Write a case first, or open the sample."
    go = Action(text="Go to test cases", do=to_cases, kind="primary")
    state.set("check-square", "No test cases to run", sentence, [go, Action(text="Open the sample", do=to_sample)])


def show_no_runs(state: EmptyState, cases: int, run: Callback, choose: Callback) -> None:
    """Show that no case was run yet."""
    sentence = (
        "A run asks a model to select a tool for each case, and judges the answer. "
        "The offline baseline needs no key and no network."
    )
    now = Action(text=f"Run {count(cases, 'case')} offline", do=run, kind="primary", icon="play")
    state.set("play-circle", "No runs yet", sentence, [now, Action(text="Select a model…", do=choose)])


NARROW_WIDTH = 1100
SPLIT_KEY = "runs.split"


class RunsView(QStackedWidget):
    """Either an empty state or the three panes."""

    def __init__(self, batches: BatchListPane, runs: RunsList, detail: RunDetailPane) -> None:
        super().__init__()
        self._detail_open = False
        self.batch_pane = batches
        self.batch_list = batches.list
        self.run_list = runs
        self.detail = detail
        self.empty = EmptyState("play-circle", "", "")
        self._right = DetailWithBack(detail, "Back to the batches", lambda: self.open_detail(shown=False))
        self.split = Split(
            [self.batch_pane, self.run_list, self._right],
            "Batches, runs and one run",
            [width("batch_list"), 526, width("runs_detail")],
        )
        self.split.set_stretch(1)
        for pane, least in ((self.batch_pane, 160), (self.run_list, 280), (self._right, 304)):
            pane.setMinimumWidth(least)
        self.addWidget(self.empty)
        self.addWidget(self.split)
        self._connect()

    @classmethod
    def in_parts(cls) -> IncrementalBuild["RunsView"]:
        """Build the view one pane at a time."""
        batches = BatchListPane()
        yield
        runs = RunsList()
        yield
        detail = RunDetailPane()
        yield
        return cls(batches, runs, detail)

    def _connect(self) -> None:
        table = self.run_list.table
        self.batch_list.opened.connect(lambda _: table.setFocus(Qt.FocusReason.ShortcutFocusReason))
        table.clicked.connect(lambda _: self.open_detail(shown=True) if self.is_narrow() else None)
        for wanted in (table.opened, table.peek_wanted):
            wanted.connect(lambda _: self.open_detail(shown=not self._detail_open or not self.is_narrow()))
        self.detail.closed.connect(lambda: self.open_detail(shown=False))

    def show_panes(self, *, shown: bool) -> None:
        """Show the three panes or the empty state."""
        self.setCurrentWidget(self.split if shown else self.empty)

    def show_cards(self, cards: Iterable[BatchCard], every: int, chosen: str | None) -> None:
        """Show cards out of `every` batches, and select one."""
        self.batch_pane.show_cards([card_row(card) for card in cards], every)
        if chosen and chosen != self.batch_list.current_id():
            self.batch_list.select(chosen)

    def update_cards(self, cards: Iterable[BatchCard]) -> None:
        """Update those cards that are in the list."""
        self.batch_list.upsert([card_row(card) for card in cards if self.batch_list.rows.place(card.id) is not None])

    def is_narrow(self) -> bool:
        """Return True if three panes do not fit."""
        return self.window().width() < sized(NARROW_WIDTH)

    def open_detail(self, *, shown: bool) -> None:
        """Give the keyboard to the detail or back to the table; in a narrow window, show or hide it."""
        self._detail_open = shown
        self.place_panes()
        (self.detail if shown else self.run_list.table).setFocus()

    def place_panes(self) -> None:
        """Hide the batches or the details if the window is too narrow for both."""
        narrow = self.is_narrow()
        self.batch_pane.setVisible(not (narrow and self._detail_open))
        self._right.setVisible(not narrow or self._detail_open)
        self._right.show_back(shown=narrow)

    def remember(self, settings: Settings) -> None:
        """Keep the sizes of panes."""
        if not self.is_narrow() and self.currentWidget() is self.split:
            settings.set(SPLIT_KEY, self.split.layout_state())

    def restore(self, settings: Settings) -> None:
        """Take over what was kept."""
        self.split.restore_layout(settings.get(SPLIT_KEY, []))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place_panes()


def card_row(card: BatchCard) -> CardRow:
    """Return the card of a batch as the list draws it."""
    return CardRow(
        id=card.id,
        title=card.title,
        sub=(Span(f"{card.when} · {card.model}", Role.DIM),),
        sub_right=Span(card.result, strong=card.judged, role=Role.TEXT if card.judged else Role.DIM),
        bar=segments(card.bar),
        bar_total=1.0,
        tip=card.tooltip,
    )


ActivitiesByBatch = Mapping[BatchId | None, BatchActivity]


class ActivityBars(QObject):
    """Bars at the foot of the window by batch; the key None is judging."""

    pause_toggled = Signal(object)
    cancel_requested = Signal(object)

    def __init__(self, foot: Activities, parent: QObject) -> None:
        super().__init__(parent)
        self._foot = foot
        self._held: dict[BatchId | None, ActivityBar] = {}
        self._free: list[ActivityBar] = []

    def show_activities(self, works: ActivitiesByBatch) -> None:
        """Show these; bars of what has ended go, and serve again."""
        for key in [key for key in self._held if key not in works]:
            bar = self._held.pop(key)
            bar.clear()
            self._free.append(bar)
        for key, work in works.items():
            bar = self.bar(key)
            bar.set_state(
                work.fraction,
                work.progress_text,
                work.details,
                paused=work.paused,
                can_pause=work.can_pause,
                play=work.play_text,
            )

    def bar(self, key: BatchId | None) -> ActivityBar:
        """Return the bar of a batch; None for judging."""
        if key not in self._held:
            self._held[key] = self._free.pop() if self._free else self._made()
        return self._held[key]

    def _made(self) -> ActivityBar:
        bar = self._foot.add()
        for signal in (bar.pause_wanted, bar.resume_wanted):
            signal.connect(lambda: self.pause_toggled.emit(self._of(bar)))
        bar.cancel_wanted.connect(lambda: self.cancel_requested.emit(self._of(bar)))
        return bar

    def _of(self, bar: ActivityBar) -> BatchId | None:
        return next((key for key, held in self._held.items() if held is bar), None)
