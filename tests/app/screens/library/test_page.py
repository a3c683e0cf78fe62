"""The Library screen, used as a designer does: a tool made, changed, run, evaluated and taken away."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import cast

from PySide6.QtWidgets import QApplication

from app.core_link.targets import NewCases, ShowLibraryTool
from app.screens.library import commands as ids
from app.screens.library.dialogs import NewToolDialog
from app.screens.library.page import LibraryPage
from app.screens.library.schema_editor import SchemaEditor, SchemaRowEditor
from app.widgets import Dialog, FlowText, GrowingEdit
from mcp_tef import Json, LibraryTool, SourceKind, ToolLabel, ToolSource, ToolStatus
from tests.support.fake_engine import FakeEngine
from tests.support.library_designs import answering
from tests.support.windows import PageBench, opened_dialog, session_for


class LibraryBench(PageBench[LibraryPage]):
    """The page, with what a user does there."""

    def do(self, command: str) -> None:
        """Do a command of the page, as its key does."""
        one = next(one for one in self.page.commands() if one.id == command)
        assert one.needs(), command
        self.session.do(one.do)

    @property
    def tool(self) -> LibraryTool:
        """The selected tool."""
        assert self.page.presenter.tool is not None
        return self.page.presenter.tool

    @property
    def editor(self) -> SchemaEditor:
        """The editor of the schema."""
        return self.page.view.definition.schema

    def row(self, place: int) -> SchemaRowEditor:
        """Return the fields of a parameter."""
        return self.editor.rows[place]

    async def select(self, name: str) -> None:
        """Come to a tool from elsewhere."""
        self.page.open_target(ShowLibraryTool(name))
        await self.until(lambda: self.page.presenter.tool and self.tool.name == name)
        await self.until(lambda: self.page.presenter.detail.versions)


@asynccontextmanager
async def library(*names: str) -> AsyncIterator[LibraryBench]:
    """The page over tools with fixed answers."""
    fake = FakeEngine()
    for name in names:
        await fake.library.add(answering(name))
    async with session_for(fake) as (session, _):
        bench = LibraryBench(LibraryPage, session, fake)
        await bench.open(1104)
        yield bench
        await bench.close()


async def test_from_a_new_tool_to_a_saved_version_that_ran(qapp: QApplication) -> None:
    async with library() as bench:
        new, _ = bench.page.view.empty.buttons()
        new.click()
        dialog = await opened_dialog(bench.page, NewToolDialog)
        dialog.name.setText("Find parts")
        dialog.agree()
        assert dialog.isVisible()
        dialog.name.setText("find_parts")
        dialog.description.setPlainText("Find spare parts by name.")
        dialog.agree()
        await bench.until(lambda: bench.page.presenter.tool and bench.page.presenter.detail.versions)
        assert (bench.tool.name, bench.tool.status) == ("find_parts", ToolStatus.DRAFT)
        bench.editor.add.click()
        bench.row(0).name.setText("query")
        bench.row(0).name.setModified(True)
        bench.row(0).name.editingFinished.emit()
        bench.row(0).required.click()
        form = bench.page.view.definition.config
        assert form.form is not None
        (answer,) = form.form.fields.values()
        assert isinstance(answer, GrowingEdit)
        answer.setPlainText("No {query} left.")
        assert json.loads(form.json.text()) == {"answer": "No {query} left."}
        bench.do(ids.SAVE)
        await bench.until(lambda: bench.tool.version == 2)
        assert bench.tool.design.input_schema["required"] == ["query"]
        bench.do(ids.RUN)
        pane = bench.page.view.run
        await bench.until(lambda: pane.form and "query" in pane.form.rows)
        assert pane.form is not None
        pane.form.fill({"query": "chain"})
        bench.do(ids.RUN)
        await bench.until(lambda: pane.output.toPlainText())
        assert pane.output.toPlainText() == "No chain left."
        await bench.until(lambda: len(bench.page.presenter.detail.executions) == 1)
        await bench.until(lambda: "p50" in bench.page.view.executions.figures.text())
        bench.do(ids.EVALUATE)
        assert bench.gone == [NewCases((ToolLabel(tool="find_parts", server="Library"),))]


async def test_json_that_cannot_be_read_stays_and_is_not_saved(qapp: QApplication) -> None:
    async with library("weather") as bench:
        await bench.select("weather")
        bench.editor.json.setPlainText('{"type": "object", ')
        assert bench.editor.fault.text()
        assert not bench.row(0).isEnabled()
        bench.do(ids.SAVE)
        await bench.until(lambda: "Input schema" in bench.page.view.definition.bar.fault.text())
        assert bench.editor.json.text() == '{"type": "object", '
        assert bench.tool.version == 1
        assert bench.page.unsaved() == 1
        bench.editor.json.setPlainText('{"type": "object", "properties": {"town": {"type": "string"}}}')
        assert bench.row(0).name.text() == "town"
        bench.do(ids.DISCARD)
        assert bench.row(0).name.text() == "city"
        await bench.session.call(lambda core: core.library.list())
        bench.session.undo()
        await bench.until(lambda: bench.row(0).name.text() == "town")


async def test_statuses_follow_the_rules_and_a_deletion_is_undone(qapp: QApplication) -> None:
    async with library("rain", "snow") as bench:
        await bench.select("snow")
        assert bench.page.presenter.next_statuses() == (ToolStatus.ACTIVE,)
        bench.page.view.head.status.choose(ToolStatus.ACTIVE)
        await bench.until(lambda: bench.tool.status is ToolStatus.ACTIVE)
        bench.page.view.sidebar.statuses.select("status:active")
        assert [row.tool.name for row in bench.page.presenter.shown()] == ["snow"]
        bench.do(ids.DELETE)
        await bench.until(lambda: len(bench.page.presenter.rows) == 1)
        bench.session.undo()
        await bench.until(lambda: len(bench.page.presenter.rows) == 2)


async def test_an_import_changes_tools_with_a_yes_and_is_undone_at_once(qapp: QApplication, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    async with library("rain") as bench:
        (exported,) = cast("list[dict[str, Json]]", (await bench.fake.library.export())["tools"])
        changed = {**exported, "description": "Another text."}
        before = (await bench.fake.library.find("rain")).design
        take = partial(bench.page.presenter.take, ToolSource(kind=SourceKind.FILES, names=(str(file),)))
        for tools, yes in (([changed], False), ([changed, {**changed, "name": "snow"}], True)):
            file.write_text(json.dumps({"tools": tools}), "utf-8")
            work = bench.session.spawn(bench.page.transfer.take(take))
            question = await opened_dialog(bench.page, Dialog)
            assert "Another text." in "".join(one.text() for one in question.findChildren(FlowText))
            question.accept() if yes else question.reject()
            await work
            assert ((await bench.fake.library.find("rain")).design == before) is not yes
        await bench.until(lambda: len(bench.page.presenter.rows) == 2)
        bench.session.undo()
        await bench.until(lambda: len(bench.page.presenter.rows) == 1)
        kept = await bench.fake.library.find("rain")
        assert (kept.design, kept.version) == (before, 3)


async def test_versions_are_compared_and_restored(qapp: QApplication) -> None:
    async with library("weather") as bench:
        await bench.fake.library.edit("weather", answering(description="Tell the weather."), changelog="Shorter.")
        await bench.select("weather")
        versions = bench.page.view.versions
        await bench.until(lambda: versions.differences.rows.ids())
        assert versions.after.text() == "Tell the weather."
        versions.table.select("1")
        await bench.until(lambda: not versions.differences.rows.ids())
        versions.restore.click()
        await bench.until(lambda: bench.tool.version == 3)
        assert bench.tool.design == answering()


async def test_what_keeps_a_design_from_being_saved_is_said_while_it_is_typed(qapp: QApplication) -> None:
    async with library("weather") as bench:
        await bench.select("weather")
        pane = bench.page.view.definition
        assert pane.config.form is not None
        (answer,) = pane.config.form.fields.values()
        assert isinstance(answer, GrowingEdit)
        schema = bench.editor.json.text()

        async def refused(words: str) -> None:
            await bench.until(lambda: words in pane.bar.fault.text())
            bench.do(ids.SAVE)
            await bench.session.begun()
            assert (bench.tool.version, bench.page.unsaved()) == (1, 1)

        pane.name.setText("Weather Report")
        pane.name.textEdited.emit("Weather Report")
        await refused("cannot be the name of a tool")
        pane.name.setText("weather")
        pane.name.textEdited.emit("weather")
        bench.editor.json.setPlainText('{"type": "object", "properties": {"city": {"type": "texte"}}}')
        await refused("is no JSON Schema")
        bench.editor.json.setPlainText(schema)
        answer.setPlainText("Rain in {town}.")
        await refused("{town}")
        bench.do(ids.RUN)
        bench.do(ids.RUN)
        form = bench.page.view.run.form
        assert form is not None
        await bench.until(lambda: form.rows["city"].value.property("wrong"))
        assert bench.page.presenter.detail.executions == ()
