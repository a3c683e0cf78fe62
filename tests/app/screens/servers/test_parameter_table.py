"""Parameters of a tool: search, filter, sort order and copy."""

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.arguments.parameters import SchemaParameter
from app.core_link.settings import Settings
from app.screens.kit import ViewStates
from app.screens.servers.parameter_table import NONE_FIT, ParameterList
from app.widgets import FlowText

PRICE = SchemaParameter(
    name="price", type="number", required=False, description="The most it may cost", limits="at least 0"
)
QUERY = SchemaParameter(name="query", type="text", required=True, description="What | it is", limits="")
BRANCH = SchemaParameter(name="branch", type="one of 2 values", required=False, description="", limits='"harbour"')
ALL = (PRICE, QUERY, BRANCH)
MANY = (
    *ALL,
    *(SchemaParameter(name=f"o{n}", type="text", required=False, description="?", limits="") for n in range(5)),
)


@pytest.fixture
def parameters(qtbot: QtBot) -> ParameterList:
    made = ParameterList()
    qtbot.addWidget(made)
    made.resize(900, 500)
    made.show_parameters("find_parts", MANY)
    made.show()
    return made


def said(parameters: ParameterList) -> list[str]:
    """All that can be read, from the top."""
    return [part.text() for part in parameters.findChildren(FlowText) if part.isVisible()]


def choose(parameters: ParameterList, text: str) -> None:
    """Choose from the menu."""
    next(action for action in parameters.menu_actions() if action.text == text).do()


def test_words_find_parameters_stay_for_their_tool_and_leave_with_it(parameters: ParameterList, qtbot: QtBot) -> None:
    QTest.keyClicks(parameters.search, "cost")
    qtbot.waitUntil(lambda: parameters.title.text() == "1 of 8 parameters", timeout=30_000)
    qtbot.waitUntil(lambda: "price" in said(parameters) and "query" not in said(parameters), timeout=30_000)
    parameters.show_parameters("find_parts", MANY)
    assert parameters.found() == (PRICE,)
    parameters.show_parameters("order_part", ALL)
    assert parameters.found() == ALL
    assert parameters.search.text() == ""


def test_where_nothing_is_found_the_way_back_is_told(parameters: ParameterList, qtbot: QtBot) -> None:
    QTest.keyClicks(parameters.search, "tandem")
    qtbot.waitUntil(lambda: not parameters.found() and not parameters.table.isVisible(), timeout=30_000)
    qtbot.waitUntil(lambda: said(parameters) == [NONE_FIT], timeout=30_000)
    parameters.show_parameters("bare", ())
    qtbot.waitUntil(lambda: said(parameters) == ["No parameters."], timeout=30_000)
    assert not parameters.search.isVisible()


def test_a_filter_that_hides_the_only_parameter_can_still_be_let_go(parameters: ParameterList) -> None:
    choose(parameters, "Required")
    parameters.show_parameters("one", (PRICE,))
    assert parameters.more.isVisible()
    choose(parameters, "Show all parameters")
    assert parameters.found() == (PRICE,)


def test_the_order_is_there_at_the_next_start(qapp: QApplication, qtbot: QtBot) -> None:
    states = ViewStates(Settings(None), "a.db", "servers")
    first, second = ParameterList(), ParameterList()
    for made in (first, second):
        qtbot.addWidget(made)
    first.restore_view(states)
    choose(first, "Sort by name")
    second.restore_view(states)
    second.show_parameters("find_parts", ALL)
    assert second.found() == (BRANCH, PRICE, QUERY)
    assert [action.text for action in second.menu_actions() if action.checked] == ["Sort by name"]


def test_what_is_shown_is_copied_as_a_table_in_markdown(parameters: ParameterList) -> None:
    choose(parameters, "Required")
    choose(parameters, "Copy 1 parameter as Markdown")
    heads, line, row = QGuiApplication.clipboard().text().splitlines()
    assert heads == "| Parameter | Type | Required | Description | Limits |"
    assert line == "| --- | --- | --- | --- | --- |"
    assert row == r"| query | text | yes | What \| it is |  |"
