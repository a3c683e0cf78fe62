"""Recommendations with their RFC 6902 patch of a `tools/list` document and their ToolHive override."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_tef.model.json import Json
from mcp_tef.model.json_patch import pointer
from mcp_tef.model.similarity import CaseEffect, ComparedTool, DifferentiationIssue, PairAdvice, Recommendation
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.text_terms import common_sentences, tidy
from mcp_tef.scoring.differentiation.tool_pair import PairedTool, called
from mcp_tef.scoring.phrases import listed, ticked

Operation = Mapping[str, Any]


class ToolListDocument:
    """The `tools/list` document of one server, `{"tools": […]}`, in the server's order.

    Definitions that were set aside keep their places, as empty ones.
    """

    def __init__(self, tools: Sequence[ComparedTool]) -> None:
        known = [each.tool.place for each in tools if each.tool.place is not None]
        places = known if len(known) == len(tools) else range(len(tools))
        self._places = {compared.id: place for compared, place in zip(tools, places, strict=True)}
        self._tools: list[Mapping[str, Any]] = [{}] * (max(places, default=-1) + 1)
        for compared, place in zip(tools, places, strict=True):
            self._tools[place] = compared.tool.raw

    def describe(self, tool: ComparedTool, description: str) -> tuple[Operation, ...]:
        """Return the patch that gives a tool another description; () where it would not apply."""
        change = "replace" if "description" in tool.tool.raw else "add"
        return self._checked(tool, [_operation(change, self._path(tool, "description"), description)])

    def _path(self, tool: ComparedTool, *parts: str) -> str:
        return pointer("tools", str(self._places[tool.id]), *parts)

    def _checked(self, tool: ComparedTool, operations: Sequence[Operation]) -> tuple[Operation, ...]:
        """Return the operations behind a test that the tool is still where it was, if they give a valid document."""
        patch = (_operation("test", self._path(tool, "name"), tool.tool.name), *operations)
        return patch if self._applies(tool, patch) else ()

    def _applies(self, tool: ComparedTool, patch: Sequence[Operation]) -> bool:
        """Return True if the patch applies. Only this tool is copied: to copy a thousand takes 50 ms."""
        import jsonpatch  # type: ignore[import-untyped]  # it has no types

        place, tools = self._places[tool.id], [*self._tools]
        tools[place] = copy.deepcopy(self._tools[place])
        try:
            jsonpatch.apply_patch({"tools": tools}, [dict(operation) for operation in patch], in_place=True)
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException):
            return False
        return sound(tools[place])


def override(tool: Tool, description: str) -> Mapping[str, Any]:
    """Return ToolHive's override of a tool: `{"toolsOverride": {tool: {"description"}}}`."""
    return {"toolsOverride": {tool.name: {"description": description}}}


def sound(tool: Json) -> bool:
    """Return True for a definition that a `tools/list` result may hold: a name, a text or none, an object schema."""
    if not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str) or not tool["name"]:
        return False
    schema = tool.get("inputSchema")
    described = isinstance(tool.get("description", ""), str | None)
    return described and isinstance(schema, Mapping) and schema.get("type", "object") == "object"


def _operation(op: str, path: str, value: Json) -> Operation:
    return {"op": op, "path": path, "value": value}


DRAFT = "draft"


class RecommendationWriter:
    """Writes out recommendations for the tools of one analysis."""

    def __init__(self, tools: Sequence[ComparedTool]) -> None:
        self._tools = {compared.id: compared for compared in tools}
        servers: dict[str, list[ComparedTool]] = {}
        for compared in tools:
            servers.setdefault(compared.tool.server, []).append(compared)
        self._documents = {server: ToolListDocument(listed) for server, listed in servers.items()}
        self._common = {
            server: common_sentences(tidy(each.tool.description) for each in listed)
            for server, listed in servers.items()
        }

    def paired(self, compared: ComparedTool) -> PairedTool:
        """Return a tool with what can be said of it among the tools of its server."""
        return PairedTool(compared, self._common[compared.tool.server])

    def recommendation(self, side: PairedTool, found: DifferentiationIssue, outcome: "DraftOutcome") -> Recommendation:
        """Return the recommendation to give a tool the description of an outcome."""
        names = listed([called(other, side) for other in outcome.named], "or")
        action = f"Say in {ticked(side.name)} when to use {names} instead."
        if outcome.author != DRAFT:
            action = f"Replace the description of {ticked(side.name)} by the one that {outcome.author} wrote."
        rationale = outcome.reason or f"The description does not name {names}, so a model may take one for the other."
        return Recommendation(
            issue=found.type,
            tool_id=side.id,
            tool_name=side.name,
            server=side.tool.server,
            action=action,
            rationale=f"{rationale} {_warning(outcome.cases)}".strip(),
            priority=found.priority,
            author=outcome.author,
            before=side.tool.description,
            revised=outcome.description,
            patch=self._documents[side.tool.server].describe(self._tools[side.id], outcome.description),
            override=override(side.tool, outcome.description),
            cases=outcome.cases,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftOutcome:
    """A description by a model or "draft", the tools that it tells from, and what the baseline does with it."""

    description: str
    named: Sequence[PairedTool]
    author: str = DRAFT
    reason: str = ""
    cases: CaseEffect | None = None


def _warning(cases: CaseEffect | None) -> str:
    if cases is None or cases.gain >= 0:
        return ""
    return "With it the built-in baseline gets fewer cases right, so try it with a model first."


def joint_changes(pairs: Iterable[PairAdvice]) -> Mapping[str, tuple[tuple[Operation, ...], Mapping[str, object]]]:
    """Return by server one patch and one override for a whole selection, each tool changed once, by its first text."""
    firsts: dict[str, Recommendation] = {}
    for one in (each for advice in pairs for each in advice.recommendations):
        firsts.setdefault(one.tool_id, one)
    chosen: dict[str, list[Recommendation]] = {}
    for one in firsts.values():
        chosen.setdefault(one.server, []).append(one)
    return {server: (_joint_patch(changes), _joint_override(changes)) for server, changes in chosen.items()}


def _joint_patch(changes: Iterable[Recommendation]) -> tuple[Operation, ...]:
    return tuple(operation for one in changes for operation in one.patch)


def _joint_override(changes: Iterable[Recommendation]) -> Mapping[str, object]:
    return {"toolsOverride": {name: text for one in changes for name, text in one.override["toolsOverride"].items()}}
