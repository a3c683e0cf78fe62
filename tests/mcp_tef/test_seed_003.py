"""The rules of seed 003 (MCP tools for RAG), a row each; those that were changed say why."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mcp_tef import Engine
from mcp_tef.errors import NotFoundError
from mcp_tef.model.health import ContactKind, HealthState, ServerContact, ServerHealth, overall_health, server_health
from mcp_tef.scoring.retrieval import Technique
from mcp_tef.servers.reading_room import AT_ONCE, MOST_SECONDS, MOST_TOKENS, USUAL_SECONDS, ReadingRoom
from tests.support.library_designs import answering
from tests.support.seed_rules import Rule, SeedRules, kept, refused

SEED = SeedRules()
NOW = datetime.now(UTC)


async def response(name: str = "rag_basic", **arguments: Any) -> dict[str, Any]:
    """The response of the reading room."""
    reply = await ReadingRoom().call(name, {"query": "opening hours", **arguments}, caller_id="", trace_id=None)
    assert not reply.is_error, reply.text
    found: dict[str, Any] = reply.structured
    return found


async def is_refused(**arguments: Any) -> bool:
    """True where the reading room refuses arguments."""
    return (await ReadingRoom().call("rag_basic", arguments, caller_id="", trace_id=None)).is_error


@SEED.rule("MCP Tool", "six tools named rag_ and one health check, each with a sound schema")
async def _(engine: Engine) -> None:
    names = [raw["name"] for raw in ReadingRoom().definitions]
    assert names == [*(f"rag_{one}" for one in Technique), "rag_health_check"]
    taken = await engine.library.take([(raw, answering(answer="")) for raw in ReadingRoom().definitions])
    assert taken.added == tuple(names)


@SEED.rule("Tool Request", "tool_name must exist")
async def _(_: Engine) -> None:
    await refused(ReadingRoom().call("rag_other", {"query": "x"}, caller_id="", trace_id=None), NotFoundError)


@SEED.rule("Tool Request", "query has 1 to 8,000 characters")
async def _(_: Engine) -> None:
    assert [await is_refused(query="x" * size) for size in (0, 1, 8000, 8001)] == [True, False, False, True]


@SEED.rule("Tool Request", "parameters conform to the tool's schema")
async def _(_: Engine) -> None:
    assert await is_refused(query="x", top_k=0)
    assert await is_refused(query="x", depth=1)


@SEED.rule("Tool Request", "request_id is a UUID v4, made where it is absent")
async def _(_: Engine) -> None:
    assert UUID((await response())["request_id"]).version == 4
    assert await is_refused(query="x", request_id="550e8400-e29b-11d4-a716-446655440000")


@SEED.rule("Tool Request", "timestamp is ISO 8601")
async def _(_: Engine) -> None:
    assert datetime.fromisoformat((await response())["timestamp"]).tzinfo is not None


@SEED.rule("Tool Response", "answer may be empty and is never null")
async def _(_: Engine) -> None:
    assert (await response(query="zzz"))["answer"] == ""


@SEED.rule("Tool Response", "retrieved_documents are a list, best first, as many as top_k")
async def _(_: Engine) -> None:
    scores = [one["score"] for one in (await response(top_k=7))["retrieved_documents"]]
    assert (len(scores), scores) == (7, sorted(scores, reverse=True))


@SEED.rule("Tool Response", "sources have no repeats")
async def _(_: Engine) -> None:
    sources = (await response(top_k=50))["sources"]
    assert len(sources) == len(set(sources)) == 5


@SEED.rule("Tool Response", "metadata names the pipeline, for each of the six")
async def _(_: Engine) -> None:
    named = [(await response(f"rag_{one}"))["metadata"]["pipeline_name"] for one in Technique]
    assert named == [one.value for one in Technique]


@SEED.rule("Tool Response", "CRAG tells its confidence and correction, ColBERT its interactions, graph its depth")
async def _(_: Engine) -> None:
    assert {"confidence_score", "correction_applied"} <= (await response("rag_crag"))["metadata"].keys()
    assert "token_interactions" in (await response("rag_pylate_colbert"))["metadata"]
    assert "graph_traversal_depth" in (await response("rag_graphrag"))["metadata"]


@SEED.rule("Tool Response", "compression_ratio and rrf_score are told", "Nothing is compressed or fused here.")
async def _(_: Engine) -> None:
    assert "compression_ratio" not in (await response("rag_pylate_colbert"))["metadata"]


@SEED.rule("Tool Response", "times and tokens are not negative")
async def _(_: Engine) -> None:
    metrics = (await response())["performance_metrics"]
    assert len(metrics) == 4
    assert min(metrics.values()) >= 0


@SEED.rule("Tool Response", "response_id is the request_id")
async def _(_: Engine) -> None:
    found = await response()
    assert found["response_id"] == found["request_id"]


@SEED.rule("Pipeline Configuration", "5 at once, 30 s and at most 60 s, 4,096 tokens")
async def _(_: Engine) -> None:
    assert (AT_ONCE, USUAL_SECONDS, MOST_SECONDS, MOST_TOKENS) == (5, 30, 60, 4096)


def contacts(*durations: int, failures: int = 0, ago: timedelta = timedelta()) -> list[ServerContact]:
    """Contacts that took so long, and some that failed before them."""
    good = [ServerContact(server="s", kind=ContactKind.CALL, at=NOW - ago, duration_ms=one) for one in durations]
    bad = [replace(one, failures=1, error="No.") for one in contacts(*[1] * failures, ago=ago)] if failures else []
    return [*bad, *good]


def add_health_states() -> None:
    """One row for each way to a state."""
    day = timedelta(days=1)
    for text, found, state in (
        ("no contact: unknown", [], "unknown"),
        ("only good contacts: healthy", contacts(5, 6, 7), "healthy"),
        ("the last three failed: unavailable", [*contacts(5), *contacts(failures=3)], "unavailable"),
        ("two failed and one did not: degraded by the error rate", contacts(5, failures=2), "degraded"),
        ("an error rate of 10 %: healthy", contacts(*[5] * 9, failures=1), "healthy"),
        ("an error rate over 10 %: degraded", contacts(*[5] * 8, failures=1), "degraded"),
        ("errors of yesterday do not count", [*contacts(failures=2, ago=day), *contacts(5)], "healthy"),
        ("p95 over twice the usual: degraded", [*contacts(*[10] * 20, ago=day), *contacts(21)], "degraded"),
        ("p95 of twice the usual: healthy", [*contacts(*[10] * 20, ago=day), *contacts(20)], "healthy"),
        ("p95 over 10 s: degraded", contacts(10_001), "degraded"),
    ):

        async def judge(_: Engine, given: list[ServerContact] = found, expected: str = state) -> None:
            assert server_health("s", given, NOW).state == expected

        SEED.add("Health Status", text, judge, "The seed gives no thresholds; these are LIBRARY.md's.")


add_health_states()


def overall(*states: str) -> str:
    """The state of all, of servers in these states."""
    each = [ServerHealth(server=str(number), state=HealthState(one)) for number, one in enumerate(states)]
    return overall_health(each, contacts(5), NOW).state.value


@SEED.rule("Status Computation Logic", "all healthy: healthy")
async def _(_: Engine) -> None:
    assert overall("healthy", "healthy") == "healthy"


@SEED.rule("Status Computation Logic", "all unavailable: unavailable")
async def _(_: Engine) -> None:
    assert overall("unavailable", "unavailable") == "unavailable"


@SEED.rule("Status Computation Logic", "else: degraded")
async def _(_: Engine) -> None:
    assert {overall("healthy", "unavailable"), overall("healthy", "degraded"), overall("degraded")} == {"degraded"}


@SEED.rule("Status Computation Logic", "database not connected: unavailable", "There is no database to lose.")
async def _(_: Engine) -> None:
    assert overall("healthy") == "healthy"


@SEED.rule("Health Status", "all six pipelines, error rate, p50, p95, queries per minute, updated within 60 s")
async def _(_: Engine) -> None:
    room = ReadingRoom()
    await room.call("rag_crag", {"query": "buses"}, caller_id="", trace_id=None)
    found: dict[str, Any] = (await room.call("rag_health_check", {}, caller_id="", trace_id=None)).structured
    assert list(found["pipeline_statuses"]) == [one.value for one in Technique]
    assert len(found["performance_metrics"]) == 4
    assert datetime.now(UTC) - datetime.fromisoformat(found["last_updated"]) < timedelta(seconds=60)
    assert found["overall_status"] == "healthy"


@pytest.mark.parametrize("row", SEED.rows, ids=lambda row: row.name)
async def test_the_rule_is_kept_or_changed_for_a_reason(row: Rule, tmp_path: Path) -> None:
    await kept(row, tmp_path)
