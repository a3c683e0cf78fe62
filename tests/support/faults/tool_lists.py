"""Servers that talk well and list badly."""

import os
from collections.abc import Mapping
from typing import Any

from tests.support.faults.fault_script import HANDSHAKE, Json, Talk, tool

MODERN = "2026-07-28"
UNSUPPORTED_VERSION = -32022
MANY = 10_000


class BadTools(Talk):
    """Lists sound tools among definitions that are wrong in every way."""

    def page(self, cursor: str | None) -> Json:
        sound = tool("sound", vendorField={"kept": [1, 2]}, annotations={"readOnlyHint": True})
        bad: list[Any] = [
            {"description": "no name", "inputSchema": {"type": "object"}},
            tool("worded", description=12),
            tool("schemaless") | {"inputSchema": "a string"},
            tool("unsound", inputSchema={"type": "object", "properties": {"a": {"type": "strin"}}}),
            "not even an object",
            tool("sound", description="The same name again."),
        ]
        return {"tools": [sound, *bad, tool("last")]}


class WorseTools(Talk):
    """Lists one sound tool after definitions of every wrong kind that `BadTools` leaves out."""

    def page(self, cursor: str | None) -> Json:
        deep: Json = {}
        for _ in range(100):
            deep = {"not": deep}
        bad: list[Any] = [
            None,
            7,
            ["list"],
            tool("x", name=None),
            tool("x", name=7),
            tool(" "),
            tool("n" * 600),
            tool("titled", title=["list"]),
            {"name": "bare"},
            tool("null", inputSchema=None),
            tool("array", inputSchema={"type": "array"}),
            tool("output", outputSchema={"type": "object", "required": "all"}),
            tool("deep", inputSchema=deep),
            tool("huge", description="word " * 300_000),
        ]
        return {"tools": [*bad, tool("sound")]}


class Duplicates(Talk):
    """Lists each tool twice."""

    def page(self, cursor: str | None) -> Json:
        return {"tools": [tool("first"), tool("first"), tool("second"), tool("second")]}


class Many(Talk):
    """Lists ten thousand tools at once."""

    def page(self, cursor: str | None) -> Json:
        place = {"type": "string", "description": "Where it is, as a full path."}
        schema = {"type": "object", "properties": {"path": place, "depth": {"type": "integer"}}, "required": ["path"]}
        return {"tools": [tool(f"tool{number}", inputSchema=schema) for number in range(MANY)]}


class SmallValues(Talk):
    """Lists tools as millions of empty objects, each of which takes more memory than it has letters."""

    def text(self, reply: Json) -> bytes:
        return super().text(reply).replace(b'"MILLIONS"', b"{}," * 1_200_000 + b"{}")

    def page(self, cursor: str | None) -> Json:
        return {"tools": ["MILLIONS"]}


class WorstValues(Talk):
    """Lists a tool with as many small objects as are just put up with; none takes more memory for its letters."""

    def text(self, reply: Json) -> bytes:
        return super().text(reply).replace(b'"WORST"', b'{"k":1},' * 249_000 + b"{}")

    def page(self, cursor: str | None) -> Json:
        return {"tools": [tool("worst", inputSchema={"type": "object", "enum": ["WORST"]})]}


class References(Talk):
    """Lists schemas that refer to themselves, and to a file at the address that `REMOTE` names."""

    def page(self, cursor: str | None) -> Json:
        node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
        remote = os.environ.get("REMOTE", "https://elsewhere.example/schema.json")
        return {
            "tools": [
                tool("recursive", inputSchema={"type": "object", "$defs": {"node": node}, "$ref": "#/$defs/node"}),
                tool("circular", inputSchema={"type": "object", "$ref": "#"}),
                tool("remote", inputSchema={"type": "object", "properties": {"a": {"$ref": remote}}}),
                tool("meta", inputSchema={"type": "object", "$schema": remote}),
            ]
        }


class NoList(Talk):
    """Answers the list with something else."""

    def page(self, cursor: str | None) -> Json:
        return {"tools": "none"}


class Pages(Talk):
    """Lists five tools on three pages."""

    def page(self, cursor: str | None) -> Json:
        start = int(cursor or 0)
        tools = [tool(f"tool{number}") for number in range(start, min(start + 2, 5))]
        return {"tools": tools} | ({"nextCursor": str(start + 2)} if start + 2 < 5 else {})


class RepeatedCursor(Talk):
    """Sends one to the same page for ever."""

    def page(self, cursor: str | None) -> Json:
        return {"tools": [tool("again" if cursor else "once")], "nextCursor": "same"}


class EndlessPages(Talk):
    """Always has one page more."""

    def page(self, cursor: str | None) -> Json:
        number = int(cursor or 0)
        return {"tools": [tool(f"tool{number}")], "nextCursor": str(number + 1)}


class Refuses(Talk):
    """Answers the handshake with an error of its own."""

    def answer(self, method: str, params: Json) -> Json | None:
        return {"error": {"code": -32000, "message": "Licence has expired"}}


class OddGreeting(Talk):
    """Greets with the wrong shape."""

    def greeting(self) -> Json:
        return {"hello": "world"}


class ModernOnly(Talk):
    """Speaks only the stateless protocol, which has no handshake."""

    def answer(self, method: str, params: Json) -> Json | None:
        common = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        if method == "server/discover":
            return {"result": common | {"supportedVersions": [MODERN], "capabilities": self.capabilities}}
        if method == "tools/list" and "io.modelcontextprotocol/protocolVersion" in params.get("_meta", {}):
            return {"result": common | self.page(None)}
        data = {"supported": [MODERN], "requested": HANDSHAKE}
        return {"error": {"code": UNSUPPORTED_VERSION, "message": "Unsupported protocol version", "data": data}}


class Toolless(Talk):
    """Has prompts only, and does not know the method that lists tools."""

    capabilities: Mapping[str, Any] = {"prompts": {}}

    def answer(self, method: str, params: Json) -> Json | None:
        return super().answer("unknown" if method == "tools/list" else method, params)


class Surroundings(Talk):
    """Lists the names of its environment variables, each described by its value."""

    def page(self, cursor: str | None) -> Json:
        return {"tools": [tool(name, description=value) for name, value in os.environ.items()]}


FAULTS: Mapping[str, type[Talk]] = {
    "bad-tools": BadTools,
    "worse-tools": WorseTools,
    "duplicates": Duplicates,
    "many": Many,
    "small-values": SmallValues,
    "worst-values": WorstValues,
    "references": References,
    "no-list": NoList,
    "pages": Pages,
    "repeated-cursor": RepeatedCursor,
    "endless-pages": EndlessPages,
    "refuses": Refuses,
    "odd-greeting": OddGreeting,
    "modern-only": ModernOnly,
    "toolless": Toolless,
    "surroundings": Surroundings,
}
