"""Differences between two runs, and between the tools of a run and its server's today."""

import json
from collections.abc import Callable, Iterator, Mapping
from difflib import unified_diff

from mcp_tef.model.answers import Answer
from mcp_tef.model.cases import expectation_to_json
from mcp_tef.model.comparison import DefinitionChange, ToolChange, ToolDrift, ValueChange
from mcp_tef.model.ids import SnapshotId
from mcp_tef.model.json import canonical
from mcp_tef.model.quality import LintFinding
from mcp_tef.model.runs import ModelSettings, RunDetail
from mcp_tef.model.tools import Listing, OfferedTool, Snapshot, Tool
from mcp_tef.scoring.lint import poisoning
from mcp_tef.scoring.lint.linter import lint
from mcp_tef.scoring.phrases import listed

NONE = "–"
CONTEXT = 3

_Tools = Mapping[tuple[str, str], OfferedTool]
_SETTINGS: Mapping[str, Callable[[ModelSettings], object]] = {
    "Model": lambda settings: settings.label,
    "Base url": lambda settings: settings.base_url,
    "Temperature": lambda settings: f"{settings.temperature:g}",
    "Timeout": lambda settings: f"{settings.timeout} s",
    "Retries": lambda settings: settings.max_retries,
    "Mode": lambda settings: settings.mode.value,
    "Client": lambda settings: settings.client or None,
    "Prompt": lambda settings: settings.prompt or None,
    "Variables": lambda settings: ", ".join(f"{name}={text}" for name, text in settings.variables) or None,
    "System prompt": lambda settings: settings.system_prompt,
}
_VERDICT: Mapping[str, Callable[[RunDetail], object]] = {
    "Query": lambda run: run.summary.query,
    "Expected": lambda run: run.expectation.label,
    "Status": lambda run: run.summary.status.value,
    "Outcome": lambda run: run.summary.mark,
    "Kind": lambda run: run.summary.kind,
    "Completeness": lambda run: _share(run.summary.completeness),
    "Correctness": lambda run: _share(run.summary.correctness),
    "Types conform": lambda run: _yes(run.summary.type_conformance),
    "Hallucinated parameters": lambda run: listed(run.summary.hallucinated),
    "Confidence": lambda run: _share(run.summary.confidence),
    "Explanation": lambda run: run.verdict.explanation if run.verdict else None,
}
_ANSWER: Mapping[str, Callable[[Answer], object]] = {
    "Calls": lambda answer: _calls(answer),
    "Words": lambda answer: answer.words,
    "Tokens in": lambda answer: answer.tokens_in,
    "Tokens out": lambda answer: answer.tokens_out,
    "Cost": lambda answer: None if answer.cost_usd is None else f"${answer.cost_usd:.6f}",
}


def setting_changes(before: ModelSettings, after: ModelSettings) -> tuple[ValueChange, ...]:
    """Return settings that differ."""
    return tuple(_changes({name: (tell(before), tell(after)) for name, tell in _SETTINGS.items()}))


def verdict_changes(before: RunDetail, after: RunDetail) -> tuple[ValueChange, ...]:
    """Return the differences in query, expectation and verdict, hidden parameters of an expectation included."""
    told = {name: (tell(before), tell(after)) for name, tell in _VERDICT.items()}
    if before.expectation != after.expectation and before.expectation.label == after.expectation.label:
        told["Expected"] = (_in_full(before), _in_full(after))
    return tuple(_changes(told))


def answer_changes(before: Answer | None, after: Answer | None) -> tuple[ValueChange, ...]:
    """Return the differences in the answers; a run without an answer has a dash for everything."""
    told = {name: (tell(before) if before else None, tell(after) if after else None) for name, tell in _ANSWER.items()}
    return tuple(_changes(told))


def _changes(told: Mapping[str, tuple[object, object]]) -> Iterator[ValueChange]:
    for name, (before, after) in told.items():
        if _word(before) != _word(after):
            yield ValueChange(name, _word(before), _word(after))


def _word(value: object) -> str:
    return NONE if value is None or value == "" else str(value)


