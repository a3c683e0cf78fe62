"""Core calls of the welcome page: servers of other programs, and the sample; knows no Qt."""

from collections import Counter
from collections.abc import Sequence

from app.core_link.model_requests import CoreCall
from app.text.formatting import count
from mcp_tef import CaseId, ImportStatus, SampleName

MAX_ROWS = 3


class WelcomePresenter:
    """Core calls of the welcome page, made through the session's `ask`."""

    def __init__(self, ask: CoreCall) -> None:
        self._ask = ask

    async def new_servers(self) -> list[tuple[str, int]]:
        """Return each config of another program on this computer with its number of new servers."""
        found = await self._ask(lambda core: core.server_files.discover(together=True))
        return [(config.title, len(config.preview.of(ImportStatus.ADDED))) for config in found if config.preview]

    async def open_sample(self, name: SampleName = SampleName.BIKE_SHOP) -> tuple[CaseId, ...]:
        """Add a sample to the workspace, and return the ids of its cases."""
        return tuple(case.id for case in await self._ask(lambda core: core.open_sample(name)))


def program_rows(found: Sequence[tuple[str, int]]) -> list[tuple[str, str]]:
    """Return each program with its number of servers, in at most `MAX_ROWS` rows."""
    totals = Counter[str]()
    for title, servers in found:
        totals[title] += servers
    rows = [(title, count(servers, "server")) for title, servers in totals.most_common() if servers]
    rest = sum(totals.values()) - sum(servers for _, servers in totals.most_common(MAX_ROWS - 1))
    return rows if len(rows) <= MAX_ROWS else [*rows[: MAX_ROWS - 1], ("Other programs", count(rest, "server"))]
