"""Exports of the metrics screen: charts, tables and reports."""

import json
from pathlib import Path
from xml.etree import ElementTree

from PySide6.QtWidgets import QFileDialog

from app.dialogs.export import ExportFormatDialog
from app.screens.metrics.filters import Dimension
from tests.app.screens.metrics.conftest import Desk
from tests.support.run_factories import GPT
from tests.support.windows import until


async def export(desk: Desk, action: str, file: Path) -> None:
    """Choose an entry of the export menu, and answer its dialog with a file."""
    next(one for one in desk.page.export_actions() if one.text == action).do()
    for asked in [one for one in desk.page.findChildren(ExportFormatDialog) if one.isVisible()]:
        asked.accept()
    dialog = desk.page.findChildren(QFileDialog)[-1]
    dialog.fileSelected.emit(str(file))
    dialog.reject()
    await until(lambda: f"Saved {file.name}" in desk.said)


async def test_charts_are_exported_in_all_three_formats(desk: Desk, tmp_path: Path) -> None:
    texts = [action.text for action in desk.page.export_actions() if action.text.startswith("Chart: ")]
    for number, text in enumerate(texts):
        for kind in ("png", "svg", "csv"):
            await export(desk, text, tmp_path / f"{number}.{kind}")
    assert ElementTree.parse(tmp_path / "0.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "0.png").read_bytes().startswith(b"\x89PNG")
    lines = (tmp_path / "0.csv").read_text("utf-8-sig").splitlines()
    assert lines[:2] == ["Expected,Selected,Runs,Of runs", "search_files,search_files,28,30"]


async def test_the_export_menu_has_every_table_and_every_chart(desk: Desk) -> None:
    texts = [action.text for action in desk.page.export_actions()]
    assert {"Table: Metrics…", "Table: Tools…", "Table: Models…", "Chart: Expected against selected…"} <= set(texts)
    assert texts[0] == "Report of these runs…"
    compared = "Report of the comparison…" in texts
    assert ("Copy the comparison as Markdown" in texts) == compared
    assert len(texts) == 2 + 2 * compared + 4 + 4


async def test_the_runs_behind_the_figures_can_be_exported_as_they_are_filtered(desk: Desk, tmp_path: Path) -> None:
    await desk.filter(Dimension.MODEL, GPT)
    await export(desk, "Report of these runs…", tmp_path / "some.json")
    document = json.loads((tmp_path / "some.json").read_text("utf-8"))
    assert {run["model"] for run in document["runs"]} == {GPT}
