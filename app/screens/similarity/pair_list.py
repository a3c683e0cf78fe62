"""Pairs and groups as table rows, with the search that selects them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan

import numpy as np
from numpy.typing import NDArray

from app.screens.similarity.analysis import SimilarityAnalysis
from app.screens.similarity.labels import STATUS_LABELS, confusability_text, interval_text
from app.text.formatting import percent
from app.text.glossary import explain
from app.theme import Role
from app.widgets import Cell, CellKind, Column, Row
from mcp_tef import ComparedTool, MatrixKind, PairObservation, PairStatus, ToolGroup, ToolLabel, ToolPair, WorkItem

MAX_LISTED_PAIRS = 2_000
PairIndices = tuple[int, int]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairQuery:
    """Query for pairs: words in their ids, their status, and the score that selects among many.

    The word `a|b` stands for one of several.
    """

    text: str = ""
    status: PairStatus | None = None
    by: MatrixKind = MatrixKind.CONFUSABILITY


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPairRow:
    """A pair as a row: `share` of runs that confused it (NaN: never tried), and its place in the work list."""

    a: str
    b: str
    pair: ToolPair
    share: float
    observation: PairObservation | None
    status: str

    @property
    def id(self) -> str:
        """Both places in the analysis."""
        return row_id((self.pair.a, self.pair.b))

    @property
    def tried(self) -> bool:
        """True if a run was offered both."""
        return not isnan(self.share)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairList:
    """Rows, the same ready-made for a table, how many pairs there are in all that fit, and what was asked."""

    rows: tuple[ToolPairRow, ...] = ()
    table: tuple[Row, ...] = ()
    fitting: int = 0
    query: PairQuery = field(default_factory=PairQuery)


def ordered_pair(a: int, b: int) -> PairIndices:
    """Return a pair with the smaller index first."""
    return min(a, b), max(a, b)


def row_id(pair: PairIndices) -> str:
    """Return the row id of a pair."""
    return f"{min(pair)}-{max(pair)}"


def pair_of_row(row: str) -> PairIndices:
    """Return the pair of a row id."""
    a, b = row.split("-")
    return int(a), int(b)


def list_pairs(
    analysis: SimilarityAnalysis, query: PairQuery, work: Mapping[PairIndices, WorkItem], observed: Scores | None
) -> PairList:
    """Return the rows that match a query, at most `MAX_LISTED_PAIRS`; for a worker thread."""
    words = query.text.casefold().split()
    if query.status is not None:
        found = [item.pair for item in work.values() if item.standing is query.status]
        fitting = [pair for pair in found if _pair_matches(analysis, pair, words)]
        pairs: Sequence[ToolPair] = fitting[:MAX_LISTED_PAIRS]
        number = len(fitting)
    elif words:
        pairs, number = _search_pairs(analysis, words, query.by)
    else:
        pairs, number = analysis.similarity.pairs_by(query.by, MAX_LISTED_PAIRS), analysis.similarity.pair_count
    rows = tuple(_row(analysis, pair, work.get((pair.a, pair.b)), observed) for pair in pairs)
    return PairList(rows=rows, fitting=number, query=query)


def matching_tools(analysis: SimilarityAnalysis, text: str) -> tuple[int, ...]:
    """Return the tools whose id contains every word."""
    words = text.casefold().split()
    ids = [one.id.casefold() for one in analysis.tools]
    return tuple(place for place, name in enumerate(ids) if words and all(_contains(name, word) for word in words))


def any_tool_query(tools: Sequence[ToolLabel]) -> str:
    """Return the search text that finds the pairs of any of these tools."""
    return "|".join(tool_query(tool).split()[-1] for tool in tools)


def tool_query(tool: ToolLabel) -> str:
    """Return the search text that finds the pairs of a tool, on any server if it names none."""
    return f"{tool.server}/{tool.tool}" if tool.server else f"{tool.tool}"


def _contains(name: str, word: str) -> bool:
    return any(part in name for part in word.split("|") if part)


def _pair_matches(analysis: SimilarityAnalysis, pair: ToolPair, words: Sequence[str]) -> bool:
    ids = f"{analysis.tools[pair.a].id} {analysis.tools[pair.b].id}".casefold()
    return all(_contains(ids, word) for word in words)


def _search_pairs(analysis: SimilarityAnalysis, words: Sequence[str], by: MatrixKind) -> tuple[Sequence[ToolPair], int]:
    """Pairs of which, for each word, one of both has it: only rows of the first word have to be looked at.

    Where there are too many, those whose whole names were written are kept first, so that every pair can be found.
    """
    ids = [one.id.casefold() for one in analysis.tools]
    having = [np.array([_contains(name, word) for name in ids]) for word in words]
    rows = np.flatnonzero(having[0])
    columns = np.arange(len(ids))
    fits = ~having[0][None, :] | (columns[None, :] > rows[:, None])
    fits &= columns[None, :] != rows[:, None]
    for mask in having[1:]:
        fits &= mask[rows][:, None] | mask[None, :]
    at, to = np.nonzero(fits)
    scores = analysis.similarity.matrix(by)[rows[at], to]
    named = np.array([_is_named(one, words) for one in analysis.tools], dtype=np.intp)
    kept = np.lexsort((-scores, -named[rows[at]] - named[to]))[:MAX_LISTED_PAIRS]
    best = kept[np.argsort(-scores[kept], kind="stable")]
    a, b = rows[at[best]], to[best]
    return analysis.similarity.pairs(np.minimum(a, b), np.maximum(a, b)), len(at)


def _is_named(one: ComparedTool, words: Sequence[str]) -> bool:
    return one.id.casefold() in words or one.tool.name.casefold() in words


def _row(analysis: SimilarityAnalysis, pair: ToolPair, item: WorkItem | None, observed: Scores | None) -> ToolPairRow:
    return ToolPairRow(
        a=analysis.names[pair.a],
        b=analysis.names[pair.b],
        pair=pair,
        share=float("nan") if observed is None else float(observed[pair.a, pair.b]),
        observation=item.observation if item else None,
        status=STATUS_LABELS[item.standing] if item else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTarget:
    """Two tools; with `advice`, what to write instead is shown too."""

    a: ToolLabel
    b: ToolLabel
    advice: bool = False

    def places(self, tools: Sequence[ComparedTool]) -> PairIndices | None:
        """Return the indices of both tools; None if one of them is not compared."""
        a, b = (_place(label, tools) for label in (self.a, self.b))
        return ordered_pair(a, b) if a is not None and b is not None and a != b else None


def _place(label: ToolLabel, tools: Sequence[ComparedTool]) -> int | None:
    """Return the index of a tool; without a server, the first tool of its name."""
    named = (place for place, one in enumerate(tools) if one.tool.name == label.tool)
    return next((place for place in named if label.server in (None, tools[place].tool.server)), None)


SCORE = CellKind.NUMBER
PAIR_COLUMNS = (
    Column(key="a", title="Tool", kind=CellKind.MONO, width=168, stretch=True),
    Column(key="b", title="Other tool", kind=CellKind.MONO, width=168),
    Column(key="confusability", title="Confusability", width=112, tip=explain("confusability")),
    Column(key="similarity", title="Similarity", kind=SCORE, width=82, tip=explain("similarity")),
    Column(key="full", title="With parameters", kind=SCORE, width=120, tip=explain("similarity with parameters")),
    Column(key="lexical", title="Wording", kind=SCORE, width=76, tip=explain("wording")),
    Column(key="parameters", title="Parameters", kind=SCORE, width=90, tip=explain("shared parameters")),
    Column(
        key="observed",
        title="Confused in runs",
        kind=SCORE,
        width=128,
        tip=explain("confused in runs", "–: no run was offered both."),
    ),
    Column(key="standing", title="Work list", width=184, role=Role.DIM),
)
HIDDEN_WHEN_NARROW = ("parameters", "full", "standing", "lexical", "similarity")
SORT_SCORES = {kind.value: kind for kind in MatrixKind}

GROUP_COLUMNS = (
    Column(key="name", title="Common words", width=200),
    Column(key="tools", title="Tools", kind=CellKind.NUMBER, width=64),
    Column(key="servers", title="Servers", width=140, role=Role.DIM),
    Column(key="members", title="Members", kind=CellKind.MONO, stretch=True),
)
DUPLICATE_COLUMNS = (
    Column(key="a", title="Tool", kind=CellKind.MONO, width=240, stretch=True),
    Column(key="b", title="On another server", kind=CellKind.MONO, width=320),
    Column(key="similarity", title="Similarity", kind=SCORE, width=90, tip=explain("similarity")),
)


def pair_row(row: ToolPairRow) -> Row:
    """Return a pair as a table row."""
    pair = row.pair
    scores = (pair.similarity, pair.full, pair.lexical, pair.parameters)
    level = Cell(text=confusability_text(pair.confusability), sort=pair.confusability)
    return Row(row.id, (row.a, row.b, level, *(_score(score) for score in scores), _observed(row), row.status))


def _score(score: float | None) -> Cell:
    return Cell(text="–" if score is None else f"{score:.2f}", sort=-1.0 if score is None else score)


def _observed(row: ToolPairRow) -> Cell:
    seen = row.observation
    if seen is not None and seen.runs:
        return Cell(text=f"{seen.confused:,} of {seen.runs:,}", sort=row.share, tip=interval_text(seen))
    if not row.tried:
        return Cell(text="–", role=Role.DIM, sort=-1.0)
    return Cell(text="never" if row.share == 0 else percent(row.share), role=Role.DIM, sort=row.share)


def group_rows(analysis: SimilarityAnalysis) -> list[Row]:
    """Return the groups as table rows, largest first."""
    return [_group_row(analysis, place, group) for place, group in enumerate(analysis.clusters.groups)]


def _group_row(analysis: SimilarityAnalysis, place: int, group: ToolGroup) -> Row:
    servers = dict.fromkeys(analysis.tools[member].tool.server for member in group.members)
    members = ", ".join(analysis.names[member] for member in group.members)
    number = Cell(text=f"{len(group.members):,}", sort=float(len(group.members)))
    return Row(str(place), (group.name or "–", number, ", ".join(servers), members))


def duplicate_rows(analysis: SimilarityAnalysis) -> Sequence[Row]:
    """Return the near-duplicates on different servers as table rows."""
    return [
        Row(
            row_id((pair.a, pair.b)),
            (analysis.tools[pair.a].id, analysis.tools[pair.b].id, _score(pair.similarity)),
        )
        for pair in analysis.clusters.near_duplicates
    ]
