"""Confusion matrix of expected and selected tools, and observed confusion of pairs beside their similarity."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np

from mcp_tef.model.metrics import ConfusionMatrix, GroupMetrics, ToolMetrics
from mcp_tef.model.similarity import ComparedTool, FlagRule, PairObservation, PairStatus, ToolPair, WorkItem
from mcp_tef.model.tools import (
    EXTRA_CALL_LABEL,
    INVENTED_TOOL_LABEL,
    NO_TOOL_LABEL,
    UNREADABLE_LABEL,
    LabelKind,
    ToolLabel,
)
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.signals import Matrix
from mcp_tef.statistics.confusion_patterns import frequent_confusions
from mcp_tef.statistics.history import Flags, History, Integers
from mcp_tef.statistics.intervals import FamilyCells, OutcomeCells, group_metrics, outcomes, rates_without, wilson
from mcp_tef.statistics.run_codes import TP

Cells = Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class _Tools:
    """The tools that occur, by name; `place` gives the place of a key, and that of no tool for 0."""

    labels: tuple[ToolLabel, ...]
    place: Integers

    @classmethod
    def of(cls, *sides: Integers, names: Mapping[int, ToolLabel]) -> "_Tools":
        keys = sorted(set(np.unique(np.concatenate(sides)).tolist()) - {0}, key=lambda key: _order(names[key]))
        place = np.full(max(keys, default=0) + 1, len(keys), dtype=np.int64)
        place[keys] = np.arange(len(keys))
        return cls(tuple(_label(names[key]) for key in keys), place)

    def places(self, keys: Integers) -> Integers:
        """Return the places of keys, that of no tool for those that are none of these tools."""
        return np.asarray(self.place[np.where(keys < len(self.place), keys, 0)])


def _label(label: ToolLabel) -> ToolLabel:
    return ToolLabel(label.tool, label.server or "", LabelKind.TOOL)


def _order(label: ToolLabel) -> tuple[str, str]:
    return label.tool or "", label.server or ""


def confusions(history: History) -> ConfusionMatrix:
    """Count what was expected against what was selected, over judged runs.

    Rows are the tools that occur, then no tool; columns are the same, then invented tools.
    """
    judged = history.together.judged
    tools = _Tools.of(judged.expected, judged.selected[judged.invented == 0], names=history.tools)
    rows = (*tools.labels, NO_TOOL_LABEL)
    unreadable = judged.unreadable == 1
    aside = ((EXTRA_CALL_LABEL, judged.has_extra_call), (UNREADABLE_LABEL, unreadable))
    special = (*((label, mask) for label, mask in aside if mask.any()), (INVENTED_TOOL_LABEL, judged.invented == 1))
    columns = (*rows, *(label for label, _ in special))
    expected, selected = _places_of(judged, tools, tuple(mask for _, mask in special))
    cells, row_totals, column_totals = _count(expected, selected, len(rows), len(columns))
    units = _units(expected, selected, judged.family, len(columns))
    shared = _shared(tools.labels)
    ordinary = ~np.any([mask for _, mask in special], axis=0)
    same = tools.places(judged.expected) == tools.places(judged.selected)
    groups = _tool_groups(judged, tools, ordinary & same & (judged.expected > 0), ordinary & ~same)
    return ConfusionMatrix(
        rows=rows,
        columns=columns,
        cells=cells,
        tools=_against_the_rest(tools.labels, columns, cells, groups),
        row_totals=row_totals,
        column_totals=column_totals,
        shared_names=shared,
        frequent=frequent_confusions(*units, len(columns)),
    )


def _units(
    expected: Integers, selected: Integers, family: Integers, columns: int
) -> tuple[Mapping[tuple[int, int], float], tuple[float, ...]]:
    """Return cells and row totals in families: each family of a row weighs 1 in all, split over its runs."""
    pairs = expected * (int(family.max(initial=0)) + 1) + family
    _, member, sizes = np.unique(pairs, return_inverse=True, return_counts=True)
    weights = 1 / sizes[member]
    places, inverse = np.unique(expected * columns + selected, return_inverse=True)
    sums = np.bincount(inverse, weights=weights, minlength=len(places)).tolist()
    cells = dict(zip(map(divmod, places.tolist(), repeat(columns)), sums, strict=True))
    return cells, tuple(np.bincount(expected, weights=weights).tolist())


def _places_of(judged: History, tools: _Tools, special: Sequence[Flags]) -> tuple[Integers, Integers]:
    """Return the row and the column of each run: the first of the special columns, which come last, that holds it."""
    first = len(tools.labels) + 1
    ordinary = tools.place[np.where(judged.invented == 0, judged.selected, 0)]
    return tools.place[judged.expected], np.select(special, range(first, first + len(special)), ordinary)


def _count(
    expected: Integers, selected: Integers, rows: int, columns: int
) -> tuple[Cells, tuple[int, ...], tuple[int, ...]]:
    """Count cells, rows and columns."""
    places, counts = np.unique(expected * columns + selected, return_counts=True)
    pairs = map(divmod, places.tolist(), repeat(columns))
    of_rows, of_columns = np.bincount(expected, minlength=rows), np.bincount(selected, minlength=columns)
    return dict(zip(pairs, counts.tolist(), strict=True)), tuple(of_rows.tolist()), tuple(of_columns.tolist())


def _shared(labels: Sequence[ToolLabel]) -> frozenset[str]:
    """Return names that several servers have a tool of."""
    servers: defaultdict[str, set[str]] = defaultdict(set)
    for label in labels:
        servers[label.tool or ""] |= {label.server} if label.server else set()
    return frozenset(name for name, known in servers.items() if len(known) > 1)


def _against_the_rest(
    labels: Sequence[ToolLabel], kinds: Sequence[ToolLabel], cells: Cells, groups: Sequence[GroupMetrics]
) -> tuple[ToolMetrics, ...]:
    worst = _most_taken_for(cells)
    taken = [worst.get(place, (None, 0)) for place in range(len(labels))]
    return tuple(
        ToolMetrics(
            label=label,
            name=group.name,
            n=group.correct_tool.n,
            tp=group.tp,
            fp=group.fp,
            fn=group.fn,
            tn=group.tn,
            precision=group.precision,
            recall=group.recall,
            f1=group.f1,
            taken_for=None if wrong is None else kinds[wrong],
            taken_for_count=times,
        )
        for label, group, (wrong, times) in zip(labels, groups, taken, strict=True)
    )


def _most_taken_for(cells: Cells) -> dict[int, tuple[int, int]]:
    """For each row the wrong column with most runs, the first of equals, and how many those are."""
    worst: dict[int, tuple[int, int]] = {}
    for (row, column), count in cells.items():
        if row != column and count > worst.get(row, (0, 0))[1]:
            worst[row] = (column, count)
    return worst


def _name(label: ToolLabel, shared: frozenset[str]) -> str:
    return f"{label.server} / {label.tool}" if label.server and label.tool in shared else label.text


def by_tool(ended: History) -> tuple[GroupMetrics, ...]:
    """Return each tool against the rest, by name; failed runs count where they expected it.

    The counts are those of `confusions`; the shares are over the runs that expected the tool. A tool goes by its bare
    name, or by `server / tool` where several servers have one of that name. Invented tools are among them.
    """
    tools = _Tools.of(ended.expected, ended.judged.selected, names=ended.tools)
    judged = ended.is_judged
    right = ended.classification == TP
    return _tool_groups(ended, tools, judged & right, judged & ~right & ~ended.has_extra_call)


def _tool_groups(ended: History, tools: _Tools, right: Flags, picked: Flags) -> tuple[GroupMetrics, ...]:
    """Return each tool against the rest: TP are the `right` runs that expected it, FP those that `picked` it wrongly.

    A run with an extra call is a false positive of the tool that it expected.
    """
    size = len(tools.labels) + 1
    cells = FamilyCells(ended.family, size, tools.places(ended.expected), tools.places(ended.selected))
    judged = ended.is_judged
    expected, extra, tp = (cells.count(mask) for mask in (judged, judged & ended.has_extra_call, right))
    others = (cells.count(mask) for mask in outcomes(ended)[4:])
    of = OutcomeCells(expected, tp, cells.count(picked, side=1) + extra, expected - tp - extra, *others)
    of_family = np.bincount(ended.family[judged], minlength=int(ended.family.max(initial=0)) + 1).astype(np.float64)
    wrong = of.fp + of.fn
    there = wrong > 0
    accuracy = rates_without(wrong[there], cells.group[there], size, of_family, of_family[cells.family[there]])
    shared, whole = _shared(tools.labels), np.full(size, float(np.count_nonzero(judged)))
    names = [*(_name(label, shared) for label in tools.labels), ""]
    return group_metrics(names, cells, of, whole, accuracy)[:-1]


WORTH_OF_PREDICTION = 4
MOST_ITEMS = 1_000


@dataclass(frozen=True, slots=True)
class Past:
    """Judged runs: all of them, and those that were offered the tools of each server."""

    runs: History
    offered: Mapping[str, History]


class Confusions:
    """Counts of runs that expected one tool of an analysis and picked another one of it.

    A run tries a pair if it expected one of the two and was offered the other's server. Runs name tools by server and
    name; one without a server counts for the only tool of that name.
    """

    def __init__(self, tools: Sequence[ComparedTool], past: Past) -> None:
        self._tools = tools
        self._places = _places(tools)
        self._past = past

    @cached_property
    def taken(self) -> Mapping[tuple[int, int], int]:
        """(expected, picked) by place → runs, for two different tools."""
        runs = self._past.runs
        known = runs.of((runs.expected > 0) & (runs.selected > 0) & (runs.invented == 0))
        labels = zip(known.expected.tolist(), known.selected.tolist(), strict=True)
        counts: Counter[tuple[int, int]] = Counter()
        for (expected, selected), count in Counter(labels).items():
            a, b = self._place(runs.tools[expected]), self._place(runs.tools[selected])
            if a is not None and b is not None and a != b:
                counts[a, b] += count
        return counts

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Every pair that was ever confused, each once, a < b."""
        return tuple(sorted({(min(pair), max(pair)) for pair in self.taken}))

    def between(self, a: int, b: int) -> PairObservation | None:
        """Return the observed confusion of a pair; None if no run tried it."""
        forth, back = self.taken.get((a, b), 0), self.taken.get((b, a), 0)
        runs = max(forth + back, self._expected(a, b) + self._expected(b, a))
        if not runs:
            return None
        return PairObservation(
            confused=forth + back,
            runs=runs,
            a_taken_for_b=forth,
            b_taken_for_a=back,
            rate=wilson(forth + back, runs),
            label_a=_tool_label(self._tools[a]),
            label_b=_tool_label(self._tools[b]),
        )

    def matrix(self) -> Matrix:
        """Return the share confused of the runs that tried a pair, NaN where none did: shape (n, n), symmetric."""
        tried = self._tried()
        tried += tried.T.copy()
        confused = np.zeros_like(tried)
        for (a, b), count in self.taken.items():
            confused[a, b] += count
            confused[b, a] += count
        np.maximum(tried, confused, out=tried)
        tried[tried == 0] = np.nan
        np.fill_diagonal(tried, np.nan)
        return confused / tried

    def _tried(self) -> Matrix:
        """Return the counts of runs that expected a (row) and were offered the server of b (column)."""
        tried = np.zeros((len(self._tools), len(self._tools)), dtype=np.float32)
        servers = np.array([each.tool.server for each in self._tools])
        for server, counts in self._tries.items():
            for place, count in counts.items():
                tried[place, servers == server] = count
        return tried

    def _expected(self, a: int, b: int) -> int:
        server = self._tools[b].tool.server
        return self._tries[server][a] if server in self._tries else 0

    @cached_property
    def _tries(self) -> Mapping[str, Counter[int]]:
        """By server: how many runs that were offered it expected which tool."""
        return {server: Counter(self._expectations(runs)) for server, runs in self._past.offered.items()}

    def _expectations(self, runs: History) -> Iterator[int]:
        for key in runs.expected[runs.expected > 0].tolist():
            place = self._place(runs.tools[key])
            if place is not None:
                yield place

    def _place(self, label: ToolLabel) -> int | None:
        return self._places.get((label.server or "", label.tool or ""))


