"""Expected tools that are not among those offered, and why."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from mcp_tef.model.cases import Expectation, ExpectedCall
from mcp_tef.model.search import nearest
from mcp_tef.model.servers import ServerSpec
from mcp_tef.model.tools import Listing, Tool

ListedServers: TypeAlias = Sequence[tuple[ServerSpec, Listing]]
"""The servers of a case, each with the tools that it lists."""


def offered_names(call: ExpectedCall, servers: ListedServers) -> list[str]:
    """Return the names of the tools among which an expected one is looked for: those of its server, else all."""
    return [
        tool.name
        for spec, listing in servers
        for tool in listing.tools
        if call.server in (None, tool.server) and spec.wants(tool.name)
    ]


def why_missing(call: ExpectedCall, servers: ListedServers) -> str | None:
    """Return one sentence on why an expected tool is not offered; None where it is."""
    if call.tool in offered_names(call, servers):
        return None
    meant = [(spec, listing) for spec, listing in servers if call.server in (None, spec.name)]
    if call.server and not meant:
        return f"The case does not offer the server {call.server}."
    where = f"The server {call.server} has no" if call.server else "No server of the case has a"
    return next(_reasons(call.tool, meant), f"{where} tool named {call.tool}.")


def _reasons(tool: str, servers: ListedServers) -> Iterator[str]:
    for spec, listing in servers:
        if not spec.wants(tool):
            yield f"The settings of {spec.name} leave out the tool {tool}."
        set_aside = (problem.reason for problem in listing.problems if problem.tool == tool)
        yield from (f"The tool {tool} of {spec.name} was set aside: {reason}" for reason in set_aside)


def why_not_asked(expectation: Expectation, servers: ListedServers) -> str | None:
    """Return why a selector cannot give any acceptable answer, with the nearest offered tool; None where it can.

    One acceptable answer with all of its tools offered is enough. The reason is about the best answer.
    """
    missing = [_first_missing(calls, servers) for calls in expectation.alternatives]
    if None in missing or not missing:
        return None
    call, reason = next(filter(None, missing))
    offered = offered_names(call, servers) or [tool.name for _, listing in servers for tool in listing.tools]
    close = nearest(call.tool, offered, cutoff=0.0)
    return f"{reason} The nearest offered tool is {close}." if close else reason


def _first_missing(calls: Sequence[ExpectedCall], servers: ListedServers) -> tuple[ExpectedCall, str] | None:
    found = ((call, why_missing(call, servers)) for call in calls)
    return next(((call, reason) for call, reason in found if reason), None)


def expected_tools(expectation: Expectation, tools: Iterable[Tool]) -> frozenset[tuple[str, str]]:
    """Return the tools of a set that some acceptable answer calls, by server and name."""
    calls = {(call.server, call.tool) for answer in expectation.alternatives for call in answer}
    known = {(tool.server, tool.name) for tool in tools}
    return frozenset((server, name) for server, name in known if calls & {(server, name), (None, name)})
