"""One pair of runs: both selections, different values, and tools with changed text marked."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedLayout, QWidget

from app.core_link.links import Link, link_actions
from app.screens.kit.run_marks import RUN_MARK_SHAPES
from app.screens.metrics.batch_comparison import WORDS, PairRow
from app.screens.metrics.commands import PairLinks
from app.text.formatting import MARK_TEXTS, RUN_STATUS_TEXTS, VERDICT_KIND_TEXTS, count, model_name
from app.text.text_diff import Stretch, difference
from app.theme import Role, Size
from app.widgets import (
    FlowText,
    Label,
    Links,
    Mark,
    MarkLabel,
    Rule,
    ScrollPane,
    Section,
    Span,
    column_layout,
    row_layout,
)
from app.widgets.comparison_table import ComparisonRow, ComparisonTable
from mcp_tef import (
    ActualCall,
    DefinitionChange,
    PairChange,
    RunComparison,
    RunDetail,
    RunMark,
    ToolChange,
    ValueChange,
)

MISSING: Final = "–"
LONGEST_VALUE: Final = 2_000
SAID_ELSEWHERE: Final = frozenset({"Explanation", "Calls"})
SAID: Final[Mapping[str, Mapping[str, str]]] = {
    "Outcome": {one.value: words for one, words in MARK_TEXTS.items()},
    "Kind": {one.value: words for one, words in VERDICT_KIND_TEXTS.items()},
    "Status": {one.value: words for one, words in RUN_STATUS_TEXTS.items()},
}
CHANGES: Final[Mapping[DefinitionChange, str]] = {
    DefinitionChange.ADDED: "offered only now",
    DefinitionChange.REMOVED: "offered only before",
    DefinitionChange.CHANGED: "definition changed",
    DefinitionChange.OFFERED_AS: "renamed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One run of the two: what it chose, and how that was judged."""

    choice: tuple[Stretch, ...]
    mark: RunMark | None
    judged: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRow:
    """A value before and after; `same` where both are equal."""

    name: str
    before: str
    after: str
    same: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolView:
    """A tool that both runs did not see alike: its descriptions with marked words, and the whole difference."""

    name: str
    word: str
    before: tuple[Stretch, ...]
    after: tuple[Stretch, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairView:
    """A pair for the screen."""

    title: str
    query: str
    expected: str
    before: Side
    after: Side
    parameters: tuple[ValueRow, ...]
    values: tuple[ValueRow, ...]
    settings: tuple[ValueRow, ...]
    tools: tuple[ToolView, ...]
    tools_note: str


def pair_view(found: RunComparison, change: PairChange) -> PairView:
    """Return both runs of a pair as text."""
    before, after = found.before, found.after
    names = difference(_choice(before), _choice(after))
    return PairView(
        title=WORDS[change].capitalize(),
        query=f"“{' '.join(after.summary.query.split())}”",
        expected=after.expectation.label,
        before=_side(before, names[0]),
        after=_side(after, names[1]),
        parameters=tuple(_parameters(before, after)),
        values=_rows([*found.verdict, *(one for one in found.answer if one.name not in SAID_ELSEWHERE)]),
        settings=_rows(found.settings),
        tools=tuple(_tool(one) for one in found.tools),
        tools_note=_tools_note(found),
    )


def single_sentence(row: PairRow) -> str:
    """Explain a pair of which only one run exists or was judged."""
    if row.change is PairChange.NEW:
        return f"Only the newer batch ran this case. It selected: {row.after}."
    if row.change is PairChange.GONE:
        return f"Only the older batch ran this case. It selected: {row.before}."
    return "One of the two runs was deleted."


def _choice(run: RunDetail) -> str:
    calls = run.answer.calls if run.answer else None
    if not calls:
        return "no tool" if run.answer is not None else "no answer"
    return " + ".join(call.tool for call in calls)


def _side(run: RunDetail, choice: tuple[Stretch, ...]) -> Side:
    summary = run.summary
    judged = run.verdict.explanation if run.verdict else summary.failure.message if summary.failure else "Not judged."
    return Side(
        choice=choice,
        mark=summary.mark,
        judged=judged.replace("`", ""),
        model=model_name(summary.model),
    )


def _rows(changes: Sequence[ValueChange]) -> tuple[ValueRow, ...]:
    kept = (one for one in changes if one.name not in SAID_ELSEWHERE)
    return tuple(
        ValueRow(name=one.name, before=_code_text(one.name, one.before), after=_code_text(one.name, one.after))
        for one in kept
    )


def _code_text(name: str, value: str) -> str:
    """Return the text of a code; other values as they are."""
    return SAID.get(name, {}).get(value, value)


def _parameters(before: RunDetail, after: RunDetail) -> Iterator[ValueRow]:
    """Return the arguments of both runs, different ones first."""
    old, new = _given(before), _given(after)
    names = dict.fromkeys([*new, *old])
    rows = [_value_row(name, old.get(name, MISSING), new.get(name, MISSING)) for name in names]
    yield from sorted(rows, key=lambda row: row.same)


def _given(run: RunDetail) -> dict[str, str]:
    calls: Sequence[ActualCall] = (run.answer.calls if run.answer else None) or ()
    several = len(calls) > 1
    return {
        f"{number}. {name}" if several else name: _shown(value)
        for number, call in enumerate(calls, 1)
        for name, value in call.arguments.items()
    }


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _value_row(name: str, before: str, after: str) -> ValueRow:
    return ValueRow(name=name, before=before, after=after, same=before == after)


def _tool(one: ToolChange) -> ToolView:
    texts = difference(_description(one, now=False), _description(one, now=True))
    return ToolView(
        name=f"{one.server} / {one.tool}" if one.server else one.tool,
        word=CHANGES[one.change],
        before=texts[0],
        after=texts[1],
        lines=tuple(one.diff.splitlines()),
    )


def _description(one: ToolChange, *, now: bool) -> str:
    offered = one.after if now else one.before
    if offered is None:
        return ""
    text = offered.offered_name if one.change is DefinitionChange.OFFERED_AS else offered.tool.description
    return " ".join(text.split())


def _tools_note(found: RunComparison) -> str:
    alike = count(found.tools_alike, "tool")
    if not found.tools:
        return f"Both runs were offered the same {alike}." if found.tools_alike else "No tools were offered."
    return (
        f"{count(len(found.tools), 'tool')} differ, {alike} are the same."
        if len(found.tools) > 1
        else (f"1 tool differs, {alike} are the same.")
    )


MOST_LINES = 400
LINE_LOOKS = {"+": Role.GOOD, "-": Role.BAD, "@": Role.DIM}


class PairPane(QWidget):
    """Shows a `PairView`, or a sentence where there is only one half.

    `led` gives the screen that a link links to, and what is to be shown there.
    """

    led = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.sentence, self.alone = FlowText(role=Role.DIM), Links()
        self.query = FlowText(size=Size.LEAD)
        self.expected = FlowText(size=Size.SMALL, role=Role.DIM)
        self.both, self.confused = Links(), Links()
        self.before, self.after = _SidePart("Before"), _SidePart("After")
        self.parameters = ComparisonTable(("Parameters", "Before", "After"))
        self.values = ComparisonTable(("Differences", "Before", "After"), mono=False)
        self.settings = ComparisonTable(("Settings", "Before", "After"), mono=False)
        self.tools = Section("Offered tools")
        self.setMinimumWidth(320)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._said())
        self._stack.addWidget(ScrollPane(self._full(), "Pair of runs"))

    def _said(self) -> QWidget:
        box = QWidget()
        column = column_layout(box, self.sentence, self.alone, margins=(16, 16, 16, 16), spacing=None)
        column.addStretch(1)
        return box

    def _full(self) -> QWidget:
        head = column_layout(
            None, self.query, self.expected, self.both, self.confused, margins=(16, 12, 16, 12), spacing=4
        )
        sides = row_layout()
        sides.addWidget(self.before, 1)
        sides.addWidget(Rule(upright=True))
        sides.addWidget(self.after, 1)
        whole = QWidget()
        column = column_layout(whole, head, Rule(), sides)
        self._tables = [(self.parameters, Rule()), (self.values, Rule()), (self.settings, Rule())]
        for table, rule in self._tables:
            column.addWidget(rule)
            column.addWidget(table)
        column.addWidget(Rule())
        column.addWidget(self.tools)
        column.addStretch(1)
        return whole

    def show_sentence(self, text: str, links: Sequence[Link] = ()) -> None:
        """Say this in place of a pair, with where its only half links to."""
        self.sentence.set_text(text)
        self.alone.set_links(link_actions(links, self.led.emit))
        self._stack.setCurrentIndex(0)

    def show_pair(self, view: PairView, links: PairLinks) -> None:
        """Show another pair."""
        self._show_leads(links)
        self.query.set_text(view.query)
        self.expected.set_spans([Span(f"{view.title}. Expected: ", Role.DIM), Span(view.expected, Role.DIM, mono=True)])
        self.before.show_side(view.before)
        self.after.show_side(view.after)
        for (table, rule), rows in zip(self._tables, (view.parameters, view.values, view.settings), strict=True):
            table.set_rows([_compared(row) for row in rows])
            for part in (table, rule):
                part.setVisible(bool(rows))
        self._show_tools(view.tools, view.tools_note)
        self._stack.setCurrentIndex(1)

    def _show_leads(self, links: PairLinks) -> None:
        shown: Sequence[tuple[Links, Sequence[Link]]] = (
            (self.both, links.both),
            (self.confused, links.confused),
            (self.before.links, links.before),
            (self.after.links, links.after),
        )
        for part, mine in shown:
            part.set_links(link_actions(mine, self.led.emit))

    def _show_tools(self, tools: Sequence[ToolView], note: str) -> None:
        self.tools.clear()
        self.tools.add(FlowText(note, size=Size.SMALL, role=Role.DIM))
        for tool in tools:
            self.tools.add(_heading(tool))
            for caption, text in (("Before", tool.before), ("After", tool.after)):
                if text:
                    line = FlowText(size=Size.SMALL)
                    line.set_spans([Span(f"{caption}: ", Role.DIM), *spans(text)])
                    self.tools.add(line)
            if tool.lines:
                self.tools.add(_difference(tool.lines))


