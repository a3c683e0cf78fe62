"""What there is to see: each scene is a name, a workspace, and how a user gets there."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from app.core_link.targets import ShowBatch, ShowCase, ShowRuns, ShowToolQuality, StartRuns
from app.screens.cases.page import CasesPage
from app.screens.kit import SortState, ViewState
from app.screens.metrics.page import MetricsPage
from app.screens.runs.page import RunsPage
from app.screens.servers.page import ServersPage
from app.screens.servers.server_pane import EXCLUDED
from app.screens.similarity.page import SimilarityPage
from app.screens.welcome.page import WelcomePage
from mcp_tef import Classification, Engine, RunFilter, ServerId, ToolLabel
from tests.shots import crowd_states as crowds
from tests.shots import library_states as library
from tests.shots import models_states as models
from tests.shots import openings
from tests.shots import routing_states as routing
from tests.shots import workshop_states as states
from tests.shots.stage import Stage, built
from tests.shots.workspaces import EMPTY, ERRORS, FULL, LIBRARY, ROOM, ROUTING, SHUT
from tests.support.windows import until

Show = Callable[[Stage], Awaitable[object]]

DOCUMENTS_TOOL = ToolLabel(tool="find_document", server="Documents")


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture; scenes of a state follow each other in one window."""

    name: str
    state: str
    show: Show


async def _welcome(stage: Stage) -> None:
    await until(lambda: stage.bench.frame.findChild(WelcomePage))


async def _start_empty(stage: Stage) -> None:
    welcome = stage.bench.frame.findChild(WelcomePage)
    assert isinstance(welcome, WelcomePage)
    welcome.start_empty.click()
    await built(stage)
    await stage.page("servers")


async def _server(stage: Stage, name: str) -> ServersPage:
    page = await stage.page("servers")
    assert isinstance(page, ServersPage)
    await until(lambda: page.presenter.servers)
    await built(stage)
    page.server_list.select(next(server.id for server in page.presenter.servers.values() if server.name == name))
    return page


async def _tools_chosen(stage: Stage) -> None:
    page = await _server(stage, "Bike shop")
    page.show_tools_view(ViewState(sort=SortState("weight")))
    tools = page.pane.tools
    await until(lambda: tools.rows.rowCount() > 3)
    tools.select(tools.rows.ids()[-1])
    page.tool_commands.exclude()
    await until(lambda: tools.rows.place(EXCLUDED) is not None)
    await page.settled()
    tools.select_many(tools.rows.ids()[:3])
    page.pane.side.more.click()


async def _tools_left_out(stage: Stage) -> None:
    page = await stage.page("servers")
    assert isinstance(page, ServersPage)
    page.pane.tools.select(EXCLUDED)


async def _import_servers(stage: Stage) -> None:
    page = await _server(stage, "Bike shop")
    page.importing.ask()
    await stage.sheet()


async def _asked_for(core: Engine, server: ServerId, words: str) -> None:
    await core.calls.call(server, "find_parts", {"query": words})


async def _try_tool(stage: Stage) -> None:
    page = await _server(stage, "Bike shop")
    server = page.current()
    assert server is not None
    listing = await stage.session.call(lambda core: core.servers.tools(server.id))
    tool = next(tool for tool in listing.tools if tool.name == "find_parts")
    for words in ("chain", "brake pads", "bell"):
        await stage.session.call(partial(_asked_for, server=server.id, words=words))
    page.tool_commands.call_tool(tool)
    await stage.sheet()


async def _by_command(stage: Stage, key: str, command: str) -> None:
    await stage.page(key)
    stage.do(command)
    await stage.sheet()


async def _case(stage: Stage, name: str) -> None:
    page = await stage.page("cases")
    assert isinstance(page, CasesPage)
    cases = await stage.session.call(lambda core: core.cases.list())
    page.open_target(ShowCase(next(case.id for case in cases if case.name == name)))


async def _cases_chosen(stage: Stage) -> None:
    page = await stage.page("cases")
    assert isinstance(page, CasesPage)
    page.table.selectAll()


async def _cases_labelled(stage: Stage) -> None:
    await _cases_chosen(stage)
    stage.do("cases.label")
    await stage.sheet()


async def _cases_expecting(stage: Stage) -> None:
    await _cases_chosen(stage)
    stage.do("cases.expect")
    await stage.sheet()


