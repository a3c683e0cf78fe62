"""Nested crowds of strangers: near, far, or whole servers in a seeded order; pure."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.crowds import CrowdKind
from mcp_tef.model.tools import Tool

CROWDS = 5
EQUIVALENT = 0.6
"""Overlap with the expected tool from which a stranger is taken to do the same."""


def tool_text(tool: Tool) -> str:
    """Return the text by which tools are compared: name, start of the description, names of parameters."""
    properties = tool.input_schema.get("properties")
    names = " ".join(properties) if isinstance(properties, Mapping) else ""
    return f"{tool.name}. {tool.description[:500]}. {names}".replace("_", " ")


def crowd_order(kind: CrowdKind, strangers: Sequence[Tool], similarity: NDArray[np.float32], seed: int) -> list[int]:
    """Return the places of all strangers in the order in which they join; each larger crowd holds the smaller ones.

    `similarity` (strangers,) is that with the nearest expected tool; `seed` shuffles whole servers.
    """
    if kind is not CrowdKind.SERVERS:
        keys = similarity if kind is CrowdKind.FAR else -similarity
        return [int(place) for place in np.argsort(keys, kind="stable")]
    servers = sorted({tool.server for tool in strangers})
    rank = {servers[one]: place for place, one in enumerate(np.random.default_rng(seed).permutation(len(servers)))}
    return sorted(range(len(strangers)), key=lambda place: (rank[strangers[place].server], place))


def crowd_of(kind: CrowdKind, ordered: Sequence[Tool], size: int) -> Sequence[Tool]:
    """Return the first strangers of a crowd; of whole servers as many as come closest to the size, at least one."""
    if kind is not CrowdKind.SERVERS or not size:
        return ordered[:size]
    ends = [at for at in range(1, len(ordered)) if ordered[at].server != ordered[at - 1].server]
    return ordered[: min([*ends, len(ordered)], key=lambda end: (abs(end - size), end))]


def rotated(tools: Sequence[Tool], share: float) -> tuple[Tool, ...]:
    """Return the tools turned by a share (0 to 1) of their number, so that another one comes first."""
    start = int(share * len(tools)) % max(1, len(tools))
    return (*tools[start:], *tools[:start])


def is_equivalent(tool: Tool, stranger: Tool, overlap: float) -> bool:
    """Return True if a stranger seems to do the same: much of the same text, or the same name and half as much."""
    same_name = tool.name.replace("-", "_").casefold() == stranger.name.replace("-", "_").casefold()
    return overlap >= (EQUIVALENT / 2 if same_name else EQUIVALENT)
