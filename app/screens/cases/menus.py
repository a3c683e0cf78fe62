"""The menus: what can be done to selected cases, what narrows the table, and files."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from app.screens.cases.presenter import CasesPresenter
from app.screens.cases.rows import LAST_WORDS, Last, Wanted
from app.text.formatting import count
from app.widgets import Action, one_line

MOST_SUITES = 3
Narrow = Callable[[Wanted], object]
Deed = Callable[[], object]


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