async def _run(stage: Stage, tab: int = 0, batch: str = "") -> RunsPage:
    page = await stage.page("runs")
    assert isinstance(page, RunsPage)
    batches = await stage.session.call(lambda core: core.runs.batches())
    wanted = next(one.id for one in batches if batch in one.name)
    page.open_target(ShowBatch(wanted))
    await until(lambda: page.presenter.current == wanted and page.run_list.table.current_id())
    page.detail.tabs.tabs.choose(tab)
    return page


async def _wrong_run(stage: Stage) -> None:
    page = await _run(stage, batch="new texts")
    assert page.presenter.current
    where = RunFilter(batch_ids=(page.presenter.current,))
    wrong = await stage.session.call(lambda core: core.runs.list(where))
    page.run_list.table.select(next(run.id for run in wrong if run.classification == "FN"))


async def _rename_batch(stage: Stage) -> None:
    page = await _run(stage)
    assert page.presenter.current
    page.batch_actions.rename(page.presenter.current)
    await stage.sheet()


async def _export_runs(stage: Stage) -> None:
    page = await _run(stage)
    page.batch_actions.export()
    await stage.sheet()


async def _columns(stage: Stage) -> None:
    page = await _run(stage)
    page.run_list.table.arrange()
    await stage.sheet()


async def _narrowed_runs(stage: Stage) -> None:
    page = await _run(stage, batch="new texts")
    page.open_target(ShowRuns(RunFilter(classifications=(Classification.FN,)), "Missed"))
    await until(lambda: page.run_list.summary_bar.note.text() == "Missed")
    page.filter_controls.search_runs("repair")
    page.view.batch_pane.search.setText("stub-large")
    await until(lambda: page.presenter.table.where.text and page.presenter.batch_list_view.text)


async def _start_runs(stage: Stage) -> None:
    page = await stage.page("runs")
    page.open_target(StartRuns())
    await stage.sheet()


async def _metrics(stage: Stage, view: str) -> None:
    page = await stage.page("metrics")
    assert isinstance(page, MetricsPage)
    page.show_view(view)
    await page.settled()
    if view == "compare":
        await until(lambda: page.compare.chosen())


async def _similarity(stage: Stage, view: str) -> None:
    page = await stage.page("similarity")
    assert isinstance(page, SimilarityPage)
    await until(lambda: page.presenter.analysis)
    page.show_view(view)


async def _recommendation(stage: Stage) -> None:
    await _similarity(stage, "pairs")
    page = stage.window.page("similarity")
    assert isinstance(page, SimilarityPage)
    analysis = page.presenter.analysis
    assert analysis is not None
    ids = [one.id for one in analysis.tools]
    places = ids.index("Documents/search_files"), ids.index("Documents/search_code")
    page.pair.open(places, advice=True)
    await until(lambda: page.pair.places in page.presenter.advice)


async def _closing(stage: Stage) -> None:
    await stage.page("runs")
    activity = stage.session.activity
    activity.add().set_state(0.3, "12 of 40", ["All cases", "1 failed", "$0.04 of $1.00", "48 s left"])
    activity.add().set_state(0.0, "0 of 24", ["Near misses", "waiting, next", "starts in about 48 s"], paused=True)
    activity.add().show_share("Comparing tools", 0.45)
    stage.bench.frame.close()
    await stage.sheet()


async def _shut(stage: Stage) -> None:
    await until(lambda: stage.bench.window is None)


async def _workshop_verdict(stage: Stage) -> None:
    """A draft that was tried offline."""
    await states.tried(await states.drafted(stage, "Parts for the bike"))


