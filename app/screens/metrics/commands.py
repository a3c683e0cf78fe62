"""Commands of the metrics screen: row menus, links to runs, and exports."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QFileDialog

from app.core_link.links import link_actions, tool_links
from app.core_link.session import Page, Session
from app.core_link.targets import Screen, ShowPair, ShowRuns, StartRuns
from app.dialogs.export import ask_place
from app.screens.kit import FilterValues
from app.screens.metrics.confusion import runs_title
from app.screens.metrics.filters import Dimension
from app.screens.metrics.formatting import DataTable, csv_text, model_name
from app.screens.metrics.presenter import MetricsPresenter
from app.text.formatting import count
from app.widgets import Action, one_line
from app.widgets.chart import ChartPanel, save_picture
from mcp_tef import (
    BatchId,
    CaseId,
    InputError,
    RunFilter,
    RunPair,
    RunStatus,
    ToolLabel,
    ToolMetrics,
    require_replaceable,
)

KINDS: Final = {"png": "Picture (*.png)", "svg": "Drawing (*.svg)", "csv": "Table (*.csv)"}


class Saving:
    """What a page's charts and tables are saved with."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def ask_chart(self, panel: ChartPanel, table: DataTable, kind: str) -> QFileDialog:
        """Ask where a chart is to go, as `png`, `svg` or, its data, as `csv`."""
        return self._ask(table.file_name, kind, lambda file: self.save_chart(panel, table, file))

    def ask_table(self, table: DataTable) -> QFileDialog:
        """Ask where a table is to go."""
        return self._ask(table.file_name, "csv", lambda file: self.save_table(table, file))

    def save_chart(self, panel: ChartPanel, table: DataTable, file: Path) -> None:
        """Write a chart in the format that the file's ending names."""
        if file.suffix.casefold() == ".csv":
            self.save_table(table, file)
        else:
            self._write(file, lambda: save_picture(panel.chart, file, panel.title))

    def save_table(self, table: DataTable, file: Path) -> None:
        """Write a table as CSV in UTF-8, with the mark that spreadsheets know it by."""
        self._write(file, lambda: file.write_bytes(csv_text(table).encode("utf-8-sig")))

    def _write(self, file: Path, write: Callable[[], object]) -> None:
        session = self._page.session
        try:
            require_replaceable(file)
            write()
        except InputError as error:
            session.show_error(error)
            return
        except OSError as error:
            hint = "Choose another folder, or close the program that has the file open."
            session.failed.emit(f"{file.name} could not be written.", hint, error.strerror or str(error))
            return
        session.toast(f"Saved {file.name}")

    def _ask(self, name: str, kind: str, chosen: Callable[[Path], object]) -> QFileDialog:
        return ask_place(self._page, f"Save {name}", name, (KINDS[kind], kind), chosen)


LONGEST = 40
SHOW = "Show runs"


