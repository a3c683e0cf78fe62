"""One pair of runs as text, and the links that lead further from it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.core_link.links import Link
from app.core_link.targets import ShowBatch, ShowCase, ShowPair, ShowTool
from app.screens.metrics.batch_comparison import WORDS, PairRow
from app.screens.metrics.formatting import model_name
from app.text.formatting import OUTCOME_TEXTS, RUN_STATUS_TEXTS, VERDICT_KIND_TEXTS, count
from app.text.text_diff import Stretch, difference
from mcp_tef import (
    ActualCall,
    DefinitionChange,
    PairChange,
    RunComparison,
    RunDetail,
    RunSummary,
    ToolChange,
    ToolLabel,
    ValueChange,
    VerdictKind,
)

MISSING: Final = "–"
LONGEST_VALUE: Final = 2_000
SAID_ELSEWHERE: Final = frozenset({"Explanation", "Calls"})
SAID: Final[Mapping[str, Mapping[str, str]]] = {
    "Outcome": {one.value: words for one, words in OUTCOME_TEXTS.items()},
    "VerdictKind": {one.value: words for one, words in VERDICT_KIND_TEXTS.items()},
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
    right: bool | None
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
        right=run.verdict.right if run.verdict else None,
        judged=judged.replace("`", ""),
        model=model_name(summary.model),
    )


def _rows(changes: Sequence[ValueChange]) -> tuple[ValueRow, ...]:
    kept = (one for one in changes if one.name not in SAID_ELSEWHERE)
    return tuple(
        ValueRow(name=one.name, before=_in_words(one.name, one.before), after=_in_words(one.name, one.after))
        for one in kept
    )


def _in_words(name: str, value: str) -> str:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLeads:
    """Links of a pair: for both runs, to two confused tools, and for each run."""

    both: tuple[Link, ...]
    confused: tuple[Link, ...]
    before: tuple[Link, ...]
    after: tuple[Link, ...]


def pair_leads(found: RunComparison) -> PairLeads:
    """Return the links of a pair; a confusion of the newer run comes first."""
    before, after = found.before.summary, found.after.summary
    return PairLeads(
        both=_posed(after),
        confused=_confused(after) or _confused(before),
        before=_run_links(before),
        after=_run_links(after),
    )


def half_leads(run: RunSummary) -> tuple[Link, ...]:
    """Return the links of a run without a partner."""
    return (*_posed(run), *_run_links(run))


def _posed(run: RunSummary) -> tuple[Link, ...]:
    expected, case = _expected(run), Link("Test case", ShowCase(run.case_id))
    return (case, Link("Expected tool", ShowTool(expected))) if expected else (case,)


def _run_links(run: RunSummary) -> tuple[Link, ...]:
    chosen = _chosen(run)
    leads = [Link("Run", ShowBatch(run.batch_id, run.id))] if run.batch_id else []
    return (*leads, Link("Selected tool", ShowTool(chosen))) if chosen else tuple(leads)


def _confused(run: RunSummary) -> tuple[Link, ...]:
    expected, chosen = _expected(run), _chosen(run)
    if run.kind is not VerdictKind.WRONG_TOOL or expected is None or chosen is None or _same(expected, chosen):
        return ()
    pair = (expected, chosen)
    return (
        Link("Compare the two", ShowPair(*pair)),
        Link("Suggest a rewrite", ShowPair(*pair, advice=True)),
    )


def _expected(run: RunSummary) -> ToolLabel | None:
    return ToolLabel(tool=run.expected_tool, server=run.expected_server) if run.expected_tool else None


def _chosen(run: RunSummary) -> ToolLabel | None:
    """Return the selected tool; None for an invented tool, which no server has."""
    return ToolLabel(tool=run.selected_tool, server=run.selected_server) if run.selected_server else None


def _same(expected: ToolLabel, chosen: ToolLabel) -> bool:
    """Return True if the expected tool was selected, on any server if the case names none."""
    return expected.tool == chosen.tool and expected.server in (None, chosen.server)
