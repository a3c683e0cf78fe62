"""A workspace with a row that cannot be read opens all the same, and the row is named."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from mcp_tef.storage.store import open_store
from tests.app.core_link.test_workspaces import entered, started
from tests.support.windows import until
from tests.support.workspace_files import change, fill


@pytest.mark.parametrize("spoilt", ["[{", "5"])
async def test_a_batch_that_cannot_be_read_is_named_and_everything_else_can_be_worked_with(
    qapp: QApplication, tmp_path: Path, spoilt: str
) -> None:
    path = tmp_path / "work.mcp-tef"
    store = await open_store(path)
    await fill(store)  # its only batch was running when its process died
    await store.close()
    change(path, f"UPDATE batches SET request = '{spoilt}'")
    async with started(path) as bench:
        window = await entered(bench, path)
        await until(window.notice.isVisible)
        assert "The workspace work.mcp-tef holds a row that cannot be read" in window.notice.accessibleName()
        assert "batches, row " in window.notice.accessibleName()
        window.show_screen("cases")
        assert len(await window.session.call(lambda core: core.cases.list())) == 1
