"""Recommendations as JSON, and as files that apply them: RFC 6902 patches and ToolHive-style overrides."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from mcp_tef.formats.cases.texts import write_text
from mcp_tef.model.json import Json
from mcp_tef.model.runs import FailureInfo
from mcp_tef.model.similarity import DifferentiationIssue, PairAdvice, Recommendation

_UNSAFE = re.compile(r"[^a-z0-9]+")
_NAME_LENGTH = 40


def advice_to_json(advice: PairAdvice) -> dict[str, Json]:
    """A pair with its issues and recommendations; `failure` says why the asked model gave no usable text."""
    return {
        "a": advice.a,
        "b": advice.b,
        "similarity": round(advice.similarity, 4),
        "issues": [_issue(issue) for issue in advice.issues],
        "recommendations": [recommendation_to_json(one) for one in advice.recommendations],
        "failure": failure_to_json(advice.failure),
        "tokens": advice.tokens,
        "cost_usd": advice.cost_usd,
    }


def failure_to_json(failure: FailureInfo | None) -> Json:
    """`{"code", "message", "hint"}`, None where nothing failed."""
    return {"code": failure.code, "message": failure.message, "hint": failure.hint} if failure else None


def _issue(issue: DifferentiationIssue) -> dict[str, Json]:
    return {
        "type": issue.type.value,
        "priority": issue.priority.value,
        "sentence": issue.sentence,
        "evidence": list(issue.evidence),
    }


def recommendation_to_json(one: Recommendation) -> dict[str, Json]:
    """One change, with the patch and the override that make it."""
    after = one.similarity_after
    return {
        "issue": one.issue.value,
        "tool": one.tool_id,
        "action": one.action,
        "rationale": one.rationale,
        "priority": one.priority.value,
        "author": one.author,
        "before": one.before,
        "revised": one.revised,
        "similarity_after": None if after is None else round(after, 4),
        "patch": [dict(operation) for operation in one.patch],
        "override": dict(one.override),
    }


def advice_files(pairs: Sequence[PairAdvice]) -> dict[str, str]:
    """The text of every file by its name: a patch and an override for each recommendation that has them.

    Names begin with a number and hold only a–z, 0–9 and hyphens, whatever the tools are called.
    """
    files: dict[str, str] = {}
    every = [one for advice in pairs for one in advice.recommendations]
    for number, one in enumerate(every, 1):
        stem = f"{number:03}-{_slug(one.tool_id)}-{_slug(one.issue.value)}"
        held = {"patch": [dict(operation) for operation in one.patch], "override": dict(one.override)}
        files |= {f"{stem}.{kind}.json": _text(value) for kind, value in held.items() if value}
    return files


def write_advice_files(pairs: Sequence[PairAdvice], folder: Path) -> tuple[Path, ...]:
    """Write the files of `advice_files` into a folder, made if need be. OSError for it, InputError for a file."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in advice_files(pairs).items():
        paths.append(folder / name)
        write_text(paths[-1], text)
    return tuple(paths)


def _slug(text: str) -> str:
    return _UNSAFE.sub("-", text.lower()).strip("-")[:_NAME_LENGTH] or "tool"


def _text(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
