"""Commands of the runs screen, in palette and menus, and the links from a run to other screens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from app.core_link.links import Go, Link
from app.screens.kit.menus import ScreenCommand, menu_of
from app.screens.runs.batch_actions import BatchActions, SelectedRuns
from app.screens.runs.batch_summaries import NO_ACTIONS, BatchActionTexts, action_texts
from app.screens.runs.filter_controls import BatchListPane
from app.screens.runs.presenter import RunsPresenter
from app.screens.runs.verdict import VerdictView
from app.text.formatting import count
from app.widgets import Action
from mcp_tef import Batch, BatchId

EXPORT: Final = "Export results…"
LINK_TEXTS: Final = {
    "case": "Show the test case of the run",
    "expected": "Show the expected tool",
    "selected": "Show the selected tool",
    "pair": "Compare the expected with the selected tool",
    "advice": "Suggest better descriptions for the two tools",
    "change": "Change the description of the expected tool",
    "health": "Show the health of the server that failed",
}
UNLESS_CONFUSED: Final = "Select a run with another tool than the expected one"
RunLinks = Callable[[], Mapping[str, Link]]


def run_links(view: VerdictView) -> Mapping[str, Link]:
    """Return the links of a run by the keys of LINK_TEXTS; of several pairs of calls, the first confused one."""
    pair = next((pair for pair in view.pairs if pair.links), next(iter(view.pairs), None))
    sides = (pair.expected.link, pair.selected.link, *(pair.links or (None, None))) if pair else ()
    found = dict(zip(LINK_TEXTS, (view.case_link, *sides), strict=False)) | {
        "change": view.change_link,
        "health": view.health_link,
    }
    return {key: link for key, link in found.items() if link}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCommands:
    """Commands of the page: of the screen, of the selected batches and of the selected runs.

    `pause` and `cancel` take the batch; without one, they take the newest that runs.
    """

    presenter: RunsPresenter
    actions: BatchActions
    runs: SelectedRuns
    batches: BatchListPane
    links: RunLinks
    go: Go
    pause: Callable[[BatchId | None], object]
    cancel: Callable[[BatchId | None], object]
    spawn: Callable[..., object]

    def all(self) -> tuple[ScreenCommand, ...]:
        """Return all commands; those with a menu text are in a menu, too."""
        return (*self._of_screen(), *self._of_batches(), *self._of_runs(), *self._of_links())

    def batch_menu(self) -> list[Action]:
        """Return the menu of the selected batches."""
        return menu_of(self._of_batches())

    def run_menu(self) -> list[Action]:
        """Return the menu of the selected runs."""
        return menu_of(self._of_runs()) if self.runs.positions() else []

    def _of_screen(self) -> tuple[ScreenCommand, ...]:
        active, search = self.presenter.batches.newest_active, self.batches.search
        running = partial(_command, needs=lambda: active() is not None, unless="No batch is running")
        toggle, cancel = partial(self.pause, None), lambda: self.cancel(batch.id if (batch := active()) else None)
        return (
            running("pause", "Pause or continue the running batch", toggle, keys="Ctrl+Shift+P"),
            running("cancel", "Cancel the running batch", cancel),
            _command(
                "find_batch",
                "Find a batch",
                self.batches.focus_search,
                keys="Ctrl+Shift+F",
                needs=lambda: search.isVisibleTo(self.batches),
                unless="There are no batches to find yet",
            ),
        )

    def _of_batches(self) -> tuple[ScreenCommand, ...]:
        actions, spawn, batch = self.actions, self.spawn, self._one_batch
        shown = partial(_command, needs=lambda: actions.export_scope() is not None, unless="Select a batch first")
        return (
            self._of_batch("run_now", "Run the selected batch now", lambda: self.pause(batch()), icon="play"),
            self._of_batch("cancel", "Cancel the selected batch", lambda: self.cancel(batch()), icon="x"),
            self._of_batch("resume", "Resume the selected batch", lambda: spawn(actions.resume(batch())), icon="play"),
            self._of_batch(
                "retry",
                "Retry the failed runs of the selected batch",
                lambda: spawn(actions.retry(batch())),
                icon="arrow-clockwise",
            ),
            self._of_batch(
                "rejudge",
                "Judge the selected batch again",
                lambda: actions.judge_again(batch_id=batch()),
                icon="scales",
            ),
            shown("export", "Export the results shown", actions.export, self._if_one_batch(EXPORT), icon="export"),
            shown(
                "copy_all",
                "Copy all results shown as Markdown",
                actions.copy_results,
                self._if_one_batch("Copy as Markdown"),
                icon="copy",
            ),
            self._of_batch(
                "rename",
                "Rename the selected batch",
                lambda: actions.rename(batch() or ""),
                icon="pencil-simple",
                menu_keys="F2",
            ),
            *self._of_selected_batches(),
        )

    def _of_selected_batches(self) -> tuple[ScreenCommand, ...]:
        return (
            _command(
                "compare",
                "Compare the two selected batches",
                lambda: self.actions.compare(self._selected()),
                lambda: "Compare these two" if len(self._selected()) > 1 else "",
                needs=lambda: len(self._selected()) == 2,
                unless="Select two batches first",
                icon="scales",
            ),
            _command(
                "delete",
                "Delete the selected batches",
                lambda: self.spawn(self.actions.delete([batch.id for batch in self._selected()])),
                self._delete_text,
                needs=lambda: any(action_texts(batch).delete for batch in self._selected()),
                unless="Select batches that have ended first",
                icon="trash",
                menu_keys="Del",
                apart=True,
            ),
        )

    def _of_runs(self) -> tuple[ScreenCommand, ...]:
        runs = self.runs
        some = partial(_command, needs=lambda: bool(runs.positions()), unless="Select runs first")
        return (
            some(
                "judge_runs",
                "Judge the selected runs again",
                runs.judge,
                self._judge_text,
                keys="Ctrl+J",
                icon="scales",
            ),
            some("run_again", "Run the selected cases again", runs.run_again, self._again_text, icon="play"),
            some(
                "export_selected",
                "Export the selected runs",
                runs.export,
                lambda: f"Export {self._number() or 'the run'}…",
                keys="Ctrl+Shift+E",
                icon="export",
                apart=True,
            ),
            some("copy", "Copy the selected runs as Markdown", runs.copy, self._copy_text),
        )

    def _of_links(self) -> list[ScreenCommand]:
        """Return the links of the run on screen as commands."""

        def follow(key: str) -> None:
            self.go(self.links()[key].target)

        def there(key: str) -> bool:
            return key in self.links()

        return [
            _command(
                f"to.{key}",
                text,
                partial(follow, key),
                keys="Ctrl+I" if key == "advice" else "",
                needs=partial(there, key),
                unless=UNLESS_CONFUSED if key in ("pair", "advice") else "Select a run first",
            )
            for key, text in LINK_TEXTS.items()
        ]

    def _of_batch(self, name: str, text: str, do: Callable[[], object], **options: Any) -> ScreenCommand:
        """Return a command on the one selected batch, while `action_texts` has a text for it."""

        def offered() -> str:
            return str(getattr(self._texts(), name))

        unless = "Select a batch for which this is possible"
        return _command(f"batch_{name}", text, do, offered, needs=lambda: bool(offered()), unless=unless, **options)

    def _selected(self) -> Sequence[Batch]:
        ids = self.batches.list.selected_ids()
        return [batch for item in ids if (batch := self.presenter.batches.get(BatchId(item)))]

    def _one_batch(self) -> BatchId | None:
        selected = self._selected()
        return selected[0].id if len(selected) == 1 else None

    def _texts(self) -> BatchActionTexts:
        batch = self.presenter.batches.get(self._one_batch())
        return action_texts(batch) if batch else NO_ACTIONS

    def _if_one_batch(self, text: str) -> Callable[[], str]:
        return lambda: text if self._one_batch() else ""

    def _delete_text(self) -> str:
        several = len(self._selected())
        return f"Delete {count(several, 'batch', 'batches')}" if several > 1 else self._texts().delete

    def _number(self) -> str:
        several = len(self.runs.positions())
        return count(several, "run") if several > 1 else ""

    def _judge_text(self) -> str:
        return " ".join(("Judge", *filter(None, [self._number()]), "again"))

    def _again_text(self) -> str:
        return "Run their cases again…" if self._number() else "Run its case again…"

    def _copy_text(self) -> str:
        number = self._number()
        return f"Copy the results of {number} as Markdown" if number else "Copy the run as Markdown"


def _command(
    name: str, text: str, do: Callable[[], object], menu_text: str | Callable[[], str] = "", **options: Any
) -> ScreenCommand:
    return ScreenCommand(id=f"runs.{name}", text=text, do=do, menu_text=menu_text, group="Runs", **options)
