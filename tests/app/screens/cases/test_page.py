"""The screen of test cases as a user meets it: looking, typing, the keyboard."""

from functools import partial

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QPlainTextEdit

from app.core_link.targets import AddServer, ShowCase, ShowRuns
from app.screens.cases.editor_state import SaveStatus
from app.screens.cases.form import Mode
from app.screens.cases.matchers import Matcher
from app.screens.cases.page import CasesPage
from app.screens.cases.rows import LastResult
from app.screens.cases.view import COLUMNS
from app.screens.kit import NO_FILTERS, ViewState
from app.widgets import FlowText, MenuButton, Picker
from app.widgets.accessibility import reading_order
from mcp_tef import BatchRequest, CaseDraft, CaseOrigin, EarlierMessage, RunFilter, Speaker, expectation_from_json
from tests.support.cases_page import (
    BIKE,
    THANKS,
    Bench,
    saved_call,
    select,
    state,
    stored,
    type_into,
    value_of,
)
from tests.support.fake_engine import FakeEngine
from tests.support.windows import until

# ---------------------------------------------------------------- looking


async def test_the_first_case_is_looked_at_and_its_editor_shows_it(page: CasesPage) -> None:
    assert page.table.current_id() == page.presenter.rows()[0].id
    assert page.editor.query.toPlainText() == BIKE
    assert state(page) is SaveStatus.SAVED
    assert page.editor.isVisible()


async def test_another_case_is_shown_when_it_is_chosen(bench: Bench) -> None:
    select(bench.page, THANKS)
    assert bench.page.editor.query.toPlainText() == THANKS
    assert bench.page.editor.modes.current() == Mode.NONE.value
    assert not bench.page.editor.calls.isVisible()


async def test_a_case_leads_to_its_runs(bench: Bench) -> None:
    select(bench.page, BIKE)
    bench.page.editor.head.runs.click()
    case = bench.page.presenter.current
    assert case is not None
    assert bench.page.current_target() == ShowCase(case)
    assert bench.gone == [ShowRuns(RunFilter(case_ids=(case,)), "Runs of one case")]


async def test_runs_appear_as_marks_without_disturbing_what_is_typed(page: CasesPage, bench: Bench) -> None:
    type_into(page.editor.query, "Hello. ")
    batch = await bench.session.call(lambda core: core.runs.start(BatchRequest()))
    await bench.session.call(lambda core: core.runs.wait(batch.id))
    await bench.until(lambda: all(row.last_result is not LastResult.NEVER for row in page.presenter.rows()))
    assert page.editor.query.toPlainText() == f"Hello. {BIKE}"
    assert page.editor.query.textCursor().position() == len("Hello. ")


async def test_generated_cases_are_marked_once_there_are_some_and_can_be_shown_alone(bench: Bench) -> None:
    page, column = bench.page, [one.key for one in COLUMNS].index("origin")
    assert page.table.isColumnHidden(column)
    draft = CaseDraft(name="Drafted", query="Any bell will do", origin=CaseOrigin.GENERATED, servers=("Bike shop",))
    await bench.session.call(lambda core: core.cases.add([draft]))
    await bench.until(lambda: not page.table.isColumnHidden(column))
    page._show_view(ViewState(filters=NO_FILTERS.with_values("origin", "generated")))
    assert [row.query for row in page.presenter.rows()] == ["Any bell will do"]
    page._show_view(ViewState(filters=NO_FILTERS.with_values("origin", "written")))
    assert "Any bell will do" not in [row.query for row in page.presenter.rows()]


# ---------------------------------------------------------------- typing


async def test_what_is_typed_is_saved_after_a_pause(page: CasesPage, bench: Bench) -> None:
    type_into(value_of(page, "text"), "city")
    assert state(page) is SaveStatus.CHANGED
    call = await saved_call(bench)
    assert call.parameters == {"text": "city"}
    assert page.editor.calls.parameters.row("text").matcher.current() == Matcher.EQUALS.value


async def test_leaving_a_case_saves_it_at_once(page: CasesPage, bench: Bench) -> None:
    edited = page.presenter.edited
    assert edited is not None
    type_into(page.editor.query, "Well. ")
    select(page, THANKS)
    await bench.until(lambda: edited.save_status is SaveStatus.SAVED)
    assert page.presenter.rows()[0].query == f"Well. {BIKE}"