class Ways:
    """Links from metrics to runs, and the row menus with them. `compared` gives the two batches that are compared."""

    def __init__(
        self,
        session: Session,
        presenter: MetricsPresenter,
        set_filters: Callable[[FilterValues], None],
        compared: Callable[[], tuple[BatchId, BatchId] | None],
    ) -> None:
        self._session = session
        self._presenter = presenter
        self._set_filters = set_filters
        self._compared = compared

    # ------------------------------------------------------------------ to the runs

    def open_cell(self, row: int, column: int) -> None:
        """Show the runs of a cell of the matrix."""
        if self._presenter.view is not None:
            confusion = self._presenter.view.confusion
            self._go(confusion.runs_of(self._presenter.where, row, column), runs_title(confusion, row, column))

    def open_tool(self, tool: ToolMetrics | None) -> None:
        """Show the runs that expected a tool."""
        if tool is not None:
            self._go(replace(self._judged(), expected=tool.label), f"{tool.name} expected")

    def open_models(self, labels: Sequence[str]) -> None:
        """Show the runs of some models."""
        title = model_name(labels[0]) if len(labels) == 1 else count(len(labels), "model")
        self._go(replace(self._judged(), models=tuple(labels)), title)

    def open_server(self, name: str) -> None:
        """Show the runs that expected a tool of a server."""
        self._go(replace(self._judged(), expected=ToolLabel(server=name)), f"Expected on {name}")

    def open_case(self, place: int) -> None:
        """Show the runs of a flaky case."""
        if self._presenter.view is not None:
            repeats = self._presenter.view.repeats
            self._go(repeats.runs_of(place, self._judged()), repeats.flaky[place].case_name)

    def open_pair(self, pair: RunPair) -> None:
        """Show both runs of a pair."""
        if (compared := self._compared()) is not None:
            self._go(RunFilter(batch_ids=compared, case_ids=(pair.case_id,)), "One case in both batches")

    def _go(self, where: RunFilter, title: str) -> None:
        self._session.go(ShowRuns(where, title))

    def _judged(self) -> RunFilter:
        return replace(self._presenter.where, statuses=(RunStatus.COMPLETED,))

    # ------------------------------------------------------------------ menus of rows

    def tool_menu(self, tool: ToolMetrics | None) -> list[Action]:
        """Return the menu of a tool."""
        if tool is None:
            return []
        leads = [lead for lead in tool_links(tool.label, "metrics") if lead.target.screen is not Screen.RUNS]
        show = Action(text=SHOW, do=partial(self.open_tool, tool), icon="play-circle", keys="Return")
        ways = link_actions(leads, self._session.go)
        return [show, *self._compare(tool), *(replace(one, apart=not place) for place, one in enumerate(ways))]

    def _compare(self, tool: ToolMetrics) -> list[Action]:
        view = self._presenter.view
        place = view.confusion.place(tool.label, tool.taken_for) if view else None
        pair = view.confusion.pair_of(*place) if view and place else None
        if pair is None:
            return []
        words = f"Compare with {one_line(pair[1].tool or '', LONGEST)}"
        return [Action(text=words, do=lambda: self._session.go(ShowPair(*pair)), icon="scales")]

    def model_menu(self, labels: Sequence[str]) -> list[Action]:
        """Return the menu of selected models."""
        one = len(labels) == 1
        only = "Show only this model" if one else f"Show only these {len(labels)} models"
        return [
            Action(
                text=SHOW if one else "Show runs",
                do=lambda: self.open_models(labels),
                icon="play-circle",
                keys="Return" if one else "",
            ),
            Action(text=only, do=lambda: self._only(Dimension.MODEL, labels), icon="funnel"),
        ]

    def server_menu(self, names: Sequence[str]) -> list[Action]:
        """Return the menu of a server."""
        if len(names) != 1:
            return []
        return [
            Action(text=SHOW, do=lambda: self.open_server(names[0]), icon="play-circle", keys="Return"),
            Action(
                text="Show only this server", do=lambda: self._only(Dimension.EXPECTED_SERVER, names), icon="funnel"
            ),
        ]

    def case_menu(self, rows: Sequence[str]) -> list[Action]:
        """Return the menu of flaky cases, given by their rows."""
        view = self._presenter.view
        if view is None:
            return []
        cases = [CaseId(view.repeats.flaky[int(row)].case_id) for row in rows]
        return self._of_cases(cases, SHOW, lambda: self.open_case(int(rows[0])))

    def pair_menu(self, pairs: Sequence[RunPair]) -> list[Action]:
        """Return the menu of pairs of runs."""
        return self._of_cases([pair.case_id for pair in pairs], "Show both runs", lambda: self.open_pair(pairs[0]))

    def _of_cases(self, cases: Sequence[CaseId], show: str, do: Callable[[], None]) -> list[Action]:
        several = tuple(dict.fromkeys(cases))
        again = "Run the case again…" if len(several) == 1 else f"Run {count(len(several), 'case')} again…"
        run = Action(text=again, do=lambda: self._session.go(StartRuns(several)), icon="play")
        first = [Action(text=show, do=do, icon="play-circle", keys="Return")] if len(cases) == 1 else []
        return [*first, run] if cases else []

    def _only(self, dimension: Dimension, values: Sequence[str]) -> None:
        self._set_filters(self._presenter.filters.with_values(dimension, *values))
