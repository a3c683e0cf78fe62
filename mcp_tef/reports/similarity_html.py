"""Similarity and overlap of tools as HTML pages."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
from mcp_tef.reports.charts import shown
from mcp_tef.reports.heat_map import Framed, heat_map
from mcp_tef.reports.page import cell, counted, page, paragraphs, section, table, unread
from mcp_tef.reports.similarity_tables import OVERLAP_MATRICES as MATRICES
from mcp_tef.reports.similarity_tables import dimension
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.confusability import levels_for
from mcp_tef.scoring.similarity.overlap import Overlap, OverlappingPair
from mcp_tef.scoring.similarity.pair_explanation import percent
from mcp_tef.scoring.similarity.signals import Matrix

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