async def test_undo_goes_back_step_by_step_and_redo_brings_back_what_it_took(page: CasesPage, bench: Bench) -> None:
    for text in ("A", "B"):
        type_into(page.editor.query, text)
        await bench.until(lambda: state(page) is SaveStatus.SAVED)
    for earlier, undo in ((f"A{BIKE}", page.editor.head.undo.click), (BIKE, bench.session.undo)):
        undo()
        await bench.until(partial(stands, page, earlier))
    assert (await stored(bench)).query == BIKE
    assert (bench.session.can_undo(), page.editor.head.undo.isEnabled()) == (False, False)
    for later in (f"A{BIKE}", f"AB{BIKE}"):
        bench.session.redo()
        await bench.until(partial(stands, page, later))
    assert (await stored(bench)).query == f"AB{BIKE}"
    assert not bench.session.can_redo()
    bench.session.undo()
    await bench.until(partial(stands, page, f"A{BIKE}"))


async def test_typing_after_undo_leaves_nothing_to_redo(page: CasesPage, bench: Bench) -> None:
    type_into(page.editor.query, "A")
    await bench.until(lambda: state(page) is SaveStatus.SAVED and bench.session.can_undo())
    bench.session.undo()
    await bench.until(partial(stands, page, BIKE))
    type_into(page.editor.query, "Z")
    await bench.until(lambda: state(page) is SaveStatus.SAVED and not bench.session.can_redo())
    bench.session.redo()
    assert page.editor.query.toPlainText() != f"A{BIKE}"


def stands(page: CasesPage, query: str) -> bool:
    return page.editor.query.toPlainText() == query and state(page) is SaveStatus.SAVED


async def test_undo_of_something_unsaved_keeps_the_saved_steps(page: CasesPage, bench: Bench) -> None:
    type_into(page.editor.query, "A")
    await bench.until(lambda: state(page) is SaveStatus.SAVED and bench.session.can_undo())
    type_into(value_of(page, "limit"), "many")
    bench.session.undo()
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    assert page.editor.query.toPlainText() == f"A{BIKE}"
    bench.session.undo()
    await bench.until(lambda: page.editor.query.toPlainText() == BIKE and state(page) is SaveStatus.SAVED)
    assert not bench.session.can_undo()


async def test_undo_returns_to_the_case_that_was_edited(page: CasesPage, bench: Bench) -> None:
    edited = page.presenter.current
    type_into(page.editor.query, "A")
    await bench.until(lambda: state(page) is SaveStatus.SAVED and bench.session.can_undo())
    select(page, THANKS)
    bench.session.undo()
    await bench.until(lambda: page.presenter.current == edited and state(page) is SaveStatus.SAVED)
    assert page.editor.query.toPlainText() == BIKE


async def test_something_invalid_is_marked_and_is_still_there_later(page: CasesPage, bench: Bench) -> None:
    type_into(value_of(page, "limit"), "many")
    assert value_of(page, "limit").property("wrong") is True
    assert value_of(page, "limit").accessibleDescription() == "Write a number such as 20."
    select(page, THANKS)
    select(page, BIKE)
    assert value_of(page, "limit").text() == "many"
    assert (state(page), page.presenter.rows()[0].unsaved) == (SaveStatus.INVALID, "Write a number such as 20.")
    assert page.presenter.edited is not None
    assert (await stored(bench)) == page.presenter.edited.saved
    page.editor.head.undo.click()
    await bench.until(lambda: value_of(page, "limit").text() == "")


async def test_a_matcher_is_chosen_from_the_menu_beside_the_value(page: CasesPage, bench: Bench) -> None:
    type_into(value_of(page, "text"), "city, town")
    row = page.editor.calls.parameters.row("text")
    row.matcher.choose(Matcher.ANY_OF.value)
    call = await saved_call(bench)
    assert call.parameters == {"text": {"$any_of": ["city", "town"]}}


async def test_a_value_that_can_only_be_one_of_some_is_chosen(page: CasesPage, bench: Bench) -> None:
    choice = page.editor.calls.parameters.row("size").value_widget()
    assert isinstance(choice, MenuButton)
    choice.choose("M")
    call = await saved_call(bench)
    assert call.parameters == {"size": "M"}


