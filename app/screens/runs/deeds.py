"""What can be done on the runs screen, as commands."""

from collections.abc import Callable

from app.core_link.commands import Command
from app.screens.runs.batch_rail import BatchRail
from app.screens.runs.chosen import ChosenRuns
from app.screens.runs.presenter import RunsPresenter
from app.screens.runs.steering import Steering

Deed = Callable[[], object]
UNDER_WAY, SOME = "No batch is under way", "Choose runs first"
ENDED, SHOWN = "Choose a batch that has ended", "Choose a batch first"


def commands(
    presenter: RunsPresenter, steering: Steering, chosen: ChosenRuns, rail: BatchRail, pause: Deed, cancel: Deed
) -> tuple[Command, ...]:
    """Each with what it needs."""
    needed: dict[str, Callable[[], bool]] = {
        UNDER_WAY: lambda: presenter.live() is not None,
        SOME: lambda: bool(chosen.places()),
        ENDED: lambda: presenter.current is not None and presenter.live() is None,
        SHOWN: lambda: steering.exportable() is not None,
    }

    def deed(name: str, text: str, do: Deed, unless: str, keys: str = "") -> Command:
        needs = needed[unless]
        return Command(id=f"runs.{name}", text=text, do=do, keys=keys, needs=needs, unless=unless, group="Runs")

    return (
        Command(id="runs.start", text="Run test cases", do=steering.open_form, keys="Ctrl+R", group="Runs"),
        deed("pause", "Pause or continue the batch under way", pause, UNDER_WAY, "Ctrl+Shift+P"),
        deed("cancel", "Cancel the batch under way", cancel, UNDER_WAY),
        deed("copy", "Copy the chosen runs as Markdown", chosen.copy, SOME),
        deed("copy_all", "Copy all results shown as Markdown", steering.copy, SHOWN),
        deed("rejudge", "Judge the chosen runs again", chosen.judge, SOME, "Ctrl+J"),
        deed("rejudge_batch", "Judge this batch again", steering.judge_shown, ENDED),
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
