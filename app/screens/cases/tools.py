"""The tools that can be expected."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mcp_tef import Listing, Tool

LONGEST_SENTENCE: Final = 160


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """One tool of the list to pick from: its server, its name, and the first sentence about it."""

    server: str
    name: str
    sentence: str


class Tools:
    """The tools of every server, as last seen."""

    def __init__(self, listings: Mapping[str, Listing] | None = None) -> None:
        self._listings = dict(listings or {})

    def find(self, server: str | None, name: str) -> Tool | None:
        """The tool of that name; of any server where none is named."""
        listings = self._listings.values() if server is None else [self._listings.get(server)]
        tools = (tool for listing in listings if listing for tool in listing.tools)
        return next((tool for tool in tools if tool.name == name), None)

    def of(self, servers: Sequence[str]) -> tuple[ToolChoice, ...]:
        """The tools of the chosen servers, in their order; of all servers where none is chosen."""
        chosen = [name for name in servers if name in self._listings] if servers else list(self._listings)
        return tuple(_choice(tool, name) for name in chosen for tool in self._listings[name].tools)


def _choice(tool: Tool, server: str) -> ToolChoice:
    return ToolChoice(server, tool.name, first_sentence(tool.description))


def first_sentence(text: str) -> str:
    """The first sentence of a description, on one line, cut between words where it is long."""
    line = " ".join(text.split())
    sentence = re.split(r"(?<=[.!?])\s", line, maxsplit=1)[0].rstrip(".")
    if len(sentence) <= LONGEST_SENTENCE:
        return sentence
    return f"{sentence[:LONGEST_SENTENCE].rsplit(' ', 1)[0]}…"


def typed_choice(choices: Sequence[ToolChoice], typed: str) -> tuple[str | None, str]:
    """Server and tool that a free text names: as it stands, or the only known tool of that name."""
    server, slash, name = (part.strip() for part in typed.partition("/"))
    servers = {choice.server for choice in choices}
    if slash and name and server in servers:
        return server, name
    text = typed.strip()
    owners = [choice.server for choice in choices if choice.name == text]
    return (owners[0] if len(owners) == 1 else None), text