async def test_parameters_as_json_stay_as_typed_while_they_cannot_be_read(page: CasesPage) -> None:
    form = page.editor.calls.parameters
    form.toggle.click()
    form.json.setPlainText('{"text": ')
    assert state(page) is SaveStatus.INVALID
    form.toggle.click()
    assert form.json.toPlainText() == '{"text": '
    form.json.setPlainText('{"text": "city"}')
    form.toggle.click()
    assert value_of(page, "text").text() == "city"


async def test_and_nothing_else_is_part_of_what_is_expected(page: CasesPage, bench: Bench) -> None:
    page.editor.calls.parameters.exact.click()
    call = await saved_call(bench)
    assert call.exact
    assert value_of(page, "text").placeholderText() == "must be absent"


async def test_several_calls_are_picked_ordered_and_taken_away(page: CasesPage, bench: Bench) -> None:
    page.editor.modes.choose(1)
    page.editor.calls.rows[1].picker.other.emit("book_repair")
    page.editor.calls.ordered.click()
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    expectation = (await stored(bench)).expectation
    assert expectation.ordered
    assert [call.tool for call in expectation.alternatives[0]] == ["search_bikes", "book_repair"]
    page.editor.calls.rows[0].remove.click()
    page.editor.modes.choose(0)
    call = await saved_call(bench)
    assert call.tool == "book_repair"


async def test_a_value_of_the_former_tool_stays_and_says_that_it_is_not_in_this_tool(
    page: CasesPage, bench: Bench
) -> None:
    def notes() -> list[str]:
        row = page.editor.calls.parameters.row("text")
        return [text.text() for text in row.findChildren(FlowText) if text.isVisible()]

    type_into(value_of(page, "text"), "city")
    page.editor.calls.rows[0].picker.other.emit("book_repair")
    await bench.until(lambda: any("Not in this tool" in note for note in notes()))
    assert value_of(page, "text").text() == "city"
    page.editor.calls.rows[0].picker.other.emit("search_bikes")
    await bench.until(lambda: value_of(page, "text").isVisible() and not notes())


async def test_a_mistyped_tool_gets_a_warning_with_the_nearest_name(page: CasesPage, bench: Bench) -> None:
    page.editor.calls.rows[0].picker.other.emit("serch_bikes")
    await bench.until(lambda: "search_bikes" in page.editor.calls.warning())
    await bench.until(lambda: state(page) is SaveStatus.SAVED)


async def test_an_expectation_that_the_form_cannot_show_is_json_and_untouched(page: CasesPage, bench: Bench) -> None:
    wanted = expectation_from_json({"any_of": [[{"tool": "search_bikes"}], []]})
    draft = CaseDraft(name="Either way", query="Either way", expectation=wanted, servers=("Bike shop",))
    await bench.session.call(lambda core: core.cases.add([draft]))
    await bench.until(lambda: page.table.rows.rowCount() == 5)
    select(page, "Either way")
    assert page.editor.json.isVisible()
    type_into(page.editor.query, "!")
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    assert (await stored(bench)).expectation == wanted


async def test_tags_are_chips_that_are_typed_and_taken_away(page: CasesPage, bench: Bench) -> None:
    type_into(page.editor.about.tags.entry, "bikes")
    QTest.keyClick(page.editor.about.tags.entry, Qt.Key.Key_Return)
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    assert (await stored(bench)).tags == ("shop", "bikes")
    QTest.keyClick(page.editor.about.tags.entry, Qt.Key.Key_Backspace)
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    assert (await stored(bench)).tags == ("shop",)


async def test_family_and_earlier_messages_are_typed_and_saved(page: CasesPage, bench: Bench) -> None:
    about = page.editor.about
    type_into(about.family, "bikes")
    type_into(about.before, "Hello")
    await bench.until(lambda: state(page) is SaveStatus.INVALID)
    about.before.selectAll()
    about.before.insertPlainText("User: Hello\nAssistant: Hi.\nWhat now?")
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    draft = await stored(bench)
    assert (draft.family, draft.before) == (
        "bikes",
        (EarlierMessage(Speaker.USER, "Hello"), EarlierMessage(Speaker.ASSISTANT, "Hi.\nWhat now?")),
    )


