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
CHOOSE: Final = "Select cases first"
ActionCallback = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageActions:
    """Callbacks of the page's commands."""

    new: ActionCallback
    run: ActionCallback
    runs: ActionCallback
    duplicate: ActionCallback
    delete: ActionCallback
    label: ActionCallback
    expect: ActionCallback
    copy: ActionCallback
    rename_suite: ActionCallback
    to_import: ActionCallback
    to_export: ActionCallback

    def commands(self, chosen: Callable[[], bool], suites: Callable[[], bool]) -> tuple[Command, ...]:
        """Return all commands; most need selected cases, and one needs a suite."""
        return (*self._of_files(), *self._of_chosen(chosen), self._of_suites(suites))

    def _of_files(self) -> Iterator[Command]:
        yield _command("new", "New case", self.new, "Ctrl+N")
        yield _command("import", "Import cases from a file", self.to_import)
        yield _command("export", "Export cases to a file", self.to_export)

    def _of_chosen(self, chosen: Callable[[], bool]) -> Iterator[Command]:
        actions = (
            ("run", "Run the selected cases", self.run, "Ctrl+Return"),
            ("runs", "Show the runs of the selected cases", self.runs, ""),
            ("duplicate", "Duplicate the selected cases", self.duplicate, "Ctrl+D"),
            ("delete", "Delete the selected cases", self.delete, ""),
            ("label", "Tags, suites and servers of the selected cases", self.label, ""),
            ("expect", "Expected tool of the selected cases", self.expect, ""),
            ("copy", "Copy the selected queries", self.copy, "Ctrl+Shift+C"),
        )
        return (_command(name, text, do, keys, chosen, CHOOSE) for name, text, do, keys in actions)

    def _of_suites(self, suites: Callable[[], bool]) -> Command:
        unless = "No case is in a suite yet"
        return _command("rename_suite", "Rename a suite", self.rename_suite, "Shift+F2", suites, unless)


def _always() -> bool:
    return True


def _command(
    name: str, text: str, do: ActionCallback, keys: str = "", needs: Callable[[], bool] = _always, unless: str = ""
) -> Command:
    return Command(id=f"cases.{name}", text=text, do=do, keys=keys, needs=needs, unless=unless, group=GROUP)


MOST_SUITES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RowActions:
    """Callbacks of the menu for selected cases."""

    run: ActionCallback
    runs: ActionCallback
    duplicate: ActionCallback
    copy: ActionCallback
    label: ActionCallback
    expect: ActionCallback
    rename_suite: Callable[[str], object]
    export: ActionCallback
    delete: ActionCallback


def row_actions(number: int, actions: RowActions, suites: Sequence[str], *, saved: bool) -> Sequence[Action]:
    """Return the menu for `number` selected cases of these suites; most entries need saved cases."""
    copy = "Copy queries" if number > 1 else "Copy query"
    cases = count(number, "case")
    return [
        Action(text=f"Run {cases}", do=actions.run, icon="play", keys="Ctrl+Return", enabled=saved),
        Action(text="Show runs", do=actions.runs, icon="play-circle", enabled=saved),
        Action(text="Duplicate", do=actions.duplicate, icon="copy", keys="Ctrl+D", enabled=saved),
        Action(text="Tags, suites and servers…", do=actions.label, icon="tag", enabled=saved),
        Action(text="Expected tool…", do=actions.expect, icon="wrench", enabled=saved),
        *rename_actions(suites[:MOST_SUITES], actions.rename_suite),
        Action(text=copy, do=actions.copy, keys="Ctrl+Shift+C", enabled=saved),
        Action(text="Export…", do=actions.export, icon="export", enabled=saved),
        Action(text=f"Delete {cases}", do=actions.delete, icon="trash", keys="Del", apart=True),
    ]


def more_actions(to_import: ActionCallback, to_export: ActionCallback, *, some: bool) -> Sequence[Action]:
    """Return the actions that import and export files."""
    return [
        Action(text="Import…", do=to_import, icon="download-simple"),
        Action(text="Export…", do=to_export, icon="export", enabled=some),
    ]


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


class CaseRunLinks:
    """Navigation from saved cases to the Runs screen."""

    def __init__(self, session: Session, presenter: CasesPresenter, save: Callable[[], Awaitable[None]]) -> None:
        self._session = session
        self._presenter = presenter
        self._save = save

    def run(self, ids: Sequence[CaseId]) -> None:
        """Save the cases and open the form that runs them."""
        self._session.spawn(self._save_and_run(tuple(ids)))

    def show(self, ids: Sequence[CaseId]) -> None:
        """Show the runs of the cases, the newest batch first."""
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
