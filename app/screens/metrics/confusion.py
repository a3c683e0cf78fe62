"""Confusion matrix with short column names, and tools from worst to best."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import ascii_lowercase

from app.screens.metrics.formatting import DataTable, rate_columns, rate_values, runs_words
from app.text.formatting import count
from mcp_tef import ConfusionMatrix, LabelKind, RunFilter, ToolLabel, ToolMetrics

OFTEN = 5
DASH, INVENTED = "–", "?"
Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionView:
    """The matrix as it is drawn, and where a click leads; invented tools have a column where there are some."""

    rows: tuple[str, ...] = ()
    row_keys: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()
    cells: Mapping[Place, int] = field(default_factory=dict)
    totals: tuple[int, ...] = ()
    aside: frozenset[int] = frozenset()
    loud: frozenset[Place] = frozenset()
    n: int = 0
    matrix: ConfusionMatrix | None = None
    table: DataTable = DataTable(name="Confusion matrix")  # noqa: RUF009

    def says(self, row: int, column: int) -> str:
        """Return a cell as text: both names and the count."""
        number = self.cells.get((row, column), 0)
        right = self.row_keys[row] == self.keys[column]
        if right:
            return f"{self.rows[row]}: selected as expected in {number:,} of {runs_words(self.totals[row])}"
        picked = self.column_names[column]
        return f"Expected {self.rows[row]}, selected {picked}: {number:,} of {runs_words(self.totals[row])}"

    def runs_of(self, where: RunFilter, row: int, column: int) -> RunFilter:
        """Return the filter of the runs that a cell counts."""
        return self.matrix.runs_of(where, row, column) if self.matrix else where

    def pair_of(self, row: int, column: int) -> tuple[ToolLabel, ToolLabel] | None:
        """Return the two tools that a cell confuses; None if it is about fewer."""
        if self.matrix is None:
            return None
        expected, selected = self.matrix.rows[row], self.matrix.columns[column]
        both = expected.tool and selected.tool and expected != selected
        return (_bare(expected), _bare(selected)) if both else None

    def place(self, tool: ToolLabel, taken_for: ToolLabel | None) -> Place | None:
        """Return the cell of an expected and a selected label."""
        if self.matrix is None or taken_for is None or tool not in self.matrix.rows:
            return None
        if taken_for not in self.matrix.columns[: len(self.keys)]:
            return None
        return self.matrix.rows.index(tool), self.matrix.columns.index(taken_for)


def _bare(label: ToolLabel) -> ToolLabel:
    return ToolLabel(tool=label.tool, server=label.server)


def letters(number: int) -> str:
    """Return the short name of a column: a … z, aa, ab and so on."""
    head, last = divmod(number, 26)
    return (letters(head - 1) if head else "") + ascii_lowercase[last]


def _keys(labels: tuple[ToolLabel, ...]) -> tuple[str, ...]:
    special = {LabelKind.NO_TOOL: DASH, LabelKind.INVENTED: INVENTED}
    kinds = (label.kind for label in labels)
    return tuple(special.get(kind, letters(number)) if kind else letters(number) for number, kind in enumerate(kinds))


def confusion_view(matrix: ConfusionMatrix) -> ConfusionView:
    """Return the matrix for the screen."""
    width = _width(matrix)
    columns = matrix.columns[:width]
    rows = tuple(matrix.name(label) for label in matrix.rows)
    names = tuple(matrix.name(label) for label in columns)
    row_keys, keys = _keys(matrix.rows), _keys(columns)
    loud = frozenset(
        (row, column)
        for (row, column), number in matrix.cells.items()
        if number >= OFTEN and row_keys[row] != keys[column]
    )
    return ConfusionView(
        rows=rows,
        row_keys=row_keys,
        keys=keys,
        column_names=names,
        cells=matrix.cells,
        totals=matrix.row_totals,
        aside=frozenset(n for n, label in enumerate(matrix.rows) if label.kind is LabelKind.NO_TOOL),
        loud=loud,
        n=matrix.n,
        matrix=matrix,
        table=_table(matrix, rows, names),
    )


def _width(matrix: ConfusionMatrix) -> int:
    """Return the number of columns; invented tools are shown only if there are any."""
    last = len(matrix.columns) - 1
    invented = last >= 0 and matrix.columns[last].kind is LabelKind.INVENTED
    return last if invented and not matrix.column_totals[last] else last + 1


def _table(matrix: ConfusionMatrix, rows: tuple[str, ...], names: tuple[str, ...]) -> DataTable:
    cells = sorted(matrix.cells.items(), key=lambda cell: (-cell[1], cell[0]))
    return DataTable(
        name="Expected against selected",
        columns=("Expected", "Selected", "Runs", "Of runs"),
        rows=tuple((rows[row], names[column], number, matrix.row_totals[row]) for (row, column), number in cells),
    )


def worst_first(matrix: ConfusionMatrix, enough: int) -> tuple[ToolMetrics, ...]:
    """Sort tools by recall, lowest first; those with too few runs come last."""

    def rank(tool: ToolMetrics) -> tuple[bool, float, int, str]:
        value = tool.recall.value if tool.recall.value is not None else 2.0
        return tool.n < enough, value, -tool.n, tool.name

    return tuple(sorted(matrix.tools, key=rank))


def tools_table(matrix: ConfusionMatrix, enough: int) -> DataTable:
    """Return every tool with its metrics."""
    columns = (
        "Tool",
        "n",
        *rate_columns("Recall"),
        *rate_columns("Precision"),
        "F1",
        "Most often mistaken for",
        "Times",
    )
    rows = tuple(
        (
            tool.name,
            tool.n,
            *rate_values(tool.recall),
            *rate_values(tool.precision),
            tool.f1,
            matrix.name(tool.taken_for) if tool.taken_for else None,
            tool.taken_for_count,
        )
        for tool in worst_first(matrix, enough)
    )
    return DataTable(name="Tools", columns=columns, rows=rows)


def runs_title(view: ConfusionView, row: int, column: int) -> str:
    """Return the title of the runs of a cell."""
    if view.row_keys[row] == view.keys[column]:
        return f"{view.rows[row]}, selected as expected"
    return f"{view.column_names[column]} selected where {view.rows[row]} was expected"


def tools_words(view: ConfusionView) -> str:
    """Return the number of tools in the matrix."""
    return count(len(view.rows) - len(view.aside), "tool")