class _SidePart(QWidget):
    """Selection and verdict of one run."""

    def __init__(self, caption: str) -> None:
        super().__init__()
        self.mark = MarkLabel()
        self.choice = FlowText()
        self.judged = FlowText(size=Size.SMALL)
        self.model = FlowText(size=Size.SMALL, role=Role.DIM)
        self.links = Links()
        line = row_layout(None, self.mark, spacing=8)
        line.addWidget(self.choice, 1)
        column = column_layout(
            self,
            Label(caption, size=Size.SMALL, role=Role.DIM, label=True),
            line,
            self.judged,
            self.model,
            self.links,
            margins=(16, 8, 12, 12),
            spacing=4,
        )
        column.addStretch(1)

    def show_side(self, side: Side) -> None:
        """Show another run."""
        shown = (RUN_MARK_SHAPES[side.mark], MARK_TEXTS[side.mark]) if side.mark else (Mark.BROKEN, "not judged")
        self.mark.set_mark(*shown)
        self.choice.set_spans(spans(side.choice, mono=True))
        self.judged.set_text(side.judged)
        self.model.set_text(side.model)


def spans(text: Iterable[Stretch], *, mono: bool = False) -> list[Span]:
    """Return text with its changes on a tint."""
    return [Span(one.text, mono=mono, back=Role.MARK_DIFF if one.changed else None) for one in text]


def _compared(row: ValueRow) -> ComparisonRow:
    word = "the same" if row.same else "differs"
    return ComparisonRow(
        mark=None if row.same else Mark.NOTE, word=word, name=row.name, left=row.before, right=row.after
    )


def _heading(tool: ToolView) -> FlowText:
    line = FlowText()
    line.set_spans([Span(tool.name, mono=True), Span(f"  {tool.word}", Role.DIM)])
    return line


def _difference(lines: Sequence[str]) -> FlowText:
    """Return lines of a diff: added ones are green and begin with +, removed ones are red and begin with -."""
    shown = lines[:MOST_LINES]
    made = FlowText(size=Size.SMALL)
    parts = [Span(f"{line}\n", LINE_LOOKS.get(line[:1], Role.TEXT), mono=True) for line in shown[:-1]]
    parts += [Span(line, LINE_LOOKS.get(line[:1], Role.TEXT), mono=True) for line in shown[-1:]]
    if len(lines) > MOST_LINES:
        parts.append(Span(f"\n… {count(len(lines) - MOST_LINES, 'more line')}", Role.DIM))
    made.set_spans(parts)
    return made
