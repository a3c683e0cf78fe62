"""Drafts in the workshop, made and changed as a user does it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog

from app.core_link.targets import ChangeTool
from app.screens.workshop import commands as ids
from app.screens.workshop.decision_dialogs import DraftHistoryDialog
from app.screens.workshop.definition_editor import DefinitionFieldView
from app.screens.workshop.draft_dialogs import DraftNameDialog, ListingConflictsDialog, SourceEditsDialog
from app.screens.workshop.draft_tools import ListingState
from app.screens.workshop.page import WorkshopPage
from app.widgets import Button
from app.widgets.text_view import CodeView
from mcp_tef import ChangedMeanwhileError, Draft, InputError, ServerSpec, ToolEdit, ToolLabel, Transport
from tests.support.fake_engine import FakeEngine, made_tool
from tests.support.windows import PageBench, opened_dialog, session_for, until

REPAIR = ToolLabel(tool="book_repair", server="Bike shop")
CHANGE = ChangeTool(REPAIR, "from a wrong run")
NEW_TEXT = "Book a repair of a bike on a day in the workshop."


class WorkshopBench(PageBench[WorkshopPage]):
    """The page, with what a user does there."""

    def do(self, command: str) -> None:
        """Do a command of the page, as its key does."""
        one = next(one for one in self.page.commands() if one.id == command)
        assert one.needs(), command
        self.session.do(one.do)

    def can(self, command: str) -> bool:
        """Return True if the command can be used now."""
        return next(one for one in self.page.commands() if one.id == command).needs()

    def row(self, key: str) -> DefinitionFieldView:
        """Return the row of one text."""
        row = self.page.view.editor.row(key)
        assert row is not None
        return row

    @property
    def draft(self) -> Draft:
        """The selected draft."""
        assert self.page.presenter.draft is not None
        return self.page.presenter.draft

    def description(self) -> str:
        """The description of the selected tool in the draft, as stored."""
        _, raw = self.page.presenter.tool()
        return str((raw or {}).get("description"))

    async def change(self, target: ChangeTool = CHANGE) -> None:
        """Come from another screen to change a tool."""
        self.page.open_target(target)
        await self.page.settled()
        await self.until(lambda: self.page.view.editor.row("description"))

    async def type_text(self, text: str, key: str = "description") -> None:
        """Type a text, and wait until it is a step."""
        steps = self.draft.step
        self.row(key).draft.setPlainText(text)
        await self.until(lambda: self.draft.step > steps)


@asynccontextmanager
async def workshop() -> AsyncIterator[WorkshopBench]:
    """The page over the sample, whose server was read once."""
    fake = FakeEngine()
    await fake.open_sample()
    (server,) = await fake.servers.list()
    await fake.servers.tools(server.id)
    async with session_for(fake) as (session, _):
        bench = WorkshopBench(WorkshopPage, session, fake)
        await bench.open(1280)
        yield bench
        await bench.close()


async def test_an_empty_page_says_what_a_draft_is_and_makes_the_first(qapp: QApplication) -> None:
    async with workshop() as bench:
        _, new = bench.page.view.empty.buttons()
        new.click()
        dialog = await opened_dialog(bench.page, DraftNameDialog)
        dialog.edit.setText(" ")
        dialog.agree()
        assert dialog.isVisible()
        dialog.edit.setText("Shorter")
        dialog.agree()
        await bench.until(lambda: bench.page.presenter.draft)
        assert (bench.draft.name, bench.draft.server) == ("Shorter", "Bike shop")
        assert not bench.can(ids.COPY)
        assert len(bench.page.view.tools.rows.ids()) == 4  # three, and the instructions of the server


async def test_every_action_has_keys_in_its_tooltip_and_in_the_list_of_shortcuts(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        await bench.type_text(NEW_TEXT)
        keys = {one.id: one.keys for one in bench.page.commands()}
        export, copy = bench.page.header.buttons()
        await bench.until(lambda: bench.page.view.footer.go.toolTip() == keys[ids.TRY])
        assert (export.toolTip(), copy.toolTip()) == (keys[ids.EXPORT], keys[ids.COPY])
        tip = bench.page.view.editor.name.toolTip()
        assert all(keys[one] in tip for one in (ids.EDIT, ids.NEXT, ids.PREVIOUS))
        assert all(keys[one] for one in (ids.STOP, ids.ACCEPT))
        bench.page.view.tools.setFocus()
        bench.do(ids.EDIT)
        await bench.until(bench.row("description").draft.hasFocus)


async def test_a_wrong_run_leads_to_its_tool_with_the_reason(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        editor = bench.page.view.editor
        assert editor.name.text() == "book_repair"
        assert "from a wrong run" in editor.reason.text()
        await bench.change(ChangeTool(ToolLabel(tool="search_bikes", server="Bike shop")))
        assert editor.name.text() == "search_bikes"
        assert len(bench.page.presenter.drafts()) == 1


async def test_a_pause_in_typing_is_a_step_that_can_be_undone_and_redone(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        before = bench.description()
        await bench.type_text(NEW_TEXT)
        await bench.type_text("Day", key="parameter:day")
        assert bench.draft.changed_tools() == ("book_repair",)
        assert bench.draft.step == 2
        bench.do(ids.UNDO)
        await bench.until(lambda: bench.row("parameter:day").draft.text() == "The day")
        bench.do(ids.UNDO)
        await bench.until(lambda: bench.row("description").draft.text() == before)
        assert not bench.can(ids.UNDO)
        bench.do(ids.REDO)
        await bench.until(lambda: bench.row("description").draft.text() == NEW_TEXT)


async def test_changed_words_are_marked_and_a_text_can_be_put_back(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        row = bench.row("description")
        assert row.original.text() == "Unchanged"
        await bench.type_text(NEW_TEXT)
        assert row.original.text() == "Book a repair in the workshop on a day."
        block = row.draft.document().begin()
        marked = [block.text()[one.start : one.start + one.length] for one in block.layout().formats()]
        assert any("of a bike" in text for text in marked)
        row.reset.click()
        await bench.until(lambda: not bench.draft.revisions)
        assert row.original.text() == "Unchanged"


async def test_a_refused_change_stays_typed_with_its_reason(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        notice = bench.page.view.editor.notice
        bench.row("name").draft.setPlainText("search_bikes")
        await until(lambda: "search_bikes" in notice.accessibleName())
        assert bench.draft.step == 0
        bench.row("name").draft.setPlainText("repair")
        await bench.until(lambda: bench.draft.step == 1)
        assert notice.isHidden()
        assert bench.page.view.editor.name.text() == "repair"


async def test_tools_are_added_and_removed_and_come_back(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        bench.do(ids.REMOVE_TOOL)
        await bench.until(lambda: len(bench.draft.tools) == 2)
        bench.do(ids.ADD_TOOL)
        await bench.until(lambda: len(bench.draft.tools) == 3)
        assert bench.page.view.editor.name.text() == "new_tool"
        await bench.type_text("A tool that is new.")
        for _ in range(3):
            step = bench.draft.step
            bench.do(ids.UNDO)
            await until(lambda: bench.draft.step < step)  # noqa: B023  # awaited within the turn
        assert not bench.draft.revisions


async def test_a_draft_is_renamed_removed_and_restored(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        await bench.type_text(NEW_TEXT)
        bench.do(ids.RENAME)
        dialog = await opened_dialog(bench.page, DraftNameDialog)
        dialog.edit.setText("Clearer")
        dialog.agree()
        await bench.until(lambda: bench.draft.name == "Clearer")
        bench.do(ids.REMOVE)
        await bench.until(lambda: "remove" in bench.session.undo_words())
        assert bench.page.presenter.draft is None
        bench.session.undo()
        await bench.until(lambda: bench.page.presenter.draft)
        assert bench.description() == NEW_TEXT


async def test_a_draft_goes_back_to_a_step_of_its_history(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        before = bench.description()
        await bench.type_text(NEW_TEXT)
        await bench.type_text("Day", key="parameter:day")
        bench.do(ids.HISTORY)
        dialog = await opened_dialog(bench.page, DraftHistoryDialog)
        changes = [dialog.table.rows.row(place).cells[1].text for place in range(3)]
        assert ["day" in changes[0], "description" in changes[1]] == [True, True]
        assert not dialog.go.isEnabled()
        dialog.table.select("0")
        dialog.accept()
        await bench.until(lambda: bench.draft.step == 0)
        assert bench.description() == before


async def test_a_tool_is_changed_while_the_draft_before_is_being_removed(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        await bench.type_text(NEW_TEXT)
        gone = bench.draft.id
        bench.do(ids.REMOVE)
        bench.page.request_refresh()
        bench.page.open_target(CHANGE)
        await bench.until(lambda: bench.page.presenter.draft_id not in (None, gone))
        await bench.page.settled()
        await bench.until(lambda: bench.page.view.editor.row("description"))
        await bench.type_text(NEW_TEXT)
        assert bench.page.presenter.problem is None
        assert [one.id for one in await bench.session.call(lambda core: core.drafts.list())] == [bench.draft.id]


async def test_new_text_is_copied_and_the_draft_leaves_in_every_format(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        await bench.type_text(NEW_TEXT)
        bench.do(ids.COPY)
        assert qapp.clipboard().text() == NEW_TEXT
        for action in bench.page.exports.actions():
            if action.text.startswith("Copy"):
                qapp.clipboard().clear()
                action.do()
                await bench.until(lambda: NEW_TEXT in qapp.clipboard().text())
        next(one for one in bench.page.exports.actions() if "override" in one.text and "Save" in one.text).do()
        dialog = await opened_dialog(bench.page, QFileDialog)
        assert "override" in dialog.selectedFiles()[0]


async def test_a_newer_listing_is_said_and_three_columns_settle_what_both_changed(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        await bench.type_text(NEW_TEXT)
        (server,) = await bench.fake.servers.list()
        newer = made_tool("book_repair", "Book a repair, at the earliest tomorrow.", "Bike shop")
        bench.fake.gateway.servers["Bike shop"] = (newer,)
        await bench.session.call(lambda core: core.servers.check(server.id))
        bench.page.request_refresh()
        await bench.until(lambda: bench.page.presenter.listing is ListingState.NEWER)
        bench.do(ids.REBASE)
        dialog = await opened_dialog(bench.page, ListingConflictsDialog)
        cells = [cell.text for cell in dialog.table.rows.row(0).cells]
        assert cells[1:] == ["Book a repair in the workshop on a day.", newer.description, NEW_TEXT]
        dialog.done(1)
        await bench.until(lambda: bench.page.presenter.listing is ListingState.SAME)
        assert bench.description() == NEW_TEXT
        assert json.loads(json.dumps(bench.draft.base))[0]["description"] == newer.description


async def test_a_draft_outlives_its_server(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        await bench.type_text(NEW_TEXT)
        (server,) = await bench.fake.servers.list()
        await bench.session.call(lambda core: core.servers.remove([server.id]))
        await bench.until(lambda: bench.page.presenter.listing is ListingState.SERVER_GONE)
        assert bench.page.view.listing.isVisible()
        assert bench.can(ids.EXPORT)


async def test_a_recommendation_comes_with_its_text(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change(ChangeTool(REPAIR, "a recommendation", description=NEW_TEXT))
        assert bench.description() == NEW_TEXT
        assert bench.row("description").draft.text() == NEW_TEXT


async def test_the_sample_offers_a_prepared_draft(qapp: QApplication) -> None:
    async with workshop() as bench:
        assert bench.page.presenter.draft is None
        first, *_ = bench.page.view.empty.buttons()
        first.click()
        await bench.until(lambda: bench.page.presenter.draft)
        assert bench.draft.changed_tools() == ("book_repair",)
        await bench.until(lambda: bench.page.view.editor.row("description"))


async def test_what_the_command_line_did_to_a_draft_is_neither_undone_nor_overwritten_unseen(
    qapp: QApplication,
) -> None:
    async with workshop() as bench:
        await bench.change()
        await bench.type_text("Typed here")
        await bench.type_text("Typed here twice")
        shown, drafts, page = bench.draft, bench.fake.drafts, bench.page.presenter
        theirs = await drafts.edit(shown.id, "book_repair", ToolEdit(description="Typed there"), by="cases screen")
        page._drafts[shown.id] = shown  # the screen has not heard of it
        with pytest.raises(ChangedMeanwhileError):
            await page.step(-1)
        assert (await drafts.get(shown.id)).step == theirs.step == 3
        await bench.until(lambda: page.draft and page.draft.step == 3)
        page._drafts[shown.id] = shown
        page.type_text("description", "Typed here again")
        page._drafts[shown.id] = theirs
        for _ in range(2):
            assert not await page.save()
            assert "Typed there" in str(page.problem)
            assert (await drafts.get(shown.id)).steps == theirs.steps
        page.type_text("description", "Typed here after all")
        assert await page.save()
        assert bench.description() == "Typed here after all"


async def test_an_undo_takes_back_no_step_of_the_command_line_until_it_is_selected_in_the_history(
    qapp: QApplication,
) -> None:
    async with workshop() as bench:
        await bench.change()
        await bench.type_text("Typed here")
        drafts, page, draft_id = bench.fake.drafts, bench.page.presenter, bench.draft.id
        await drafts.edit(draft_id, "book_repair", ToolEdit(description="Typed there"), by="")
        await bench.until(lambda: page.draft and page.draft.step == 2)
        for _ in range(2):
            with pytest.raises(InputError, match=r"Step 2 of the draft .* was made in another window or command"):
                await page.step(-1)
            assert (await drafts.get(draft_id)).step == 2
        await bench.type_text("Typed here again")
        assert await page.step(-1)
        with pytest.raises(InputError, match="Step 2"):
            await page.step(-1)
        await page.go_to(1)
        assert bench.description() == "Typed here"
        assert await page.step(-1)
        assert (await drafts.get(draft_id)).step == 0


async def test_the_source_is_changed_after_a_click_and_put_back(qapp: QApplication, tmp_path: Path) -> None:
    source = tmp_path / "server.py"
    source.write_text('def book():\n    """Book a repair in the workshop on a day."""\n', "utf-8")
    async with workshop() as bench:
        await bench.change()
        await bench.type_text(NEW_TEXT)
        (server,) = await bench.fake.servers.list()
        spec = ServerSpec(name=server.name, transport=Transport.STDIO, command="python", cwd=str(tmp_path))
        await bench.session.call(lambda core: core.servers.edit(server.id, spec))
        bench.do(ids.SOURCE)
        dialog = await opened_dialog(bench.page, SourceEditsDialog)
        assert NEW_TEXT not in source.read_text("utf-8")
        shown = dialog.findChild(CodeView)
        assert shown is not None
        assert NEW_TEXT in shown.toPlainText()
        dialog.accept()
        await bench.until(lambda: NEW_TEXT in source.read_text("utf-8"))
        await bench.until(lambda: "source" in bench.session.undo_words())
        bench.session.undo()
        await bench.until(lambda: NEW_TEXT not in source.read_text("utf-8"))


async def test_a_text_in_a_template_can_only_be_copied(qapp: QApplication, tmp_path: Path) -> None:
    source = tmp_path / "server.js"
    source.write_text("const d = `Book a repair in the workshop on a day.`;\n", "utf-8")
    async with workshop() as bench:
        await bench.change()
        await bench.type_text(NEW_TEXT)
        (server,) = await bench.fake.servers.list()
        spec = ServerSpec(name=server.name, transport=Transport.STDIO, command="node", cwd=str(tmp_path))
        await bench.session.call(lambda core: core.servers.edit(server.id, spec))
        bench.do(ids.SOURCE)
        dialog = await opened_dialog(bench.page, SourceEditsDialog)
        buttons = {one.text(): one for one in dialog.findChildren(Button)}
        assert not [text for text in buttons if text.startswith("Write")]
        buttons["Copy the new text"].click()
        assert QGuiApplication.clipboard().text() == NEW_TEXT
        assert NEW_TEXT not in source.read_text("utf-8")
        dialog.reject()
