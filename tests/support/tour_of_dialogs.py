"""Dialogs of Workshop, Library, Models, Quality and Test cases that the tour of the window does not open."""

from collections.abc import Callable, Iterator
from pathlib import Path

from app.dialogs.draft_cases import DraftCasesDialog
from app.dialogs.draft_cases_presenter import CaseDraftingPresenter
from app.screens.cases.bulk_edit import RenameSuiteDialog
from app.screens.library.dialogs import CategoryDialog, NewToolDialog, ServeDialog
from app.screens.models.definition_tab import LinesDialog
from app.screens.models.groups_presenter import DeploymentForm
from app.screens.models.groups_tab import DeploymentDialog
from app.screens.models.page import ModelsPage
from app.screens.models.routes_presenter import RouteComparisonRequest
from app.screens.models.routes_view import CompareDialog, RouteDialog
from app.screens.models.search_presenter import SearchToolForm
from app.screens.models.search_tab import SearchToolDialog
from app.screens.quality.finding_card import IgnoreDialog
from app.screens.runs.dialogs import PausedBatchDialog
from app.screens.workshop.batch_tab import CrowdOptionsDialog
from app.screens.workshop.crowd_presenter import CrowdPresenter
from app.screens.workshop.decision_dialogs import DecisionDialog, DraftHistoryDialog
from app.screens.workshop.draft_dialogs import (
    AddCasesDialog,
    DraftNameDialog,
    ListingConflictsDialog,
    SourceEditsDialog,
)
from app.screens.workshop.draft_verdicts import DraftHistoryRow
from app.shell.main_window import MainWindow
from mcp_tef import CaseDraft, CopyOnlyText, ModelRoute, ModelRouter, SourceEdit, TextConflict
from tests.support.case_factories import stored

Over = Iterator[tuple[str, Callable[[], object]]]


def further_dialogs(window: MainWindow, text: str) -> Over:
    """What opens, by name, and how it is opened; a `text` stands wherever it can."""
    yield from _of_drafts(window, text)
    yield from _of_models(window, text)
    yield from _of_library(window, text)
    yield "name of a suite", lambda: RenameSuiteDialog((text, "other"), text, window).open()
    yield "accepted finding", lambda: IgnoreDialog(text, text, window).open()
    yield "paused batch", lambda: PausedBatchDialog(text, text, window).open()


def _of_drafts(window: MainWindow, text: str) -> Over:
    case = stored(CaseDraft(name=text, query=text))
    conflict = TextConflict(tool=text, path=("description",), was=text, now="now", draft=None)
    edit = SourceEdit(path=Path("server.py"), line=3, diff=text, before=b"", after=b"")
    copy = CopyOnlyText(path=Path("server.js"), line=3, text=text, reason="The file cannot be parsed.")
    rows = [DraftHistoryRow(step=step, changes=text, made="now", current=step == 0) for step in range(2)]
    crowd = CrowdPresenter(window.session.call)
    yield "new draft", lambda: DraftNameDialog("New draft", "", (), window, (text,)).open()
    yield "name of a draft", lambda: DraftNameDialog("Rename the draft", text, (), window).open()
    yield "cases of a trial", lambda: AddCasesDialog("Target cases", [(case, text)], window).open()
    yield "changed listing", lambda: ListingConflictsDialog([conflict], window).open()
    yield "edits of the source", lambda: SourceEditsDialog([edit, copy], str, window).open()
    yield "how it was decided", lambda: DecisionDialog([(text, [(text, text)])], window).open()
    yield "history of a draft", lambda: DraftHistoryDialog(text, rows, window).open()
    yield "options of a crowd", lambda: CrowdOptionsDialog("Options", crowd, window).open()


def _of_models(window: MainWindow, text: str) -> Over:
    session, known = window.session, ("ollama/qwen3:8b",)
    route = ModelRoute(target=known[0], utterances=(text,), description=text)
    router = ModelRouter(name="router", routes=(route,), default=known[0], embedder="tfidf")

    def by_command(command: str) -> Callable[[], object]:
        def open_dialog() -> None:
            page = window.page("models")
            assert isinstance(page, ModelsPage)
            page.show_tab("prompts")
            next(one for one in page.commands() if one.id == command).do()

        return open_dialog

    def of_deployment() -> None:
        DeploymentDialog(session, "New group", "Add group", DeploymentForm(), known, window, named=True).open()

    yield "new group", of_deployment
    yield "new router", lambda: RouteDialog(session, "New router", "Add router", known, window, named=True).open()
    yield "comparison of a router", lambda: CompareDialog(session, router, (), RouteComparisonRequest(), window).open()
    yield "utterances", lambda: LinesDialog(session, "Utterances", "Add", window, text=text).open()
    yield "new search tool", lambda: SearchToolDialog(session, "New tool", "Add", SearchToolForm(), window).open()
    yield "new prompt", by_command("models.prompt_new")
    yield "versions to compare", by_command("models.prompt_compare")


def _of_library(window: MainWindow, text: str) -> Over:
    def of_drafted_cases() -> None:
        presenter = CaseDraftingPresenter(window.session.call)
        DraftCasesDialog(window.session, presenter, ("docs",), "Draft test cases", window).open()

    yield "new tool", lambda: NewToolDialog((), window).open()
    yield "new category", lambda: CategoryDialog(window).open()
    yield "the library over MCP", lambda: ServeDialog("work.db", (text,), window).open()
    yield "drafted cases", of_drafted_cases
