"""Commands of the cases screen, its menus, and the links from cases to their runs."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from app.core_link.commands import Command
from app.core_link.session import Session
from app.screens.cases.presenter import CasesPresenter
from app.screens.cases.rows import LAST_WORDS, Last, Wanted
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
Narrow = Callable[[Wanted], object]


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


def filter_actions(presenter: CasesPresenter, narrow: Narrow, rename: Callable[[str], object]) -> Sequence[Action]:
    """Every filter as a choice that is ticked while it is in force, a way to drop all, and to rename the suite."""
    now = presenter.wanted
    groups = (
        _expected(now, narrow),
        [_last(last, now, narrow) for last in Last],
        _named("Suite", presenter.all_suites(), now.suite, lambda name: narrow(replace(now, suite=name))),
        _named("Tag", presenter.all_tags(), now.tag, lambda name: narrow(replace(now, tag=name))),
        _named("Server", presenter.server_names(), now.server, lambda name: narrow(replace(now, server=name))),
        rename_actions([now.suite] if now.suite else [], rename),
    )
    clear = Action(
        text="Show all cases",
        do=lambda: narrow(Wanted(text=now.text)),
        enabled=now.filters > 0,
    )
    return [clear, *(action for group in groups for action in _apart(group))]


def _apart(actions: Sequence[Action]) -> Iterable[Action]:
    return (replace(action, apart=number == 0) for number, action in enumerate(actions))


def _expected(now: Wanted, narrow: Narrow) -> list[Action]:
    """The tool that another screen asked for; it can only be let go here."""
    if now.called is None:
        return []
    text = f"Expects: {one_line(now.called.text, 40)}"
    return [Action(text=text, do=lambda: narrow(replace(now, called=None)), checked=True)]


def _last(last: Last, now: Wanted, narrow: Narrow) -> Action:
    chosen = now.last is last
    return Action(
        text=f"Last run: {LAST_WORDS[last][0].lower()}{LAST_WORDS[last][1:]}",
        do=lambda: narrow(replace(now, last=None if chosen else last)),
        checked=chosen,
    )


def _named(what: str, names: Sequence[str], current: str, choose: Callable[[str], object]) -> list[Action]:
    return [_one(f"{what}: {one_line(name, 40)}", name, current, choose) for name in names]


def _one(text: str, name: str, current: str, choose: Callable[[str], object]) -> Action:
    chosen = name == current
    return Action(text=text, do=lambda: choose("" if chosen else name), checked=chosen)


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
            self._session.go("runs", ("filter", where, title))

    async def _save_and_run(self, ids: tuple[CaseId, ...]) -> None:
        await self._save()
        runnable = self._presenter.runnable(ids)
        if runnable:
            self._session.go("runs", ("start", runnable))
