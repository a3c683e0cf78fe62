"""What leaves the metrics screen as files: charts, tables, and the runs behind the figures."""

import json
from pathlib import Path
from xml.etree import ElementTree

from PySide6.QtWidgets import QApplication, QFileDialog

from app.core_link.settings import Settings
from app.screens.metrics.filters import Dimension
from tests.app.screens.metrics.conftest import Desk, Tell, desk
from tests.support.run_factories import GPT
from tests.support.windows import drive, until
from tests.support.workspace_files import a_workspace


def test_charts_are_saved_in_all_three_forms(use: Tell, tmp_path: Path) -> None:
    async def story(desk: Desk) -> None:
        panels = (*desk.page.overview.panels(), desk.page.repeats.power)
        for number, panel in enumerate(panels):
            for kind in ("png", "svg", "csv"):
                file = tmp_path / f"{number}.{kind}"
                desk.page.saving.save_chart(panel, desk.page._table_of(panel), file)
                assert file.stat().st_size > 0
        assert ElementTree.parse(tmp_path / "0.svg").getroot().tag.endswith("svg")
        lines = (tmp_path / "0.csv").read_text("utf-8-sig").splitlines()
        assert lines[:2] == ["Expected,Selected,Runs,Of runs", "search_files,search_files,42,45"]
        assert desk.said[0] == "Saved 0.png"

    use(story)


def test_a_file_that_cannot_be_written_is_told(qapp: QApplication, tmp_path: Path) -> None:
    async def story() -> None:
        async with desk(Settings(None), empty=False) as made:
            panel = made.page.overview.matrix
            made.page.saving.save_chart(panel, made.page._table_of(panel), tmp_path / "missing" / "a.png")
            assert made.failed == ["a.png could not be written."]

    drive(story())


def test_no_picture_replaces_a_workspace(qapp: QApplication, tmp_path: Path) -> None:
    async def story() -> None:
        async with desk(Settings(None), empty=False) as made:
            workspace, panel = a_workspace(tmp_path), made.page.overview.matrix
            before = workspace.read_bytes()
            made.page.saving.save_chart(panel, made.page._table_of(panel), workspace)
            assert len(made.failed) == 1
            assert "which is never replaced" in made.failed[0]
            assert workspace.read_bytes() == before

    drive(story())


def test_the_export_menu_has_every_table_and_every_chart(use: Tell) -> None:
    async def story(desk: Desk) -> None:
        texts = [action.text for action in desk.page.export_actions()]
        assert {"Figures as CSV…", "Tools as CSV…", "Models as CSV…", "Expected against selected as SVG…"} <= set(texts)
        assert texts[0] == "These runs as a report…"
        compared = "The comparison as a report…" in texts
        assert ("Copy the comparison as Markdown" in texts) == compared
        assert len(texts) == 2 + 2 * compared + 4 + 4 * 3

    use(story)


def test_the_runs_behind_the_figures_can_be_exported_as_they_are_filtered(use: Tell, tmp_path: Path) -> None:
    async def story(desk: Desk) -> None:
        await desk.filter(Dimension.MODEL, GPT)
        desk.page.export_actions()[0].do()
        (dialog,) = desk.page.findChildren(QFileDialog)
        assert dialog.windowTitle() == "Export the results of Model: gpt-4.1-mini"
        dialog.fileSelected.emit(str(tmp_path / "some.json"))
        await until(lambda: f"Results saved to {tmp_path / 'some.json'}" in desk.said)
        document = json.loads((tmp_path / "some.json").read_text("utf-8"))
        assert {run["model"] for run in document["runs"]} == {GPT}
        dialog.reject()

    use(story)
