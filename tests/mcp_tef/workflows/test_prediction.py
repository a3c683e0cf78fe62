"""Predictions for drafts, compared with what the baseline does alone, and the cases that a trial is about."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random

import pytest

from mcp_tef.embedding.tfidf import TfidfLexicon
from mcp_tef.engine import Engine
from mcp_tef.llm.retrieval_baseline import WordsSelector
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall, TestCase
from mcp_tef.model.draft_edits import ToolEdit
from mcp_tef.model.drafts import Draft
from mcp_tef.model.ids import CaseId
from mcp_tef.model.prediction import Neighbour, ScopeReason
from mcp_tef.model.runs import BatchRequest, ModelSettings
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import OfferedTool
from mcp_tef.ports import Question
from tests.support.report_factories import tool as made_tool
from tests.support.workspace_files import written

TOOLS = {
    "send_mail": "Send a letter by electronic mail to a person.",
    "find_mail": "Find letters in the mailbox by their words.",
    "book_room": "Book a meeting room for a day.",
    "free_rooms": "List the meeting rooms that are free on a day.",
    "play_song": "Play a song on the loudspeaker.",
    "stop_song": "Stop the music.",
}
QUERIES = {
    "send_mail": ["Send a letter to Ada by mail", "Write to Grace electronically"],
    "find_mail": ["Find the letters about tax in my mailbox", "Where is that letter?"],
    "book_room": ["Book a meeting room on Monday", "We want to meet on Friday"],
    "free_rooms": ["Which meeting rooms are free tomorrow?", "Is there a free room today?"],
    "play_song": ["Play my song", "Some music, please"],
    "stop_song": ["Stop the music", "Silence!"],
}

SCHEMA = {"type": "object", "properties": {}}


def raw(name: str, description: str) -> dict[str, object]:
    """The definition of a tool without parameters."""
    return {"name": name, "description": description, "inputSchema": SCHEMA}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """A workspace with a tools file of six tools, and two cases for each."""
    async with await office(tmp_path) as engine:
        yield engine


async def office(folder: Path) -> Engine:
    """Open that workspace."""
    file = written(folder / "tools.json", {"tools": [raw(name, text) for name, text in TOOLS.items()]})
    engine = await Engine.open(folder / "work.db", environment={"HOME": str(folder), "XDG_DATA_HOME": str(folder)})
    await engine.servers.add(ServerSpec(name="office", transport=Transport.FILE, path=str(file)))
    await engine.cases.add([case_for(name, query) for name, queries in QUERIES.items() for query in queries])
    return engine


def case_for(tool: str, query: str) -> CaseDraft:
    """A case of the office that expects one tool."""
    return CaseDraft(
        name=query, query=query, servers=("office",), expectation=Expectation(((ExpectedCall(tool=tool),),))
    )


async def changed(engine: Engine, **texts: str) -> Draft:
    """A draft with other descriptions."""
    draft = await engine.drafts.new("Other texts", server="office")
    for name, text in texts.items():
        draft = await engine.drafts.edit(draft.id, name, ToolEdit(description=text))
    return draft


async def passes(cases: tuple[TestCase, ...], texts: dict[str, str]) -> Counter[str]:
    """The cases that the baseline passes when each is asked alone, by expected tool."""
    selector = WordsSelector(TfidfLexicon())
    offered = tuple(
        OfferedTool(name, made_tool(name, text, server="office", schema=SCHEMA)) for name, text in texts.items()
    )
    found: Counter[str] = Counter()
    for case in cases:
        answer = await selector.select(Question(case.draft.query, offered, ModelSettings()))
        (expected,) = case.draft.expectation.tool_names
        found[expected] += [call.tool for call in answer.calls or ()] == [expected]
    return found


async def test_ranks_are_those_of_the_baseline_asked_case_by_case(engine: Engine) -> None:
    text = "Stop the song, or make silence."
    draft = await changed(engine, stop_song=text)
    prediction = await engine.predictions.predict(draft)
    cases = await engine.cases.list()
    assert prediction is not None
    before, after = Counter[str](), Counter[str]()
    expected = {case.id: next(iter(case.draft.expectation.tool_names)) for case in cases}
    for one in prediction.cases:
        before[expected[one.case_id]] += one.passed_before
        after[expected[one.case_id]] += one.passed_after
    assert before == await passes(cases, TOOLS)
    assert after == await passes(cases, TOOLS | {"stop_song": text})
    assert (prediction.fixed, prediction.broken) == (1, 0)


async def test_findings_tokens_and_neighbours_tell_what_a_text_changes(engine: Engine) -> None:
    prediction = await engine.predictions.predict(await changed(engine, play_song="TODO"))
    assert prediction is not None
    (tool,) = prediction.tools
    assert tool.name == "play_song"
    assert {one.rule.id for one in tool.findings_new} & {"description-too-short", "description-filler"}
    assert tool.tokens_after < tool.tokens_before
    assert prediction.set_tokens_after - prediction.set_tokens_before == tool.tokens_after - tool.tokens_before
    near = await changed_again(engine, "Book a meeting room for a day and a song.")
    assert "book_room" in {one.tool for one in near}


async def changed_again(engine: Engine, text: str) -> tuple[Neighbour, ...]:
    """The tools that come near play_song by another text."""
    (draft,) = await engine.drafts.list()
    prediction = await engine.predictions.predict(
        await engine.drafts.edit(draft.id, "play_song", ToolEdit(description=text))
    )
    assert prediction is not None
    return prediction.tools[0].newly_near


async def test_added_and_removed_tools_have_one_side(engine: Engine) -> None:
    draft = await changed(engine)
    await engine.drafts.remove_tool(draft.id, "stop_song")
    draft = await engine.drafts.add_tool(draft.id, raw("call_taxi", "Order a taxi."))
    prediction = await engine.predictions.predict(draft)
    assert prediction is not None
    sides = {one.name: (one.tokens_before > 0, one.tokens_after > 0) for one in prediction.tools}
    assert sides == {"stop_song": (True, False), "call_taxi": (False, True)}
    gone = [one for one in prediction.cases if one.rank_after is None]
    assert len(gone) == len(QUERIES["stop_song"])
    assert not any(one.passed_after for one in gone)


async def test_a_newer_prediction_takes_the_place_of_an_older_one(engine: Engine) -> None:
    first = await changed(engine, play_song="Play a tune.")
    second = await engine.drafts.edit(first.id, "play_song", ToolEdit(description="Play a melody."))
    older, newer = await asyncio.gather(engine.predictions.predict(first), engine.predictions.predict(second))
    assert older is None
    assert newer is not None


async def test_a_cancelled_caller_stays_cancelled_beside_a_newer_prediction(engine: Engine) -> None:
    draft = await changed(engine, play_song="Play a tune.")
    older = asyncio.create_task(engine.predictions.predict(draft))
    await asyncio.sleep(0)
    newer = asyncio.create_task(engine.predictions.predict(draft))
    await asyncio.sleep(0)
    older.cancel()
    assert await newer is not None
    assert older.cancelled()


async def test_an_unchanged_draft_predicts_nothing_and_affects_no_case(engine: Engine) -> None:
    draft = await changed(engine)
    prediction, scope = await engine.predictions.predict(draft), await engine.predictions.scope(draft, guards=4)
    assert prediction is not None
    assert (prediction.tools, prediction.fixed, prediction.broken) == ((), 0, 0)
    assert (scope.affected, len(scope.guards)) == ({}, 4)


async def test_cases_are_affected_for_reasons_and_guards_cover_every_other_tool(engine: Engine) -> None:
    draft = await changed(engine, play_song="Play a song or a piece of music on the loudspeaker.")
    scope = await engine.predictions.scope(draft, guards=4)
    cases = {case.id: case.draft for case in await engine.cases.list()}
    expecting = {id_ for id_, case in cases.items() if "play_song" in case.expectation.tool_names}
    assert {id_ for id_, why in scope.affected.items() if ScopeReason.EXPECTS_CHANGED in why} == expecting
    assert 2 * len(scope.affected) <= len(cases)
    assert not scope.affected.keys() & set(scope.guards)
    others = {next(iter(cases[id_].expectation.tool_names)) for id_ in cases.keys() - scope.affected.keys()}
    guarded = {next(iter(cases[id_].expectation.tool_names)) for id_ in scope.guards}
    assert len(guarded) == min(len(others), len(scope.guards))
    assert scope == await engine.predictions.scope(draft, guards=4)


async def test_cases_whose_runs_selected_a_changed_tool_are_affected(engine: Engine) -> None:
    (lost,) = await engine.cases.add([case_for("book_room", "Stop the music and play nothing")])
    batch = await engine.runs.start(BatchRequest(cases=(lost.id,)))
    await engine.runs.wait(batch.id)
    scope = await engine.predictions.scope(await changed(engine, stop_song="End the music."))
    assert ScopeReason.SELECTED_CHANGED in scope.affected[lost.id]


async def test_a_case_of_two_calls_is_passed_by_no_baseline_that_makes_one(engine: Engine) -> None:
    calls = (ExpectedCall(tool="stop_song"), ExpectedCall(tool="play_song"))
    both = CaseDraft(name="both", query="Stop the music", servers=("office",), expectation=Expectation((calls,)))
    (case,) = await engine.cases.add([both])
    prediction = await engine.predictions.predict(await changed(engine, play_song="Play any song."))
    assert prediction is not None
    (found,) = (one for one in prediction.cases if one.case_id == case.id)
    assert (found.rank_before, found.passed_before, found.passed_after) == (1, False, False)


async def test_tools_of_a_cases_other_servers_are_offered_too(engine: Engine, tmp_path: Path) -> None:
    file = written(tmp_path / "radio.json", {"tools": [raw("stop_music", "Stop the music at once.")]})
    server = await engine.servers.add(ServerSpec(name="radio", transport=Transport.FILE, path=str(file)))
    await engine.servers.tools(server.id)
    wanted = Expectation(((ExpectedCall(tool="stop_music", server="radio"),),))
    case = CaseDraft(name="radio", query="Stop the music", servers=("office", "radio"), expectation=wanted)
    (added,) = await engine.cases.add([case])
    prediction = await engine.predictions.predict(await changed(engine, stop_song="Stop the music, now, at once."))
    assert prediction is not None
    (found,) = (one for one in prediction.cases if one.case_id == added.id)
    batch = await engine.runs.start(BatchRequest(cases=(added.id,)))
    assert (await engine.runs.wait(batch.id)).count("TP") == found.passed_before
    assert found.rank_before is not None
    assert all(one.rank_before is None or one.rank_before <= len(TOOLS) for one in prediction.cases if one != found)


@pytest.mark.parametrize("seed", range(2))
async def test_predictions_after_many_edits_are_those_made_at_once(engine: Engine, tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    queries = chain.from_iterable(QUERIES.values())
    said = [*" ".join((*TOOLS.values(), *queries)).split(), "the", "quickly", "zebra"]
    draft = await changed(engine)
    for number in range(8):
        text = " ".join(random.choices(said, k=random.randrange(1, 9)))
        if number == 3:
            draft = await engine.drafts.add_tool(draft.id, raw("hum", text))
        if number == 5:
            draft = await engine.drafts.remove_tool(draft.id, "stop_song")
        name = random.choice(["send_mail", "play_song", "free_rooms"])
        draft = await engine.drafts.edit(draft.id, name, ToolEdit(description=text))
        edited = await engine.predictions.predict(draft)
    folder = tmp_path / "anew"
    folder.mkdir()
    async with await office(folder) as other:
        whole = await other.drafts.apply((await changed(other)).id, list(draft.patch))
        anew = await other.predictions.predict(whole)
    assert edited is not None
    assert anew is not None
    assert edited.tools == anew.tools
    assert (edited.set_tokens_before, edited.set_tokens_after) == (anew.set_tokens_before, anew.set_tokens_after)
    sides = [[replace(one, case_id=CaseId("")) for one in each.cases] for each in (edited, anew)]
    assert sides[0] == sides[1]


async def test_a_case_that_was_added_meanwhile_is_predicted(engine: Engine) -> None:
    draft = await changed(engine, play_song="Play a tune.")
    before = await engine.predictions.predict(draft)
    await engine.cases.add([case_for("play_song", "A tune, please")])
    after = await engine.predictions.predict(draft)
    assert before is not None
    assert after is not None
    assert len(after.cases) == len(before.cases) + 1