SETTINGS = (
    *("settings", "settings-runs", "settings-similarity", "settings-servers", "settings-keys"),
    *("settings-consents", "settings-data"),
)
SCENES: tuple[Scene, ...] = (
    Scene("welcome", EMPTY, _welcome),
    Scene("servers", EMPTY, _start_empty),
    Scene("server-add", EMPTY, partial(_by_command, key="servers", command="servers.add")),
    *(
        Scene(key, EMPTY, partial(Stage.page, key=key))
        for key in ("cases", "runs", "metrics", "similarity", "workshop", "quality", "library")
    ),
    *(Scene(name, EMPTY, show) for name, show in (models.EMPTY_SCENES | routing.EMPTY_SCENES).items()),
    Scene("workshop-no-cases", EMPTY, states.no_cases),
    Scene("crowd-no-cases", EMPTY, crowds.no_cases),
    Scene("steal-no-servers", EMPTY, crowds.no_servers),
    Scene("palette-off", EMPTY, openings.palette_off),
    Scene("servers", FULL, partial(_server, name="Bike shop")),
    Scene("servers-file", FULL, partial(_server, name="Documents")),
    Scene("server-add", FULL, partial(_by_command, key="servers", command="servers.add")),
    Scene("server-import", FULL, _import_servers),
    Scene("server-form", FULL, openings.server_form),
    Scene("server-form-faults", FULL, openings.server_form_faults),
    Scene("server-form-consent", FULL, openings.server_form_consent),
    Scene("server-preview", FULL, openings.server_preview),
    Scene("server-try", FULL, _try_tool),
    Scene("server-try-faults", FULL, openings.try_long_form),
    Scene("workspace-rename", FULL, openings.workspace_rename),
    Scene("outcomes", FULL, openings.outcomes),
    Scene("cases", FULL, partial(_case, name="Spare parts under a price")),
    Scene("cases-picker", FULL, openings.cases_picker),
    Scene("cases-filter", FULL, openings.cases_filter),
    Scene("cases-draft", FULL, openings.cases_draft),
    Scene("cases-check", FULL, openings.cases_check),
    Scene("cases-import", FULL, openings.cases_import),
    Scene("cases-chosen", FULL, _cases_chosen),
    Scene("cases-labels", FULL, _cases_labelled),
    Scene("cases-expect", FULL, _cases_expecting),
    Scene("cases-suite", FULL, partial(_by_command, key="cases", command="cases.rename_suite")),
    Scene("runs", FULL, _wrong_run),
    Scene("runs-tools", FULL, partial(_run, tab=1)),
    Scene("runs-exchange", FULL, partial(_run, tab=2)),
    Scene("runs-settings", FULL, partial(_run, tab=3)),
    Scene("runs-rename", FULL, _rename_batch),
    Scene("runs-columns", FULL, _columns),
    Scene("runs-export", FULL, _export_runs),
    Scene("runs-start", FULL, _start_runs),
    Scene("runs-start-model", FULL, openings.runs_start_model),
    Scene("runs-start-own", FULL, openings.runs_start_own),
    *(
        Scene(f"metrics-{view}", FULL, partial(_metrics, view=view))
        for view in ("overview", "models", "repeats", "compare")
    ),
    *(Scene(f"similarity-{view}", FULL, partial(_similarity, view=view)) for view in ("map", "pairs", "groups")),
    Scene("similarity-pair", FULL, _recommendation),
    Scene(
        "quality",
        FULL,
        partial(
            Stage.page, key="quality", target=ShowToolQuality((ToolLabel(tool="find_document", server="Documents"),))
        ),
    ),
    Scene("quality-ask", FULL, partial(_by_command, key="quality", command="quality.ask")),
    *(Scene(name, FULL, partial(openings.settings, tab=tab)) for tab, name in enumerate(SETTINGS)),
    Scene("metrics-export", FULL, openings.metrics_export),
    Scene("palette", FULL, openings.palette),
    Scene("palette-found", FULL, openings.palette_found),
    Scene("messages", FULL, openings.messages),
    Scene("shortcuts", FULL, openings.shortcuts),
    Scene("help", FULL, partial(openings.help_page, topic="getting-started")),
    Scene("help-settings", FULL, partial(openings.help_page, topic="settings")),
    Scene("help-search", FULL, partial(openings.help_page, topic="comparison", typed="worse")),
    Scene("servers-tools", FULL, _tools_chosen),
    Scene("servers-left-out", FULL, _tools_left_out),
    Scene("runs-narrowed", FULL, _narrowed_runs),
    Scene("cases-importing", FULL, openings.cases_importing),
    Scene("workshop-unchanged", FULL, states.unchanged),
    Scene("workshop-predicting", FULL, states.predicting),
    Scene("workshop-edit", FULL, partial(states.drafted, name="Parts or stock")),
    Scene("workshop-predicted", FULL, states.predicted),
    Scene("workshop-verdict", FULL, _workshop_verdict),
    Scene("workshop-fields", FULL, states.fields),
    Scene("workshop-instructions", FULL, states.instructions),
    Scene("workshop-add-cases", FULL, states.add_cases),
    Scene("workshop-model", FULL, states.model),
    Scene("workshop-undecided", FULL, states.undecided),
    Scene("workshop-several", FULL, states.several),
    Scene("workshop-explained", FULL, states.explained),
    Scene("workshop-history", FULL, states.history),
    Scene("workshop-better", FULL, states.better_text),
    Scene("workshop-who-writes", FULL, states.own_writer),
    Scene("workshop-ask-writer", FULL, states.ask_writer),
    Scene("workshop-hopeless", FULL, states.words_cannot_help),
    Scene("workshop-writer", FULL, states.writer_failed),
    Scene("workshop-improved", FULL, states.improved),
    Scene("workshop-searching", FULL, states.searching),
    Scene("workshop-searched", FULL, states.search_stopped),
    Scene("workshop-broken", FULL, states.broken_guard),
    Scene("workshop-running", FULL, states.running),
    Scene("workshop-stopped", FULL, states.stopped),
    Scene("workshop-put-in", FULL, states.put_in),
    Scene("workshop-advice", FULL, states.advised),
    Scene("workshop-drifted", FULL, states.drifted),
    Scene("workshop-gone", FULL, states.server_gone),
    Scene("crowd-line", FULL, crowds.offline_line),
    Scene("crowd-options", FULL, crowds.options),
    Scene("crowd-refused", FULL, crowds.refused),
    Scene("steal-question", FULL, crowds.steal_tab),
    Scene("steal-done", FULL, crowds.stealing),
    Scene("crowd-beside", FULL, crowds.beside),
    Scene("crowd-done", FULL, crowds.done),
    Scene("crowd-tokens", FULL, crowds.tokens),
    Scene("crowd-point", FULL, crowds.point),
    Scene("crowd-point-run", FULL, crowds.point_run),
    Scene("crowd-running", FULL, crowds.running),
    Scene("crowd-stopped", FULL, crowds.stopped),
    *(Scene(name, FULL, show) for name, show in models.SCENES.items()),
    Scene("closing", FULL, _closing),
    *(Scene(name, LIBRARY, show) for name, show in library.SCENES.items()),
    Scene("reading-room", ROOM, partial(_server, name="Reading room")),
    Scene("reading-room-cases", ROOM, partial(Stage.page, key="cases")),
    Scene("reading-room-metrics", ROOM, partial(_metrics, view="overview")),
    Scene("reading-room-similarity", ROOM, partial(Stage.page, key="similarity")),
    *(Scene(name, ROUTING, show) for name, show in routing.SCENES.items()),
    Scene("servers-failed", ERRORS, partial(_server, name="Mail")),
    Scene("servers-refused", ERRORS, partial(_server, name="Calendar")),
    Scene("servers-consent", ERRORS, partial(_server, name="Files")),
    Scene("consent", ERRORS, openings.consent),
    Scene("consent-address", ERRORS, openings.consent_address),
    Scene("consent-key", ERRORS, openings.consent_key),
    Scene("consent-model", ERRORS, openings.consent_model),
    Scene("consent-path", ERRORS, openings.consent_path),
    Scene("open-file", ERRORS, openings.open_file),
    Scene("servers-problem", ERRORS, partial(_server, name="Bells")),
    Scene("runs-failed", ERRORS, _run),
    Scene("quality", ERRORS, partial(Stage.page, key="quality")),
    Scene("similarity", ERRORS, partial(Stage.page, key="similarity")),
    Scene("metrics", ERRORS, partial(Stage.page, key="metrics")),
    Scene("failure", ERRORS, openings.failure),
    Scene("toast", ERRORS, openings.toast),
    Scene("closed-door", SHUT, _shut),
)


PICTURES: Mapping[str, tuple[str, str]] = {
    "welcome": ("welcome", EMPTY),
    "servers": ("servers", FULL),
    "import": ("server-import", FULL),
    "cases": ("cases", FULL),
    "run-form": ("runs-start-own", FULL),
    "run": ("runs", FULL),
    "metrics": ("metrics-overview", FULL),
    "comparison": ("metrics-compare", FULL),
    "similarity": ("similarity-map", FULL),
    "pair": ("similarity-pair", FULL),
    "quality": ("quality", FULL),
    "settings": ("settings", FULL),
}
"""The pictures of the help, and the scene that each shows."""
