"""Similarity and overlap of tools as HTML pages, with the scores as a picture."""

import struct
import zlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.similarity import (
    Clusters,
    FlagRule,
    MatrixKind,
    OverlapWeights,
    PairObservation,
    PairStatus,
    ToolPair,
    WorkItem,
)
from mcp_tef.reports.charts import leaning, leaning_name, shown, svg
from mcp_tef.reports.page import cell, counted, page, paragraphs, section, table, unread
from mcp_tef.reports.similarity_tables import OVERLAP_MATRICES as MATRICES
from mcp_tef.reports.similarity_tables import dimension
from mcp_tef.scoring.similarity.analysis import Similarity, percent
from mcp_tef.scoring.similarity.confusability import levels_for
from mcp_tef.scoring.similarity.overlap import Overlap, OverlappingPair
from mcp_tef.scoring.similarity.signals import Matrix

LARGEST_NUMBERED = 16
LARGEST_DRAWN = 40
LARGEST_NAMED = 120
LARGEST_IMAGE = 1000
LOWEST = 0.1
_NAME_LENGTH = 30
_STEP, _SMALL_STEP, _TINY_STEP, _LEFT, _TOP = 34, 20, 14, 230, 4
_PALE = 330

# Cividis at 17 even steps (Nuñez, Anderton and Renslow 2018), read alike with and without colour blindness.
_STOPS = np.array(
    [
        *((0, 32, 77), (0, 43, 104), (5, 54, 110), (44, 65, 108), (64, 77, 107), (81, 88, 108)),
        *((96, 100, 111), (110, 111, 115), (124, 123, 120), (139, 135, 121), (155, 148, 119), (172, 161, 116)),
        *((188, 175, 111), (206, 188, 103), (224, 203, 93), (242, 218, 79), (255, 234, 70)),
    ]
)
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Framed:
    """Pairs with a frame, shape (n, n), and the rule that says why."""

    pairs: NDArray[np.bool_]
    rule: str


def heat_map(scores: Scores, names: Sequence[str], framed: Framed, title: str) -> str:
    """Return the square as markup, in the order of the names, with its legend; pairs of the frame are framed.

    Few tools are drawn pair by pair, some as an image beside their names, many as an image alone.
    """
    drawn = _named(scores, names, framed, title) if len(names) <= LARGEST_NAMED else _image(scores, title)
    rule = f"<span>Framed: {framed.rule}</span>" if len(names) <= LARGEST_DRAWN else ""
    return f"{drawn}{_legend(rule)}"


def _legend(framed: str) -> str:
    ramp = data_uri(np.repeat(np.linspace(LOWEST, 1, 192, dtype=np.float32)[np.newaxis], 12, axis=0))
    return f'<p class="legend">{LOWEST} <img alt="Darker is less alike." src="{ramp}"> 1.0 {framed}</p>'


def _image(scores: Scores, title: str) -> str:
    return f'<img class="heat" alt="{shown(title)}" src="{data_uri(shrunk(scores, LARGEST_IMAGE))}">'


def _named(scores: Scores, names: Sequence[str], framed: Framed, title: str) -> str:
    if len(names) > LARGEST_DRAWN:
        return _pictured(scores, names, title)
    places, step = range(len(names)), _STEP if len(names) <= LARGEST_NUMBERED else _SMALL_STEP
    up, right = leaning(names)
    top, size = up + 12, len(names) * step
    parts = [_name(name, top + row * step + step / 2 + 4) for row, name in enumerate(names)]
    parts += [leaning_name(name, _LEFT + (place + 0.5) * step, top - 6) for place, name in enumerate(names)]
    square = _Square(scores, names, framed.pairs, top, step)
    parts += [square.cell(row, column) for row in places for column in places]
    return svg(_LEFT + size + right, top + size + 8, title, parts)


def _pictured(scores: Scores, names: Sequence[str], title: str) -> str:
    size = len(names) * _TINY_STEP
    parts = [_name(name, _TOP + row * _TINY_STEP + 11) for row, name in enumerate(names)]
    place = f'x="{_LEFT}" y="{_TOP}" width="{size}" height="{size}"'
    parts.append(f'<image class="pixels" {place} href="{data_uri(scores)}"/>')
    return svg(_LEFT + size + 8, _TOP + size + 8, title, parts)


