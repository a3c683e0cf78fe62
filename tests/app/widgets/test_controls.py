"""Controls of pages by mouse and keyboard."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Role
from app.widgets import (
    Action,
    ActivityBar,
    CardList,
    CardRow,
    DetailPane,
    EmptyState,
    Field,
    MenuButton,
    Notice,
    PageHeader,
    Picker,
    PickItem,
    SearchField,
    Segment,
    Segmented,
    Span,
    StackedBar,
    Toaster,
)
from app.widgets.picker import matching
from tests.support.widgets import placed, recorded

TOOLS = tuple(
    PickItem(id=name, title=name, detail=f"What {name} does", lead="docs", right="docs")
    for name in ("search_code", "search_files", "read_file", "research")
)


def test_typing_pauses_before_it_searches(qtbot: QtBot) -> None:
    field = placed(qtbot, SearchField("Search runs"))
    heard = recorded(field.searched)
    with qtbot.waitSignal(field.searched):
        QTest.keyClicks(field, "abc")
    assert heard == ["abc"]
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert field.text() == ""


def test_segments_are_chosen_by_arrow_keys_and_clicks_and_named(qtbot: QtBot) -> None:
    made = placed(qtbot, Segmented([("one", "One call"), ("none", "No call")], "What should happen"), 200, 28)
    told = recorded(made.changed)
    QTest.keyClick(made, Qt.Key.Key_Right)
    assert (told, made.accessibleName()) == (["none"], "What should happen: No call")
    made.set_current("one")
    assert (told, made.current()) == (["none"], "one")
    QTest.mouseClick(made, Qt.MouseButton.LeftButton, pos=QPoint(150, 14))
    assert made.current() == "none"


def test_tabs_show_their_panes_and_one_alone_has_no_tabs(qtbot: QtBot) -> None:
    pane = placed(qtbot, DetailPane("Run"))
    pane.add_tab("verdict", "Verdict", QWidget())
    assert pane.tabs.isHidden()
    pane.add_tab("raw", "Raw exchange", QWidget())
    assert not pane.tabs.isHidden()
    pane.set_current("raw")
    pane.show_tabs(["verdict", "raw"])
    assert pane.current() == "raw"
    pane.show_tabs(["verdict"])
    assert pane.current() == "verdict"


def test_a_pane_that_is_added_for_later_is_made_once_and_only_when_it_is_turned_to(qtbot: QtBot) -> None:
    pane, made = DetailPane("Run"), list[QWidget]()
    qtbot.addWidget(pane)
    pane.add_tab("verdict", "Verdict", QWidget())

    def make() -> QWidget:
        made.append(QWidget())
        return made[-1]

    pane.add_later("raw", "Raw exchange", make)
    assert not made
    for _ in range(2):
        pane.tabs.choose(1)
        pane.tabs.choose(0)
    pane.set_current("raw")
    (raw,) = made
    pane.show()
    assert raw.isVisible()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("search", ["search_code", "search_files", "research"]),
        ("file", ["search_files", "read_file"]),
        ("code docs", ["search_code"]),
        ("nothing", []),
    ],
)
def test_the_picker_finds_by_every_typed_word_best_first(typed: str, found: list[str]) -> None:
    assert [item.id for item in matching(TOOLS, typed)] == found


def test_the_picker_is_worked_by_keyboard_alone(qtbot: QtBot) -> None:
    picker = placed(qtbot, Picker("Tool", "Select a tool"))
    picker.set_items(TOOLS)
    picker.show()
    QTest.keyClicks(picker, "s")
    popup = picker.popup()
    QTest.keyClicks(popup.search, "earch_")
    QTest.keyClick(popup.search, Qt.Key.Key_Down)
    with qtbot.waitSignal(picker.picked) as told:
        QTest.keyClick(popup.search, Qt.Key.Key_Return)
    assert told.args == ["search_files"]
    assert picker.accessibleName() == "Tool: search_files"
    assert not popup.isVisible()


def test_the_picker_takes_what_is_not_in_the_list_where_that_is_allowed(qtbot: QtBot) -> None:
    picker = placed(qtbot, Picker("Model", "Select a model"))
    picker.set_items(TOOLS)
    picker.allow_other("Use “{}”")
    picker.open()
    popup = picker.popup()
    popup.search.setText("acme/one")
    with qtbot.waitSignal(picker.other) as told:
        QTest.keyClick(popup.search, Qt.Key.Key_Return)
    assert told.args == ["acme/one"]


def test_a_field_says_what_is_wrong_until_it_is_right_and_then_its_latest_note(qtbot: QtBot) -> None:
    line = QLineEdit()
    field = placed(qtbot, Field("Name", line, note="Short and unique"))
    field.set_error("This name is taken.")
    field.set_note("Kept in memory.")
    assert (line.accessibleDescription(), line.property("wrong")) == ("This name is taken.", True)
    field.set_error("")
    assert (line.accessibleDescription(), line.property("wrong")) == ("Kept in memory.", False)


def test_a_field_waits_with_an_error_for_a_pause_and_takes_it_back_at_once(qtbot: QtBot) -> None:
    line = QLineEdit()
    field = placed(qtbot, Field("Address", line))
    field.tell("It does not begin with https://.")
    assert line.accessibleDescription() == ""
    qtbot.waitUntil(lambda: line.accessibleDescription() == "It does not begin with https://.", timeout=30_000)
    field.tell("It has no host.")
    assert line.accessibleDescription() == "It has no host."
    field.tell("")
    assert (line.accessibleDescription(), line.property("wrong")) == ("", False)


def test_a_menu_button_shows_and_tells_its_choice(qtbot: QtBot) -> None:
    made = placed(qtbot, MenuButton("Matcher of query", [("equals", "equals"), None, ("any", "anything")]))
    made.set_current("any")
    assert (made.text(), made.accessibleName()) == ("anything", "Matcher of query: anything")


def test_a_header_keeps_its_buttons_when_only_their_deed_changes(qtbot: QtBot) -> None:
    header = placed(qtbot, PageHeader("Runs"))
    done: list[str] = []
    header.set_buttons([Action(text="Run", do=lambda: done.append("old"), kind="primary")])
    first = header.buttons()[0]
    header.set_buttons([Action(text="Run", do=lambda: done.append("new"), kind="primary")])
    header.buttons()[0].click()
    assert header.buttons()[0] is first
    assert done == ["new"]
    header.set_buttons([Action(text="Run 24 cases", do=lambda: None, enabled=False)])
    assert [(made.text(), made.isEnabled()) for made in header.buttons()] == [("Run 24 cases", False)]


def test_a_notice_says_what_to_do_and_hides_its_details(qtbot: QtBot) -> None:
    notice = placed(qtbot, Notice("bad"))
    notice.show_message("Could not start files.", "Install Node.js.", details="exit code 127")
    assert notice.accessibleName() == "Could not start files. Install Node.js."
    assert not notice.isHidden()
    notice.clear()
    assert notice.isHidden()


def test_a_toast_undoes_once(qtbot: QtBot) -> None:
    host = placed(qtbot, QWidget())
    host.resize(800, 600)
    undone: list[int] = []
    toaster = Toaster(host)
    toaster.show("Removed 3 cases", lambda: undone.append(1))
    assert toaster.undo()
    assert not toaster.undo()
    assert undone == [1]


def test_the_activity_bar_asks_to_pause_continue_and_stop(qtbot: QtBot) -> None:
    bar = placed(qtbot, ActivityBar())
    heard: list[str] = []
    bar.pause_wanted.connect(lambda: heard.append("pause"))
    bar.resume_wanted.connect(lambda: heard.append("continue"))
    bar.cancel_wanted.connect(lambda: heard.append("stop"))
    bar.set_state(0.7, "142 of 200", ["3 failed"])
    bar.pause_button.click()
    bar.set_state(0.7, "142 of 200", [], paused=True)
    bar.pause_button.click()
    bar.cancel_button.click()
    assert heard == ["pause", "continue", "stop"]
    assert bar.pause_button.accessibleName() == "Continue"


def test_an_empty_page_offers_the_first_step(qtbot: QtBot) -> None:
    done: list[int] = []
    made = EmptyState("flask", "No cases yet", "A case is …", [Action(text="New case", do=lambda: done.append(1))])
    qtbot.addWidget(made)
    made.buttons()[0].click()
    assert done == [1]


def test_a_card_is_spoken_as_one_sentence(qtbot: QtBot) -> None:
    rail = placed(qtbot, CardList("Batches", row_height=76))
    bar = (Segment(role=Role.GOOD_FILL, value=8, name="right"), Segment(role=Role.BAD_FILL, value=2, name="wrong"))
    rail.set_rows([CardRow(id="1", title="Everyday", right=Span("14:02"), sub=(Span("gpt"),), bar=bar, bar_total=20)])
    rail.resize(204, 200)
    assert rail.rows.data(rail.rows.index(0, 0)) == "Everyday, gpt, 14:02"
    assert not rail.grab().isNull()


def test_a_bar_says_its_shares(qtbot: QtBot) -> None:
    bar = placed(qtbot, StackedBar("Verdicts"))
    bar.set_segments([Segment(role=Role.GOOD_FILL, value=8, name="right")], 10)
    assert bar.accessibleName() == "Verdicts: right 8"
