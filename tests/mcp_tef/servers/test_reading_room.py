"""The reading room: a query for each technique on which it is the best of six or tied, and the rules of its calls."""

import asyncio
import json
import threading
from collections import Counter
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
import yaml

from mcp_tef.errors import NotFoundError
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tool_calls import ToolReply
from mcp_tef.scoring.retrieval import DocumentIndex, Embed, RetrievalOptions, Retrieved, Technique, letter_vectors
from mcp_tef.servers.reading_room import ReadingRoom, reading_room_documents
from mcp_tef.servers.tool_caller import McpToolCaller
from mcp_tef.servers.tool_lister import McpToolLister
from mcp_tef.workflows.sample_program import SampleName, sample_spec
from tests.support.command_line import command
from tests.support.model_replies import rate_limited, words
from tests.support.model_stub import ModelStub

SHOWS: dict[Technique, tuple[str, tuple[str, ...], tuple[Technique, ...]]] = {
    Technique.BASIC: (
        "How much does a monthly pass for the bus cost?",
        ("Monthly passes",),
        (Technique.RERANK, Technique.CORRECTIVE, Technique.GRAPH),
    ),
    Technique.RERANK: (
        "library card letter address members free",
        ("Joining",),
        (Technique.BASIC, Technique.CORRECTIVE, Technique.GRAPH, Technique.LATE),
    ),
    Technique.CORRECTIVE: ("Vaksinashuns agenst influensa", ("Vaccinations",), (Technique.LATE,)),
    Technique.GRAPH: (
        "What else did the founder of the Lantern Fair do?",
        ("The Lantern Fair", "Agnes Harrow", "Josiah Pike", "Harrow Clinic"),
        (),
    ),
    Technique.LATE: (
        "electrified vehicles charging overnight",
        ("Electric buses",),
        (Technique.BASIC, Technique.RERANK, Technique.GRAPH),
    ),
    Technique.GLOBAL: ("What is this town about, all in all?", (), ()),
}
"""For each technique a query, the documents that answer it (none: as many of the five sources as can be), and with
which others it is tied by words alone."""
QUESTION = {"query": "When is the library open?"}
UUID4 = "550e8400-e29b-41d4-a716-446655440000"


def gain(found: Retrieved, wanted: tuple[str, ...]) -> float:
    """How well documents answer: reciprocal ranks of the wanted ones, or the share of the sources."""
    if not wanted:
        return len({one.source for one in found.documents}) / 5
    ranks = [1 / rank for rank, one in enumerate(found.documents, 1) if one.title in wanted]
    return round(sum(ranks) / sum(1 / rank for rank in range(1, len(wanted) + 1)), 4)


def gains(query: str, wanted: tuple[str, ...], embed: Embed | None = None) -> dict[Technique, float]:
    """The gain of each technique."""
    index = DocumentIndex(reading_room_documents(), embed)
    return {one: gain(index.search(one, query, RetrievalOptions()), wanted) for one in Technique}


@pytest.mark.parametrize("technique", Technique)
def test_each_technique_is_the_best_of_the_six_or_tied_for_its_query(technique: Technique) -> None:
    query, wanted, tied = SHOWS[technique]
    found = gains(query, wanted)
    assert found[technique] > 0
    best = {one for one, value in found.items() if value == max(found.values())}
    assert best == {technique, *tied}


@pytest.mark.parametrize("technique", [Technique.CORRECTIVE, Technique.GRAPH, Technique.GLOBAL])
def test_it_is_so_with_vectors_of_another_kind(technique: Technique) -> None:
    query, wanted, _ = SHOWS[technique]
    found = gains(query, wanted, letter_vectors)
    assert found[technique] == max(found.values())


def test_there_are_eighty_short_documents_and_sixty_cases() -> None:
    documents = reading_room_documents()
    assert len({one.doc_id for one in documents}) == 80
    suite = yaml.safe_load(files("resources").joinpath("reading_room", "suite.yaml").read_text("utf-8"))
    expected: Counter[str | None] = Counter(
        case["expected"][0]["tool"] if case["expected"] else None for case in suite["cases"]
    )
    assert expected.pop(None) == 12
    assert expected == {f"rag_{one}": 8 for one in Technique}


async def ask(room: ReadingRoom, name: str = "rag_basic", **arguments: Any) -> ToolReply:
    """Call a tool."""
    return await room.call(name, QUESTION | arguments, caller_id="test", trace_id=None)


