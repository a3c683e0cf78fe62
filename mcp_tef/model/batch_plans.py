"""Plan of a batch: its cases and tools as they were when it began."""

from dataclasses import dataclass, replace

from mcp_tef.model.cases import CaseDraft, EarlierMessage, Expectation
from mcp_tef.model.tools import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCase:
    """A case as a batch asks it; `snapshot` has the tools that its runs were offered, None before the first one."""

    query: str
    expectation: Expectation
    before: tuple[EarlierMessage, ...] = ()
    snapshot: Snapshot | None = None

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers of the tools that were offered."""
        return tuple(dict.fromkeys(one.tool.server for one in self.snapshot.tools)) if self.snapshot else ()

    def of(self, draft: CaseDraft) -> CaseDraft:
        """Return a case with what the batch asks in the place of what it says now."""
        servers = self.servers or draft.servers
        return replace(draft, query=self.query, expectation=self.expectation, before=self.before, servers=servers)
