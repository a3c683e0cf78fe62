"""Commands of the cases screen, in palette and menus, and the links from cases to their runs."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from app.core_link.session import Session
from app.core_link.targets import ShowRuns, StartRuns
from app.screens.cases.bulk_edit import BulkEdit, SuiteRenaming
from app.screens.cases.case_checks import CaseDrafts
from app.screens.cases.import_export import CaseFiles
from app.screens.cases.presenter import CasesPresenter
from app.screens.cases.rows import FIELDS, SERVER, SUITE, TAG
from app.screens.kit import FilterValues
from app.screens.kit.menus import ScreenCommand, filter_actions, menu_of
from app.text.formatting import count
from app.widgets import Action, one_line
from mcp_tef import CaseId, RunFilter

MOST_SUITES: Final = 3


class CaseRunLinks:
    """Navigation from saved cases to the Runs screen."""

    def __init__(self, session: Session, presenter: CasesPresenter, save: Callable[[], Awaitable[None]]) -> None:
        self._session = session
        self._presenter = presenter
        self._save = save

    def run(self, ids: Sequence[CaseId]) -> None:
        """Save the cases and open the form that runs them."""
        self._session.spawn(self._save_and_run(tuple(ids)))

    def run_edited(self) -> None:
        """Save the edited case and run it at once with the last settings."""
        self._session.spawn(self._save_and_run_edited())

    async def _save_and_run_edited(self) -> None:
        edited = self._presenter.edited
        await self._save()
        if edited is not None and (ids := self._presenter.runnable([edited.case_id])):
            self._session.go(StartRuns(ids, at_once=True))

    def show(self, ids: Sequence[CaseId]) -> None:
        """Show the runs of the cases, the newest batch first."""
        known = self._presenter.runnable(ids)
        if known:
            title = "Runs of one case" if len(known) == 1 else f"Runs of {count(len(known), 'case')}"
            self._session.go(ShowRuns(RunFilter(case_ids=known), title))

    async def _save_and_run(self, ids: tuple[CaseId, ...]) -> None:
        await self._save()
        runnable = self._presenter.runnable(ids)
        if runnable:
            self._session.go(StartRuns(runnable))


@dataclass(frozen=True, slots=True)
class CaseCommands:
    """Commands of the page; `shown` returns the cases to export: the selected ones if there are several, else all."""

    presenter: CasesPresenter
    bulk: BulkEdit
    suites: SuiteRenaming
    files: CaseFiles
    runs: CaseRunLinks
    drafts: CaseDrafts
    new: Callable[[], object]
    shown: Callable[[], Sequence[CaseId]]

    def all(self) -> tuple[ScreenCommand, ...]:
        """Return all commands; those with a menu text are in a menu, too."""
        new = _command("new", "New case", self.new, keys="Ctrl+N")
        return (new, *self._drafts(), *self._files(), *self._selected())

    def row_menu(self) -> list[Action]:
        """Return the menu of the selected cases."""
        return menu_of(self._selected())

    def file_menu(self) -> list[Action]:
        """Return the menu that drafts and checks cases, and imports and exports files."""
        return menu_of((*self._drafts(), *self._files()))

    def _drafts(self) -> tuple[ScreenCommand, ...]:
        can = partial(_command, needs=lambda: bool(self.presenter.servers), unless="Add a server first")
        check = _command(
            "check",
            "Check the test cases",
            lambda: self.drafts.check(self.shown()),
            self._check_text,
            needs=lambda: bool(self.shown()),
            unless="There are no cases to check",
            icon="check-square",
        )
        return (can("draft", "Draft test cases", self.drafts.draft, "Draft cases…", icon="sparkle"), check)

    def _check_text(self) -> str:
        return f"Check {count(len(self.shown()), 'case')}…"

    def _files(self) -> tuple[ScreenCommand, ...]:
        exported = partial(_command, needs=lambda: bool(self.shown()), unless="There are no cases to export")
        return (
            _command("import", "Import cases from a file", self.files.ask_import, "Import…", icon="download-simple"),
            exported("export", "Export cases to a file", self._export, "Export…", icon="export"),
            exported(
                "ci", "Export all cases and tools for CI", self.files.ask_ci_export, "Export for CI…", icon="export"
            ),
        )

    def _selected(self) -> tuple[ScreenCommand, ...]:
        saved = partial(_command, needs=self._has_saved, unless="Select saved cases first")
        several = partial(_command, needs=self._has_several, unless="Select several saved cases first")
        suite = partial(_command, needs=self._has_suites, unless="No case is in a suite yet")
        bulk, of = self.bulk, "of the selected cases"
        return (
            saved("run", "Run the selected cases", self._run, self._run_text, keys="Ctrl+Return", icon="play"),
            saved("runs", f"Show the runs {of}", self.show_runs, "Show runs", icon="play-circle"),
            saved("duplicate", "Duplicate the selected cases", bulk.duplicate, "Duplicate", keys="Ctrl+D", icon="copy"),
            saved("label", f"Tags, suites and servers {of}", bulk.label, "Tags, suites and servers…", icon="tag"),
            several("family", "Make the selected cases one family", bulk.make_family, "Make one family", icon="users"),
            saved("expect", f"Expected tool {of}", bulk.expect, "Expected tool…", icon="wrench"),
            suite("rename_suite", "Rename a suite", self.suites.ask, keys="Shift+F2", entries=self._suite_entries),
            saved("copy", "Copy the selected queries", bulk.copy_queries, self._copy_text, keys="Ctrl+Shift+C"),
            saved("export_selected", "Export the selected cases", self._export_selected, "Export…", icon="export"),
            _command(
                "delete",
                "Delete the selected cases",
                bulk.delete,
                lambda: f"Delete {count(len(bulk.selected()), 'case')}",
                menu_keys="Del",
                needs=lambda: bool(bulk.selected()),
                unless="Select cases first",
                icon="trash",
                apart=True,
            ),
        )

    def show_runs(self) -> None:
        """Show the runs of the selected cases."""
        self.runs.show(self.bulk.selected())

    def _run(self) -> None:
        self.runs.run(self.bulk.selected())

    def _export_selected(self) -> None:
        self.files.ask_export(self.presenter.runnable(self.bulk.selected()))

    def _export(self) -> None:
        self.files.ask_export(self.shown())

    def _has_saved(self) -> bool:
        return bool(self.presenter.runnable(self.bulk.selected()))

    def _has_several(self) -> bool:
        return len(self.presenter.runnable(self.bulk.selected())) > 1

    def _has_suites(self) -> bool:
        return bool(self.presenter.all_suites())

    def _run_text(self) -> str:
        return f"Run {count(len(self.bulk.selected()), 'case')}…"

    def _copy_text(self) -> str:
        return "Copy queries" if len(self.bulk.selected()) > 1 else "Copy query"

    def _suite_entries(self) -> list[Action]:
        return rename_actions(self.bulk.suites()[:MOST_SUITES], self.suites.ask)


def _command(
    name: str, text: str, do: Callable[[], object], menu_text: str | Callable[[], str] = "", **options: Any
) -> ScreenCommand:
    return ScreenCommand(id=f"cases.{name}", text=text, do=do, menu_text=menu_text, group="Test cases", **options)


def rename_actions(suites: Sequence[str], rename: Callable[[str], object]) -> list[Action]:
    """Return an action for each suite that renames it."""
    return [
        Action(text=f"Rename suite “{one_line(suite, 40)}”…", do=partial(rename, suite), icon="pencil-simple")
        for suite in suites
    ]


def case_filter_actions(
    presenter: CasesPresenter, show: Callable[[FilterValues], object], rename: Callable[[str], object]
) -> Sequence[Action]:
    """Return every filter as a choice, and an entry that renames the suite in force."""
    values = presenter.view.filters
    offered = {
        SUITE.name: presenter.all_suites(),
        TAG.name: presenter.all_tags(),
        SERVER.name: presenter.server_names(),
    }
    renames = rename_actions(values.of(SUITE.name), rename)
    filters = filter_actions(FIELDS, values, show, offered, show_all="Show all cases")
    return [*filters, *(replace(action, apart=True) for action in renames)]