async def test_a_response_has_what_its_description_promises() -> None:
    reply = await ask(ReadingRoom(), top_k=3, request_id=UUID4)
    response = reply.structured
    assert response["response_id"] == response["request_id"] == UUID4
    assert [set(one) for one in response["retrieved_documents"]] == [{"doc_id", "content", "score", "metadata"}] * 3
    scores = [one["score"] for one in response["retrieved_documents"]]
    assert scores == sorted(scores, reverse=True)
    assert len(set(response["sources"])) == len(response["sources"])
    assert response["metadata"]["pipeline_name"] == "basic"
    assert "open from ten to six" in response["answer"]
    assert min(response["performance_metrics"].values()) >= 0
    assert json.loads(reply.text) == response


async def test_what_does_not_fit_is_refused_in_words() -> None:
    room = ReadingRoom()
    for bad in ({"query": ""}, {"query": "x" * 8001}, {"top_k": 51}, {"request_id": "1"}, {"colour": "red"}):
        reply = await ask(room, **bad)
        assert reply.is_error, bad
        assert "do not fit rag_basic" in reply.text
    assert not (await ask(room, query="x" * 8000)).is_error
    with pytest.raises(NotFoundError):
        await ask(room, "rag_unknown")


async def test_five_questions_run_at_once_and_a_sixth_waits_and_is_refused() -> None:
    running, most, goes_on = [0], [0], threading.Event()
    index = DocumentIndex(reading_room_documents())

    def search(technique: Technique, query: str, options: RetrievalOptions) -> Retrieved:
        running[0] += 1
        most[0] = max(most[0], running[0])
        goes_on.wait(30)
        running[0] -= 1
        return index.search(technique, query, options)

    room = ReadingRoom(wait_seconds=0.2, search=search)
    asked = [asyncio.create_task(ask(room)) for _ in range(50)]
    refused = [await one for one in asked[5:]]
    assert all("5 questions at once" in one.text for one in refused)
    goes_on.set()
    assert [(await one).is_error for one in asked[:5]] == [False] * 5
    assert most[0] == 5


async def test_a_question_that_takes_too_long_is_given_up_and_counts_as_failed() -> None:
    goes_on = threading.Event()

    def search(technique: Technique, query: str, options: RetrievalOptions) -> Retrieved:
        goes_on.wait(30)
        raise AssertionError

    room = ReadingRoom(seconds=0.05, search=search)
    replies = [await ask(room) for _ in range(3)]
    goes_on.set()
    assert all("within 0.05 seconds" in one.text for one in replies)
    health = (await room.call("rag_health_check", {}, caller_id="test", trace_id=None)).structured
    assert health["pipeline_statuses"]["basic"]["status"] == "unavailable"
    assert (health["overall_status"], health["performance_metrics"]["error_rate"]) == ("degraded", 1.0)


async def test_a_model_writes_the_answers_if_one_is_named() -> None:
    with ModelStub([words('{"answer": "From nine to five."}'), rate_limited("2")]) as stub:
        options = ("--sample", "reading-room", "--model", "openai/small", "--base-url", stub.url)
        program, *args = command("sample-server", *options)
        spec = ServerSpec(name="room", transport=Transport.STDIO, command=program, args=tuple(args))
        caller = McpToolCaller()
        written, failed = [await caller.call_tool(spec, "rag_basic", QUESTION, timeout=60) for _ in range(2)]
        await caller.close()
    assert written.structured["answer"] == "From nine to five."
    assert "When is the library open?" in str(stub.requests[0].body)
    assert failed.is_error


async def test_the_bundled_program_lists_and_answers() -> None:
    spec = sample_spec(sample=SampleName.READING_ROOM)
    lister, caller = McpToolLister(), McpToolCaller()
    listing = await lister.list_tools(spec, timeout=60)
    assert [tool.name for tool in listing.tools] == [*(f"rag_{one}" for one in Technique), "rag_health_check"]
    program, *args = command("sample-server", "--sample", "reading-room")
    spec = replace(spec, command=program, args=tuple(args))
    reply = await caller.call_tool(spec, "rag_graphrag", QUESTION, timeout=60)
    assert reply.structured["metadata"]["pipeline_name"] == "graphrag"
    await lister.close()
    await caller.close()
