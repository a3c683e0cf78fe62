"""Changes that can be applied: RFC 6902 patches of a `tools/list` document, and overrides as ToolHive reads them."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from mcp_tef.model.json import Json
from mcp_tef.model.similarity import ComparedTool
from mcp_tef.model.tools import Tool

Operation = Mapping[str, Any]


class Document:
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
        """The patch that gives a tool another description; () where it would not apply."""
        change = "replace" if "description" in tool.tool.raw else "add"
        return self._checked(tool, [_operation(change, self._path(tool, "description"), description)])

    def rename(self, tool: ComparedTool, name: str) -> tuple[Operation, ...]:
        """The patch that gives a tool another name; () where it would not apply."""
        return self._checked(tool, [_operation("replace", self._path(tool, "name"), name)])

    def rename_parameter(self, tool: ComparedTool, old: str, new: str) -> tuple[Operation, ...]:
        """The patch that gives a parameter another name, also where it is required; () where it would not apply."""
        inside = ("inputSchema", "properties")
        moved = {"op": "move", "from": self._path(tool, *inside, old), "path": self._path(tool, *inside, new)}
        required = tool.tool.input_schema.get("required")
        places = [place for place, name in enumerate(required) if name == old] if isinstance(required, list) else []
        named = [_operation("replace", self._path(tool, "inputSchema", "required", str(at)), new) for at in places]
        return self._checked(tool, [moved, *named])

    def _path(self, tool: ComparedTool, *parts: str) -> str:
        return pointer("tools", str(self._places[tool.id]), *parts)

    def _checked(self, tool: ComparedTool, operations: Sequence[Operation]) -> tuple[Operation, ...]:
        """The operations behind a test that the tool is still where it was, if they give a valid document."""
        patch = (_operation("test", self._path(tool, "name"), tool.tool.name), *operations)
        return patch if self._applies(tool, patch) else ()

    def _applies(self, tool: ComparedTool, patch: Sequence[Operation]) -> bool:
        """Applied to a copy of this tool among the others as they are: to copy a thousand of them takes 50 ms."""
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
    """An RFC 6901 JSON pointer."""
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)


def override(tool: Tool, *, name: str | None = None, description: str | None = None) -> Mapping[str, Any]:
    """What ToolHive lays over a tool: `{"toolsOverride": {tool: {"name"?, "description"?}}}`."""
    given = {"name": name, "description": description}
    return {"toolsOverride": {tool.name: {field: text for field, text in given.items() if text is not None}}}


def sound(tool: Json) -> bool:
    """Whether this is a definition as a `tools/list` result may hold it: a name, a text or none, an object schema."""
    if not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str) or not tool["name"]:
        return False
    schema = tool.get("inputSchema")
    described = isinstance(tool.get("description", ""), str | None)
    return described and isinstance(schema, Mapping) and schema.get("type", "object") == "object"


def _operation(op: str, path: str, value: Json) -> Operation:
    return {"op": op, "path": path, "value": value}
