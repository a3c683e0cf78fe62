"""Two batches side by side: both claims, every case, and two runs of one case in full."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QStackedLayout, QWidget

from app.screens.metrics.batch_comparison import HELP, READINGS, ComparisonView, PairGroup, pair_row
from app.screens.metrics.commands import pair_links, single_run_links
from app.screens.metrics.filters import Dimension, FilterChoice
from app.screens.metrics.pair_pane import PairPane, pair_view, single_sentence
from app.screens.metrics.presenter import MetricsPresenter
from app.screens.metrics.table_rows import PAIR_COLUMNS, pair_cells
from app.text.formatting import count
from app.text.glossary import explain
from app.theme import Role, Size
from app.widgets import (
    Action,
    EmptyState,
    FlowText,
    IconButton,
    Label,
    Mark,
    MarkLabel,
    Picker,
    PickItem,
    Row,
    Rule,
    Split,
    Tabs,
    column_layout,
    describe,
    one_line,
    row_layout,
)
from app.widgets.paged import PagedTable
from mcp_tef import BatchId, CasePair, ClaimVerdict, ComparedRuns, NotFoundError

PAGE = 200
SETTLE_MS = 60
LABELS = {
    PairGroup.ALL: "All",
    PairGroup.REGRESSED: "Regressed",
    PairGroup.FIXED: "Fixed",
    PairGroup.UNCHANGED: "Unchanged",
    PairGroup.NEW: "New",
    PairGroup.GONE: "Gone",
    PairGroup.UNCOMPARED: "Not comparable",
}
CLAIM_MARKS = {
    ClaimVerdict.BETTER: Mark.CHECK,
    ClaimVerdict.WORSE: Mark.CROSS,
    ClaimVerdict.NO_WORTHWHILE_CHANGE: Mark.DASH,
    ClaimVerdict.CANNOT_TELL_YET: Mark.UNDECIDED,
}
Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class ComparePane(QWidget):
    """Owns which two batches are compared; `run_opened` gives a pair whose runs are wanted on the runs screen."""

    run_opened = Signal(object)
    run_wanted = Signal()

    def __init__(self, presenter: MetricsPresenter, spawn: Spawn) -> None:
        super().__init__()
        self._presenter = presenter
        self._spawn = spawn
        self._view: ComparisonView | None = None
        self._chosen: tuple[BatchId, BatchId] | None = None
        self._pairs: tuple[CasePair, ...] = ()
        self._group = PairGroup.ALL
        self._text = ""
        self._asked: set[int] = set()
        self._reading = 0
        self._place = 0
        self.settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self.settle.timeout.connect(lambda: self._spawn(self._show_pair()))
        self._make_parts()
        self._lay_out()

    def _make_parts(self) -> None:
        self.before = Picker("Older batch", "Select a batch")
        self.after = Picker("Newer batch", "Select a batch")
        self.swap = IconButton("arrows-left-right", "Swap the batches")
        self.marks = (MarkLabel(size=20), MarkLabel(size=20))
        self.sentences = (FlowText(size=Size.LEAD, strong=True), FlowText())
        self.detail = FlowText(size=Size.SMALL, role=Role.DIM)
        describe(explain("two claims"), *self.sentences, self.detail)
        self.groups = Tabs([(group.value, label) for group, label in LABELS.items()], "Group of cases")
        self.table = PagedTable(PAIR_COLUMNS, "Cases")
        self.pair = PairPane()
        self.empty = EmptyState("scales", "", "")
        self.before.picked.connect(lambda one: self._pick(BatchId(one), None))
        self.after.picked.connect(lambda one: self._pick(None, BatchId(one)))
        self.swap.clicked.connect(self._swap)
        self.groups.changed.connect(lambda key: self.show_group(PairGroup(key)))
        self.table.pages.wanted.connect(self._fetch)
        self.table.set_reader(lambda places, do: self._spawn(self._give(places, do)))
        self.table.sorted.connect(lambda *_: self.show_group(self._group))
        self.table.chosen.connect(lambda _: self.settle.start())
        self.table.describe_keys(Enter="Show its runs")
        self.table.opened.connect(lambda row: self._open(int(row)))

    def _lay_out(self) -> None:
        pickers = row_layout(margins=(16, 12, 16, 8), spacing=8)
        for word, part in (("Compare", self.before), ("with", self.after)):
            pickers.addWidget(Label(word, role=Role.DIM))
            pickers.addWidget(part, 1)
        pickers.addWidget(self.swap)
        said = QGridLayout()
        said.setContentsMargins(16, 4, 16, 12)
        said.setHorizontalSpacing(12)
        said.setVerticalSpacing(4)
        said.setColumnStretch(1, 1)
        for row, (mark, sentence) in enumerate(zip(self.marks, self.sentences, strict=True)):
            said.addWidget(mark, row, 0, Qt.AlignmentFlag.AlignTop)
            said.addWidget(sentence, row, 1)
        said.addWidget(self.detail, len(self.marks), 1)
        self.split = Split([self._left(), self.pair], "Cases and one case", [680, 420])
        self.split.set_stretch(0)
        full = QWidget()
        column = column_layout(full, pickers, said, Rule())
        column.addWidget(self.split, 1)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(full)

    def _left(self) -> QWidget:
        left = QWidget()
        column = column_layout(left, self.groups)
        column.addWidget(self.table, 1)
        return left

    # ------------------------------------------------------------------ which two

    async def refresh(self) -> None:
        """Offer the current batches, and compare the selected two again."""
        choices = self._presenter.filter_choices(Dimension.BATCH)
        for picker in (self.before, self.after):
            picker.set_items([_item(choice) for choice in choices])
        chosen = self._chosen or self._presenter.default_pair()
        try:
            if chosen is not None:
                await self.compare(*chosen)
        except NotFoundError:
            chosen = self._chosen = self._presenter.default_pair()
            if chosen is not None:
                await self.compare(*chosen)
        if chosen is None:
            self._show_empty()

    async def compare(self, before: BatchId, after: BatchId) -> None:
        """Show two batches beside each other."""
        self._chosen = (before, after)
        self._reading += 1
        mine = self._reading
        self.before.set_current(before)
        self.after.set_current(after)
        view = await self._presenter.compare(before, after)
        if mine == self._reading:
            self._show(view)

    def chosen(self) -> tuple[BatchId, BatchId] | None:
        """Return the older and the newer batch."""
        return self._chosen

    def _pick(self, before: BatchId | None, after: BatchId | None) -> None:
        if self._chosen is not None:
            old, new = before or self._chosen[0], after or self._chosen[1]
            if old == new:
                old, new = self._chosen[1], self._chosen[0]
            self._spawn(self.compare(old, new))

    def _swap(self) -> None:
        if self._chosen is not None:
            self._spawn(self.compare(self._chosen[1], self._chosen[0]))

    # ------------------------------------------------------------------ showing

    def _show_empty(self) -> None:
        sentence = (
            "A comparison needs two batches. Run the same cases again after a change or with another model "
            "to see what it fixed and what it broke."
        )
        run = Action(text="Run…", do=self.run_wanted.emit, kind="primary", icon="play")
        self.empty.set("scales", "Not enough batches to compare", sentence, [run])
        self._stack.setCurrentIndex(0)

    def _show(self, view: ComparisonView) -> None:
        self._view = view
        for claim, mark, sentence in zip(view.claims, self.marks, self.sentences, strict=True):
            mark.set_mark(CLAIM_MARKS[claim.verdict], READINGS[claim.verdict].lower())
            sentence.set_text(claim.sentence)
        self.detail.set_text("\n".join([view.detail, *view.notes]))
        self.groups.set_choices([(group.value, _tab(group, label, view)) for group, label in LABELS.items()])
        self.groups.setToolTip("\n".join(f"{LABELS[group]}: {words}" for group, words in HELP.items()))
        self._stack.setCurrentIndex(1)
        self.show_group(self._group)

    def find_rows(self, text: str) -> None:
        """Show only cases with a run that contains the text: in its query, its case, or a tool."""
        if text.strip() != self._text:
            self._text = text.strip()
            self.show_group(self._group)

    def selected_pairs(self) -> tuple[CasePair, ...]:
        """Return the selected pairs, including those that were never loaded."""
        return tuple(self._pairs[place] for place in self.table.selected_places())

    def show_group(self, group: PairGroup) -> None:
        """Show the pairs of one kind of change."""
        self._group = group
        self.groups.set_current(group.value)
        pairs = self._view.of(group) if self._view else ()
        if pairs and (self._text or self.table.sorted_by):
            self._spawn(self._arrange(pairs, self._text, self.table.sorted_by))
        else:
            self._show_pairs(pairs)

    async def _arrange(self, pairs: tuple[CasePair, ...], text: str, order: tuple[int, bool] | None) -> None:
        """Show the pairs that match, in the order of a column, unless the request has changed meanwhile."""
        found = await self._presenter.saying(pairs, self._chosen, text) if text else pairs
        if order is not None:
            found = await self._presenter.by_column(found, PAIR_COLUMNS[order[0]].key, down=order[1])
        wanted = self._view is not None and self._view.of(self._group) == pairs
        if wanted and (text, order) == (self._text, self.table.sorted_by):
            self._show_pairs(found)

    def _show_pairs(self, pairs: tuple[CasePair, ...]) -> None:
        self._asked.clear()
        self._place = self._kept_place(pairs)
        self._pairs = pairs
        self.table.pages.show_total(len(self._pairs))
        self._fetch(self._place, self._place)
        if not self._pairs:
            none = f"No case contains “{one_line(self._text, 60)}”. Clear the search to see all cases."
            self.pair.show_sentence(none if self._text else "No cases here. Select another tab.")

    def _kept_place(self, pairs: tuple[CasePair, ...]) -> int:
        """Return the index of the selected pair among these; 0 if it is none of them."""
        now = self._pairs[int(self.table.current_id() or self._place)] if self._pairs else None
        runs = now.shown if now else None
        return next((place for place, one in enumerate(pairs) if one.shown == runs), 0)

    def _fetch(self, first: int, last: int) -> None:
        for page in range(first // PAGE, min(last, len(self._pairs) - 1) // PAGE + 1):
            if page not in self._asked:
                self._asked.add(page)
                self._spawn(self._fetch_page(page, self._pairs))

    async def _fetch_page(self, page: int, pairs: tuple[CasePair, ...]) -> None:
        start = page * PAGE
        found = await self._presenter.pairs(pairs[start : start + PAGE])
        if pairs is not self._pairs:
            return
        rows = {start + place: _row(start + place, one) for place, one in enumerate(found)}
        self.table.pages.put(rows)
        if self._place in rows and not self.table.current_id():
            self.table.select(str(self._place))
            self.settle.start()

    async def _give(self, places: Sequence[int], do: Callable[[Sequence[Row]], None]) -> None:
        """Read rows that were never looked at."""
        found = await self._presenter.pairs([self._pairs[place] for place in places])
        do([_row(place, one) for place, one in zip(places, found, strict=True)])

    async def _show_pair(self) -> None:
        pair = self._current()
        if pair is None:
            return
        found = await self._presenter.both(pair)
        if self._current() != pair:
            return
        if found is not None:
            self.pair.show_pair(pair_view(found, pair.change), pair_links(found))
            return
        (one,) = await self._presenter.pairs([pair])
        if self._current() == pair:
            only = one.after or one.before
            self.pair.show_sentence(single_sentence(pair_row(one)), single_run_links(only) if only else ())

    def _current(self) -> CasePair | None:
        row = self.table.current_id()
        return self._pairs[int(row)] if row and int(row) < len(self._pairs) else None

    def _open(self, place: int) -> None:
        self.run_opened.emit(self._pairs[place])


def _row(place: int, one: ComparedRuns) -> Row:
    return Row(str(place), partial(lambda one: pair_cells(pair_row(one)), one))


def _item(choice: FilterChoice) -> PickItem:
    return PickItem(id=choice.value, title=choice.text, detail=choice.detail, mono=False)


def _tab(group: PairGroup, label: str, view: ComparisonView) -> str:
    number = view.counts[group]
    return f"{label} {count(number, 'case')}" if group is PairGroup.ALL else f"{label} {number:,}"
