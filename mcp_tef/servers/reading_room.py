"""The second bundled sample: six searches over one small collection that differ in their technique only."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.resources import files
from time import perf_counter
from typing import Any, Final, TypeAlias
from uuid import uuid4

from mcp_tef.errors import InputError
from mcp_tef.model.health import HealthState, ServerContact, ServerHealth, overall_health, server_health
from mcp_tef.model.json import JsonObject, canonical
from mcp_tef.model.tool_calls import ToolReply
from mcp_tef.scoring.retrieval import (
    Correction,
    DocumentIndex,
    Embed,
    RetrievalOptions,
    Retrieved,
    RetrievedDocument,
    Technique,
    extracted_answer,
    read_documents,
)
from mcp_tef.servers.bundled_tools import BundledTools, text_block

AT_ONCE: Final = 5
WAIT_SECONDS: Final = 10.0
USUAL_SECONDS, MOST_SECONDS = 30.0, 60.0
MOST_TOKENS: Final = 4096
LETTERS_PER_TOKEN: Final = 4
HEALTH_TOOL: Final = "rag_health_check"
_SOURCES = ("buses", "clinic", "council", "history", "library")
_MOST_CONTACTS = 10_000

WriteAnswer: TypeAlias = Callable[[str, Sequence[str]], tuple[str, int]]
"""Returns an answer to a question from passages, and its tokens."""


def reading_room_documents() -> list[RetrievedDocument]:
    """Return the documents of the collection."""
    folder = files("resources").joinpath("reading_room")
    texts = ((f"{name}.md", folder.joinpath(f"{name}.md").read_text("utf-8")) for name in _SOURCES)
    return [document for source, text in texts for document in read_documents(source, text)]


class CallLimit:
    """Lets so many calls run at once; a further one waits, and is refused in words if that takes too long."""

    def __init__(self, name: str, at_once: int = AT_ONCE, wait_seconds: float = WAIT_SECONDS) -> None:
        self._name = name
        self._at_once = at_once
        self._wait_seconds = wait_seconds
        self._free = asyncio.Semaphore(at_once)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place and hold it. InputError."""
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._free.acquire()
        except TimeoutError:
            said = f"{self._name} answers {self._at_once} questions at once, and all of these take long."
            raise InputError(said, hint="Ask again later.") from None
        try:
            yield
        finally:
            self._free.release()


