"""The screen of test cases as a user meets it: looking, typing, the keyboard."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QPlainTextEdit, QWidget

from app.core_link.targets import AddServer, ShowCase, ShowRuns
from app.screens.cases.editor_state import SaveStatus
from app.screens.cases.form import Mode
from app.screens.cases.matchers import Matcher
from app.screens.cases.page import CasesPage
from app.screens.cases.rows import LastResult
from app.widgets import MenuButton
from app.widgets.accessibility import reading_order
from mcp_tef import BatchRequest, CaseDraft, RunFilter, expectation_from_json
from tests.support.cases_page import (
    BIKE,
    THANKS,
    Bench,
    select,
    state,
    stored,
    type_into,
    value_of,
    with_cases,
    with_nothing,
)

# ---------------------------------------------------------------- looking


@with_cases
async def test_the_first_case_is_looked_at_and_its_editor_shows_it(bench: Bench) -> None:
    page = bench.page
    assert page.table.current_id() == page.presenter.rows()[0].id
    assert page.editor.query.toPlainText() == BIKE
    assert state(page) is SaveStatus.SAVED
    assert page.editor.isVisible()


@with_cases
async def test_another_case_is_shown_when_it_is_chosen(bench: Bench) -> None:
    select(bench.page, THANKS)
    assert bench.page.editor.query.toPlainText() == THANKS
    assert bench.page.editor.modes.current() == Mode.NONE.value
    assert not bench.page.editor.calls.isVisible()


@with_cases
async def test_a_case_leads_to_its_runs(bench: Bench) -> None:
    select(bench.page, BIKE)
    bench.page.editor.head.runs.click()
    case = bench.page.presenter.current
    assert case is not None
    assert bench.page.current_target() == ShowCase(case)
    assert bench.went == [ShowRuns(RunFilter(case_ids=(case,)), "Runs of one case")]


@with_cases
async def test_runs_appear_as_marks_without_disturbing_what_is_typed(bench: Bench) -> None:
    page = bench.page
    type_into(page.editor.query, "Hello. ")
    batch = await bench.session.call(lambda core: core.runs.start(BatchRequest()))
    await bench.session.call(lambda core: core.runs.wait(batch.id))
    await bench.until(lambda: all(row.last_result is not LastResult.NEVER for row in page.presenter.rows()))
    assert page.editor.query.toPlainText() == f"Hello. {BIKE}"
    assert page.editor.query.textCursor().position() == len("Hello. ")


# ---------------------------------------------------------------- typing


@with_cases
async def test_what_is_typed_is_saved_after_a_pause(bench: Bench) -> None:
    page = bench.page
    type_into(value_of(page, "text"), "city")
    assert state(page) is SaveStatus.CHANGED
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    call = (await stored(bench)).expectation.first_call
    assert call is not None
    assert call.parameters == {"text": "city"}
    assert page.editor.calls.parameters.row("text").matcher.current() == Matcher.EQUALS.value


@with_cases
async def test_leaving_a_case_saves_it_at_once(bench: Bench) -> None:
    page = bench.page
    edited = page.presenter.edited
    assert edited is not None
    type_into(page.editor.query, "Well. ")
    select(page, THANKS)
    await bench.until(lambda: edited.save_status is SaveStatus.SAVED)
    assert page.presenter.rows()[0].query == f"Well. {BIKE}"


@with_cases
async def test_undo_goes_back_to_the_draft_before_step_by_step(bench: Bench) -> None:
    page = bench.page
    for text in ("A", "B"):
        type_into(page.editor.query, text)
        await bench.until(lambda: state(page) is SaveStatus.SAVED)
    page.editor.head.undo.click()
    await bench.until(lambda: page.editor.query.toPlainText() == f"A{BIKE}" and state(page) is SaveStatus.SAVED)
    bench.session.undo()
    await bench.until(lambda: page.editor.query.toPlainText() == BIKE and state(page) is SaveStatus.SAVED)
    assert (await stored(bench)).query == BIKE
    assert not page.editor.head.undo.isEnabled()


@with_cases
async def test_redo_brings_back_what_undo_took_step_by_step(bench: Bench) -> None:
    page = bench.page
    for text in ("A", "B"):
        type_into(page.editor.query, text)
        await bench.until(lambda: state(page) is SaveStatus.SAVED)
    for earlier in (f"A{BIKE}", BIKE):
        bench.session.undo()
        await bench.until(partial(stands, page, earlier))
    assert not bench.session.can_undo()
    for later in (f"A{BIKE}", f"AB{BIKE}"):
        bench.session.redo()
        await bench.until(partial(stands, page, later))
    assert (await stored(bench)).query == f"AB{BIKE}"
    assert not bench.session.can_redo()
    bench.session.undo()
    await bench.until(partial(stands, page, f"A{BIKE}"))


@with_cases
async def test_typing_after_undo_leaves_nothing_to_redo(bench: Bench) -> None:
    page = bench.page
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


@with_cases
async def test_undo_of_something_unsaved_keeps_the_saved_steps(bench: Bench) -> None:
    page = bench.page
    type_into(page.editor.query, "A")
    await bench.until(lambda: state(page) is SaveStatus.SAVED and bench.session.can_undo())
    type_into(value_of(page, "limit"), "many")
    bench.session.undo()
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    assert page.editor.query.toPlainText() == f"A{BIKE}"
    bench.session.undo()
    await bench.until(lambda: page.editor.query.toPlainText() == BIKE and state(page) is SaveStatus.SAVED)
    assert not bench.session.can_undo()


@with_cases
async def test_undo_returns_to_the_case_that_was_edited(bench: Bench) -> None:
    page = bench.page
    edited = page.presenter.current
    type_into(page.editor.query, "A")
    await bench.until(lambda: state(page) is SaveStatus.SAVED and bench.session.can_undo())
    select(page, THANKS)
    bench.session.undo()
    await bench.until(lambda: page.presenter.current == edited and state(page) is SaveStatus.SAVED)
    assert page.editor.query.toPlainText() == BIKE


@with_cases
async def test_something_invalid_is_marked_and_is_still_there_later(bench: Bench) -> None:
    page = bench.page
    type_into(value_of(page, "limit"), "many")
    assert value_of(page, "limit").property("wrong") is True
    assert value_of(page, "limit").accessibleDescription() == "Write a number such as 20."
    select(page, THANKS)
    select(page, BIKE)
    assert value_of(page, "limit").text() == "many"
    assert state(page) is SaveStatus.INVALID
    page.editor.head.undo.click()
    await bench.until(lambda: value_of(page, "limit").text() == "")


@with_cases
async def test_a_matcher_is_chosen_from_the_menu_beside_the_value(bench: Bench) -> None:
    page = bench.page
    type_into(value_of(page, "text"), "city, town")
    row = page.editor.calls.parameters.row("text")
    row.matcher.choose(Matcher.ANY_OF.value)
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    call = (await stored(bench)).expectation.first_call
    assert call is not None
    assert call.parameters == {"text": {"$any_of": ["city", "town"]}}


@with_cases
async def test_a_value_that_can_only_be_one_of_some_is_chosen(bench: Bench) -> None:
    page = bench.page
    choice = page.editor.calls.parameters.row("size").value_widget()
    assert isinstance(choice, MenuButton)
    choice.choose("M")
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    call = (await stored(bench)).expectation.first_call
    assert call is not None
    assert call.parameters == {"size": "M"}


@with_cases
async def test_parameters_as_json_stay_as_typed_while_they_cannot_be_read(bench: Bench) -> None:
    page = bench.page
    form = page.editor.calls.parameters
    form.toggle.click()
    form.json.setPlainText('{"text": ')
    assert state(page) is SaveStatus.INVALID
    form.toggle.click()
    assert form.json.toPlainText() == '{"text": '
    form.json.setPlainText('{"text": "city"}')
    form.toggle.click()
    assert value_of(page, "text").text() == "city"


@with_cases
async def test_and_nothing_else_is_part_of_what_is_expected(bench: Bench) -> None:
    page = bench.page
    page.editor.calls.parameters.exact.click()
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    call = (await stored(bench)).expectation.first_call
    assert call is not None
    assert call.exact
    assert value_of(page, "text").placeholderText() == "must be absent"


@with_cases
async def test_several_calls_are_picked_ordered_and_taken_away(bench: Bench) -> None:
    page = bench.page
    page.editor.modes.choose(1)
    page.editor.calls.rows[1].picker.other.emit("book_repair")
    page.editor.calls.ordered.click()
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    expectation = (await stored(bench)).expectation
    assert expectation.ordered
    assert [call.tool for call in expectation.alternatives[0]] == ["search_bikes", "book_repair"]
    page.editor.calls.rows[0].remove.click()
    page.editor.modes.choose(0)
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    call = (await stored(bench)).expectation.first_call
    assert call is not None
    assert call.tool == "book_repair"


@with_cases
async def test_a_mistyped_tool_gets_a_warning_with_the_nearest_name(bench: Bench) -> None:
    page = bench.page
    page.editor.calls.rows[0].picker.other.emit("serch_bikes")
    await bench.until(lambda: "search_bikes" in page.editor.calls.warning())
    await bench.until(lambda: state(page) is SaveStatus.SAVED)


@with_cases
async def test_an_expectation_that_the_form_cannot_show_is_json_and_untouched(bench: Bench) -> None:
    page = bench.page
    wanted = expectation_from_json({"any_of": [[{"tool": "search_bikes"}], []]})
    draft = CaseDraft(name="Either way", query="Either way", expectation=wanted, servers=("Bike shop",))
    await bench.session.call(lambda core: core.cases.add([draft]))
    await bench.until(lambda: page.table.rows.rowCount() == 5)
    select(page, "Either way")
    assert page.editor.json.isVisible()
    type_into(page.editor.query, "!")
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    assert (await stored(bench)).expectation == wanted


@with_cases
async def test_tags_are_chips_that_are_typed_and_taken_away(bench: Bench) -> None:
    page = bench.page
    type_into(page.editor.about.tags.entry, "bikes")
    QTest.keyClick(page.editor.about.tags.entry, Qt.Key.Key_Return)
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    assert (await stored(bench)).tags == ("shop", "bikes")
    QTest.keyClick(page.editor.about.tags.entry, Qt.Key.Key_Backspace)
    await bench.until(lambda: state(page) is SaveStatus.SAVED)
    assert (await stored(bench)).tags == ("shop",)


@with_cases
async def test_the_last_answers_are_judged_again_while_the_expectation_changes(bench: Bench) -> None:
    page = bench.page
    case_id = page.presenter.current
    assert case_id is not None
    batch = await bench.session.call(lambda core: core.runs.start(BatchRequest(cases=(case_id,), repeats=2)))
    await bench.session.call(lambda core: core.runs.wait(batch.id))
    page.editor.modes.choose(3)
    await bench.until(lambda: page.editor.tried.isVisible())


# ---------------------------------------------------------------- empty, narrow, by keyboard


@with_nothing
async def test_without_servers_the_sample_is_one_click_away(bench: Bench) -> None:
    page = bench.page
    await bench.until(lambda: page.view.blank.isVisible())
    verbs = {made.text(): made for made in page.view.blank.findChildren(QAbstractButton)}
    verbs["Add server"].click()
    assert bench.went == [AddServer()]
    verbs["Open the sample"].click()
    await bench.until(lambda: page.table.isVisible())
    await bench.until(lambda: page.table.rows.rowCount() == 4)


@with_cases
async def test_a_narrow_window_shows_the_editor_in_place_of_the_table(bench: Bench) -> None:
    page = bench.page
    page.resize(784, 640)
    await bench.until(lambda: (page.table.isVisible(), page.editor.isVisible()) == (True, False))
    page.table.setFocus()
    QTest.keyClick(page.table, Qt.Key.Key_Return)
    await bench.until(lambda: (page.table.isVisible(), page.editor.isVisible()) == (False, True))
    await bench.until(page.editor.query.hasFocus)
    QTest.keyClick(page.editor.query, Qt.Key.Key_Escape)
    await bench.until(page.table.isVisible)


@with_cases
async def test_everything_that_takes_the_keyboard_has_a_name(bench: Bench) -> None:
    nameless = [
        widget
        for widget in bench.page.findChildren(QWidget)
        if widget.isVisible()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not (widget.accessibleName() or getattr(widget, "text", str)())
    ]
    assert nameless == []


@with_cases
async def test_tab_goes_from_the_query_down_the_form(bench: Bench) -> None:
    page = bench.page
    editor, seen = page.editor, reading_order(page)
    wanted = [editor.query, editor.modes, editor.calls.rows[0].picker, value_of(page, "text"), editor.about.name]
    places = [seen.index(widget) for widget in wanted]
    assert places == sorted(places)


@with_cases
async def test_typing_undo_stays_inside_the_field_until_nothing_is_left_there(bench: Bench) -> None:
    query = bench.page.editor.query
    assert isinstance(query, QPlainTextEdit)
    type_into(query, "A")
    QTest.keyClick(query, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert query.toPlainText() == BIKE
