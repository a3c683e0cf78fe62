"""Commands of the cases screen, its menus, and the links from cases to their runs."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from app.core_link.commands import Command
from app.core_link.session import Session
from app.core_link.targets import ShowRuns, StartRuns
from app.screens.cases.presenter import CasesPresenter
from app.screens.cases.rows import FIELDS, SERVER, SUITE, TAG
from app.screens.kit import FilterValues
from app.screens.kit.menus import filter_actions
from app.text.formatting import count
from app.widgets import Action, one_line
from mcp_tef import CaseId, RunFilter

GROUP: Final = "Test cases"
CHOOSE: Final = "Choose cases first"
Deed = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDeeds:
    """The page's deeds."""

    new: Deed
    run: Deed
    runs: Deed
    duplicate: Deed
    delete: Deed
    label: Deed
    expect: Deed
    copy: Deed
    rename_suite: Deed
    to_import: Deed
    to_export: Deed

    def commands(self, chosen: Callable[[], bool], suites: Callable[[], bool]) -> tuple[Command, ...]:
        """One command for each; most need chosen cases, and one a suite."""
        return (*self._of_files(), *self._of_chosen(chosen), self._of_suites(suites))

    def _of_files(self) -> Iterator[Command]:
        yield _command("new", "New case", self.new, "Ctrl+N")
        yield _command("import", "Import cases from a file", self.to_import)
        yield _command("export", "Export cases to a file", self.to_export)

    def _of_chosen(self, chosen: Callable[[], bool]) -> Iterator[Command]:
        deeds = (
            ("run", "Run the selected cases", self.run, "Ctrl+Return"),
            ("runs", "Show the runs of the selected cases", self.runs, ""),
            ("duplicate", "Duplicate the selected cases", self.duplicate, "Ctrl+D"),
            ("delete", "Delete the selected cases", self.delete, ""),
            ("label", "Tags, suites and servers of the selected cases", self.label, ""),
            ("expect", "Expected tool of the selected cases", self.expect, ""),
            ("copy", "Copy the selected queries", self.copy, "Ctrl+Shift+C"),
        )
        return (_command(name, text, do, keys, chosen, CHOOSE) for name, text, do, keys in deeds)

    def _of_suites(self, suites: Callable[[], bool]) -> Command:
        unless = "No case is in a suite yet"
        return _command("rename_suite", "Rename a suite", self.rename_suite, "Shift+F2", suites, unless)


def _always() -> bool:
    return True


def _command(
    name: str, text: str, do: Deed, keys: str = "", needs: Callable[[], bool] = _always, unless: str = ""
) -> Command:
    return Command(id=f"cases.{name}", text=text, do=do, keys=keys, needs=needs, unless=unless, group=GROUP)


MOST_SUITES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDeeds:
    """What the menu of selected cases does."""

    run: Deed
    runs: Deed
    duplicate: Deed
    copy: Deed
    label: Deed
    expect: Deed
    rename_suite: Callable[[str], object]
    export: Deed
    delete: Deed


def row_actions(number: int, deeds: RowDeeds, suites: Sequence[str], *, saved: bool) -> Sequence[Action]:
    """What can be done to so many selected cases of these suites; most of it only to saved cases."""
    copy = "Copy queries" if number > 1 else "Copy query"
    cases = count(number, "case")
    return [
        Action(text=f"Run {cases}", do=deeds.run, icon="play", keys="Ctrl+Return", enabled=saved),
        Action(text="Show runs", do=deeds.runs, icon="play-circle", enabled=saved),
        Action(text="Duplicate", do=deeds.duplicate, icon="copy", keys="Ctrl+D", enabled=saved),
        Action(text="Tags, suites and servers…", do=deeds.label, icon="tag", enabled=saved),
        Action(text="Expected tool…", do=deeds.expect, icon="wrench", enabled=saved),
        *rename_actions(suites[:MOST_SUITES], deeds.rename_suite),
        Action(text=copy, do=deeds.copy, keys="Ctrl+Shift+C", enabled=saved),
        Action(text="Export…", do=deeds.export, icon="export", enabled=saved),
        Action(text=f"Delete {cases}", do=deeds.delete, icon="trash", keys="Del", apart=True),
    ]


def more_actions(to_import: Deed, to_export: Deed, *, some: bool) -> Sequence[Action]:
    """Files in and out."""
    return [
        Action(text="Import…", do=to_import, icon="download-simple"),
        Action(text="Export…", do=to_export, icon="export", enabled=some),
    ]


def rename_actions(suites: Sequence[str], rename: Callable[[str], object]) -> list[Action]:
    """A way to rename each suite."""
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


class Running:
    """Leads to the Runs screen with cases that are saved."""

    def __init__(self, session: Session, presenter: CasesPresenter, save: Callable[[], Awaitable[None]]) -> None:
        self._session = session
        self._presenter = presenter
        self._save = save

    def run(self, ids: Sequence[CaseId]) -> None:
        """Open the form that runs them."""
        self._session.spawn(self._save_and_run(tuple(ids)))

    def show(self, ids: Sequence[CaseId]) -> None:
        """Show their runs, the newest batch first."""
        known = self._presenter.runnable(ids)
        if known:
            title = "Runs of one case" if len(known) == 1 else f"Runs of {count(len(known), 'case')}"
            where = RunFilter(case_ids=known)
            self._session.go(ShowRuns(where, title))

    async def _save_and_run(self, ids: tuple[CaseId, ...]) -> None:
        await self._save()
        runnable = self._presenter.runnable(ids)
        if runnable:
            self._session.go(StartRuns(runnable))