class ReadingRoom(BundledTools):
    """Satisfies `ServedTools`. `embed` gives vectors from a local model; without it those of the words are used.

    `write` has a model write the answers, on another thread than the loop's; without it sentences are extracted.
    """

    def __init__(
        self,
        embed: Embed | None = None,
        *,
        wait_seconds: float = WAIT_SECONDS,
        seconds: float = USUAL_SECONDS,
        search: Callable[[Technique, str, RetrievalOptions], Retrieved] | None = None,
        write: WriteAnswer | None = None,
    ) -> None:
        super().__init__("reading_room")
        self._embed = embed
        self._seconds = min(seconds, MOST_SECONDS)
        self._search = search
        self._write = write
        self._limits = {one: CallLimit(f"rag_{one}", wait_seconds=wait_seconds) for one in Technique}
        self._contacts: list[ServerContact] = []

    async def reply(self, name: str, arguments: JsonObject) -> ToolReply:
        """Answer a question."""
        response = self._health() if name == HEALTH_TOOL else await self._answered(name, arguments)
        return ToolReply(content=(text_block(canonical(response)),), structured=response)

    async def _answered(self, name: str, arguments: JsonObject) -> dict[str, Any]:
        technique, at, began, failed = Technique(name.removeprefix("rag_")), datetime.now(UTC), perf_counter(), True
        try:
            async with self._limits[technique].place():
                response = await self._within_time(technique, arguments, at)
            failed = False
        finally:
            took = round((perf_counter() - began) * 1000)
            contact = ServerContact(server=technique.value, at=at, duration_ms=took, failures=int(failed))
            self._contacts = [*self._contacts[-_MOST_CONTACTS:], contact]
        return response

    async def _within_time(self, technique: Technique, arguments: JsonObject, at: datetime) -> dict[str, Any]:
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.to_thread(self._response, technique, arguments, at)
        except TimeoutError:
            said = f"rag_{technique} found no answer within {self._seconds:g} seconds."
            raise InputError(said, hint="Ask a shorter question.") from None

    def _response(self, technique: Technique, arguments: JsonObject, at: datetime) -> dict[str, Any]:
        began = perf_counter()
        query = str(arguments["query"])
        found = (self._search or self._index.search)(technique, query, _options(arguments))
        retrieved = perf_counter()
        answer, tokens = self._answer(query, found.documents)
        ended = perf_counter()
        sources = list(dict.fromkeys(document.source for document in found.documents))
        request_id = arguments.get("request_id") or str(uuid4())
        return {
            "answer": answer,
            "retrieved_documents": [_document(one) for one in found.documents],
            "sources": sources if arguments.get("include_sources", True) else [],
            "metadata": dict(found.notes if arguments.get("include_metadata", True) else _only_name(found)),
            "performance_metrics": {
                "execution_time_ms": round((ended - began) * 1000),
                "retrieval_time_ms": round((retrieved - began) * 1000),
                "generation_time_ms": round((ended - retrieved) * 1000),
                "tokens_used": tokens,
            },
            "request_id": request_id,
            "response_id": request_id,
            "timestamp": at.isoformat(),
        }

    def _answer(self, query: str, documents: Sequence[RetrievedDocument]) -> tuple[str, int]:
        """Return an answer with its tokens: sentences of the documents, or what a model writes from them."""
        if self._write is not None:
            return self._write(query, [one.content for one in documents])
        answer = extracted_answer(query, documents)[: MOST_TOKENS * LETTERS_PER_TOKEN]
        return answer, len(answer) // LETTERS_PER_TOKEN

    @cached_property
    def _index(self) -> DocumentIndex:
        return DocumentIndex(reading_room_documents(), self._embed)

    def _health(self) -> dict[str, Any]:
        now = datetime.now(UTC)
        each = [_pipeline_health(one, self._contacts, now) for one in Technique]
        whole = overall_health(each, self._contacts, now)
        return {
            "overall_status": whole.state.value,
            "pipeline_statuses": {
                one.server: {
                    "status": one.state.value,
                    "last_success": one.last_success.isoformat() if one.last_success else None,
                    "error_rate": one.error_rate or 0.0,
                }
                for one in each
            },
            "performance_metrics": {
                "average_response_time_ms": whole.p50_ms or 0,
                "p95_response_time_ms": whole.p95_ms or 0,
                "error_rate": whole.error_rate or 0.0,
                "queries_per_minute": round(whole.calls_per_minute, 2),
            },
            "last_updated": now.isoformat(),
        }


def _pipeline_health(technique: Technique, contacts: Sequence[ServerContact], now: datetime) -> ServerHealth:
    """Return the health of one search; one that nobody has used works, since all of it is in this process."""
    found = server_health(technique.value, [one for one in contacts if one.server == technique], now)
    return replace(found, state=HealthState.HEALTHY) if found.state is HealthState.UNKNOWN else found


def _options(arguments: JsonObject) -> RetrievalOptions:
    given = {one.name: arguments[one.name] for one in fields(RetrievalOptions) if one.name in arguments}
    if "correction_strategy" in given:
        given["correction_strategy"] = Correction(given["correction_strategy"])
    return RetrievalOptions(**given)


def _only_name(found: Retrieved) -> JsonObject:
    return {"pipeline_name": found.notes["pipeline_name"]}


def _document(one: RetrievedDocument) -> dict[str, Any]:
    metadata = {"source": one.source, "title": one.title}
    return {"doc_id": one.doc_id, "content": one.content, "score": one.score, "metadata": metadata}