def _yes(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def _calls(answer: Answer) -> str:
    if answer.calls is None:
        return "unreadable"
    calls = (f"{call.server} / {call.tool}" if call.server else call.tool for call in answer.calls)
    texts = [f"{name} {canonical(dict(call.arguments))}" for name, call in zip(calls, answer.calls, strict=True)]
    return "\n".join(texts) or "no tool"


def _in_full(run: RunDetail) -> str:
    return canonical(expectation_to_json(run.expectation))


def tool_changes(before: Snapshot | None, after: Snapshot | None) -> tuple[tuple[ToolChange, ...], int]:
    """Return tools that two snapshots do not have alike, by server and name, and how many they do."""
    old, new = _by_name(before), _by_name(after)
    names = sorted({*old, *new})
    found = [_tool_change(server, tool, old.get((server, tool)), new.get((server, tool))) for server, tool in names]
    changes = tuple(change for change in found if change is not None)
    return changes, len(found) - len(changes)


def _by_name(snapshot: Snapshot | None) -> _Tools:
    tools = snapshot.tools if snapshot else ()
    return {(offered.tool.server, offered.tool.name): offered for offered in tools}


def _tool_change(server: str, tool: str, before: OfferedTool | None, after: OfferedTool | None) -> ToolChange | None:
    kind = _kind(before, after)
    if kind is None:
        return None
    return ToolChange(
        server=server, tool=tool, change=kind, before=before, after=after, diff=definition_diff(before, after)
    )


def _kind(before: OfferedTool | None, after: OfferedTool | None) -> DefinitionChange | None:
    if before is None or after is None:
        return DefinitionChange.ADDED if before is None else DefinitionChange.REMOVED
    if before.tool.fingerprint != after.tool.fingerprint:
        return DefinitionChange.CHANGED
    return DefinitionChange.OFFERED_AS if before.offered_name != after.offered_name else None


def definition_diff(before: OfferedTool | None, after: OfferedTool | None) -> str:
    """Return the definitions as indented JSON with sorted names, as a unified diff without its two head lines."""
    lines = list(unified_diff(_lines(before), _lines(after), n=CONTEXT, lineterm=""))
    return "\n".join(lines[2:])


def _lines(offered: OfferedTool | None) -> list[str]:
    if offered is None:
        return []
    return json.dumps(offered.tool.raw, indent=2, sort_keys=True, ensure_ascii=False, default=dict).splitlines()


_WATCHED = frozenset(check.rule.id for check in poisoning.CHECKS)


def tool_drift(seen: Listing, now: Listing) -> tuple[ToolDrift, ...]:
    """Return tools that were added, removed or changed, by name, with what is suspicious in them now."""
    changes, _ = tool_changes(_snapshot(seen), _snapshot(now))
    return tuple(ToolDrift(change, _suspicions(change.after)) for change in changes)


def changes_since(seen: Snapshot, now: Listing, wants: Callable[[str], bool]) -> dict[str, DefinitionChange]:
    """Return the changes of a server's tools since a run saw them, by the names under which they were offered.

    A tool that nobody `wants` any more is not listed, but not gone.
    """
    there = {tool.name: tool for tool in now.tools}
    asked = (item for item in seen.tools if item.tool.server == now.server)
    found = {item.offered_name: _since(item.tool, there) for item in asked if wants(item.tool.name)}
    return {name: change for name, change in found.items() if change is not None}


def _since(seen: Tool, there: dict[str, Tool]) -> DefinitionChange | None:
    if seen.name not in there:
        return DefinitionChange.REMOVED
    return None if there[seen.name].raw == seen.raw else DefinitionChange.CHANGED


def _snapshot(listing: Listing) -> Snapshot:
    return Snapshot(SnapshotId(""), tuple(OfferedTool(tool.name, tool) for tool in listing.tools))


def _suspicions(offered: OfferedTool | None) -> tuple[LintFinding, ...]:
    found = lint(offered.tool) if offered else ()
    return tuple(finding for finding in found if finding.rule.id in _WATCHED)
