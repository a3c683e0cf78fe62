"""Commands of the runs screen, and the links from one run to other screens."""

from collections.abc import Callable, Mapping
from functools import partial

from app.core_link.commands import Command
from app.core_link.links import Go, Link
from app.screens.runs.batch_actions import BatchActions
from app.screens.runs.batch_list import BatchListPane
from app.screens.runs.presenter import RunsPresenter
from app.screens.runs.selected_runs import SelectedRuns
from app.screens.runs.verdict import VerdictView

LINK_TEXTS = {
    "case": "Show the test case of the run",
    "expected": "Show the expected tool",
    "selected": "Show the selected tool",
    "pair": "Compare the expected with the selected tool",
    "advice": "Show what to write instead",
}
UNLESS = dict.fromkeys(("pair", "advice"), "Choose a run that picked another tool than was expected")
KEYS = {"advice": "Ctrl+I"}
RunLinks = Callable[[], Mapping[str, Link]]


def run_links(view: VerdictView) -> Mapping[str, Link]:
    """Each lead there is; of several pairs of calls, the first that was confused."""
    pair = next((pair for pair in view.pairs if pair.links), next(iter(view.pairs), None))
    sides = (pair.expected.link, pair.selected.link, *(pair.links or (None, None))) if pair else ()
    return {key: lead for key, lead in zip(LINK_TEXTS, (view.case_link, *sides), strict=False) if lead}


def link_commands(leads: RunLinks, go: Go) -> list[Command]:
    """The same as commands, for whichever run is shown."""

    def follow(key: str) -> None:
        go(leads()[key].target)

    return [
        Command(
            id=f"runs.to.{key}",
            text=text,
            do=partial(follow, key),
            keys=KEYS.get(key, ""),
            needs=partial(_there, leads, key),
            unless=UNLESS.get(key, "Choose a run first"),
            group="Runs",
        )
        for key, text in LINK_TEXTS.items()
    ]


def _there(leads: RunLinks, key: str) -> bool:
    return key in leads()


Deed = Callable[[], object]
UNDER_WAY, SOME = "No batch is under way", "Choose runs first"
ENDED, SHOWN = "Choose a batch that has ended", "Choose a batch first"


def commands(
    presenter: RunsPresenter,
    steering: BatchActions,
    chosen: SelectedRuns,
    rail: BatchListPane,
    pause: Deed,
    cancel: Deed,
) -> tuple[Command, ...]:
    """Each with what it needs."""
    needed: dict[str, Callable[[], bool]] = {
        UNDER_WAY: lambda: presenter.batches.newest_active() is not None,
        SOME: lambda: bool(chosen.positions()),
        ENDED: lambda: presenter.current is not None and presenter.batches.newest_active() is None,
        SHOWN: lambda: steering.export_scope() is not None,
    }

    def deed(name: str, text: str, do: Deed, unless: str, keys: str = "") -> Command:
        needs = needed[unless]
        return Command(id=f"runs.{name}", text=text, do=do, keys=keys, needs=needs, unless=unless, group="Runs")

    return (
        Command(id="runs.start", text="Run test cases", do=steering.open_start_dialog, keys="Ctrl+R", group="Runs"),
        deed("pause", "Pause or continue the batch under way", pause, UNDER_WAY, "Ctrl+Shift+P"),
        deed("cancel", "Cancel the batch under way", cancel, UNDER_WAY),
        deed("copy", "Copy the chosen runs as Markdown", chosen.copy, SOME),
        deed("copy_all", "Copy all results shown as Markdown", steering.copy_results, SHOWN),
        deed("rejudge", "Judge the chosen runs again", chosen.judge, SOME, "Ctrl+J"),
        deed("rejudge_batch", "Judge this batch again", steering.judge_current_batch, ENDED),
        Command(
            id="runs.find_batch",
            text="Find a batch",
            do=rail.focus_search,
            keys="Ctrl+Shift+F",
            needs=rail.search.isVisible,
            unless="There are no batches to find yet",
            group="Runs",
        ),
        deed("export", "Export the results shown", steering.export, SHOWN),
        deed("export_chosen", "Export the chosen runs", chosen.export, SOME, "Ctrl+Shift+E"),
    )
