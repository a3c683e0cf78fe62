"""The palette does commands, says why some cannot be done, and goes to what has the typed name."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QWidget

from app.core_link.commands import Command
from app.core_link.session import Session
from app.core_link.targets import ChangeTool, ShowBatch, ShowBatchMetrics, ShowTool, StartRuns, Target
from app.screens.cases.page import CasesPage
from app.screens.library.page import LibraryPage
from app.screens.metrics.page import MetricsPage
from app.screens.models.page import ModelsPage
from app.screens.models.prompts_tab import PromptsTab
from app.screens.models.tab import TABS
from app.screens.runs.dialogs import StartDialog
from app.screens.runs.page import RunsPage
from app.screens.servers.server_dialog import ServerDialog
from app.screens.similarity.page import SimilarityPage
from app.screens.workshop.page import WorkshopPage
from app.screens.workshop.view import DRAFT
from app.shell.main_window import MainWindow
from app.shell.palette import Palette
from app.shell.screen_specs import screens
from mcp_tef import (
    ActualCall,
    Answer,
    BatchId,
    BatchRequest,
    BatchStatus,
    Classification,
    Engine,
    PromptKind,
    PromptTemplate,
    RunFilter,
    RunId,
    ServerId,
    ToolLabel,
    ToolStatus,
)
from mcp_tef.ports import Question
from tests.support.fake_engine import FakeEngine
from tests.support.library_designs import answering
from tests.support.window_tour import overlays
from tests.support.windows import opened_dialog, session_for, shown, until
from tests.support.workbench import build_pages, window, workbench


def opened(session: Session) -> tuple[Palette, QWidget]:
    host = QWidget()
    shown(host)
    palette = Palette(session, host)
    palette.open_centred(host)
    return palette, host


def titles(palette: Palette) -> list[str]:
    return [palette.list.rows.row(place).title for place in range(palette.list.rows.rowCount())]


def commands(done: list[str]) -> list[Command]:
    return [
        Command(id="a", text="Add a server", do=lambda: done.append("a")),
        Command(id="b", text="Compare", do=lambda: done.append("b"), needs=lambda: False, unless="Select two batches"),
        Command(id="c", text="Copy", do=lambda: done.append("c")),
    ]


async def test_what_was_done_last_comes_first_and_what_cannot_be_done_last_with_the_reason(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        done: list[str] = []
        session.commands.put("page", commands(done))
        palette, host = opened(session)
        assert titles(palette) == ["Add a server", "Copy", "Compare"]
        assert palette.list.rows.row(2).right == "Select two batches"
        QTest.keyClicks(palette.search, "compare")
        QTest.keyClick(palette.search, Qt.Key.Key_Return)
        assert (done, palette.isVisible()) == ([], True)
        palette.search.setText("copy")
        QTest.keyClick(palette.search, Qt.Key.Key_Return)
        assert done == ["c"]
        palette, host = opened(session)
        assert titles(palette) == ["Copy", "Add a server", "Compare"]
        palette.close()
        host.close()


async def test_a_tool_is_gone_to_by_its_name(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    for server in await fake.servers.list():
        await fake.servers.check(server.id)
    async with session_for(fake) as (session, _):
        session.commands.put("page", commands([]))
        went: list[Target] = []
        session.navigated.connect(went.append)
        palette, host = opened(session)
        QTest.keyClicks(palette.search, "book_rep")
        await until(lambda: titles(palette) == ["book_repair"])
        QTest.keyClick(palette.search, Qt.Key.Key_Return)
        assert went == [ShowTool(ToolLabel(tool="book_repair", server="Bike shop"))]
        host.close()


async def test_every_command_is_offered_on_every_screen_the_possible_ones_first_and_goes_to_its_own(
    qapp: QApplication,
) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake) as bench:
        inside = window(bench)
        build_pages(inside)
        offered: dict[str, set[str]] = {}
        for place in screens():
            inside.show_screen(place.key)
            await inside.page(place.key).settled()
            palette = inside.show_palette()
            rows = [palette.list.rows.row(number) for number in range(palette.list.rows.rowCount())]
            offered[place.key] = {row.id for row in rows}
            assert [row.off for row in rows] == sorted(row.off for row in rows), place.key
            palette.search.setText("the")
            assert not palette.list.rows.row(0).off
            palette.close()
        everything = set.union(*offered.values())
        missing = {key: everything - ids for key, ids in offered.items() if ids != everything}
        assert missing == {}
        assert {"runs.start", "quit", "servers.add", "cases.new"} <= everything
        inside.show_screen("quality")
        palette = inside.show_palette()
        QTest.keyClicks(palette.search, "add a server")
        QTest.keyClick(palette.search, Qt.Key.Key_Return)
        assert inside.current == "servers"
        dialog = await opened_dialog(bench.frame, ServerDialog)
        dialog.reject()


async def test_the_form_of_runs_opens_anywhere_and_cancel_leaves_the_user_where_they_were(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake) as bench:
        inside = window(bench)
        build_pages(inside)
        for place in screens():
            inside.show_screen(place.key)
            await inside.page(place.key).settled()
            inside.activateWindow()
            await until(inside.isActiveWindow)
            had = inside.navigation.findChildren(QAbstractButton)[0]
            had.setFocus(Qt.FocusReason.TabFocusReason)
            QTest.keyClick(inside, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
            dialog = await opened_dialog(bench.frame, StartDialog)
            QTest.keyClick(dialog, Qt.Key.Key_Escape)
            await until(lambda: not bench.frame.findChildren(StartDialog))
            assert inside.current == place.key
            inside.activateWindow()
            await until(had.hasFocus)
        inside.show_screen("quality")
        inside.go(StartRuns())
        dialog = await opened_dialog(bench.frame, StartDialog)
        dialog.run.click()
        await until(lambda: inside.current == "runs")


async def test_ctrl_q_closes_the_window(qapp: QApplication) -> None:
    async with workbench(FakeEngine()) as bench:
        inside = window(bench)
        bench.frame.set_content(inside)
        inside.activateWindow()
        await until(inside.isActiveWindow)
        closed: list[bool] = []

        def refuse() -> bool:
            closed.append(True)
            return False

        bench.frame.on_close = refuse
        QTest.keyClick(inside, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
        assert closed == [True]


async def test_enter_presses_the_focused_button_of_the_window(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake) as bench:
        inside = window(bench)
        inside.show_screen("servers")
        cases = next(one for one in inside.navigation.findChildren(QAbstractButton) if "Test cases" in one.text())
        cases.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(cases, Qt.Key.Key_Return)
        await until(lambda: inside.current == "cases")


NEVER_POSSIBLE = {
    "quality.cancel",
    "runs.batch_resume",
    "runs.batch_retry",
    "runs.batch_run_now",
    "runs.to.health",
    "servers.sign_in",
    "workshop.accept",
    "workshop.more",
    "workshop.pause",
    "workshop.rebase",
}
"""Commands for what is not here, or not for long: work of a model, a text that was found, failed runs, a sign-in."""
STATUSES = {"now": BatchStatus.WAITING, "cancel": BatchStatus.RUNNING, "resume": BatchStatus.CANCELLED}
"""Status of the batch that a command is about, by the end of its name; of the others it is an ended one."""


def takes_parts_for_bikes(question: Question) -> Answer:
    """The tool for parts, whatever is asked, so that runs are wrong and tools confused."""
    offered = next(one for one in question.tools if one.tool.name == "search_parts")
    call = ActualCall(tool=offered.tool.name, server=offered.tool.server, arguments={"text": question.query})
    return Answer(calls=(call,), confidence=0.9)


async def test_every_possible_command_can_be_given_from_another_screen(qapp: QApplication) -> None:
    fake = FakeEngine(script=takes_parts_for_bikes)
    await fake.open_sample()
    async with workbench(fake) as bench:
        inside = window(bench)
        build_pages(inside)
        await work(inside)
        failures: list[str] = []
        inside.session.failed.connect(lambda *words: failures.append(str(words)))
        done: set[str] = set()
        offered = [(place.key, one.id) for place in screens() for one in inside.page(place.key).commands()]
        last = (".delete", ".remove", ".remove_tool", ".batch_delete")
        for key, command in sorted(
            offered, key=lambda one: (one[1].endswith(last), one[1] == "workshop.remove", one[0] == "servers")
        ):
            await prepare(inside, fake, command)
            if await gave(inside, "quality" if key == "servers" else "servers", command):
                done.add(command)
            fake.selector.gate.set()
            assert failures == [], command
        assert {one for _, one in offered} - done <= NEVER_POSSIBLE


async def work(inside: MainWindow) -> None:
    """Two batches with wrong runs, what every server lists, and a changed tool: something for each command."""
    for _ in range(2):
        batch = await inside.session.call(lambda core: core.runs.start(BatchRequest()))
        await inside.session.call(partial(waited, batch=batch.id))
    for server in await inside.session.call(lambda core: core.servers.list()):
        await inside.session.call(partial(listed, server=server.id))
    inside.go(ChangeTool(ToolLabel(tool="book_repair", server="Bike shop"), "", "Book a repair on any day."))
    await inside.page("workshop").settled()
    for key in ("cases", "metrics", "similarity", "quality", "runs"):
        inside.show_screen(key)
        await inside.page(key).settled()


async def prepare(inside: MainWindow, fake: FakeEngine, command: str) -> None:
    """Select on a screen what its next command is about."""
    cases, metrics, similarity = (inside.page(key) for key in ("cases", "metrics", "similarity"))
    assert isinstance(cases, CasesPage)
    assert isinstance(metrics, MetricsPage)
    assert isinstance(similarity, SimilarityPage)
    workshop = inside.page("workshop")
    assert isinstance(workshop, WorkshopPage)
    workshop.tabs.show_tab(DRAFT)
    match command.split(".", maxsplit=1)[0]:
        case "cases":
            cases.table.selectAll()
        case "metrics" if command.endswith("clear"):
            batches = await inside.session.call(lambda core: core.runs.batches())
            metrics.open_target(ShowBatchMetrics(batches[-1].id))
        case "metrics":
            metrics.show_view("overview")
            matrix = metrics.overview.square.matrix()
            wrong = [cell for cell in matrix.cells if matrix.row_keys[cell[0]] != matrix.keys[cell[1]]]
            metrics.overview.square.mark(wrong[0])
        case "similarity" if similarity.presenter.analysis:
            similarity.pair.open((0, 1))
            await similarity.settled()
        case "runs":
            await prepare_runs(inside, fake, command)
        case "library" | "models" as screen:
            await (prepare_library(inside) if screen == "library" else prepare_models(inside, command))
        case "workshop" if command.endswith("stop"):
            fake.selector.gate.clear()
            await gave(inside, "servers", "workshop.try")
            await until(lambda: possible(inside, command))
        case "workshop" if command.endswith("explain"):
            await gave(inside, "servers", "workshop.try")
            await until(lambda: possible(inside, command))
        case "workshop" if command.endswith("redo"):
            await until(lambda: possible(inside, command))


async def prepare_library(inside: MainWindow) -> None:
    """Select an active tool whose definition is changed."""
    page = inside.page("library")
    assert isinstance(page, LibraryPage)
    if not await inside.session.call(lambda core: core.library.list()):
        await inside.session.call(lambda core: core.library.add(answering()))
        await inside.session.call(lambda core: core.library.set_status("weather", ToolStatus.ACTIVE))
    page.request_refresh()
    await page.settled()
    await until(lambda: page.presenter.detail.versions)
    page.view.definition.description.setPlainText(f"Tell the weather. {page.presenter.tool}")


async def prepare_models(inside: MainWindow, command: str) -> None:
    """Turn to the tab of a command; a prompt whose text is changed is selected there."""
    page = inside.page("models")
    assert isinstance(page, ModelsPage)
    own = (spec.key for spec in TABS if command in {one.id for one in page.tab(spec.key).commands()})
    page.show_tab(next(own, "prompts"))
    await page.refresh()
    if page.tabs.current() != "prompts":
        return
    tab = page.tab("prompts")
    assert isinstance(tab, PromptsTab)
    prompt = PromptTemplate(name="short", version=0, kind=PromptKind.SYSTEM, text="Call one tool.")
    if "short" not in [one.name for one in await inside.session.call(lambda core: core.prompts.list())]:
        await inside.session.call(lambda core: core.prompts.add(prompt))
    await page.refresh()
    tab.show_item("short")
    await until(lambda: tab.presenter.name == "short" and tab.presenter.versions)
    tab.editor.text.setPlainText(f"Call one tool of {tab.presenter.latest}.")


async def prepare_runs(inside: MainWindow, fake: FakeEngine, command: str) -> None:
    """Select a wrong run, of a batch in the state that the command is about."""
    runs = inside.page("runs")
    assert isinstance(runs, RunsPage)
    if command.endswith(("cancel", "pause", "run_now")):
        fake.selector.gate.clear()
        for _ in range(2):
            await inside.session.call(lambda core: core.runs.start(BatchRequest()))
    wanted = STATUSES.get(command.rpartition("_")[2], BatchStatus.COMPLETED)
    batches = await inside.session.call(lambda core: core.runs.batches())
    while command.endswith(("cancel", "run_now")) and all(one.status is not wanted for one in batches):
        batches = await inside.session.call(lambda core: core.runs.batches())
    batch = next((one for one in reversed(batches) if one.status is wanted), batches[-1])
    run_id = await inside.session.call(partial(wrong_run, batch=batch.id))
    runs.open_target(ShowBatch(batch.id, run_id))
    await runs.settled()
    if run_id:
        runs.run_list.table.select(run_id)
    if command in ("runs.compare", "runs.delete"):
        runs.view.batch_pane.list.select_many([one.id for one in batches[-2:]])
    if command not in NEVER_POSSIBLE:  # what is shown of a run is read first
        await until(lambda: possible(inside, command))


def possible(inside: MainWindow, command: str) -> bool:
    """Return True if a command can be given now."""
    commands = inside.page(command.split(".", maxsplit=1)[0]).commands()
    return next(one for one in commands if one.id == command).needs()


async def waited(core: Engine, batch: BatchId) -> None:
    await core.runs.wait(batch)


async def wrong_run(core: Engine, batch: BatchId) -> RunId | None:
    """A run of a batch that selected another tool."""
    found = await core.runs.list(RunFilter(batch_ids=(batch,), classifications=(Classification.FN,)))
    return next((run.id for run in found), None)


async def listed(core: Engine, server: ServerId) -> None:
    await core.servers.tools(server)


async def gave(inside: MainWindow, away: str, command: str) -> bool:
    """Give a command as the palette of another screen does, if it is possible, and close what it opens."""
    inside.show_screen(away)
    offered = next(one for one in inside._palette_commands() if one.id == command)
    if not offered.needs():
        return False
    inside.session.do(offered.do)
    await inside.page(inside.current).settled()
    for over in overlays(inside):
        (over.reject if isinstance(over, QDialog) else over.close)()
    await until(lambda: not [one for one in overlays(inside) if isinstance(one, QDialog)])
    return True