def _name(name: str, y: float) -> str:
    return f'<text x="{_LEFT - 8}" y="{y:g}" text-anchor="end">{shown(name, _NAME_LENGTH)}</text>'


@dataclass(frozen=True, slots=True)
class _Square:
    """Cells of a side of `step`, from `top` on; those that are large enough hold their score."""

    scores: Scores
    names: Sequence[str]
    framed: NDArray[np.bool_]
    top: int
    step: int

    def cell(self, row: int, column: int) -> str:
        """One pair; a flagged one is framed."""
        score, side = float(self.scores[row, column]), self.step - 2
        red, green, blue = (int(part) for part in _palette()[_steps(score)])
        x, y = _LEFT + column * self.step, self.top + row * self.step
        words = shown(f"{self.names[row]} and {self.names[column]}: {score:.2f}")
        place = f'x="{x}" y="{y}" width="{side}" height="{side}"'
        frame = f'<rect class="flag" {place} fill="none"/>' if row != column and self.framed[row, column] else ""
        ink = "on-pale" if red + green + blue > _PALE else "on-deep"
        number = (
            f'<text class="{ink}" x="{x + side / 2:g}" y="{y + side / 2 + 4:g}" text-anchor="middle">{score:.2f}</text>'
        )
        told = number if row != column and self.step == _STEP else ""
        return f'<g><title>{words}</title><rect {place} fill="rgb({red},{green},{blue})"/>{frame}{told}</g>'


def shrunk(scores: Scores, most: int) -> Scores:
    """Return the square with at most `most` rows and columns; a block of cells becomes the highest of them."""
    count = len(scores)
    if count <= most:
        return scores
    starts = np.linspace(0, count, most, endpoint=False).astype(int)
    rows: Scores = np.maximum.reduceat(scores, starts, axis=0)
    return np.asarray(np.maximum.reduceat(rows, starts, axis=1), dtype=np.float32)


def data_uri(scores: Scores) -> str:
    """Return the scores as a PNG within an address: one pixel each, in cividis."""
    return "data:image/png;base64," + b64encode(png(_steps(scores), _palette())).decode("ascii")


def _steps(scores: Scores | float) -> NDArray[np.uint8]:
    """Return the place of each score among the 256 colours."""
    return np.asarray(np.clip((np.asarray(scores) - LOWEST) / (1 - LOWEST), 0, 1) * 255, dtype=np.uint8)


@cache
def _palette() -> NDArray[np.uint8]:
    at, stops = np.linspace(0, 1, 256), np.linspace(0, 1, len(_STOPS))
    channels = [np.interp(at, stops, channel) for channel in _STOPS.T]
    return np.asarray(np.rint(np.stack(channels, axis=1)), dtype=np.uint8)


