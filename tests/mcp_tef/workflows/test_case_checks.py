"""Doubts about cases, and what each action makes of a case."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.errors import InputError
from mcp_tef.model.answers import Answer
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall
from mcp_tef.model.drafted_cases import CaseAction, CaseDoubt, CaseFinding
from mcp_tef.model.runs import ModelSettings
from mcp_tef.ports import Question
from mcp_tef.storage.store import open_store
from mcp_tef.workflows.case_checks import CaseChecks
from tests.support.fake_ports import picks, tool
from tests.support.workflow_bench import Bench, bench, draft, request, write

ONE, TWO = (ModelSettings(provider="ollama", model=name, base_url="http://127.0.0.1:9") for name in ("one", "two"))
WORDS = ModelSettings(provider="offline", model="words")


class Choices:
    """Selections of models by name; `find` where nothing else is set."""

    def __init__(self) -> None:
        self.of: dict[str, list[str]] = {}

    def __call__(self, question: Question) -> Answer:
        left = self.of.get(question.settings.model, [])
        return picks(left.pop() if len(left) > 1 else left[0] if left else "find")


@pytest.fixture
def choices() -> Choices:
    return Choices()


@pytest.fixture
async def made(tmp_path: Path, choices: Choices) -> AsyncIterator[Bench]:
    store = await open_store(tmp_path / "workspace.db")
    opened = bench(store, {"desk": [tool("find"), tool("book_room")]}, choices)
    await opened.register("desk")
    for server in await opened.servers.list():
        await opened.servers.check(server.id)
    yield opened
    await opened.servers.close()
    await store.close()


async def found(
    made: Bench, *drafts: CaseDraft, models: tuple[ModelSettings, ...] = (), repeats: int = 1
) -> list[CaseFinding]:
    """The doubts about cases after each was run by the models."""
    cases = await write(made, *drafts)
    if models:
        started = await made.runs.start(request(cases=tuple(case.id for case in cases), models=models, repeats=repeats))
        await made.runs.wait(started.id)
    return list(await CaseChecks(made.store).find())


async def test_two_models_that_choose_the_same_other_tool_put_the_expectation_in_doubt(
    made: Bench, choices: Choices
) -> None:
    choices.of = {"one": ["book_room"], "two": ["book_room"]}
    (finding,) = await found(made, draft("a room for six people"), models=(ONE, TWO))
    assert finding.doubt is CaseDoubt.OTHER_TOOL_CHOSEN
    assert "book_room" in finding.sentence
    assert set(finding.actions) >= {CaseAction.ACCEPT_BOTH, CaseAction.CHANGE_EXPECTATION, CaseAction.REWRITE_QUERY}


@pytest.mark.parametrize(("misses", "doubted"), [(5, True), (4, True), (3, False)])
async def test_one_model_has_to_choose_it_in_four_of_five_repeats(
    made: Bench, choices: Choices, misses: int, doubted: bool
) -> None:
    choices.of = {"one": ["find"] * (5 - misses) + ["book_room"] * misses}
    assert bool(await found(made, draft("a room"), models=(ONE,), repeats=5)) is doubted


async def test_one_model_once_a_baseline_and_two_different_choices_prove_nothing(made: Bench, choices: Choices) -> None:
    choices.of = {"one": ["book_room"], "words": ["book_room"], "two": ["find"]}
    assert await found(made, draft("a room"), models=(ONE, WORDS)) == []
    assert await found(made, draft("another room"), models=(ONE, TWO)) == []


async def test_runs_of_an_earlier_query_do_not_count(made: Bench, choices: Choices) -> None:
    choices.of = {"one": ["book_room"], "two": ["book_room"]}
    (finding,) = await found(made, draft("a room"), models=(ONE, TWO))
    await made.cases.edit(finding.case, draft("the key of the cupboard"))
    assert await CaseChecks(made.store).find() == ()


async def test_duplicates_are_found_whatever_their_case_and_punctuation(made: Bench) -> None:
    first, second = draft("Where is it?"), replace(draft("where is IT", "book_room"), name="Second")
    (finding,) = await found(made, first, second, draft("Where was it?"))
    assert (finding.name, finding.doubt) == ("Second", CaseDoubt.DUPLICATE)
    assert "different" in finding.sentence


async def test_a_query_with_the_name_of_its_tool_is_found_but_plain_words_may_be_a_name(made: Bench) -> None:
    findings = await found(
        made, draft("call book_room at six", "book_room"), draft("find my keys"), draft("use the find tool, now")
    )
    assert [(one.name, one.doubt) for one in findings] == [
        ("call book_room at six", CaseDoubt.NAMES_TOOL),
        ("use the find tool, now", CaseDoubt.NAMES_TOOL),
    ]


async def test_an_expected_tool_that_nothing_offers_is_found_with_the_nearest_one(made: Bench) -> None:
    (finding,) = await found(made, draft("a room", "book_rooms"))
    assert finding.doubt is CaseDoubt.NOT_OFFERED
    changed = CaseChecks.with_action(draft("a room", "book_rooms"), finding, CaseAction.CHANGE_EXPECTATION)
    assert changed.expectation.label == "book_room"


async def test_actions_change_what_they_say_and_nothing_else(made: Bench, choices: Choices) -> None:
    choices.of = {"one": ["book_room"], "two": ["book_room"]}
    before = draft("a room for six people")
    (finding,) = await found(made, before, models=(ONE, TWO))
    both = CaseChecks.with_action(before, finding, CaseAction.ACCEPT_BOTH)
    assert [call.tool for calls in both.expectation.alternatives for call in calls] == ["find", "book_room"]
    other = CaseChecks.with_action(before, finding, CaseAction.CHANGE_EXPECTATION)
    assert other == replace(before, expectation=Expectation(((ExpectedCall(tool="book_room"),),)))
    assert CaseChecks.with_action(before, finding, CaseAction.REWRITE_QUERY, "a den") == replace(before, query="a den")
    for action in (CaseAction.REWRITE_QUERY, CaseAction.REMOVE):
        with pytest.raises(InputError):
            CaseChecks.with_action(before, finding, action)
