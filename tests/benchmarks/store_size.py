"""What 10,000 stored runs take: bytes, processor time against bare sqlite3, and the time to the first page.

`python -m tests.benchmarks.store_size [RUNS]`
"""

import asyncio
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from mcp_tef.model.json import Json
from mcp_tef.model.run_filter import RunFilter, RunOrder
from mcp_tef.model.runs import ModelSettings, PlannedRun, RunResult, RunStatus
from mcp_tef.model.verdicts import Classification
from mcp_tef.storage.store import SqliteStore, open_store
from tests.support.workspace_files import draft, fill, offered, right, tool

CASES = 200
OUTCOMES_A_FLUSH = 25
MOST_BYTES_A_RUN = 4096
MOST_CPU_A_RUN_MS = 2.0
MOST_FIRST_PAGE_S = 0.1
GPT = ModelSettings(provider="openai", model="gpt-4.1-mini")

T = TypeVar("T")


def request(run: PlannedRun) -> Json:
    """What a provider is sent, without the tools: about 300 bytes."""
    system = "Choose the tool that answers the request best, or none. Say how sure you are from 0 to 1."
    messages = [{"role": "system", "content": system}, {"role": "user", "content": f"Please find case {run.case_id}"}]
    return {"model": run.settings.model, "messages": messages, "temperature": 0.4, "tool_choice": "auto"}


def response(run: PlannedRun) -> Json:
    """What a provider answers: about 900 bytes."""
    arguments = json.dumps({"query": "retry after header", "path": "src/", "language": "python", "limit": 20})
    function = {"name": "search", "arguments": arguments}
    call = {"id": f"call_{run.id[:24]}", "type": "function", "function": function}
    message: dict[str, Json] = {
        "role": "assistant",
        "content": "I will search the code.",
        "refusal": None,
        "annotations": [],
    }
    details = {"cached_tokens": 0, "audio_tokens": 0}
    spent = {"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}
    return {
        "id": f"chatcmpl-{run.id[:29]}",
        "object": "chat.completion",
        "created": 1795300000,
        "model": "gpt-4.1-mini-2025-04-14",
        "choices": [
            {"index": 0, "message": message | {"tool_calls": [call]}, "logprobs": None, "finish_reason": "tool_calls"}
        ],
        "usage": {
            "prompt_tokens": 812,
            "completion_tokens": 31,
            "total_tokens": 843,
            "prompt_tokens_details": details,
            "completion_tokens_details": spent,
        },
        "service_tier": "default",
        "system_fingerprint": "fp_6f2eabb9a5",
    }


def outcome(run: PlannedRun, snapshot: Any) -> RunResult:
    """A realistic outcome of a run."""
    judged = right(run, snapshot)
    assert judged.answer is not None
    return replace(judged, answer=replace(judged.answer, raw_request=request(run), raw_response=response(run)))


async def work(store: SqliteStore, runs: int) -> list[RunResult]:
    """Plan a batch and finish it in the portions that a live batch has."""
    drafts = [draft(f"case {number}") for number in range(CASES)]
    filled = await fill(store, drafts, models=(GPT,), repeats=runs // CASES)
    tools = offered(*(tool(name) for name in ("search", *(f"tool_{number}" for number in range(11)))))
    snapshot = await store.runs.save_snapshot(tools, filled.runs[0].id)
    return [outcome(run, snapshot) for run in filled.runs]


async def finish(store: SqliteStore, outcomes: Sequence[RunResult]) -> None:
    """Mark and store outcomes, a portion at a time."""
    for start in range(0, len(outcomes), OUTCOMES_A_FLUSH):
        portion = outcomes[start : start + OUTCOMES_A_FLUSH]
        await store.runs.mark_running([item.run_id for item in portion])
        await store.runs.finish(portion)


def bare(path: Path, runs: int, outcomes: Sequence[RunResult]) -> float:
    """Processor seconds that sqlite3 alone takes for rows with the same raw text, in the same portions."""
    rows = [(item.run_id, json.dumps(_raw(item)[0]), json.dumps(_raw(item)[1]), "TP", 0.9) for item in outcomes]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("CREATE TABLE runs (id TEXT PRIMARY KEY, request, response, classification, confidence)")
        started = time.process_time()
        for start in range(0, runs, OUTCOMES_A_FLUSH):
            with connection:
                portion = rows[start : start + OUTCOMES_A_FLUSH]
                connection.executemany("INSERT INTO runs VALUES (?, ?, ?, ?, ?)", portion)
        return time.process_time() - started


def _raw(item: RunResult) -> tuple[Json, Json]:
    assert item.answer is not None
    return item.answer.raw_request, item.answer.raw_response


async def seconds(question: Callable[[], Awaitable[object]]) -> float:
    """Wall time of the best of three."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        await question()
        times.append(time.perf_counter() - started)
    return min(times)


async def reading(store: SqliteStore) -> dict[str, float]:
    """Seconds that what a window asks for takes."""
    runs, (batch,) = store.runs, await store.runs.batches()
    slow = RunFilter(batch_id=batch.id, order=RunOrder.CONFIDENCE, descending=True)
    wrong = RunFilter(classifications=(Classification.FN,), statuses=(RunStatus.COMPLETED,))
    return {
        "first page, newest first": await seconds(lambda: runs.runs(RunFilter(), limit=100)),
        "first page of a batch": await seconds(lambda: runs.runs(RunFilter(batch_id=batch.id), limit=100)),
        "first page by confidence": await seconds(lambda: runs.runs(slow, limit=100)),
        "first page of a search": await seconds(lambda: runs.runs(RunFilter(text="case 19"), limit=100)),
        "a filter without a hit": await seconds(lambda: runs.runs(wrong, limit=100)),
        "count": await seconds(lambda: runs.count(RunFilter())),
        "batches with counts": await seconds(runs.batches),
        "last 5 runs of each case": await seconds(store.cases.recent),
    }


async def main(runs: int) -> bool:
    """Print the table; whether all limits were kept."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workspace.db"
        store = await open_store(path)
        outcomes = await work(store, runs)
        started = time.process_time()
        await finish(store, outcomes)
        cpu = (time.process_time() - started) / runs * 1000
        times = await reading(store)
        await store.close()
        started = time.perf_counter()
        await (await open_store(path)).close()
        times["open again"] = time.perf_counter() - started
        size = path.stat().st_size / runs
        alone = bare(Path(folder) / "bare.db", runs, outcomes) / runs * 1000
    _print(runs, size, cpu, alone, times)
    return (
        size <= MOST_BYTES_A_RUN and cpu <= MOST_CPU_A_RUN_MS and times["first page, newest first"] <= MOST_FIRST_PAGE_S
    )


def _print(runs: int, size: float, cpu: float, alone: float, times: dict[str, float]) -> None:
    print(f"{runs} runs")
    print(f"{'bytes a run':28}{size:10.0f}     at most {MOST_BYTES_A_RUN}")
    print(f"{'processor a run, written':28}{cpu:10.3f} ms  at most {MOST_CPU_A_RUN_MS}")
    print(f"{'the same by bare sqlite3':28}{alone:10.3f} ms  {cpu / alone:.1f} times")
    for what, value in times.items():
        print(f"{what:28}{value * 1000:10.1f} ms")


if __name__ == "__main__":
    kept = asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
    sys.exit(0 if kept else 1)
