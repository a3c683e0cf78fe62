"""Recommendations with their RFC 6902 patch of a `tools/list` document and their ToolHive override."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_tef.model.json import Json
from mcp_tef.model.similarity import ComparedTool, DifferentiationIssue, IssueType, Recommendation
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.proposals import Proposal
from mcp_tef.scoring.differentiation.tool_pair import PairedTool, PairedTools, called
from mcp_tef.scoring.phrases import ticked

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

    def rename(self, tool: ComparedTool, name: str) -> tuple[Operation, ...]:
        """Return the patch that gives a tool another name; () where it would not apply."""
        return self._checked(tool, [_operation("replace", self._path(tool, "name"), name)])

    def rename_parameter(self, tool: ComparedTool, old: str, new: str) -> tuple[Operation, ...]:
        """Return the patch that renames a parameter, also in `required`; () if it would not apply."""
        inside = ("inputSchema", "properties")
        moved = {"op": "move", "from": self._path(tool, *inside, old), "path": self._path(tool, *inside, new)}
        required = tool.tool.input_schema.get("required")
        places = [place for place, name in enumerate(required) if name == old] if isinstance(required, list) else []
        named = [_operation("replace", self._path(tool, "inputSchema", "required", str(at)), new) for at in places]
        return self._checked(tool, [moved, *named])

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
        fewer = len({each.get("name") for each in tools}) < len({each.get("name") for each in self._tools})
        return sound(tools[place]) and not fewer


def pointer(*parts: str) -> str:
    """Return an RFC 6901 JSON pointer."""
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)


def override(tool: Tool, *, name: str | None = None, description: str | None = None) -> Mapping[str, Any]:
    """Return ToolHive's override of a tool: `{"toolsOverride": {tool: {"name"?, "description"?}}}`."""
    given = {"name": name, "description": description}
    return {"toolsOverride": {tool.name: {field: text for field, text in given.items() if text is not None}}}


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


@dataclass(frozen=True, slots=True)
class ProposalOutcome:
    """Outcome of a proposal: the description or name that helps, and the pair's similarity with it, if known."""

    description: str | None = None
    note: str = ""
    name: str | None = None
    similarity: float | None = None


class RecommendationWriter:
    """Writes out recommendations for the tools of one analysis."""

    def __init__(self, tools: Sequence[ComparedTool]) -> None:
        self.names = frozenset(compared.tool.name for compared in tools)
        self._tools = {compared.id: compared for compared in tools}
        servers = {compared.tool.server for compared in tools}
        self._documents: Mapping[str, ToolListDocument] = {
            server: ToolListDocument([compared for compared in tools if compared.tool.server == server])
            for server in servers
        }

    def drafted(self, proposal: Proposal, settled: ProposalOutcome) -> Recommendation:
        """Return a recommendation that needs no model; without a patch where no text or name helps."""
        patch, laid_over = self._change(proposal.side, settled, proposal.parameter)
        return Recommendation(
            issue=proposal.issue,
            tool_id=proposal.side.id,
            tool_name=proposal.side.name,
            action=proposal.action,
            rationale=f"{proposal.rationale} {settled.note}".strip(),
            priority=proposal.priority,
            author=DRAFT,
            before=None if settled.description is None else proposal.side.tool.description,
            revised=settled.description,
            patch=patch,
            override=laid_over,
            similarity_after=settled.similarity,
        )

    def written(
        self,
        side: PairedTool,
        pair: PairedTools,
        found: Sequence[DifferentiationIssue],
        author: str,
        settled: ProposalOutcome,
    ) -> Recommendation:
        """Return a recommendation with the description that a model wrote; `note` is the model's reason."""
        issue = next((each for each in found if each.type is IssueType.SCOPE_CLARITY), found[0])
        other = pair.b if side is pair.a else pair.a
        action = f"Replace the description of {called(side, other)} by the one that {author} wrote."
        rationale = settled.note or f"It tells {ticked(side.name)} from {called(other, side)}."
        if settled.similarity is not None and settled.similarity >= pair.similarity:
            rationale += " It does not make the two less alike."
        patch, laid_over = self._change(side, settled, None)
        return Recommendation(
            issue=issue.type,
            tool_id=side.id,
            tool_name=side.name,
            action=action,
            rationale=rationale,
            priority=issue.priority,
            author=author,
            before=side.tool.description,
            revised=settled.description,
            patch=patch,
            override=laid_over,
            similarity_after=settled.similarity,
        )

    def _change(
        self, side: PairedTool, settled: ProposalOutcome, parameter: tuple[str, str] | None
    ) -> tuple[tuple[Operation, ...], Mapping[str, object]]:
        """Return the patch and the override; ToolHive can lay over names and descriptions, not parameters."""
        compared, document = self._tools[side.id], self._documents[side.tool.server]
        if settled.description is not None:
            return document.describe(compared, settled.description), override(
                side.tool, description=settled.description
            )
        if settled.name is not None:
            return document.rename(compared, settled.name), override(side.tool, name=settled.name)
        return (document.rename_parameter(compared, *parameter) if parameter else ()), {}
