"""Everything that opens over the screens, with texts that came from elsewhere in it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from app.core_link.import_outcomes import DropOutcome, DropStatus
from app.core_link.session import Page
from app.dialogs.consent import ConsentSheet
from app.dialogs.preflight import ApiKeyDialog
from app.dialogs.rename import RenameWorkspaceDialog
from app.screens.cases.bulk_edit import ExpectedToolDialog, LabelsDialog
from app.screens.cases.import_export import export_warnings_dialog
from app.screens.cases.page import CasesPage
from app.screens.runs.dialogs import CostCapDialog, RenameBatchDialog
from app.screens.runs.page import RunsPage
from app.screens.servers.page import ServersPage
from app.screens.servers.server_dialog import ServerDialog
from app.screens.servers.server_form import ServerForm
from app.screens.servers.tool_call_dialog import ConfirmCallDialog, ToolCallDialog
from app.screens.similarity.comparison_choices import EmbedderDialog
from app.screens.similarity.page import SimilarityPage
from app.shell.drop_handler import outcomes_dialog
from app.shell.main_window import MainWindow
from app.shell.screen_specs import screens
from app.shell.shutdown import closing_question
from app.shell.system_notifications import tell
from app.widgets import ask
from mcp_tef import (
    CaseDraft,
    CaseFileFormat,
    CaseId,
    DetectedFile,
    ExportReport,
    FileKind,
    InputError,
    Server,
    ServerSpec,
    StoreError,
    Tool,
    Transport,
    UsedUpCap,
    program_request,
)
from tests.support.case_book import written

P = TypeVar("P", bound=Page)
Over = Iterator[tuple[str, Callable[[], object]]]
ADDRESS = "http://127.0.0.1:9/mcp"


def over_screens(window: MainWindow, folder: Path, server: Server, text: str, mark: str) -> Over:
    """What opens, by name, and how it is opened; a `text` and a shorter `mark` stand wherever they can."""
    yield from _notices(window, text)
    yield from _of_servers(window, folder, server, text, mark)
    yield from _of_asking(window, folder, text)
    yield from _of_many(window, text)
    yield from _of_names(window, folder, text)
    yield from _of_ends(window, folder, text)
    yield "settings", window.settings_wanted.emit
    yield "palette", window.show_palette
    yield "shortcuts", window.show_shortcuts
    yield "messages", window.show_messages
    yield "help", lambda: window.show_help("confusion")


def _page(window: MainWindow, kind: type[P]) -> P:
    return next(page for page in window.findChildren(kind) if isinstance(page, kind))


def _command(window: MainWindow, name: str) -> Callable[[], object]:
    commands = (command for place in screens() for command in window.page(place.key).commands())
    return next(command.do for command in commands if command.id == name)


def _notices(window: MainWindow, text: str) -> Over:
    session = window.session
    yield "toast", lambda: session.toast(text, undo=lambda: None)
    yield "error", lambda: session.show_error(StoreError(text, hint=text, context={text: text}))
    yield "question", lambda: session.spawn(ask(window, text, text, yes="Yes"))


def _of_servers(window: MainWindow, folder: Path, server: Server, text: str, mark: str) -> Over:
    session, page = window.session, _page(window, ServersPage)
    config = {"command": text, "args": [text, mark], "env": {mark: text}, "note": text, "cwd": text}
    configs = written(folder / "mcp.json", {"mcpServers": {text: config, mark: {"url": ADDRESS}}})
    dropped = DetectedFile(kind=FileKind.SERVERS, path=configs)
    spec = ServerSpec(name=text, transport=Transport.STDIO, command=text, args=(text,), cwd=text, env={text: text})
    properties = {mark: {"description": text, "enum": [text]}, text: {"type": "string"}}
    tool = Tool(
        server=text,
        name=text,
        description=text,
        input_schema={"type": "object", "properties": properties},
        raw={},
    )

    def by_command() -> None:
        sheet = ServerDialog(session, page.presenter, page)
        sheet.open_form(ServerForm(kind="command"))
        sheet.open()

    yield "server, which kind", _command(window, "servers.add")
    yield "server, a command", by_command
    yield "server, an address", _command(window, "servers.edit")
    yield "import of servers, from where", _command(window, "servers.import")
    yield "import of servers", lambda: session.spawn(page.bring_in([dropped]))
    yield "consent", lambda: ConsentSheet(program_request(spec, (spec.name,)), window).open()
    yield "try a tool", lambda: ToolCallDialog(session, server, tool, window).open()
    yield "call a tool", lambda: ConfirmCallDialog(server, tool, {text: text}, window).open()


def _of_asking(window: MainWindow, folder: Path, text: str) -> Over:
    session, pairs = window.session, _page(window, SimilarityPage).pair
    case = {"name": text, "query": text, "servers": [text], "expected": [{"tool": text}], "tags": [text], "odd": text}
    cases = written(folder / "cases.json", {"version": 1, "cases": [case, {"query": 1, "name": text}]})
    yield "import of cases", lambda: session.spawn(_page(window, CasesPage).transfer.import_file(cases))
    yield "start", _command(window, "runs.start")
    yield "key", lambda: ApiKeyDialog(text, text, window).open()
    yield "embedder", lambda: EmbedderDialog(f"litellm:{text}", window).open()
    yield "questions about tools", _command(window, "quality.ask")
    yield "questions about pairs", lambda: pairs.ask([(0, 1)])


def _of_many(window: MainWindow, text: str) -> Over:
    drafts = {CaseId(f"case-{number}"): CaseDraft(name=text, query=text, tags=(text,)) for number in range(3)}
    tools = _page(window, CasesPage).presenter.tools.of(())
    listed = drafts.values()
    names = (text,)
    yield (
        "tags, suites and servers of cases",
        lambda: LabelsDialog(listed, tags=names, suites=names, servers=names, parent=window).open(),
    )
    yield "expected tool of cases", lambda: ExpectedToolDialog(drafts, tools, window).open()
    yield "columns of a table", lambda: _page(window, RunsPage).run_list.table.arrange()


def _of_names(window: MainWindow, folder: Path, text: str) -> Over:
    def refused(*_: object) -> None:
        raise InputError(text)

    yield "name of a batch", lambda: RenameBatchDialog(text, window).open()
    yield "name of a workspace", lambda: RenameWorkspaceDialog(folder / f"{text}.db", refused, window).open()
    yield "cost cap", lambda: CostCapDialog(UsedUpCap(1.0, 1.2, 0.4), window).open()


def _of_ends(window: MainWindow, folder: Path, text: str) -> Over:
    outcomes = [DropOutcome(text, fate, text) for fate in DropStatus for _ in range(3)]
    losses = tuple((text, text) for _ in range(9))
    report = ExportReport(form=CaseFileFormat.CSV, written=3, left_out=losses, lost=losses)
    works = [f"{number} of {text}" for number in range(9)]
    yield "what came of files", lambda: outcomes_dialog(window, outcomes).open()
    yield "what an export does not hold", lambda: export_warnings_dialog(window, folder / "cases.json", report).open()
    yield "what happened to files", lambda: tell(window, [text] * 5, lambda: None)
    yield "work under way", lambda: closing_question(window, works, lambda: None).open()
