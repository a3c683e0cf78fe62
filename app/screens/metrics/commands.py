"""Commands of the metrics screen: one list for its buttons, menus, the palette and shortcuts; row menus."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from app.core_link.links import Link, link_actions, tool_links
from app.core_link.session import Session
from app.core_link.targets import ChangeTool, Screen, ShowBatch, ShowCase, ShowPair, ShowRuns, ShowTool, StartRuns
from app.screens.kit import FilterValues
from app.screens.kit.menus import ScreenCommand
from app.screens.metrics.filters import Dimension
from app.screens.metrics.group_values import runs_title
from app.screens.metrics.presenter import MetricsPresenter
from app.text.formatting import count, model_name
from app.widgets import Action, one_line
from mcp_tef import (
    BatchId,
    CaseId,
    CasePair,
    RunComparison,
    RunFilter,
    RunStatus,
    RunSummary,
    ToolLabel,
    ToolMetrics,
    VerdictKind,
)

GROUP: Final = "Metrics"
VIEWS: Final = (("overview", "Overview"), ("models", "Models"), ("repeats", "Repeats"), ("compare", "Compare"))
CELL, PAIR, CHANGE, CLEAR, EXPORT = (f"metrics.{name}" for name in ("cell", "pair", "change", "clear", "export"))


def metrics_commands(
    does: Mapping[str, Callable[[], object]],
    show_view: Callable[[str], object],
    *,
    has_cell: Callable[[], bool],
    has_pair: Callable[[], bool],
    has_filters: Callable[[], bool],
) -> dict[str, ScreenCommand]:
    """Return all commands by id; `does` gives the operations of the others."""

    def command(key: str, text: str, menu_text: str = "", **options: Any) -> ScreenCommand:
        return ScreenCommand(id=key, text=text, do=does[key], menu_text=menu_text, group=GROUP, **options)

    cell = partial(command, unless="Select a cell of the confusion matrix first")
    commands = (
        *(
            ScreenCommand(id=f"metrics.{key}", text=f"Show {label.lower()}", do=partial(show_view, key), group=GROUP)
            for key, label in VIEWS
        ),
        cell(CELL, "Show the runs of the cell", "Show runs", needs=has_cell),
        cell(PAIR, "Compare the two tools of the cell", "Compare the two tools", keys="Ctrl+I", needs=has_pair),
        cell(CHANGE, "Change the tool that the cell expects", "Change the expected tool…", needs=has_pair),
        command(CLEAR, "Clear all filters", needs=has_filters, unless="No filter is set"),
        command(EXPORT, "Export metrics and charts"),
    )
    return {one.id: one for one in commands}


LONGEST = 40
SHOW = "Show runs"


class MetricsLinks:
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

    def open_cell(self, cell: tuple[int, int] | None) -> None:
        """Show the runs of a cell of the matrix."""
        if self._presenter.view is not None and cell is not None:
            confusion = self._presenter.view.confusion
            self._go(confusion.runs_of(self._presenter.shown, *cell), runs_title(confusion, *cell))

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

    def open_pair(self, pair: CasePair) -> None:
        """Show all runs of a case in both batches."""
        if (compared := self._compared()) is not None:
            self._go(RunFilter(batch_ids=compared, case_ids=(pair.case_id,)), "One case in both batches")

    def _go(self, where: RunFilter, title: str) -> None:
        self._session.go(ShowRuns(where, title))

    def _judged(self) -> RunFilter:
        return replace(self._presenter.shown, statuses=(RunStatus.COMPLETED,))

    # ------------------------------------------------------------------ menus of rows

    def tool_menu(self, tool: ToolMetrics | None) -> list[Action]:
        """Return the menu of a tool."""
        if tool is None:
            return []
        links = [link for link in tool_links(tool.label, "metrics") if link.target.screen is not Screen.RUNS]
        show = Action(text=SHOW, do=partial(self.open_tool, tool), icon="play-circle", keys="Return")
        ways = link_actions(links, self._session.go)
        return [show, *self._compare(tool), *(replace(one, apart=not place) for place, one in enumerate(ways))]

    def _compare(self, tool: ToolMetrics) -> list[Action]:
        view = self._presenter.view
        place = view.confusion.place(tool.label, tool.taken_for) if view else None
        pair = view.confusion.pair_of(*place) if view and place else None
        if pair is None:
            return []
        words = f"Compare with {one_line(pair[1].tool or '', LONGEST)}"
        return [
            Action(text=words, do=lambda: self._session.go(ShowPair(*pair)), icon="scales"),
            Action(text="Change in the Workshop…", do=lambda: self.change_tool(pair), icon="wrench"),
        ]

    def change_tool(self, pair: tuple[ToolLabel, ToolLabel] | None) -> None:
        """Change the expected tool of a confusion in the Workshop."""
        if pair is not None:
            self._session.go(ChangeTool(pair[0], f"{pair[1].tool} was selected in its place"))

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

    def pair_menu(self, pairs: Sequence[CasePair]) -> list[Action]:
        """Return the menu of compared cases."""
        return self._of_cases([pair.case_id for pair in pairs], "Show its runs", lambda: self.open_pair(pairs[0]))

    def _of_cases(self, cases: Sequence[CaseId], show: str, do: Callable[[], None]) -> list[Action]:
        several = tuple(dict.fromkeys(cases))
        again = "Run the case again…" if len(several) == 1 else f"Run {count(len(several), 'case')} again…"
        run = Action(text=again, do=lambda: self._session.go(StartRuns(several)), icon="play")
        first = [Action(text=show, do=do, icon="play-circle", keys="Return")] if len(cases) == 1 else []
        return [*first, run] if cases else []

    def _only(self, dimension: Dimension, values: Sequence[str]) -> None:
        self._set_filters(self._presenter.filters.with_values(dimension, *values))


# ------------------------------------------------------------ links of a pair of runs


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLinks:
    """Links of a pair: for both runs, to two confused tools, and for each run."""

    both: tuple[Link, ...]
    confused: tuple[Link, ...]
    before: tuple[Link, ...]
    after: tuple[Link, ...]


def pair_links(found: RunComparison) -> PairLinks:
    """Return the links of a pair; a confusion of the newer run comes first."""
    before, after = found.before.summary, found.after.summary
    return PairLinks(
        both=_posed(after),
        confused=_confused(after) or _confused(before),
        before=_run_links(before),
        after=_run_links(after),
    )


def single_run_links(run: RunSummary) -> tuple[Link, ...]:
    """Return the links of a run without a partner."""
    return (*_posed(run), *_run_links(run))


def _posed(run: RunSummary) -> tuple[Link, ...]:
    expected, case = _expected(run), Link("Test case", ShowCase(run.case_id))
    return (case, Link("Expected tool", ShowTool(expected))) if expected else (case,)


def _run_links(run: RunSummary) -> tuple[Link, ...]:
    chosen = _chosen(run)
    links = [Link("Run", ShowBatch(run.batch_id, run.id))] if run.batch_id else []
    return (*links, Link("Selected tool", ShowTool(chosen))) if chosen else tuple(links)


def _confused(run: RunSummary) -> tuple[Link, ...]:
    expected, chosen = _expected(run), _chosen(run)
    if run.kind is not VerdictKind.WRONG_TOOL or expected is None or chosen is None or _same(expected, chosen):
        return ()
    pair = (expected, chosen)
    return (
        Link("Compare the two", ShowPair(*pair)),
        Link("Suggest a rewrite", ShowPair(*pair, advice=True)),
    )


def _expected(run: RunSummary) -> ToolLabel | None:
    return ToolLabel(tool=run.expected_tool, server=run.expected_server) if run.expected_tool else None


def _chosen(run: RunSummary) -> ToolLabel | None:
    """Return the selected tool; None for an invented tool, which no server has."""
    return ToolLabel(tool=run.selected_tool, server=run.selected_server) if run.selected_server else None


def _same(expected: ToolLabel, chosen: ToolLabel) -> bool:
    """Return True if the expected tool was selected, on any server if the case names none."""
    return expected.tool == chosen.tool and expected.server in (None, chosen.server)
