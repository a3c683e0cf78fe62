"""Terminal text for similarity, overlap and recommendations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcp_tef import MatrixKind, OverlapWeights, PairAdvice, Recommendation, ToolPair
from mcp_tef.cli.terminal import one_line, table
from mcp_tef.cli.words import counted

if TYPE_CHECKING:
    from mcp_tef import OverlappingPair, Similarity

MOST_PAIRS = 20
CLOSEST = 5
LONGEST_TEXT = 200
LEFT_STANDING = 60


def similarity_lines(found: "Similarity", at: float) -> list[str]:
    """Return the lines of a comparison: its method, the flagged pairs, or the closest pairs if none is flagged."""
    count = found.count_at(at)
    verb = "is" if count == 1 else "are"
    head = f"{count:,} of {counted(found.pair_count, 'pair')} {verb} at least {at:g} alike."
    pairs = found.pairs_by(MatrixKind.SIMILARITY, min(count, MOST_PAIRS) or CLOSEST)
    lines = [compared_line(found), head, *_pair_table(found, pairs)]
    if not count and pairs:
        lines.insert(2, f"The closest {'is' if len(pairs) == 1 else 'are'}:")
    if count > MOST_PAIRS:
        lines.append(f"… and {count - MOST_PAIRS:,} more; --out F writes them all.")
    return lines


def compared_line(found: "Similarity") -> str:
    """`94 tools of 12 servers, compared by tfidf.`"""
    servers = len({one.tool.server for one in found.tools})
    return f"{counted(len(found), 'tool')} of {counted(servers, 'server')}, compared by {found.embedder}."


def _pair_table(found: "Similarity", pairs: Sequence[ToolPair]) -> list[str]:
    heads = ("SIMILARITY", "FULL", "WORDS", "CONFUSABLE", "TOOL", "LOOKS LIKE")
    rows = [
        (
            _figure(one.similarity),
            _figure(one.full),
            _figure(one.lexical),
            _figure(one.confusability),
            *_ids(found, one),
        )
        for one in pairs
    ]
    return table(heads, rows) if rows else []


def _ids(found: "Similarity", pair: ToolPair) -> tuple[str, str]:
    return found.tools[pair.a].id, found.tools[pair.b].id


def _figure(score: float | None) -> str:
    return "–" if score is None else f"{score:.2f}"


def overlap_lines(found: "Similarity", weights: OverlapWeights, pairs: Sequence["OverlappingPair"]) -> list[str]:
    """The pairs that share most, each with its reason below it."""
    parts = f"{weights.semantic:g} meaning, {weights.parameters:g} parameters, {weights.description:g} words"
    lines = [compared_line(found), f"Overlap is weighed as {parts}."]
    for one in pairs:
        lines += ["", f"{one.overlap:.2f}  {found.tools[one.a].id} and {found.tools[one.b].id}", f"      {one.why}"]
    return lines


def advice_lines(advice: PairAdvice) -> list[str]:
    """Return the lines of one recommendation: the issues of a pair and the suggested changes."""
    lines = ["", f"{advice.a} and {advice.b}: {advice.similarity:.2f} alike"]
    lines += [f"  {issue.priority}: {issue.sentence}" for issue in advice.issues]
    if advice.failure:
        lines.append(f"  ! {advice.failure.message} {advice.failure.hint}".rstrip())
    for one in advice.recommendations:
        lines += _recommendation_lines(one)
    if not advice.recommendations:
        lines.append("  Nothing to recommend.")
    return lines


def _recommendation_lines(one: Recommendation) -> list[str]:
    lines = [f"  → {one.tool_id}: {one.action}", f"    {one.rationale}"]
    if one.revised is not None:
        source = "a draft from its own schema" if one.author == "draft" else f"by {one.author}"
        before, after = _beside(one.before or "–", one.revised)
        lines += [f"    before: {before}", f"    after:  {after} ({source})"]
    if one.similarity_after is not None:
        lines.append(f"    similarity after: {one.similarity_after:.2f}")
    return lines


def _beside(before: str, after: str) -> tuple[str, str]:
    """Both texts on a line each, from a little before where they begin to differ."""
    flat = [" ".join(text.split()) for text in (before, after)]
    pairs = enumerate(zip(*flat, strict=False))
    same = next((place for place, (one, other) in pairs if one != other), min(map(len, flat)))
    start = flat[0].rfind(" ", 0, max(same - LEFT_STANDING, 0)) + 1
    mark = "…" if start else ""
    shown = [one_line(f"{mark}{text[start:]}", LONGEST_TEXT) for text in flat]
    return shown[0], shown[1]
