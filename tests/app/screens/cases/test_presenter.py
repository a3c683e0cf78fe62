"""What a user of the screen of test cases notices, tried without a window."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

import pytest

from app.core_link.refresh import Refresh
from app.screens.cases.calls import Tools, with_field
from app.screens.cases.editor_state import CaseEditorState, SaveStatus
from app.screens.cases.form import CaseForm, Mode, with_call, with_mode, with_selected_tool
from app.screens.cases.matchers import with_text
from app.screens.cases.presenter import BY, CasesPresenter, StaleData
from app.screens.cases.rows import LastResult
from app.screens.kit import FilterValues, ViewState
from mcp_tef import (
    NO_TOOL,
    BatchesChanged,
    BatchRequest,
    CaseId,
    CasesChanged,
    Engine,
    Event,
    InputError,
    Listing,
    NoticePublished,
    RunsChanged,
    ServersChanged,
    TestCase,
    expectation_to_json,
)
from tests.support.fake_engine import FakeEngine, made_tool

T = TypeVar("T")
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TOOL_OF = {"docs": "search", "bells": "ring"}
BIKE = "Do you have a city bike in size M?"


def test_tools_of_every_server_can_be_expected_and_selecting_one_attaches_its_server() -> None:
    listings = {
        name: Listing(server=name, tools=(made_tool(tool, "It does.", name),)) for name, tool in TOOL_OF.items()
    }
    tools = Tools(listings)
    form = CaseForm(query="Find it", servers=("docs",))
    assert [(one.name, one.attached) for one in tools.selectable(form.servers)] == [("search", True), ("ring", False)]
    assert all(one.attached for one in tools.selectable(()))
    ring = tools.selectable(form.servers)[1]
    for choice in (ring, "ring", "bells / ring"):
        edited = with_selected_tool(form, 0, choice, tools)
        assert (edited.servers, edited.calls[0].server, edited.calls[0].tool) == (("docs", "bells"), "bells", "ring")
    assert with_selected_tool(form, 0, "search", tools).servers == ("docs",)
    assert with_selected_tool(form, 0, "unheard", tools).servers == ("docs",)


class Core:
    """Calls the core at once; `refuses` lets the next write fail."""

    def __init__(self, fake: FakeEngine) -> None:
        self.fake = fake
        self.refusal: InputError | None = None

    async def __call__(self, work: Callable[[Engine], Awaitable[T]]) -> T:
        if self.refusal is not None:
            raise self.refusal
        return await work(self.fake.engine)


@pytest.fixture
async def fake() -> AsyncIterator[FakeEngine]:
    engine = FakeEngine()
    await engine.open_sample()
    for server in await engine.servers.list():
        await engine.servers.check(server.id)
    yield engine
    await engine.close()


@pytest.fixture
def core(fake: FakeEngine) -> Core:
    return Core(fake)


@pytest.fixture
async def presenter(core: Core) -> CasesPresenter:
    made = CasesPresenter(core, now=lambda: NOW)
    await made.refresh()
    return made


def handled(presenter: CasesPresenter, events: Iterable[Event]) -> tuple[CaseId, ...]:
    for event in events:
        presenter.handle(event)
    return presenter.take_changed_cases()


def case_of(presenter: CasesPresenter, query: str) -> CaseId:
    return next(row.id for row in presenter.rows() if row.query == query)


def opened(presenter: CasesPresenter, query: str = BIKE) -> CaseEditorState:
    edited = presenter.open(case_of(presenter, query))
    assert edited is not None
    return edited


def type_value(edited: CaseEditorState, parameter: str, text: str) -> None:
    field = next(field for field in edited.form.calls[0].fields if field.parameter.name == parameter)
    edited.edit(with_call(edited.form, 0, with_field(edited.form.calls[0], with_text(field, text))))


async def stored(fake: FakeEngine, edited: CaseEditorState) -> TestCase:
    return await fake.cases.get(edited.case_id)


# ---------------------------------------------------------------- the table


async def test_a_row_shows_the_query_and_what_is_expected(presenter: CasesPresenter) -> None:
    row = presenter.rows()[0]
    assert (row.query, row.server, row.tools) == (BIKE, "Bike shop", "search_bikes")
    assert presenter.rows()[3].no_tool
    assert row.last_result is LastResult.NEVER


async def test_the_last_runs_appear_as_marks_with_words(fake: FakeEngine, presenter: CasesPresenter) -> None:
    batch = await fake.runs.start(BatchRequest(repeats=7))
    await fake.runs.wait(batch.id)
    await presenter.refresh(StaleData.RUNS)
    row = presenter.rows()[0]
    assert len(row.recent_runs) == 5
    assert all(mark.text for mark in row.recent_runs)
    assert row.last_result is not LastResult.NEVER


def filtered(**values: str) -> ViewState:
    """A view with one value for each of these filters."""
    return ViewState(filters=FilterValues({name: (value,) for name, value in values.items()}))


@pytest.mark.parametrize(
    ("view", "left"),
    [
        (ViewState(text="chain MOUNTAIN"), 1),
        (ViewState(text="book_repair"), 1),
        (ViewState(text="nothing like that"), 0),
        (filtered(suite="Sample", tag="shop", server="Bike shop"), 4),
        (filtered(tag="other"), 0),
        (filtered(last=LastResult.NEVER), 4),
        (filtered(last=LastResult.WRONG), 0),
    ],
)
async def test_search_and_filters_narrow_the_table(presenter: CasesPresenter, view: ViewState, left: int) -> None:
    presenter.view = view
    assert len(presenter.rows()) == left


# ---------------------------------------------------------------- typing and saving


async def test_typing_what_stood_there_before_counts_as_going_back(presenter: CasesPresenter) -> None:
    edited = opened(presenter)
    for text in ("city", ""):
        type_value(edited, "text", text)
        await presenter.save()
    assert not edited.can_go_back


async def test_a_write_that_is_refused_keeps_what_was_typed_and_tells_why(
    core: Core, presenter: CasesPresenter
) -> None:
    edited = opened(presenter)
    type_value(edited, "text", "city")
    core.refusal = InputError("The disk is full.", hint="Make room.")
    await presenter.save()
    assert (edited.save_status, edited.problem_text) == (SaveStatus.REFUSED, "The disk is full. Make room.")
    core.refusal = None
    type_value(edited, "text", "city bike")
    await presenter.save()
    assert edited.save_status is SaveStatus.SAVED


async def test_what_someone_else_changed_is_shown_unless_something_is_typed_here(
    fake: FakeEngine, presenter: CasesPresenter
) -> None:
    edited = opened(presenter)
    assert edited.saved is not None
    await fake.cases.edit(edited.case_id, replace(edited.saved, query="Another question"))
    await presenter.refresh(StaleData.CASES)
    assert edited.form.query == "Another question"
    edited.edit(replace(edited.form, query="Typed here"))
    await fake.cases.edit(edited.case_id, replace(edited.saved, query="Changed again"))
    await presenter.refresh(StaleData.CASES)
    assert edited.form.query == "Typed here"


async def test_what_someone_else_changed_beside_the_typing_survives_the_save_and_its_undo(
    fake: FakeEngine, presenter: CasesPresenter
) -> None:
    edited = opened(presenter)
    assert edited.saved is not None
    before = edited.saved
    edited.edit(replace(edited.form, query=f"{before.query} today"))
    await fake.cases.edit(edited.case_id, replace(before, tags=("theirs",), family="theirs"), seen=before)
    await presenter.save()  # nobody has told the screen yet
    query = f"{before.query} today"
    both = replace(before, name=query, query=query, tags=("theirs",), family="theirs")
    assert (await stored(fake, edited)).draft == both
    assert (edited.save_status, edited.form.tags) == (SaveStatus.SAVED, ("theirs",))
    await fake.cases.edit(edited.case_id, replace(both, suites=("Theirs",)), seen=both)
    await presenter.refresh(StaleData.CASES)
    assert presenter.go_back(edited)
    await presenter.save()
    assert (await stored(fake, edited)).draft == replace(before, tags=("theirs",), family="theirs", suites=("Theirs",))
    assert not edited.can_go_back, "a change of somebody else is no step to undo here"


async def test_of_two_edits_of_one_field_both_values_are_shown_and_none_is_overwritten(
    fake: FakeEngine, presenter: CasesPresenter
) -> None:
    edited = opened(presenter)
    assert edited.saved is not None
    before = edited.saved
    edited.edit(replace(edited.form, query="Typed here", tags=("typed",)))
    await fake.cases.edit(edited.case_id, replace(before, query="Typed there"), seen=before)
    for _ in range(2):  # saving again without a look at it changes nothing
        await presenter.save()
        assert (await stored(fake, edited)).draft == replace(before, query="Typed there")
    assert edited.save_status is SaveStatus.REFUSED
    assert "Typed there" in edited.problem_text
    assert edited.form.query == "Typed here"
    edited.edit(replace(edited.form, query="Typed here after all"))
    await presenter.save()
    query = "Typed here after all"
    assert (await stored(fake, edited)).draft == replace(before, name=query, query=query, tags=("typed",))


# ---------------------------------------------------------------- new cases


async def test_a_new_case_is_stored_once_it_can_be(fake: FakeEngine, presenter: CasesPresenter) -> None:
    edited = presenter.new()
    assert edited.form.servers == ("Bike shop",)
    edited.edit(replace(edited.form, query="I want a tandem"))
    await presenter.save()
    assert (edited.save_status, edited.problem_text) == (SaveStatus.NEW, "Select the tool that should be called.")
    presenter.pick(0, "search_bikes")
    await presenter.save()
    assert edited.save_status is SaveStatus.SAVED
    assert presenter.current == edited.case_id
    draft = (await stored(fake, edited)).draft
    assert expectation_to_json(draft.expectation) == [{"tool": "search_bikes", "server": "Bike shop"}]


async def test_an_unfinished_new_case_stays_in_the_table_whatever_is_filtered(presenter: CasesPresenter) -> None:
    edited = presenter.new()
    edited.edit(replace(edited.form, query="I want a tandem"))
    presenter.view = ViewState(text="chain")
    opened(presenter, "I need a new chain for a mountain bike")
    assert [row.query for row in presenter.rows()] == ["I need a new chain for a mountain bike", "I want a tandem"]


async def test_an_empty_new_case_is_dropped_when_left(presenter: CasesPresenter) -> None:
    presenter.new()
    opened(presenter)
    assert len(presenter.rows()) == 4


async def test_a_new_case_joins_the_suite_that_is_looked_at(presenter: CasesPresenter) -> None:
    presenter.view = filtered(suite="Sample")
    assert presenter.new().form.suites == ("Sample",)


# ---------------------------------------------------------------- tried on the last answers


async def test_a_draft_is_tried_on_the_last_answers(fake: FakeEngine, presenter: CasesPresenter) -> None:
    edited = opened(presenter)
    batch = await fake.runs.start(BatchRequest(cases=(edited.case_id,), repeats=2))
    await fake.runs.wait(batch.id)
    before = (await presenter.review()).tried
    assert len(before.lines) == 2
    edited.edit(with_mode(edited.form, Mode.NONE, presenter.tools.find))
    after = (await presenter.review()).tried
    assert {line.last for line in after.lines} != {line.last for line in before.lines}
    assert "now" in after.summary


# ---------------------------------------------------------------- many at once


async def test_deleted_cases_come_back_with_what_was_typed(presenter: CasesPresenter) -> None:
    edited = opened(presenter)
    type_value(edited, "limit", "many")
    fresh = presenter.new()
    fresh.edit(replace(fresh.form, query="I want a tandem"))
    gone = await presenter.remove([edited.case_id, fresh.case_id])
    await presenter.refresh(StaleData.CASES)
    assert (len(presenter.rows()), presenter.current) == (3, None)
    await presenter.restore(gone)
    assert len(presenter.rows()) == 5
    assert [field.text for field in opened(presenter).form.calls[0].judged] == ["many"]


async def test_queries_are_copied_a_line_each(presenter: CasesPresenter) -> None:
    ids = [row.id for row in presenter.rows()][2:]
    assert presenter.queries(ids) == "My brakes squeak, can somebody look at them on Friday?\nThanks, that is all"


async def test_runs_that_end_are_marks_at_once_without_asking_again(
    fake: FakeEngine, core: Core, presenter: CasesPresenter
) -> None:
    said: list[Event] = []
    stop = fake.subscribe(said.append)
    batch = await fake.runs.start(BatchRequest(repeats=3))
    await fake.runs.wait(batch.id)
    stop()
    core.refusal = InputError("Nothing is to be asked.")
    assert set(handled(presenter, said)) == {row.id for row in presenter.rows()}
    assert {len(row.recent_runs) for row in presenter.rows()} == {3}
    handled(presenter, said)
    assert {len(row.recent_runs) for row in presenter.rows()} == {3}


async def test_runs_that_were_judged_again_change_their_marks_where_they_stand(
    fake: FakeEngine, presenter: CasesPresenter
) -> None:
    said: list[Event] = []
    stop = fake.subscribe(said.append)
    batch = await fake.runs.start(BatchRequest(repeats=2))
    await fake.runs.wait(batch.id)
    handled(presenter, said)
    before = {row.id: row.recent_runs for row in presenter.rows()}
    said.clear()
    for case in await fake.cases.list():
        await fake.cases.edit(case.id, replace(case.draft, expectation=NO_TOOL))
    await fake.runs.rejudge(batch_id=batch.id)
    stop()
    touched = handled(presenter, said)
    now = {row.id: row.recent_runs for row in presenter.rows()}
    assert touched
    assert {case_id for case_id in now if now[case_id] != before[case_id]} == set(touched)
    assert {len(marks) for marks in now.values()} == {2}


@pytest.mark.parametrize(
    ("event", "urgency", "stale"),
    [
        (CasesChanged(()), Refresh.NOW, StaleData.CASES),
        (CasesChanged((), by=BY), Refresh.NONE, StaleData.NONE),
        (BatchesChanged(()), Refresh.NOW, StaleData.RUNS),
        (ServersChanged(()), Refresh.NOW, StaleData.SERVERS),
        (RunsChanged(runs=()), Refresh.LATER, StaleData.NONE),
        (NoticePublished("nothing of ours"), Refresh.NONE, StaleData.NONE),
    ],
)
async def test_only_what_an_event_changes_is_read_again(
    presenter: CasesPresenter, event: Event, urgency: Refresh, stale: StaleData
) -> None:
    assert (presenter.handle(event), presenter.stale) == (urgency, stale)


async def test_an_event_before_the_first_read_does_not_keep_cases_from_being_read(core: Core) -> None:
    built_ahead = CasesPresenter(core, now=lambda: NOW)
    built_ahead.handle(ServersChanged(()))
    await built_ahead.refresh()
    assert built_ahead.rows()
