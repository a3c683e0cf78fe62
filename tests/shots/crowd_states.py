"""How a user gets to each state of crowd tests and steal tests: no case, offline line, running, done, and refused."""

from collections.abc import Sequence
from zlib import crc32

from app.core_link.targets import ShowCrowdTest, ShowStealTest
from app.screens.runs.page import RunsPage
from app.screens.welcome.page import WelcomePage
from app.screens.workshop.batch_tab import CrowdOptionsDialog
from app.screens.workshop.crowd_tab import CrowdTab
from app.screens.workshop.page import WorkshopPage
from app.screens.workshop.steal_tab import StealTab
from mcp_tef import ModelSettings, TestCase
from tests.shots.stage import Stage, built
from tests.shots.workshop_states import models
from tests.support.model_replies import Received, Reply, tool_calls, words
from tests.support.model_stub import ModelStub
from tests.support.windows import until

STOPS_AFTER = 90


class CrowdAnswers:
    """Selects the expected tool less often the more tools there are; a small model is lost earlier."""

    def __init__(self, cases: Sequence[TestCase]) -> None:
        self._calls = {
            case.draft.query: call for case in cases if (call := case.draft.expectation.first_call) is not None
        }

    def __call__(self, request: Received) -> Reply:
        names = [tool["name"] for tool in request.tools]
        call = next((one for query, one in self._calls.items() if query in request.query), None)
        luck = crc32(f"{request.model} {request.query}".encode()) % 100
        used = (len(f"{request.system}{request.query}{request.tools}") // 4, 20)
        if call is None:
            return words("Nothing here can do that.") if luck > len(names) / 4 else tool_calls((names[luck % 7], {}))
        small = request.model.endswith("small")
        wrong = luck < (4 if not small else 9) + len(names) / (16 if not small else 2.2)
        mine = next((name for name in names if name.endswith(call.tool)), names[0])
        others = [name for name in names if name != mine and any(part in name for part in call.tool.split("_"))]
        return tool_calls(
            ((others or names)[luck % len(others or names)] if wrong else mine, call.parameters or {}), tokens=used
        )


async def crowd_tab(stage: Stage) -> CrowdTab:
    """The crowd test, its offline line drawn."""
    page = await stage.page("workshop", ShowCrowdTest())
    assert isinstance(page, WorkshopPage)
    await until(lambda: isinstance(page.tabs.tab, CrowdTab) and page.tabs.tab.currentIndex() > 0)
    tab = page.tabs.tab
    assert isinstance(tab, CrowdTab)
    if tab.presenter.among:  # as `refused` leaves it
        tab.presenter.among = ()
        await tab.replan()
    return tab


async def no_cases(stage: Stage) -> None:
    """A crowd test without any case."""
    welcome = stage.bench.frame.findChild(WelcomePage)
    if isinstance(welcome, WelcomePage) and welcome.isVisible():
        welcome.start_empty.click()
        await built(stage)
    await crowd_tab(stage)


async def offline_line(stage: Stage) -> None:
    """The line of a search alone, before any call."""
    tab = await crowd_tab(stage)
    await until(lambda: tab.presenter.line and tab.presenter.estimate)


async def started(stage: Stage, stub: ModelStub, *names: str, search: tuple[int, ...] = ()) -> CrowdTab:
    """A crowd test with models of a stand-in."""
    tab = await crowd_tab(stage)
    await until(lambda: tab.presenter.estimate)
    tab.presenter.choose(())
    for one in await models(stage, stub, *names):
        tab.take_model(one, 5.0)
    tab.presenter.search = search
    tab.presenter.sizes = (0, 30, 120)
    await tab.replan()
    tab.toggle()
    await until(lambda: tab.presenter.under_way)
    return tab


async def done(stage: Stage) -> None:
    """A crowd test with two models, at its end."""
    with ModelStub(CrowdAnswers(await stage.session.call(lambda core: core.cases.list()))) as stub:
        tab = await started(stage, stub, "stub-large", "stub-small", search=(5,))
        await until(lambda: not tab.presenter.under_way and tab.presenter.result, seconds=300)
    await until(lambda: tab.wrong.table.rows.ids())


async def tokens(stage: Stage) -> None:
    """The tokens of tools in the test of `done`."""
    tab = await crowd_tab(stage)
    await until(lambda: tab.presenter.result)
    tab.measure.choose(1)


async def point(stage: Stage) -> None:
    """The wrong runs of another point of `done`, its costs, and one of the runs on the screen Runs."""
    tab = await crowd_tab(stage)
    tab.measure.choose(2)
    tab.show_point(1)
    await until(lambda: tab.presenter.point == 1 and tab.wrong.table.rows.ids())


async def point_run(stage: Stage) -> None:
    """A wrong run of the point, among all of them."""
    tab = await crowd_tab(stage)
    tab.wrong.links.buttons[0].click()
    page = stage.bench.frame.findChild(RunsPage)
    assert isinstance(page, RunsPage)
    await until(page.isVisible)


async def running(stage: Stage) -> None:
    """A crowd test in the middle; the stand-in answers no more, and ends with the process."""
    answers = CrowdAnswers(await stage.session.call(lambda core: core.cases.list()))
    stub = ModelStub(lambda request: _slower(stub, answers, request))
    stub.__enter__()  # nobody leaves it: the picture is taken while it is open
    tab = await started(stage, stub, "stub-large")
    await until(lambda: tab.presenter.result and tab.presenter.result.calls >= STOPS_AFTER // 2, 120)


def _slower(stub: ModelStub, answers: CrowdAnswers, request: Received) -> Reply:
    if len(stub.requests) > STOPS_AFTER:
        stub.delay = 600.0
    return answers(request)


async def stopped(stage: Stage) -> None:
    """The test of `running`, stopped, so that it can go on."""
    tab = await crowd_tab(stage)
    tab.toggle()
    await until(lambda: tab.presenter.cut_off)


async def options(stage: Stage) -> None:
    """The options, one of them wrong."""
    tab = await crowd_tab(stage)
    await until(lambda: tab.presenter.estimate)
    tab.session.spawn(tab.ask_options())
    await stage.sheet()
    dialog = stage.bench.frame.findChild(CrowdOptionsDialog)
    assert isinstance(dialog, CrowdOptionsDialog)
    dialog.edits["sizes"].setText("many")
    dialog.use.click()


async def beside(stage: Stage) -> None:
    """The draft of a tool beside the one that the baseline selected instead."""
    tab = await crowd_tab(stage)
    tab.presenter.choose(())
    tab.presenter.sizes = (0, 60)
    await tab.replan()
    tab.toggle()
    await until(lambda: tab.presenter.result and not tab.presenter.under_way and tab.presenter.wrong, seconds=120)
    run = next(one for one in tab.presenter.wrong if one.selected_tool)
    tab.wrong.table.select(run.id)
    tab.wrong.links.buttons[-1].click()
    page = tab.page
    assert isinstance(page, WorkshopPage)
    await until(page.view.rival.isVisible)


async def refused(stage: Stage) -> None:
    """A crowd of a server whose tools are not known, so that no test can start."""
    tab = await crowd_tab(stage)
    tab.presenter.choose((ModelSettings(),))
    tab.presenter.among = tuple(tab.presenter.servers)
    await tab.replan()


async def steal_tab(stage: Stage) -> StealTab:
    """The steal test, asked about the documents."""
    page = await stage.page("workshop", ShowStealTest("Documents"))
    assert isinstance(page, WorkshopPage)
    await until(lambda: isinstance(page.tabs.tab, StealTab) and page.tabs.tab.presenter.estimate)
    tab = page.tabs.tab
    assert isinstance(tab, StealTab)
    return tab


class Thief:
    """Selects a tool of the new server for every third case about a repair, where it is offered."""

    def __init__(self, cases: Sequence[TestCase]) -> None:
        self._honest = CrowdAnswers(cases)

    def __call__(self, request: Received) -> Reply:
        names = [tool["name"] for tool in request.tools]
        thief = next((name for name in names if name.endswith("find_document")), None)
        if thief and crc32(request.query.encode()) % 3 == 0:
            return tool_calls((thief, {}))
        return self._honest(request)


async def no_servers(stage: Stage) -> None:
    """A steal test without servers."""
    await stage.page("workshop", ShowStealTest(""))


async def stealing(stage: Stage) -> None:
    """A steal test at its end."""
    tab = await steal_tab(stage)
    with ModelStub(Thief(await stage.session.call(lambda core: core.cases.list()))) as stub:
        for one in await models(stage, stub, "stub-large"):
            tab.take_model(one, None)
        await tab.replan()
        tab.toggle()
        await until(lambda: tab.presenter.result and not tab.presenter.under_way, seconds=120)
