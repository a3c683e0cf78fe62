"""Actions on the runs selected in the table: judge again, run again, export, copy."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.dialogs.export import ask_where, copy_markdown
from app.screens.runs.batch_actions import DEFAULT_TITLE, BatchActions
from app.screens.runs.cell_styles import table_row
from app.screens.runs.presenter import RunsPresenter
from app.screens.runs.run_table import RunTableRow
from app.text.formatting import count
from app.widgets import Action
from app.widgets import Row as TableRow
from app.widgets.paged import PagedTable
from mcp_tef import RunFilter, RunId

Deed = Callable[[], object]


class SelectedRuns:
    """Of rows that were never looked at, the runs are read first: all that is chosen counts."""

    def __init__(
        self, session: Session, presenter: RunsPresenter, steering: BatchActions, table: PagedTable, parent: QWidget
    ) -> None:
        self._session = session
        self._presenter = presenter
        self._steering = steering
        self._table = table
        self._parent = parent
        table.set_reader(self._give)

    def _give(self, places: Sequence[int], do: Callable[[Sequence[TableRow]], None]) -> None:
        """Read rows that were never looked at, as the table shows them."""
        self._session.spawn(self._read(places, lambda rows: do([table_row(row) for row in rows])))

    def positions(self) -> tuple[int, ...]:
        """Return the positions of the selected rows in the table."""
        return self._table.selected_places()

    def menu(self) -> Sequence[Action]:
        """Return the context menu."""
        number = len(self.positions())
        what = "" if number == 1 else f" {count(number, 'run')}"
        again = "Run its case again…" if number == 1 else "Run their cases again…"
        offers = [
            Action(text=f"Judge{what} again", do=self.judge, icon="scales", keys="Ctrl+J"),
            Action(text=again, do=self.run_again, icon="play"),
            Action(text=f"Export{what or ' the run'}…", do=self.export, icon="export", keys="Ctrl+Shift+E", apart=True),
            Action(text=_copy_words(number), do=self.copy),
        ]
        return offers if number else []

    def judge(self) -> None:
        """Judge them by what their cases expect now."""
        self._with_rows(lambda rows: self._steering.judge_again([row.id for row in rows]))

    def run_again(self) -> None:
        """Open the start form for their cases."""
        self._with_rows(
            lambda rows: self._steering.open_start_dialog(tuple(dict.fromkeys(row.case_id for row in rows)))
        )

    def export(self) -> None:
        """Ask which file they are to go to, in the same forms as all results."""
        self._with_rows(lambda rows: ask_where(self._parent, self._session, _only(rows), self._title(rows)))

    def copy(self) -> None:
        """Put one run in full, or what came of several, on the clipboard as Markdown."""
        self._with_rows(lambda rows: self._session.spawn(self._copied(rows)))

    def _copied(self, rows: Sequence[RunTableRow]) -> Coroutine[Any, Any, None]:
        title, where = self._title(rows), _only(rows)
        if len(rows) == 1:
            return copy_markdown(self._session, self._presenter.run_markdown(rows[0].id), "the run")
        what = count(len(rows), "run")
        return copy_markdown(self._session, self._presenter.results_markdown(where, title), what)

    def _title(self, rows: Sequence[RunTableRow]) -> str:
        shown = self._steering.export_scope()
        return f"{count(len(rows), 'run')} of {shown[1] if shown else DEFAULT_TITLE}"

    def _with_rows(self, do: Callable[[Sequence[RunTableRow]], object]) -> None:
        if places := self.positions():
            self._session.spawn(self._read(places, do))

    async def _read(self, places: Sequence[int], do: Callable[[Sequence[RunTableRow]], object]) -> None:
        if rows := await self._presenter.rows_at(places):
            do(rows)


def _only(rows: Sequence[RunTableRow]) -> RunFilter:
    return RunFilter(run_ids=tuple(RunId(row.id) for row in rows))


def _copy_words(number: int) -> str:
    return "Copy the run as Markdown" if number == 1 else f"Copy the results of {count(number, 'run')} as Markdown"
