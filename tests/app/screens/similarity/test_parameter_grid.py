"""What two tools take, below their texts."""

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.screens.similarity.pair_pane import ParameterGrid
from app.widgets import FlowText
from mcp_tef import SharedParameter


def test_a_parameter_of_only_one_tool_stands_on_the_side_of_that_tool_below_those_of_both(qtbot: QtBot) -> None:
    grid = ParameterGrid()
    qtbot.addWidget(grid)
    query, price, page = (
        SharedParameter("query", "string", "string"),
        SharedParameter("price", "number", None),
        SharedParameter("page", None, "integer"),
    )
    grid.show_parameters([page, price, query], ("find", "search"), 0)
    grid.resize(400, 200)
    grid.show()
    QApplication.processEvents()
    at = {part.text().split()[0]: part.geometry() for part in grid.findChildren(FlowText)}
    assert at["query"].bottom() < min(at["price"].top(), at["page"].top())
    assert at["query"].width() > 300
    assert at["price"].right() < at["page"].left()
