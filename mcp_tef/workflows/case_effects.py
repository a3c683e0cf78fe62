"""Effect of a new description on test cases, by the built-in baseline: offline, and the same every time."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from mcp_tef.model.cases import ExpectedCall, TestCase
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.similarity import CaseEffect
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.ports import Question, Selector

MOST_CASES = 50
MOST_TOOLS = 200


class CaseEffects:
    """Asks the baseline the cases of a tool and its look-alikes, with the old description and with a new one."""

    def __init__(self, baseline: Selector, cases: Sequence[TestCase], tools: Sequence[Tool]) -> None:
        self._baseline = baseline
        self._cases = [case for case in cases if case.draft.expectation.first_call and not case.draft.before]
        self._tools = tools

    async def of(self, tool: Tool, others: Sequence[Tool], description: str) -> CaseEffect | None:
        """Return how many of at most 50 cases are right before and after; None where no case expects these tools.

        Offered are at most 200 tools of their servers, these first.
        """
        concerned = (tool, *others)
        cases = [case for case in self._cases if any(_expects(case, each) for each in concerned)][:MOST_CASES]
        if not cases:
            return None
        servers = {each.server for each in concerned}
        rest = [each for each in self._tools if each.server in servers and each not in concerned]
        offered = [*concerned, *rest][:MOST_TOOLS]
        changed = [replace(tool, description=description), *offered[1:]]
        return CaseEffect(len(cases), await self._count(cases, offered), await self._count(cases, changed))

    async def _count(self, cases: Iterable[TestCase], tools: Sequence[Tool]) -> int:
        offered = tuple(OfferedTool(str(place), tool) for place, tool in enumerate(tools))
        return sum([await self._is_right(case, offered) for case in cases])

    async def _is_right(self, case: TestCase, offered: tuple[OfferedTool, ...]) -> bool:
        answer = await self._baseline.select(Question(case.draft.query, offered, ModelSettings()))
        wanted = [call for calls in case.draft.expectation.alternatives for call in calls]
        return any(_is_meant(one, call.tool, call.server) for call in answer.calls or () for one in wanted)


def _expects(case: TestCase, tool: Tool) -> bool:
    first, servers = case.draft.expectation.first_call, case.draft.servers
    return first is not None and _is_meant(first, tool.name, tool.server) and (not servers or tool.server in servers)


def _is_meant(expected: ExpectedCall, tool: str, server: str | None) -> bool:
    return expected.tool == tool and expected.server in (None, server)
