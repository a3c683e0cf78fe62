"""Several files are dropped at once, and one of them is given up: the others are brought in all the same."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.screens.cases.import_export import CaseImportDialog
from app.shell.workspace_controller import WorkspaceController
from mcp_tef import CaseFileFormat, CaseImportPreview
from mcp_tef.workflows.transfer import CaseTransfer
from tests.app.core_link.test_workspaces import outcomes_of, titled
from tests.support.fake_engine import FakeEngine
from tests.support.windows import drop, until
from tests.support.workbench import window, workbench
from tests.support.workspace_files import case, written


class EndlessReading(CaseTransfer):
    """Never comes to the end of one file."""

    async def preview(
        self,
        path: Path,
        form: CaseFileFormat | None = None,
        *,
        attach: Sequence[str] = (),
        inside: Path | None = None,
    ) -> CaseImportPreview:
        if path.name == "endless.json":
            await asyncio.Event().wait()
        return await super().preview(path, form, attach=attach)


async def previewed(bench: WorkspaceController, name: str) -> CaseImportDialog:
    """The preview of a file, once it is there."""

    def sheets() -> list[CaseImportDialog]:
        return [one for one in bench.frame.findChildren(CaseImportDialog) if one.windowTitle() == f"Import {name}"]

    await until(sheets)
    return sheets()[0]


async def test_a_file_whose_reading_is_cancelled_does_not_take_the_others_with_it(
    qapp: QApplication, tmp_path: Path
) -> None:
    names = ("first.json", "endless.json", "last.json")
    files = [written(tmp_path / name, {"cases": [case(f"from {name}", None, server="Bike shop")]}) for name in names]
    notes = tmp_path / "notes.txt"
    notes.write_text("buy milk", "utf-8")
    fake = FakeEngine()
    await fake.open_sample()
    fake.case_files = EndlessReading(fake.store, fake.servers, fake._events, tmp_path / "tools")
    async with workbench(fake) as bench:
        session = window(bench).session
        drop(bench.frame, notes, *files)
        (await previewed(bench, "first.json")).accept()
        await until(lambda: [bar.words() for bar in session.activity.shown()] == ["Reading endless.json"])
        session.activity.shown()[0].cancel_wanted.emit()
        (await previewed(bench, "last.json")).accept()
        await until(lambda: titled(bench, "2 of 4 files taken in"))
        (sheet,) = titled(bench, "2 of 4 files taken in")
        assert outcomes_of(sheet)[2] == "endless.json\nLeft out: Reading it was cancelled."
        sheet.accept()
        assert {"from first.json", "from last.json"} <= {one.name for one in await fake.cases.list()}
