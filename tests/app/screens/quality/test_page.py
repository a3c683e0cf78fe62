"""The quality screen, worked as a user works it."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton

from app.core_link.settings import Settings
from app.core_link.targets import (
    ChangeTool,
    Screen,
    ShowRuns,
    ShowScreen,
    ShowSimilarTools,
    ShowTool,
    ShowToolCases,
    ShowToolQuality,
)
from app.screens.quality.finding_card import IgnoreDialog
from app.screens.quality.labels import QualityLevel
from app.screens.quality.view import EVERY, FINDINGS, SERVER
from app.widgets import Button, Notice
from mcp_tef import RunFilter, ToolLabel
from tests.support.fake_engine import SAMPLE_TOOLS, made_tool
from tests.support.fake_ports import command_server
from tests.support.quality_page import EVIL, EXITED, FINE, NAMELESS, desk
from tests.support.windows import consent_for, until

if TYPE_CHECKING:
    from mcp_tef import Engine


async def test_an_empty_page_says_what_belongs_here_and_opens_the_sample(qapp: QApplication) -> None:
    async with desk() as bench:
        assert "No servers yet" in bench.text()
        _, sample = bench.page.view.empty.buttons()
        sample.click()
        await until(lambda: len(bench.tools()) == 3)


async def test_servers_without_tools_are_read_again_or_lead_to_the_servers(qapp: QApplication) -> None:
    async with desk({"mail": EXITED}) as bench:
        assert "mail: Could not start mail: it ended. Look." in bench.text()
        again, servers = bench.page.view.empty.buttons()
        servers.click()
        assert bench.gone == [ShowScreen(Screen.SERVERS)]
        bench.fake.gateway.servers["mail"] = (NAMELESS,)
        again.click()
        await until(bench.tools)


async def test_a_program_nobody_agreed_to_is_asked_about_before_it_is_read(qapp: QApplication) -> None:
    async with desk({"desk": [FINE]}) as bench:
        for name in ("files", "mail"):
            bench.fake.gateway.servers[name] = (made_tool("read", "Read it.", name),)
            await bench.session.call(partial(add_program, name=name))
        await until(lambda: "Not checked: files, mail." in bench.text())
        bench.page.view.gaps.again.click()
        leave = await consent_for(bench.page, "files")
        assert "files" not in bench.fake.gateway.asked
        leave.reject()
        (await consent_for(bench.page, "mail")).accept()
        await until(lambda: "mail/read" in bench.tools())
        assert "files" not in bench.fake.gateway.asked
        assert "Not checked: files." in bench.text()


async def add_program(core: "Engine", name: str) -> None:
    await core.servers.add(replace(command_server(name), args=(name,)))


async def test_the_worst_tool_stands_first_with_its_notes(qapp: QApplication) -> None:
    async with desk({"desk": [FINE, NAMELESS]}) as bench:
        assert bench.tools() == ["desk/doIt", "desk/find_invoice"]
        await bench.choose("desk/doIt")
        for words in ("of 2 tools need", "No description", "Error · description", "−50", "What to do: "):
            assert words in bench.text()
        assert "Why it matters: A model selects a tool by its description" in bench.text()
        assert bench.page.badge == 1


async def test_poisoned_text_is_named_and_never_markup(qapp: QApplication) -> None:
    async with desk({"desk": [EVIL, FINE]}) as bench:
        await bench.choose("desk/evil")
        read = bench.text()
        assert "⟨U+202E⟩<b>bold</b>" in read
        assert "Error, tool poisoning" in read
        assert "Error, hidden text" in read
        notices = [note.accessibleName() for note in bench.page.findChildren(Notice) if note.isVisible()]
        assert any(name.startswith("Signs of ") for name in notices)


async def test_tools_without_a_fault_are_praised(qapp: QApplication) -> None:
    async with desk({"desk": [FINE]}) as bench:
        await bench.choose("desk/find_invoice")
        assert "No issues in any tool." in bench.text()
        assert "of 1 tool needs work" in bench.text()
        assert "Rules cannot check whether" in bench.text()
        assert bench.page.badge == 0


async def test_filters_narrow_the_list_and_can_be_taken_away(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS, FINE], "Bike shop": SAMPLE_TOOLS}) as bench:
        page = bench.page
        page.levels.choose(QualityLevel.ERROR.value)
        assert bench.tools() == ["desk/doIt"]
        page.view.server_list.select("server:Bike shop")
        assert "No tools match" in bench.text()
        page.view.nothing.buttons()[0].click()
        assert len(bench.tools()) == 5
        assert page.view.server_list.current_id() == EVERY
        page.view.server_list.select("server:Bike shop")
        assert all(one.startswith("Bike shop/") for one in bench.tools())


async def test_search_finds_tools_by_name_and_description(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS, FINE]}) as bench:
        search = bench.page.header.search
        assert search is not None
        search.setText("invoices amount")
        await until(lambda: bench.tools() == ["desk/find_invoice"])
        assert "1 of 2 tools" in bench.text()


async def test_filters_sorting_and_the_chosen_tool_are_remembered(qapp: QApplication) -> None:
    settings = Settings(None)

    async with desk({"desk": [NAMELESS, FINE], "Bike shop": SAMPLE_TOOLS}, settings) as bench:
        bench.page.view.server_list.select("server:desk")
        bench.page.view.table.sort_by(1, down=True)
        await bench.choose("desk/find_invoice")

    async with desk({"desk": [NAMELESS, FINE], "Bike shop": SAMPLE_TOOLS}, settings) as bench:
        assert bench.tools() == ["desk/find_invoice", "desk/doIt"]
        assert bench.page.view.table.sorted_by == (1, True)
        assert bench.page.view.table.current_id() == "desk/find_invoice"


async def test_a_tool_that_is_come_for_is_shown_whatever_the_filters_say(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS, FINE]}) as bench:
        bench.page.levels.choose(QualityLevel.ERROR.value)
        bench.page.open_target(ShowToolQuality((ToolLabel(tool="find_invoice", server="desk"),)))
        assert bench.page.view.table.current_id() == "desk/find_invoice"


async def test_a_tool_that_is_come_for_without_its_server_is_found_by_its_name(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS, FINE]}) as bench:
        bench.page.open_target(ShowToolQuality((ToolLabel(tool="find_invoice"),)))
        assert bench.page.view.table.current_id() == "desk/find_invoice"


async def test_several_tools_that_are_come_for_are_chosen_together(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS, FINE]}) as bench:
        bench.page.levels.choose(QualityLevel.ERROR.value)
        tools = tuple(ToolLabel(tool=name, server="desk") for name in ("doIt", "find_invoice"))
        bench.page.open_target(ShowToolQuality(tools))
        assert set(bench.page.view.table.selected_ids()) == {"desk/doIt", "desk/find_invoice"}


async def test_links_lead_to_the_tool_on_every_other_screen(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS]}) as bench:
        await bench.choose("desk/doIt")
        links = bench.page.view.detail.head.links
        await until(lambda: links.isVisible())
        for link in links.buttons:
            link.click()
        tool = ToolLabel(tool="doIt", server="desk")
        runs = ShowRuns(RunFilter(expected=tool), "doIt expected")
        assert bench.gone == [ShowTool(tool), ShowToolCases(tool), runs, ShowSimilarTools((tool,))]


async def test_in_a_narrow_window_the_tool_takes_the_place_of_the_servers(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS], "Bike shop": SAMPLE_TOOLS}) as bench:
        view = bench.page.view
        bench.page.resize(904, 640)
        await until(lambda: not view.detail.isVisible())
        assert view.server_pane.isVisible()
        await bench.choose("desk/doIt")
        view.table.setFocus()
        QTest.keyClick(view.table, Qt.Key.Key_Return)
        assert view.detail.isVisible()
        assert not view.server_pane.isVisible()
        await until(lambda: view.table.isColumnHidden(SERVER) and view.table.isColumnHidden(FINDINGS))
        back = next(one for one in view.findChildren(QPushButton) if one.text() == "Back to the servers")
        QTest.mouseClick(back, Qt.MouseButton.LeftButton)
        assert (view.detail.isVisible(), view.server_pane.isVisible()) == (False, True)
        QTest.keyClick(view.table, Qt.Key.Key_Return)
        assert view.detail.isVisible()
        QTest.keyClick(view.detail, Qt.Key.Key_Escape)
        assert not view.detail.isVisible()
        await until(lambda: not view.table.isColumnHidden(SERVER))


async def test_the_detail_scrolls_by_keys(qapp: QApplication) -> None:
    async with desk({"desk": [EVIL]}) as bench:
        await bench.choose("desk/evil")
        detail = bench.page.view.detail
        bar = detail.pane.verticalScrollBar()
        await until(lambda: bar.maximum() > 0)
        QTest.keyClick(detail.pane, Qt.Key.Key_PageDown)
        assert bar.value() > 0


async def test_gaps_tell_their_reasons_on_request(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS], "mail": EXITED}) as bench:
        assert "Not checked: mail." in bench.text()
        assert "it ended" not in bench.text()
        bench.page.view.gaps.why.click()
        assert "mail: Could not start mail: it ended. Look." in bench.text()


async def test_the_report_goes_to_a_file(qapp: QApplication, tmp_path: Path) -> None:
    async with desk({"desk": [NAMELESS]}) as bench:
        bench.page.export()
        dialog = bench.page.findChildren(QFileDialog)[-1]
        for name in ("report.csv", "report.json", "report.html"):
            dialog.fileSelected.emit(str(tmp_path / name))
            await until(partial(bench.said.count, f"Saved {name}"))
            assert "doIt" in (tmp_path / name).read_text(encoding="utf-8-sig")
        dialog.reject()


async def test_a_change_on_the_servers_is_seen(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS]}) as bench:
        bench.fake.gateway.servers["desk"] = [NAMELESS, FINE]
        server = bench.page.presenter.server_ids["desk"]
        await bench.session.call(lambda core: core.servers.check(server))
        await until(lambda: len(bench.tools()) == 2)


async def test_findings_are_ignored_for_a_reason_and_reported_again(qapp: QApplication, tmp_path: Path) -> None:
    async with desk({"desk": [NAMELESS]}) as bench:
        bench.fake.quality.ignored_file = tmp_path / "ignored.json"
        await bench.choose("desk/doIt")
        before = bench.page.presenter.tools()[0].score
        card = bench.page.view.detail.notes[0]
        card.ignore.click()
        await until(lambda: bench.page.findChildren(IgnoreDialog))
        (dialog,) = bench.page.findChildren(IgnoreDialog)
        dialog.edit.setText("It is generated")
        next(one for one in dialog.findChildren(Button) if one.text() == "Ignore").click()
        ignored = bench.page.view.detail.ignored
        await until(lambda: "It is generated" in bench.text())
        assert bench.page.presenter.tools()[0].score > before
        ignored.findChildren(Button)[0].click()
        await until(lambda: bench.page.presenter.tools()[0].score == before)


async def test_a_finding_leads_to_the_workshop_with_its_advice(qapp: QApplication) -> None:
    async with desk({"desk": [FINE, NAMELESS]}) as bench:
        await bench.choose("desk/doIt")
        card = bench.page.view.detail.notes[0]
        card.repair.click()
        (target,) = bench.gone
        assert isinstance(target, ChangeTool)
        assert target.tool == ToolLabel(tool="doIt", server="desk")
        assert target.reason
