"""Confusion matrix of expected and selected tools, and the one-against-rest metrics of each tool."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mcp_tef.model.metrics import ConfusionMatrix, GroupMetrics, ToolMetrics
from mcp_tef.model.tools import INVENTED_TOOL_LABEL, NO_TOOL_LABEL, LabelKind, ToolLabel
from mcp_tef.statistics.history import FAILED, History, Integers
from mcp_tef.statistics.intervals import Counts

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


def _label(label: ToolLabel) -> ToolLabel:
    return ToolLabel(label.tool, label.server or "", LabelKind.TOOL)


def _order(label: ToolLabel) -> tuple[str, str]:
    return label.tool or "", label.server or ""


def confusions(history: History) -> ConfusionMatrix:
    """Count what was expected against what was selected, over judged runs.

    Rows are the tools that occur, then no tool; columns are the same, then invented tools.
    """
    judged = history.judged
    tools = _Tools.of(judged.expected, judged.selected[judged.invented == 0], names=history.tools)
    cells, row_totals, column_totals = _count(judged, tools)
    shared = _shared(tools.labels)
    rows = (*tools.labels, NO_TOOL_LABEL)
    return ConfusionMatrix(
        rows=rows,
        columns=(*rows, INVENTED_TOOL_LABEL),
        cells=cells,
        tools=_against_the_rest(tools.labels, cells, row_totals, column_totals, shared),
        row_totals=row_totals,
        column_totals=column_totals,
        shared_names=shared,
    )


def _count(judged: History, tools: _Tools) -> tuple[Cells, tuple[int, ...], tuple[int, ...]]:
    width = len(tools.labels) + 2
    expected = tools.place[judged.expected]
    selected = np.full(len(judged), width - 1, dtype=np.int64)
    offered = judged.invented == 0
    selected[offered] = tools.place[judged.selected[offered]]
    places, counts = np.unique(expected * width + selected, return_counts=True)
    pairs = zip((places // width).tolist(), (places % width).tolist(), strict=True)
    rows = np.bincount(expected, minlength=width - 1)
    columns = np.bincount(selected, minlength=width)
    return dict(zip(pairs, counts.tolist(), strict=True)), tuple(rows.tolist()), tuple(columns.tolist())


def _shared(labels: Sequence[ToolLabel]) -> frozenset[str]:
    """Return names that several servers have a tool of."""
    servers: defaultdict[str, set[str]] = defaultdict(set)
    for label in labels:
        servers[label.tool or ""] |= {label.server} if label.server else set()
    return frozenset(name for name, known in servers.items() if len(known) > 1)


def _against_the_rest(
    labels: tuple[ToolLabel, ...], cells: Cells, rows: Sequence[int], columns: Sequence[int], shared: frozenset[str]
) -> tuple[ToolMetrics, ...]:
    kinds = (*labels, NO_TOOL_LABEL, INVENTED_TOOL_LABEL)
    worst = _most_taken_for(cells)
    whole = sum(rows)
    figures = []
    for place, label in enumerate(labels):
        tp = cells.get((place, place), 0)
        fp, fn = columns[place] - tp, rows[place] - tp
        counts = Counts(tp=tp, fp=fp, tn=whole - tp - fp - fn, fn=fn)
        wrong, times = worst.get(place, (None, 0))
        figures.append(_figures(label, _name(label, shared), counts, None if wrong is None else kinds[wrong], times))
    return tuple(figures)


def _most_taken_for(cells: Cells) -> dict[int, tuple[int, int]]:
    """For each row the wrong column with most runs, the first of equals, and how many those are."""
    worst: dict[int, tuple[int, int]] = {}
    for (row, column), count in cells.items():
        if row != column and count > worst.get(row, (0, 0))[1]:
            worst[row] = (column, count)
    return worst


def _figures(label: ToolLabel, name: str, counts: Counts, wrong: ToolLabel | None, times: int) -> ToolMetrics:
    return ToolMetrics(
        label=label,
        name=name,
        n=counts.tp + counts.fn,
        tp=counts.tp,
        fp=counts.fp,
        fn=counts.fn,
        tn=counts.tn,
        precision=counts.precision,
        recall=counts.recall,
        f1=counts.f1,
        taken_for=wrong,
        taken_for_count=times,
    )


def _name(label: ToolLabel, shared: frozenset[str]) -> str:
    return f"{label.server} / {label.tool}" if label.server and label.tool in shared else label.text


def by_tool(ended: History) -> tuple[GroupMetrics, ...]:
    """Return each tool against the rest, by name; failed runs count where they expected it.

    A right run counts for the tool that was picked. A tool goes by its bare name, or by `server / tool` where
    several servers have one of that name. Invented tools are among them.
    """
    judged = ended.judged
    missed = ended.expected[ended.status == FAILED]
    tools = _Tools.of(judged.expected, judged.selected, missed, names=ended.tools)
    pairs = np.stack([tools.place[judged.expected], tools.place[judged.selected]])
    size = len(tools.labels) + 1
    rows, columns = (np.bincount(side, minlength=size).tolist() for side in pairs)
    both = np.bincount(pairs[0][pairs[0] == pairs[1]], minlength=size).tolist()
    failed = Counter(tools.place[missed].tolist())
    shared = _shared(tools.labels)
    groups = []
    for place, label in enumerate(tools.labels):
        tp, row, column = both[place], rows[place], columns[place]
        rest = len(judged) - row - column + tp
        counts = Counts(tp=tp, fp=column - tp, tn=rest, fn=row - tp, failed=failed[place])
        groups.append(counts.group(_name(label, shared)))
    return tuple(groups)
