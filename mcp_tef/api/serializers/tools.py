"""Similarity, overlap, recommendations and quality of tools as JSON."""

from collections.abc import Iterable, Iterator

from mcp_tef.api.serializers.runs import error_to_json
from mcp_tef.model.json import Json, as_json, fields_to_json
from mcp_tef.model.quality import LintFinding, QualityReport, ToolQuality
from mcp_tef.model.similarity import (
    PairAdvice,
    Recommendation,
    ToolPair,
    UnreachableSource,
)
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.overlap import OverlappingPair


def compared_tools_to_json(similarity: Similarity) -> Iterator[Json]:
    """`{"id", "server", "name"}` of every tool, in the order of the matrices."""
    return ({"id": one.id, "server": one.tool.server, "name": one.tool.name} for one in similarity.tools)


def tool_pair_to_json(similarity: Similarity, pair: ToolPair) -> dict[str, Json]:
    """Return `{"a", "b", "score", "full_score", "percentile", "confusability", "level"}` with the ids of the tools."""
    return {
        "a": similarity.tools[pair.a].id,
        "b": similarity.tools[pair.b].id,
        "score": round(pair.similarity, 4),
        "full_score": None if pair.full is None else round(pair.full, 4),
        "percentile": round(pair.percentile, 4),
        "confusability": round(pair.confusability, 4),
        "level": pair.level.value,
    }


def overlapping_pair_to_json(similarity: Similarity, pair: OverlappingPair) -> dict[str, Json]:
    """Return `{"a", "b", "overlap", "why"}` with the ids of the tools."""
    ids = {"a": similarity.tools[pair.a].id, "b": similarity.tools[pair.b].id}
    return {**ids, "overlap": round(pair.overlap, 4), "why": pair.why}


def unreachable_to_json(unreachable: Iterable[UnreachableSource]) -> Iterator[Json]:
    """`{"server", "reason"}` of each."""
    return (fields_to_json(one, "server reason") for one in unreachable)


def advice_to_json(advice: PairAdvice) -> dict[str, Json]:
    """Serialize a pair with its issues and recommendations; `failure` says why the model gave no usable text."""
    return {
        **fields_to_json(advice, "a b"),
        "similarity": round(advice.similarity, 4),
        "issues": [fields_to_json(issue, "type priority sentence evidence") for issue in advice.issues],
        "recommendations": [_recommendation(one) for one in advice.recommendations],
        "failure": error_to_json(advice.failure) if advice.failure else None,
        **fields_to_json(advice, "tokens cost_usd"),
    }


def _recommendation(one: Recommendation) -> dict[str, Json]:
    return {
        "issue": one.issue.value,
        "tool": one.tool_id,
        **fields_to_json(one, "action rationale priority author before revised cases patch override"),
    }


def quality_to_json(report: QualityReport) -> dict[str, Json]:
    """Serialize a quality report: tools from worst to best, token counts, and what could not be read."""
    return {
        "tools": [_tool(tool) for tool in report.tools],
        **fields_to_json(report, "servers tokenizer notes void"),
        "unreachable": list(unreachable_to_json(report.unreachable)),
        "problems": [
            {"server": server, **fields_to_json(problem, "tool reason")} for server, problem in report.problems
        ],
    }


def _tool(quality: ToolQuality) -> dict[str, Json]:
    return {
        "id": quality.tool.id,
        "server": quality.tool.tool.server,
        "name": quality.tool.tool.name,
        **fields_to_json(quality, "score tokens definition"),
        "findings": [lint_finding_to_json(finding) for finding in quality.findings],
        "ignored": [lint_finding_to_json(one) | fields_to_json(entry, "reason date") for one, entry in quality.ignored],
        "review": as_json(quality.review),
        "failure": error_to_json(quality.failure) if quality.failure else None,
    }


def lint_finding_to_json(finding: LintFinding) -> dict[str, Json]:
    """Return a finding with its rule."""
    return {
        "rule": finding.rule.id,
        "severity": finding.rule.severity.value,
        **fields_to_json(finding, "place sentence"),
        "why": finding.rule.why,
        **fields_to_json(finding, "fix excerpt penalty"),
    }