def png(indices: NDArray[np.uint8], palette: NDArray[np.uint8]) -> bytes:
    """Return a PNG of 8-bit colours of a palette (256 × 3), by the PNG specification, third edition."""
    height, width = indices.shape
    lines = np.zeros((height, width + 1), dtype=np.uint8)
    lines[:, 1:] = indices
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = (
        (b"IHDR", head),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


MOST_PAIRS = 200
MOST_EXPLAINED = 20
CLOSEST = 20
STANDINGS = {
    PairStatus.SIMILAR_AND_CONFUSED: "alike, and confused in runs",
    PairStatus.CONFUSED_NOT_SIMILAR: "confused in runs although not similar",
    PairStatus.SIMILAR_NOT_CONFUSED: "alike, not confused so far",
    PairStatus.SIMILAR_UNTESTED: "alike, not tried in runs",
}


def observed_words(observation: PairObservation | None) -> str:
    """`3 of 12 runs`, or a dash where no run tells."""
    return f"{observation.confused} of {counted(observation.runs, 'run')}" if observation and observation.runs else "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityResults:
    """An analysis and the rule that flags pairs. Clusters order the picture; without them tools stand as they came."""

    similarity: Similarity
    rule: FlagRule
    clusters: Clusters | None = None
    work: Sequence[WorkItem] = ()


def similarity_html(results: SimilarityResults) -> str:
    """Render the whole page."""
    similarity = results.similarity
    pairs = similarity.flagged(results.rule, MOST_PAIRS)
    sections = [
        section("All pairs", _heat(results)),
        section("What to work on", _work(results)),
        section(*_pairs(similarity, pairs, similarity.count_flagged(results.rule))),
        section("Why they look alike", _explained(similarity, pairs)),
        section("Groups", _groups(results)),
        section("Copies on other servers", _copies(results)),
        unread((one.server, f"{one.reason} {one.hint}".strip()) for one in similarity.unreachable),
        unread_tools(similarity),
    ]
    return page("Which tools look alike?", _lead(results), sections)


def unread_tools(similarity: Similarity) -> str:
    """Definitions that were set aside, by server."""
    rows = [(server, problem.tool or "–", problem.reason) for server, problem in similarity.problems]
    return section("Set aside", table(("Server", "Tool", "Why"), rows))


def _lead(results: SimilarityResults) -> str:
    similarity, count = results.similarity, results.similarity.count_flagged(results.rule)
    servers = len({one.tool.server for one in similarity.tools})
    told = (
        f'<p class="lead"><strong>{count:,}</strong> of {counted(similarity.pair_count, "pair")} '
        f"{'is' if count == 1 else 'are'} flagged: {results.rule.text}.</p>"
    )
    what = f"{counted(len(similarity), 'tool')} on {counted(servers, 'server')}, compared by {similarity.embedder}."
    return told + paragraphs(what, similarity.notice or "")


def _heat(results: SimilarityResults) -> str:
    """Render the heatmap of every pair, similar tools side by side."""
    similarity, clusters = results.similarity, results.clusters
    order = clusters.order if clusters else range(len(similarity))
    if not order:
        return ""
    kinds = (MatrixKind.SIMILARITY, results.rule.kind)
    scores, flagging = (similarity.matrix(kind)[np.ix_(order, order)] for kind in kinds)
    framed = Framed(flagging >= np.float32(results.rule.threshold), results.rule.text)
    names = [similarity.tools[place].id for place in order]
    return heat_map(scores, names, framed, "Similarity of every pair of tools, like ones side by side")


def _work(results: SimilarityResults) -> str:
    tools = results.similarity.tools
    rows = [
        (
            tools[item.pair.a].id,
            tools[item.pair.b].id,
            STANDINGS[item.standing],
            observed_words(item.observation),
            f"{item.pair.similarity:.2f}",
            item.pair.level.value,
        )
        for item in results.work[:MOST_PAIRS]
    ]
    heads = ("Tool", "Other tool", "Standing", "Confused", "Similarity", "Confusable")
    return _cut(len(results.work)) + table(heads, rows, (4, 5))


def _cut(count: int, elsewhere: str = "") -> str:
    return paragraphs(f"The first {MOST_PAIRS} of {count:,}{elsewhere}.") if count > MOST_PAIRS else ""


def _pairs(similarity: Similarity, flagged: Sequence[ToolPair], count: int) -> tuple[str, str]:
    """Return the title and table of the first flagged pairs, or of the closest where none is flagged."""
    title = "Flagged pairs" if flagged else "The closest pairs, none of them flagged"
    pairs = flagged or similarity.pairs_by(MatrixKind.CONFUSABILITY, CLOSEST)
    full = ["Full"] * similarity.has_full
    heads = ("Tool", "Other tool", "Similarity", *full, "Words", "Parameters", "Closer than", "Confusable")
    rows = [_scores(similarity, pair) for pair in pairs]
    return title, _cut(count, "; the JSON file holds all") + table(heads, rows, range(2, len(heads)))


def _scores(similarity: Similarity, pair: ToolPair) -> tuple[str, ...]:
    full = [pair.full] * similarity.has_full
    scores = (pair.similarity, *full, pair.lexical, pair.parameters)
    figures = ("–" if score is None else f"{score:.2f}" for score in scores)
    names = (similarity.tools[place].id for place in (pair.a, pair.b))
    return (*names, *figures, percent(pair.percentile), pair.level.value)


def _explained(similarity: Similarity, pairs: Sequence[ToolPair]) -> str:
    """Render the first flagged pairs with their texts and the reasons."""
    return "".join(_explanation(similarity, pair) for pair in pairs[:MOST_EXPLAINED])


def _explanation(similarity: Similarity, pair: ToolPair) -> str:
    why = similarity.explain(pair.a, pair.b)
    tools = [similarity.tools[place] for place in (pair.a, pair.b)]
    texts = "".join(
        f'<div><code>{cell(one.id)}</code><pre class="said">{shown(one.tool.description)}</pre></div>' for one in tools
    )
    rows = [(words.title, words.shown, words.sentence) for words in why.scores]
    title = " and ".join(one.id for one in tools)
    scores = table(("Score", "", "Why"), rows, (1,), kind="narrow")
    return f'<h3>{cell(title)}</h3>{paragraphs(why.summary)}<div class="pair">{texts}</div>{scores}'


def _groups(results: SimilarityResults) -> str:
    groups = results.clusters.groups if results.clusters else ()
    rows = [(group.name, ", ".join(results.similarity.tools[place].id for place in group.members)) for group in groups]
    return table(("What they share", "Tools"), rows)


def _copies(results: SimilarityResults) -> str:
    tools, copies = results.similarity.tools, results.clusters.near_duplicates if results.clusters else ()
    full = ["Full"] * results.similarity.has_full
    rows = [(tools[pair.a].id, tools[pair.b].id, *_figures(pair)) for pair in copies[:MOST_PAIRS]]
    return _cut(len(copies)) + table(("Tool", "Copy", "Similarity", *full), rows, (2, 3))


def _figures(pair: ToolPair) -> list[str]:
    """Return the scores of a pair; a copy may be one by either."""
    return [f"{score:.2f}" for score in (pair.similarity, pair.full) if score is not None]


def overlap_html(similarity: Similarity, overlap: Overlap, limit: int) -> str:
    """Render the whole page; the `limit` pairs that overlap most are explained."""
    names = [one.id for one in similarity.tools]
    least = levels_for(similarity.embedder).framed
    framed = Framed(overlap.matrix >= least, f"{least:g} or more")
    picture = heat_map(overlap.matrix, names, framed, "Overlap of every pair of tools") if names else ""
    shares = [dimension(overlap, name) for name in MATRICES]
    pairs = list(overlap.most_overlapping(limit))
    rows = [_row(similarity, shares, pair) for pair in pairs]
    heads = ("Tool", "Other tool", "Overlap", "Similarity", "Parameters", "Wording", "Why")
    sections = [
        section("All pairs", picture),
        section("The pairs that overlap most", table(heads, rows, range(2, 6))),
        unread((one.server, f"{one.reason} {one.hint}".strip()) for one in similarity.unreachable),
        unread_tools(similarity),
    ]
    return page(
        "What do tools share?",
        _closest(similarity, pairs) + _overlap_lead(similarity, overlap.weights),
        sections,
    )


def _closest(similarity: Similarity, pairs: Sequence[OverlappingPair]) -> str:
    """Render the pair of tools with the largest overlap."""
    if not pairs:
        return ""
    first, other = (cell(similarity.tools[place].id) for place in (pairs[0].a, pairs[0].b))
    return (
        f'<p class="lead"><strong>{pairs[0].overlap:.2f}</strong> of 1 is shared by {first} and {other}, the most.</p>'
    )


def _overlap_lead(similarity: Similarity, weights: OverlapWeights) -> str:
    servers = len({one.tool.server for one in similarity.tools})
    what = f"{counted(len(similarity), 'tool')} on {counted(servers, 'server')}, compared by {similarity.embedder}."
    counts = (
        f"similarity {weights.semantic:.2f}, parameters {weights.parameters:.2f}, wording {weights.description:.2f}"
    )
    return paragraphs(f"{what} What counts how much: {counts}.", similarity.notice or "")


def _row(similarity: Similarity, shares: Sequence[Matrix], pair: OverlappingPair) -> tuple[str, ...]:
    figures = (f"{share[pair.a, pair.b]:.2f}" for share in shares)
    return (similarity.tools[pair.a].id, similarity.tools[pair.b].id, *figures, pair.why)