def work_list(similarity: Similarity, confusions: Confusions, rule: FlagRule) -> tuple[WorkItem, ...]:
    """Return pairs that runs confused or that a rule flags, most harmful first; at most 1,000.

    Harm = low · runs + seen + (confused + 4 · confusability) / (runs + 4): the wrong picks that are certain (`low` is
    the lower Wilson bound), 1 where any was seen, and the rate to be expected next, for which the prediction counts
    as four runs. What was confused thus comes first, by how much; then what is likely to be.
    """
    alike = similarity.flagged(rule, MOST_ITEMS)
    known = {(pair.a, pair.b) for pair in alike}
    confused = [similarity.pair(a, b) for a, b in confusions.pairs if (a, b) not in known]
    items = [_item(pair, confusions.between(pair.a, pair.b), rule) for pair in (*alike, *confused)]
    return tuple(sorted(items, key=lambda item: (-item.harm, item.pair.a, item.pair.b))[:MOST_ITEMS])


def _item(pair: ToolPair, seen: PairObservation | None, rule: FlagRule) -> WorkItem:
    return WorkItem(pair=pair, observation=seen, standing=_standing(rule.flags(pair), seen), harm=_harm(pair, seen))


def _standing(is_alike: bool, seen: PairObservation | None) -> PairStatus:
    if seen is None:
        return PairStatus.SIMILAR_UNTESTED
    if not seen.confused:
        return PairStatus.SIMILAR_NOT_CONFUSED
    return PairStatus.SIMILAR_AND_CONFUSED if is_alike else PairStatus.CONFUSED_NOT_SIMILAR


def _harm(pair: ToolPair, seen: PairObservation | None) -> float:
    confused, runs, low = (seen.confused, seen.runs, seen.rate.low or 0.0) if seen else (0, 0, 0.0)
    to_come = (confused + WORTH_OF_PREDICTION * pair.confusability) / (runs + WORTH_OF_PREDICTION)
    return low * runs + (confused > 0) + to_come


def _places(tools: Sequence[ComparedTool]) -> dict[tuple[str, str], int]:
    """By server and name, the first of a kind; by name alone ("") where only one tool has it."""
    names = Counter(each.tool.name for each in tools)
    places = {("", each.tool.name): place for place, each in enumerate(tools) if names[each.tool.name] == 1}
    for place, each in enumerate(tools):
        places.setdefault((each.tool.server, each.tool.name), place)
    return places


def _tool_label(each: ComparedTool) -> ToolLabel:
    return ToolLabel(each.tool.name, each.tool.server)
