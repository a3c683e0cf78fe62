"""The form of a call by hand, where a tool has very many parameters."""

from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.screens.servers.argument_form import ArgumentForm
from mcp_tef import Tool

MANY = 100


def tool() -> Tool:
    properties = {f"p{number:02d}": {"type": "string"} for number in range(MANY)}
    schema = {"type": "object", "properties": properties}
    return Tool(server="docs", name="read", description="", input_schema=schema, raw={})


def test_a_hundred_fields_come_a_few_a_turn_and_lose_nothing(qtbot: QtBot) -> None:
    form = ArgumentForm(tool())
    qtbot.addWidget(form)
    assert 0 < len(form.rows) < MANY / 10
    form.fill({"p99": "last"})
    form.show_errors({"p98": "Not like this."})
    qtbot.waitUntil(lambda: len(form.rows) == MANY, timeout=30_000)
    assert list(form.rows) == [f"p{number:02d}" for number in range(MANY)]
    assert form.rows["p98"].value.accessibleDescription() == "Not like this."
    assert form.reading().arguments == {"p99": "last"}


def test_fields_that_come_later_stay_away_where_json_is_typed(qtbot: QtBot) -> None:
    form = ArgumentForm(tool())
    qtbot.addWidget(form)
    form.show()
    form.toggle.click()
    qtbot.waitUntil(lambda: len(form.rows) == MANY, timeout=30_000)
    assert not any(row.isVisible() for row in form.rows.values())


def test_json_that_cannot_be_read_is_told_once_typing_pauses(qtbot: QtBot) -> None:
    form = ArgumentForm(tool())
    qtbot.addWidget(form)
    form.show()
    form.toggle.click()
    form.json.setFocus()
    form.json.selectAll()
    QTest.keyClicks(form.json, '{"a": ')
    qtbot.waitUntil(lambda: form.json.property("wrong") is True, timeout=30_000)
    QTest.keyClicks(form.json, "1}")
    assert form.json.property("wrong") is False
