"""Ranks of the expected tools in a ranking."""

from collections.abc import Sequence

from mcp_tef.model.answers import RankedTool
from mcp_tef.model.cases import Expectation, ExpectedCall
from mcp_tef.model.tools import OfferedTool


def rank_of_expected(
    expectation: Expectation, ranking: Sequence[RankedTool], tools: Sequence[OfferedTool]
) -> int | None:
    """Return the rank, from 1, down to which all tools of an acceptable answer are found; the best over all answers.

    None where no tool is expected, there is no ranking, or an expected tool is not in it. `tools` are those
    offered, under the names that the ranking uses.
    """
    offered = {tool.offered_name: tool.tool for tool in tools}
    ranked = [offered.get(item.offered_name) for item in ranking]
    depths = [
        _depth(calls, [(tool.server, tool.name) if tool else None for tool in ranked])
        for calls in expectation.alternatives
        if calls
    ]
    return min((depth for depth in depths if depth is not None), default=None)


def _depth(calls: Sequence[ExpectedCall], ranked: Sequence[tuple[str, str] | None]) -> int | None:
    ranks = [_rank(call, ranked) for call in calls]
    known = [rank for rank in ranks if rank is not None]
    return max(known) if len(known) == len(ranks) else None


def _rank(call: ExpectedCall, ranked: Sequence[tuple[str, str] | None]) -> int | None:
    for rank, name in enumerate(ranked, start=1):
        if name and name[1] == call.tool and (not call.server or name[0] in (call.server, "")):
            return rank
    return None
