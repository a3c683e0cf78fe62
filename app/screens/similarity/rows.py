"""Pairs and groups as rows of tables, ready-made off the window's thread."""

from collections.abc import Sequence

from app.screens.similarity.maps import Analysis
from app.screens.similarity.pairs import PairRow, row_id
from app.screens.similarity.words import interval_words
from app.text.formatting import percent
from app.text.glossary import explain
from app.theme import Role
from app.widgets import Cell, CellKind, Column, Row
from mcp_tef import MatrixKind, ToolGroup

SCORE = CellKind.NUMBER
PAIR_COLUMNS = (
    Column(key="a", title="Tool", kind=CellKind.MONO, width=168, stretch=True),
    Column(key="b", title="Other tool", kind=CellKind.MONO, width=168),
    Column(key="similarity", title="Similarity", kind=SCORE, width=82, tip=explain("similarity")),
    Column(key="full", title="With parameters", kind=SCORE, width=120, tip=explain("similarity with parameters")),
    Column(key="lexical", title="Wording", kind=SCORE, width=76, tip=explain("wording")),
    Column(key="parameters", title="Parameters", kind=SCORE, width=90, tip=explain("shared parameters")),
    Column(
        key="confusability",
        title="Confusability",
        kind=SCORE,
        width=104,
        tip=explain("confusability"),
    ),
    Column(
        key="observed",
        title="Confused in runs",
        kind=SCORE,
        width=128,
        tip=explain("confused in runs", "–: no run was offered both."),
    ),
    Column(key="standing", title="Work list", width=184, role=Role.DIM),
)
NARROW_OUT = ("parameters", "full", "standing", "lexical")
SORTED_BY = {kind.value: kind for kind in MatrixKind}

GROUP_COLUMNS = (
    Column(key="name", title="What they share", width=200),
    Column(key="tools", title="Tools", kind=CellKind.NUMBER, width=64),
    Column(key="servers", title="Servers", width=140, role=Role.DIM),
    Column(key="members", title="Members", kind=CellKind.MONO, stretch=True),
)
COPY_COLUMNS = (
    Column(key="a", title="Tool", kind=CellKind.MONO, width=240, stretch=True),
    Column(key="b", title="On another server", kind=CellKind.MONO, width=320),
    Column(key="similarity", title="Similarity", kind=SCORE, width=90, tip=explain("similarity")),
)


def pair_row(row: PairRow) -> Row:
    """A pair as a row."""
    pair = row.pair
    scores = (pair.similarity, pair.full, pair.lexical, pair.parameters, pair.confusability)
    return Row(row.id, (row.a, row.b, *(_score(score) for score in scores), _observed(row), row.standing))


def _score(score: float | None) -> Cell:
    return Cell(text="–" if score is None else f"{score:.2f}", sort=-1.0 if score is None else score)


def _observed(row: PairRow) -> Cell:
    seen = row.observation
    if seen is not None and seen.runs:
        return Cell(text=f"{seen.confused:,} of {seen.runs:,}", sort=row.share, tip=interval_words(seen))
    if not row.tried:
        return Cell(text="–", role=Role.DIM, sort=-1.0)
    return Cell(text="never" if row.share == 0 else percent(row.share), role=Role.DIM, sort=row.share)


def group_rows(analysis: Analysis) -> list[Row]:
    """The groups, largest first, as they come."""
    return [_group_row(analysis, place, group) for place, group in enumerate(analysis.clusters.groups)]


def _group_row(analysis: Analysis, place: int, group: ToolGroup) -> Row:
    servers = dict.fromkeys(analysis.tools[member].tool.server for member in group.members)
    members = ", ".join(analysis.names[member] for member in group.members)
    number = Cell(text=f"{len(group.members):,}", sort=float(len(group.members)))
    return Row(str(place), (group.name or "–", number, ", ".join(servers), members))


def copy_rows(analysis: Analysis) -> Sequence[Row]:
    """Near-duplicates on different servers."""
    return [
        Row(
            row_id((pair.a, pair.b)),
            (analysis.tools[pair.a].id, analysis.tools[pair.b].id, _score(pair.similarity)),
        )
        for pair in analysis.clusters.near_duplicates
    ]
