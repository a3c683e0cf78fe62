"""How a user gets to what opens over a screen: forms with faults in them, previews, questions, popups, menus."""

from collections.abc import Mapping
from dataclasses import replace

from app.core_link.import_outcomes import DropOutcome, DropStatus
from app.core_link.targets import StartRuns
from app.dialogs.consent import ConsentBar, ConsentDialog
from app.dialogs.draft_cases import DraftCasesDialog
from app.screens.cases.case_checks import CaseChecksDialog
from app.screens.cases.page import CasesPage
from app.screens.metrics.page import MetricsPage
from app.screens.runs.dialogs import StartDialog
from app.screens.runs.page import RunsPage
from app.screens.servers.import_dialogs import ImportSourceDialog
from app.screens.servers.page import ServersPage
from app.screens.servers.server_dialog import ServerDialog
from app.screens.servers.server_form import ServerForm
from app.screens.servers.tool_call_dialog import ToolCallDialog
from app.shell.drop_handler import outcomes_dialog
from app.shell.work_questions import RenameWorkspaceDialog
from app.widgets import DetailPane, PickPopup
from app.widgets.picker import Picker
from mcp_tef import CaseDraft, Expectation, ExpectedCall, Json, ServerSpec, StoreError, Transport, launch_preview
from mcp_tef.trust.consents import contact_request, key_request, path_request
from tests.shots.stage import Stage, built
from tests.support.windows import until

OUTCOMES = (
    DropOutcome("bike-shop-cases.yaml", DropStatus.TAKEN, "12 cases added."),
    DropOutcome("old-cases.csv", DropStatus.LEFT, "The import was not carried out."),
    DropOutcome("notes.txt", DropStatus.REFUSED, "It holds neither servers nor tools nor test cases."),
    DropOutcome("other.db", DropStatus.REFUSED, "Another workspace is opened; only one can be open."),
)
CONFIG = """{"mcpServers": {
  "time": {"command": "uvx", "args": ["mcp-server-time"]},
  "files": {"command": "npx", "args": ["-y", "files-server@2.1.0", "/home/ada/papers"], "env": {"REGION": "eu"}},
  "tickets": {"type": "http", "url": "https://tickets.example.com/mcp", "headers": {"Authorization": "Bearer abc"}},
  "broken": {"args": ["--quiet"]}}}"""
CASES = """- name: Spare parts under a price
  query: Find spare parts for brakes with a highest price of 25 euros.
  suites: [Sample]
  servers: [Bike shop]
  expected: [{tool: find_parts, server: Bike shop, parameters: {query: brake, max_price: 25}}]
- name: A bell by its number
  query: Do you have BL-001 in stock?
  servers: [Bike shop]
  expected: [{tool: check_stock, server: Bike shop}]
- name: No query at all
- name: Small talk
  query: How was your weekend?
  servers: [Documents]
  suites: [Documents]
  expected: []
"""
WRONG_ARGUMENTS: Mapping[str, Json] = {"customer": "Noor Haddad", "bike": "city bike", "day": "next Friday", "work": []}


async def workspace_rename(stage: Stage) -> None:
    """The sheet that gives a workspace another name, with a name that cannot be had."""
    await stage.page("servers")
    stage.do("workspace.rename")
    sheet = await stage.sheet()
    assert isinstance(sheet, RenameWorkspaceDialog)
    sheet.edit.setText("shop/bikes")
    sheet.edit.typed.emit(sheet.edit.text())


async def outcomes(stage: Stage) -> None:
    """What came of several files that were dropped at once."""
    await stage.page("servers")
    outcomes_dialog(stage.bench.frame, OUTCOMES).open()


async def _servers(stage: Stage) -> ServersPage:
    page = await stage.page("servers")
    assert isinstance(page, ServersPage)
    await built(stage)
    return page


async def _server_form(stage: Stage) -> ServerDialog:
    await _servers(stage)
    stage.do("servers.add")
    sheet = await stage.sheet()
    assert isinstance(sheet, ServerDialog)
    return sheet


async def server_form(stage: Stage) -> None:
    """The form of a command."""
    (await _server_form(stage)).open_form(ServerForm(command="uvx mcp-server-time", name="time"))


async def server_form_faults(stage: Stage) -> None:
    """The form of an address, with something wrong in most fields."""
    sheet = await _server_form(stage)
    sheet.open_form(ServerForm(kind="url", url="tools.example.com/mcp", headers="X-Team", name="Bike shop"))
    sheet.keep()


