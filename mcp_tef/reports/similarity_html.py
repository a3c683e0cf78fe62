"""Similarity report as one HTML page: the heatmap, recommendations, pairs, groups and duplicates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcp_tef.model.similarity import Clusters, MatrixKind, ToolPair, WorkItem
from mcp_tef.reports.charts import shown
from mcp_tef.reports.heat import heat_map
from mcp_tef.reports.page import cell, counted, page, paragraphs, section, table, unread
from mcp_tef.reports.similarity_words import STANDINGS, observed_words
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.pair_explanation import percent

MOST_PAIRS = 200
MOST_EXPLAINED = 20
CLOSEST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityResults:
    """An analysis seen at a threshold. Clusters give the picture its order; without them tools stand as they came."""

    similarity: Similarity
    threshold: float
    clusters: Clusters | None = None
    work: Sequence[WorkItem] = ()


def similarity_html(results: SimilarityResults) -> str:
    """The whole page."""
    similarity = results.similarity
    pairs = similarity.flagged(results.threshold, MOST_PAIRS)
    sections = [
        section("All pairs", _heat(results)),
        section("What to work on", _work(results)),
        section(*_pairs(similarity, pairs, similarity.count_at(results.threshold))),
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
    similarity, count = results.similarity, results.similarity.count_at(results.threshold)
    servers = len({one.tool.server for one in similarity.tools})
    told = (
        f'<p class="lead"><strong>{count:,}</strong> of {counted(similarity.pair_count, "pair")} '
        f"{'is' if count == 1 else 'are'} at least {results.threshold:g} alike in meaning.</p>"
    )
    what = f"{counted(len(similarity), 'tool')} on {counted(servers, 'server')}, compared by {similarity.embedder}."
    return told + paragraphs(what, similarity.notice or "")


def _heat(results: SimilarityResults) -> str:
    """The similarity of every pair, like tools side by side."""
    similarity, clusters = results.similarity, results.clusters
    order = clusters.order if clusters else range(len(similarity))
    if not order:
        return ""
    scores = similarity.matrix(MatrixKind.SIMILARITY)[np.ix_(order, order)]
    names = [similarity.tools[place].id for place in order]
    return heat_map(scores, names, results.threshold, "Similarity of every pair of tools, like ones side by side")


def _work(results: SimilarityResults) -> str:
    tools = results.similarity.tools
    rows = [
        (
            tools[item.pair.a].id,
            tools[item.pair.b].id,
            STANDINGS[item.standing],
            observed_words(item.observation),
            f"{item.pair.similarity:.2f}",
            f"{item.pair.confusability:.2f}",
        )
        for item in results.work[:MOST_PAIRS]
    ]
    heads = ("Tool", "Other tool", "Standing", "Confused", "Similarity", "Confusable")
    return _cut(len(results.work)) + table(heads, rows, (4, 5))


def _cut(count: int, elsewhere: str = "") -> str:
    return paragraphs(f"The first {MOST_PAIRS} of {count:,}{elsewhere}.") if count > MOST_PAIRS else ""


def _pairs(similarity: Similarity, flagged: Sequence[ToolPair], count: int) -> tuple[str, str]:
    """The first flagged pairs of all under their title, or where there is none the closest."""
    title = "Flagged pairs" if flagged else "The closest pairs, none of them flagged"
    pairs = flagged or similarity.pairs_by(MatrixKind.SIMILARITY, CLOSEST)
    full = ["Full"] * similarity.has_full
    heads = ("Tool", "Other tool", "Similarity", *full, "Words", "Parameters", "Closer than", "Confusable")
    rows = [_scores(similarity, pair) for pair in pairs]
    return title, _cut(count, "; the JSON file holds all") + table(heads, rows, range(2, len(heads)))


def _scores(similarity: Similarity, pair: ToolPair) -> tuple[str, ...]:
    full = [pair.full] * similarity.has_full
    scores = (pair.similarity, *full, pair.lexical, pair.parameters)
    figures = ("–" if score is None else f"{score:.2f}" for score in scores)
    names = (similarity.tools[place].id for place in (pair.a, pair.b))
    return (*names, *figures, percent(pair.percentile), f"{pair.confusability:.2f}")


def _explained(similarity: Similarity, pairs: Sequence[ToolPair]) -> str:
    """The first flagged pairs with their words and the reasons."""
    return "".join(_explanation(similarity, pair) for pair in pairs[:MOST_EXPLAINED])


def _explanation(similarity: Similarity, pair: ToolPair) -> str:
    why = similarity.explain(pair.a, pair.b)
    tools = [similarity.tools[place] for place in (pair.a, pair.b)]
    texts = "".join(
        f'<div><code>{cell(one.id)}</code><pre class="said">{shown(one.tool.description)}</pre></div>' for one in tools
    )
    rows = [(words.title, f"{words.score:.2f}", words.sentence) for words in why.scores]
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
    """A copy may be one by either score."""
    return [f"{score:.2f}" for score in (pair.similarity, pair.full) if score is not None]
