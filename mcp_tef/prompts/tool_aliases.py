"""Unique names under which tools are offered to a model, and the way from such a name to its tool."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcp_tef.model.answers import ActualCall
from mcp_tef.model.json import fingerprint
from mcp_tef.model.tools import OfferedTool, Tool

DEFAULT_SEPARATOR = "-"
LONGEST_NAME = 64

_ACCEPTED = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")
_NO_ALIASES: Mapping[str, str] = {}


def offer(
    tools: Sequence[Tool], separator: str = DEFAULT_SEPARATOR, *, aliases: Mapping[str, str] = _NO_ALIASES
) -> tuple[OfferedTool, ...]:
    """Name each tool for the model: bare, or `{alias or server}{separator}{tool}` where servers share a name.

    Every name is unique and matches `^[a-zA-Z0-9_-]{1,64}$`, which all providers accept; equal tools get
    equal names every time. `aliases` maps a server's name to its short form.
    """
    shared = _shared_names(tools)
    wanted = [_wanted(tool, shared, separator, aliases) for tool in tools]
    counts = Counter(wanted)
    used = {name for name in wanted if counts[name] == 1 and _ACCEPTED.fullmatch(name)}
    names = [name if name in used else _safe(name, tool, used) for name, tool in zip(wanted, tools, strict=True)]
    return tuple(OfferedTool(name, tool) for name, tool in zip(names, tools, strict=True))


def resolve(
    offered_name: str, offered: Iterable[OfferedTool], arguments: Mapping[str, Any] | None = None
) -> ActualCall:
    """Return the call of the real tool behind an offered name; a name that was not offered stays as it was written."""
    given = dict(arguments or {})
    for item in offered:
        if item.offered_name == offered_name:
            return ActualCall(tool=item.tool.name, arguments=given, server=item.tool.server or None)
    return ActualCall(tool=offered_name, arguments=given)


def _shared_names(tools: Iterable[Tool]) -> set[str]:
    pairs = {(tool.server, tool.name) for tool in tools}
    counts = Counter(name for _, name in pairs)
    return {name for name, count in counts.items() if count > 1}


def _wanted(tool: Tool, shared: set[str], separator: str, aliases: Mapping[str, str]) -> str:
    if tool.name not in shared:
        return tool.name
    return f"{aliases.get(tool.server) or tool.server}{separator}{tool.name}"


def _safe(name: str, tool: Tool, used: set[str]) -> str:
    """Return an accepted name that is not in `used`, which it joins."""
    plain = _REFUSED.sub("_", name) or "tool"
    candidate = plain if len(plain) <= LONGEST_NAME else _marked(plain, tool, 0)
    attempt = 0
    while candidate in used:
        candidate = _marked(plain, tool, attempt)
        attempt += 1
    used.add(candidate)
    return candidate


def _marked(plain: str, tool: Tool, attempt: int) -> str:
    mark = fingerprint([tool.server, tool.name, attempt])[:8]
    return f"{plain[: LONGEST_NAME - len(mark) - 1]}_{mark}"