async def server_form_consent(stage: Stage) -> None:
    """The form of a command that is tried and was not agreed to."""
    sheet = await _server_form(stage)
    sheet.open_form(ServerForm(command="npx -y files-server /home/ada/papers", name="files"))
    sheet.test()
    await until(lambda: any(bar.isVisible() for bar in sheet.findChildren(ConsentBar)))


async def server_preview(stage: Stage) -> None:
    """What an import of servers would bring."""
    page = await _servers(stage)
    page.importing.ask()
    source = await stage.sheet()
    assert isinstance(source, ImportSourceDialog)
    source.area.setPlainText(CONFIG)
    await source.read_text()
    await until(lambda: not source.isVisible())
    await stage.sheet()


async def consent(stage: Stage) -> None:
    """The question whether a program may be started for a run."""
    page = await _servers(stage)
    await until(lambda: page.presenter.servers)
    spec = next(server.spec for server in page.presenter.servers.values() if server.name == "Files")
    ConsentDialog(launch_preview(spec, ("workspace shop.mcp-tef",)), stage.bench.frame).open()


async def consent_key(stage: Stage) -> None:
    """The question whether a key may be sent to an address that a batch has stored."""
    listed_in = ("workspace /home/ada/Downloads/shop.mcp-tef",)
    request = key_request("openai", "OPENAI_API_KEY", "http://gateway.example:8080", listed_in, unencrypted=True)
    ConsentDialog(request, stage.bench.frame).open()


async def consent_model(stage: Stage) -> None:
    """The question whether a model may be asked at an address that the workspace names, without a key."""
    request = contact_request("openai", "http://gateway.example:8080", ("workspace /home/ada/Downloads/shop.mcp-tef",))
    ConsentDialog(request, stage.bench.frame).open()


async def consent_path(stage: Stage) -> None:
    """The question whether a tools file may be read that somebody else wrote into the workspace."""
    request = path_request("Files", "/home/ada/notes/tools.json", ("workspace /home/ada/Downloads/shop.mcp-tef",))
    ConsentDialog(request, stage.bench.frame).open()


async def open_file(stage: Stage) -> None:
    """The dialog that opens a workspace."""
    stage.do("workspace.open")


async def consent_address(stage: Stage) -> None:
    """The question whether a server may be contacted, with what it would send."""
    spec = ServerSpec(
        name="GitHub",
        transport=Transport.STREAMABLE_HTTP,
        url="https://api.example.com/mcp?org=${ORG:-acme}",
        headers={"Authorization": "Bearer ${GITHUB_TOKEN}"},
        origin="/home/ada/shop/.mcp.json",
    )
    page = await _servers(stage)
    (request,) = await page.session.value(lambda core: core.consents.missing([spec]))
    ConsentDialog(request, stage.bench.frame).open()


async def try_long_form(stage: Stage) -> None:
    """A tool with many parameters, tried with arguments that it does not take."""
    page = await _servers(stage)
    server = page.current()
    assert server is not None
    listing = await stage.session.call(lambda core: core.servers.tools(server.id))
    page.tool_commands.call_tool(next(tool for tool in listing.tools if tool.name == "book_repair"))
    sheet = await stage.sheet()
    assert isinstance(sheet, ToolCallDialog)
    sheet.form.fill(WRONG_ARGUMENTS)
    sheet.call()


async def cases_import(stage: Stage) -> None:
    """What an import of cases would do."""
    page = await stage.page("cases")
    assert isinstance(page, CasesPage)
    stage.session.spawn(page.transfer.import_text(CASES))
    await stage.sheet()


async def cases_importing(stage: Stage) -> None:
    """The bar of an import that takes long."""
    await stage.page("cases")
    stage.session.activity.add().show_share("Importing 5,000 cases.yaml", 0.62)


async def cases_picker(stage: Stage) -> None:
    """The tools to expect, narrowed by what was typed."""
    page = await stage.page("cases")
    assert isinstance(page, CasesPage)
    await until(lambda: page.findChild(Picker))
    picker = page.findChild(Picker)
    assert picker is not None
    picker.open()
    picker.popup().search.setText("repair")


async def cases_draft(stage: Stage) -> None:
    """The review of drafted cases, some kept and one dropped."""
    await _servers(stage)
    stage.do("servers.draft")
    sheet = await stage.sheet()
    assert isinstance(sheet, DraftCasesDialog)
    await until(lambda: sheet.table.rows.rowCount())
    for key in "KKDKK":
        sheet.press(key)