async def test_the_last_answers_are_judged_again_while_the_expectation_changes(page: CasesPage, bench: Bench) -> None:
    case_id = page.presenter.current
    assert case_id is not None
    batch = await bench.session.call(lambda core: core.runs.start(BatchRequest(cases=(case_id,), repeats=2)))
    await bench.session.call(lambda core: core.runs.wait(batch.id))
    page.editor.modes.choose(3)
    await bench.until(lambda: page.editor.tried.isVisible())


# ---------------------------------------------------------------- empty, narrow, by keyboard


@pytest.mark.parametrize("engine", [FakeEngine])
async def test_without_servers_the_sample_is_one_click_away(page: CasesPage, bench: Bench) -> None:
    await bench.until(lambda: page.view.blank.isVisible())
    verbs = {made.text(): made for made in page.view.blank.findChildren(QAbstractButton)}
    verbs["Add server…"].click()
    assert bench.gone == [AddServer()]
    verbs["Open the sample"].click()
    await bench.until(lambda: page.table.isVisible())
    await bench.until(lambda: page.table.rows.rowCount() == 4)


async def test_a_narrow_window_shows_the_editor_in_place_of_the_table(page: CasesPage, bench: Bench) -> None:
    page.resize(784, 640)
    await bench.until(lambda: (page.table.isVisible(), page.editor.isVisible()) == (True, False))
    page.table.setFocus()
    QTest.keyClick(page.table, Qt.Key.Key_Return)
    await bench.until(lambda: (page.table.isVisible(), page.editor.isVisible()) == (False, True))
    await bench.until(page.editor.query.hasFocus)
    QTest.keyClick(page.editor.query, Qt.Key.Key_Escape)
    await bench.until(page.table.isVisible)


async def test_in_a_narrow_window_one_click_opens_a_case_and_a_button_leads_back(page: CasesPage, bench: Bench) -> None:
    page.resize(784, 640)
    await bench.until(lambda: (page.table.isVisible(), page.editor.isVisible()) == (True, False))
    where = page.table.visualRect(page.table.rows.index(1, 0)).center()
    QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    await bench.until(lambda: (page.table.isVisible(), page.editor.isVisible()) == (False, True))
    assert page.presenter.current == page.table.rows.ids()[1]
    QTest.mouseClick(back_of(page)[0], Qt.MouseButton.LeftButton)
    await bench.until(lambda: (page.table.isVisible(), page.editor.isVisible()) == (True, False))
    page.resize(1104, 800)
    await bench.until(page.editor.isVisible)
    assert back_of(page) == []


def back_of(page: CasesPage) -> list[QAbstractButton]:
    """The buttons in sight that lead back to the table."""
    buttons = page.findChildren(QAbstractButton)
    return [one for one in buttons if one.text() == "Back to the cases" and one.isVisible()]


async def test_tab_goes_from_the_query_down_the_form(page: CasesPage) -> None:
    editor, seen = page.editor, reading_order(page)
    wanted = [editor.query, editor.modes, editor.calls.rows[0].picker, value_of(page, "text"), editor.about.name]
    places = [seen.index(widget) for widget in wanted]
    assert places == sorted(places)


async def test_typing_undo_stays_inside_the_field_until_nothing_is_left_there(bench: Bench) -> None:
    query = bench.page.editor.query
    assert isinstance(query, QPlainTextEdit)
    type_into(query, "A")
    QTest.keyClick(query, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert query.toPlainText() == BIKE


async def test_esc_closes_the_list_of_tools_and_nothing_else(page: CasesPage) -> None:
    select(page, BIKE)
    await until(lambda: any(one.isVisible() for one in page.findChildren(Picker)))
    picker = next(one for one in page.findChildren(Picker) if one.isVisible())
    before = picker.current()
    picker.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(picker, Qt.Key.Key_Return)
    await until(picker.popup().isVisible)
    QTest.keyClick(picker.popup().search, Qt.Key.Key_Down)
    overridden = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    overridden.ignore()
    QApplication.sendEvent(picker.popup().search, overridden)
    assert overridden.isAccepted(), "no shortcut of the page below takes Esc"
    QTest.keyClick(picker.popup().search, Qt.Key.Key_Escape)
    assert not picker.popup().isVisible()
    assert picker.current() == before
    assert page.view.editor.isVisible()
