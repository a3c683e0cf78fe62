"""Questions of the window itself to the core: dropped files, search, running and interrupted batches."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.core_link.session import Session
from mcp_tef import Batch, BatchStatus, DetectedFile, SearchHit, SessionSecrets

if TYPE_CHECKING:
    from mcp_tef import Engine


class ShellPresenter:
    """Asks the core of one session; errors of the core pass through."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def opened_path(self) -> Path:
        """Wait until the core is open, and return the path of its workspace."""
        return await self._session.value(lambda core: core.workspace)

    async def opening_notices(self) -> Sequence[str]:
        """Return notices about opening the workspace."""
        return await self._session.value(lambda core: core.opened)

    async def is_empty(self) -> bool:
        """Return True if the workspace has neither servers nor cases."""
        servers = await self._session.call(lambda core: core.servers.list())
        cases = await self._session.call(lambda core: core.cases.list())
        return not servers and not cases

    async def detect_files(self, files: Sequence[Path]) -> Sequence[DetectedFile]:
        """Return what each file holds."""
        return await self._session.call(lambda core: core.arrivals.of_files(files))

    async def detect_text(self, text: str) -> DetectedFile:
        """Return what a pasted text holds."""
        return await self._session.call(lambda core: core.arrivals.of_text(text))

    async def search(self, text: str) -> Sequence[SearchHit]:
        """Return servers, tools, cases and batches whose name holds a text."""
        return await self._session.call(lambda core: core.finding.find(text))

    async def active_batches(self) -> int:
        """Return the number of batches that run or wait."""
        return await self._session.value(lambda core: len(core.runs.active()))

    async def look_at_other_processes(self) -> None:
        """Have the core publish what other processes did since the last look."""
        await self._session.call(lambda core: core.other_processes.look())

    async def interrupted_batches(self, dismissed: Sequence[str]) -> list[tuple[Batch, int]]:
        """Return interrupted batches that were not dismissed, oldest first, with the number of runs left."""

        async def ask(core: "Engine") -> list[tuple[Batch, int]]:
            batches = [one for one in await core.runs.batches() if one.status is BatchStatus.INTERRUPTED]
            return [(one, await core.runs.left(one.id)) for one in reversed(batches) if one.id not in dismissed]

        return await self._session.call(ask)

    async def session_secrets(self) -> SessionSecrets:
        """Return the secrets that the core holds in memory."""
        return await self._session.value(lambda core: core.held())