async def cases_check(stage: Stage) -> None:
    """The doubtful cases, with what answers the selected one."""
    page = await stage.page("cases")
    draft = CaseDraft(name="Names its tool", query="Call find_parts for a bell", servers=("Bike shop",))
    expected = Expectation(((ExpectedCall(tool="find_parts", server="Bike shop"),),))
    assert isinstance(page, CasesPage)
    total = page.presenter.total
    await page.session.call(lambda core: core.cases.add([replace(draft, expectation=expected)]))
    await until(lambda: page.table.rows.rowCount() > total)
    stage.do("cases.check")
    sheet = await stage.sheet()
    assert isinstance(sheet, CaseChecksDialog)
    await until(lambda: sheet.findings)


async def cases_filter(stage: Stage) -> None:
    """What test cases can be narrowed by."""
    page = await stage.page("cases")
    assert isinstance(page, CasesPage)
    assert page.header.filter is not None
    page.header.filter.click()


async def runs_start_model(stage: Stage) -> None:
    """The form of a run that asks a model, with something wrong in it."""
    page = await stage.page("runs")
    assert isinstance(page, RunsPage)
    page.open_target(StartRuns())
    sheet = await stage.sheet()
    assert isinstance(sheet, StartDialog)
    sheet.panel.selector.choose(1)
    sheet.panel.numbers[next(iter(sheet.panel.numbers))].setText("0")
    sheet.run.click()


async def runs_start_own(stage: Stage) -> None:
    """The form of a run on an own server that lists five models."""
    page = await stage.page("runs")
    assert isinstance(page, RunsPage)
    page.open_target(StartRuns())
    sheet = await stage.sheet()
    assert isinstance(sheet, StartDialog)
    sheet.panel.selector.choose(2)
    sheet.panel.own.show_found(["gemma3:4b", "llama3.1:8b", "mistral-nemo:12b", "qwen3:4b", "qwen3:8b"])
    sheet.panel.own.address.setText("http://127.0.0.1:11434/v1")
    sheet.panel.own.found.tick(["qwen3:4b", "qwen3:8b"], ticked=True)


async def metrics_export(stage: Stage) -> None:
    """What of the figures can be written to files."""
    page = await stage.page("metrics")
    assert isinstance(page, MetricsPage)
    stage.do("metrics.export")


async def palette_found(stage: Stage) -> None:
    """The palette with what has the typed name."""
    await stage.page("runs")
    stage.do("palette")
    await _typed(stage, "repair")


async def palette_off(stage: Stage) -> None:
    """The palette where some of what was typed for cannot be done now."""
    await stage.page("runs")
    stage.do("palette")
    await _typed(stage, "run")


async def _typed(stage: Stage, text: str) -> None:
    await until(lambda: stage.bench.frame.findChild(PickPopup) is not None)
    popup = next(one for one in stage.bench.frame.findChildren(PickPopup) if one.isVisible())
    popup.search.setText(text)


async def messages(stage: Stage) -> None:
    """What the window said lately."""
    await stage.page("runs")
    stage.do("messages")
    await stage.sheet()


async def settings(stage: Stage, tab: int) -> None:
    """The settings at a tab."""
    stage.do("settings")
    sheet = await stage.sheet()
    pane = sheet.findChild(DetailPane)
    assert isinstance(pane, DetailPane)
    pane.tabs.choose(tab)


async def palette(stage: Stage) -> None:
    """The palette over Runs."""
    await stage.page("runs")
    stage.do("palette")


async def shortcuts(stage: Stage) -> None:
    """The sheet of shortcuts."""
    await stage.page("runs")
    stage.do("shortcuts")
    await stage.sheet()


async def help_page(stage: Stage, topic: str, typed: str = "") -> None:
    """A help page, and what a search in it finds."""
    await stage.page("runs")
    shown = stage.window.show_help(topic)
    shown.search.setText(typed)
    await until(lambda: shown.isVisible() and (not typed or shown.topic_list.rows.ids()[0].count("#")))
    await until(shown.text.has_drawn)


async def failure(stage: Stage) -> None:
    """An error that no screen owns."""
    await stage.page("runs")
    stage.session.show_error(StoreError("The disk is full.", hint="Make room, then try again."))


async def toast(stage: Stage) -> None:
    """A toast with Undo."""
    stage.window.notice.clear()
    await stage.page("cases")
    stage.session.toast("Deleted 3 test cases", undo=lambda: None)
