"""What figures and pages of filtered runs take with 100,000 runs stored, beside bare sqlite and numpy.

`python -m tests.benchmarks.history_metrics [RUNS]`
"""

import asyncio
import json
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mcp_tef.model.cases import TestCase
from mcp_tef.model.ids import BatchId, CaseId, RunId, new_id
from mcp_tef.model.run_filter import RunFilter, RunOrder
from mcp_tef.model.runs import BatchRequest, ModelSettings, PlannedRun, RunStatus
from mcp_tef.model.tools import ToolLabel
from mcp_tef.model.verdicts import VerdictKind
from mcp_tef.storage.database import chunks
from mcp_tef.storage.run_facts import refresh_facts
from mcp_tef.storage.store import SqliteStore, open_store
from mcp_tef.storage.workspace_file import connect
from mcp_tef.workflows.metrics import MetricsService
from tests.benchmarks.store_size import request, response, seconds
from tests.support.workspace_files import draft, http, offered, rows, tool

TOOLS, CASES, BATCHES, REPEATS = 200, 1000, 20, 5
MOST_FIGURES_S, MOST_FILTERED_S, MOST_PAGE_S, MOST_MATRIX_S, MOST_BYTES = 0.3, 0.3, 0.1, 0.5, 4096
GPT = ModelSettings(provider="openai", model="gpt-4.1-mini")
CLAUDE = ModelSettings(provider="anthropic", model="claude-haiku-4-5")
SUITES, TAGS = ("Everyday", "Nightly", "Edge"), ("smoke", "slow", "long", "short")

_RUN = """
UPDATE test_runs SET status = ?, classification = ?, selected_tool_name = ?, selected_server_name = ?,
    selected_label = ?, snapshot_id = ?, confidence_score = ?, confidence_source = ?, execution_time_ms = ?,
    tokens_in = 812, tokens_out = 31, cost_usd = ?, mode = 'native', calls = ?, extracted_parameters = ?,
    llm_request_raw = ?, llm_response_raw = ?, created_at = ?, completed_at = ?
WHERE id = ?
"""
_RESULT = """
INSERT INTO evaluation_results (id, test_run_id, classification, tool_selection_correct, parameter_completeness,
    parameter_correctness, parameter_type_conformance, hallucinated_parameters, confidence_category, reasoning, kind,
    parameters_ok, matches)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


async def planned(store: SqliteStore, runs: int) -> tuple[tuple[TestCase, ...], str]:
    """Cases, a snapshot of all tools, and batches whose runs are still pending."""
    for name in ("docs", "wiki"):
        await store.servers.add(http(name))
    drafts = [_draft(number) for number in range(CASES)]
    cases = await store.cases.add(drafts)
    each = runs // BATCHES // REPEATS // 2
    snapshot = ""
    for number in range(BATCHES):
        chosen = random.sample(cases, min(each, len(cases)))
        wanted = BatchRequest(models=(GPT, CLAUDE), repeats=REPEATS, name=f"Batch {number}")
        _, made = await store.runs.create_batch(wanted, chosen)
        snapshot = snapshot or await store.runs.save_snapshot(offered(*map(_tool, range(TOOLS))), made[0].id)
    return cases, snapshot


def _draft(number: int) -> Any:
    name = None if number % 10 == 0 else f"tool_{number % TOOLS}"
    marks = {"suites": (SUITES[number % 3],), "tags": (TAGS[number % 4],), "servers": ("docs", "wiki")}
    return draft(f"case {number}", tool=name, server=_server(number % TOOLS), **marks)


def _server(number: int) -> str:
    return ("docs", "wiki")[number % 2]


def _tool(number: int) -> Any:
    return tool(f"tool_{number}", server=_server(number))


def finish(path: Path, snapshot: str) -> None:
    """End every pending run as runs end, with answers and verdicts of real size, past the store."""
    with closing(connect(path, 1)) as connection:
        pending = connection.execute("SELECT id, expected_tool_name, batch_id FROM test_runs").fetchall()
        days = {batch: day for day, batch in enumerate(dict.fromkeys(batch for _, _, batch in pending))}
        connection.execute("BEGIN")
        for run_id, expected, batch in pending:
            run, result = _ended(run_id, expected, snapshot, days[batch])
            connection.execute(_RUN, run)
            if result:
                connection.execute(_RESULT, result)
        connection.execute("COMMIT")


async def filled(path: Path, runs: int) -> None:
    """A workspace with a past."""
    store = await open_store(path)
    _, snapshot = await planned(store, runs)
    finish(path, snapshot)
    await store.close()


async def refresh(store: SqliteStore) -> None:
    """Write the facts of all runs anew."""
    ids = rows(store._database.path, "SELECT id FROM test_runs")
    for piece in chunks([run_id for (run_id,) in ids]):
        await store._database.write(partial(refresh_facts, run_ids=piece))


def _ended(run_id: str, expected: str | None, snapshot: str, day: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    selected = (
        expected if random.random() < 0.8 else random.choice([None, f"tool_{random.randrange(TOOLS)}", "made_up"])
    )
    failed = random.random() < 0.02
    word, kind = _judged(expected, selected)
    confidence = None if failed else round(random.betavariate(5, 2), 2)
    moment = str(datetime(2026, 10, 1, tzinfo=UTC) + timedelta(days=day))[:19] + ".000000"
    server = _server(int(selected.removeprefix("tool_"))) if selected and selected != "made_up" else None
    arguments = json.dumps({"query": "retry after header", "path": "src/", "language": "python", "limit": 20})
    calls = json.dumps([{"tool": selected, "server": server, "arguments": json.loads(arguments)}]) if selected else "[]"
    asked = PlannedRun(id=RunId(run_id), case_id=CaseId(run_id), settings=GPT)
    raw = (json.dumps(request(asked)), json.dumps(response(asked)))
    answer = (selected, server, selected or "no tool", snapshot, confidence, "self-reported")
    spent = (random.randint(200, 9000), round(random.uniform(1e-4, 5e-3), 6))
    ended = ("failed", None) if failed else ("completed", word)
    run = (*ended, *answer, *spent, calls, arguments, *raw, moment, moment, run_id)
    return run, () if failed else _verdict(run_id, word, kind)


def _judged(expected: str | None, selected: str | None) -> tuple[str, str]:
    if expected is None:
        return ("FP", "unexpected_call") if selected else ("TN", "no_call_expected")
    if selected == expected:
        return "TP", "match"
    return "FN", ("no_tool" if selected is None else "invented_tool" if selected == "made_up" else "wrong_tool")


def _verdict(run_id: str, word: str, kind: str) -> tuple[Any, ...]:
    correct = random.choice((1.0, 1.0, 0.5)) if word == "TP" else None
    matches = json.dumps([{"expected": 0, "actual": 0, "completeness": 1.0, "correctness": correct}])
    right = word in ("TP", "TN")
    ok = None if correct is None else int(correct == 1.0)
    verdict = (1.0 if correct else None, correct, ok, None, "robust" if right else "misleading")
    words = "Selected what was expected, and with values that are right."
    return (new_id(), run_id, word, int(right), *verdict, words, kind, ok, matches)


def filters(batch: BatchId) -> dict[str, RunFilter]:
    """One of each kind of filter."""
    return {
        "suite": RunFilter(suites=("Everyday",)),
        "tag": RunFilter(tags=("smoke",)),
        "expected tool": RunFilter(expected=ToolLabel("tool_7")),
        "selected server": RunFilter(selected=ToolLabel(server="docs")),
        "offered tool": RunFilter(offered=ToolLabel("tool_7")),
        "model": RunFilter(models=(GPT.label,)),
        "batch": RunFilter(batch_id=batch),
        "dates": RunFilter(since=datetime(2026, 10, 8, tzinfo=UTC), until=datetime(2026, 10, 15, tzinfo=UTC)),
        "status": RunFilter(statuses=(RunStatus.COMPLETED,)),
        "kind": RunFilter(kinds=(VerdictKind.WRONG_TOOL,)),
        "words": RunFilter(text="case 19"),
        "no run": RunFilter(models=("nobody/nothing",)),
    }


async def measured(store: SqliteStore) -> dict[str, tuple[float, float]]:
    """What was asked, with its seconds and its limit."""
    figures, runs = MetricsService(store.metrics), store.runs
    (batch, *_) = await runs.batches()
    asked: dict[str, tuple[Callable[[], Awaitable[object]], float]] = {
        "metrics of everything": (figures.summary, MOST_FIGURES_S),
        f"confusion matrix of {TOOLS} tools": (figures.confusions, MOST_MATRIX_S),
        "calibration": (figures.calibration, MOST_FIGURES_S),
        "repeats": (figures.repeats, MOST_FIGURES_S),
        "trend": (figures.trend, MOST_FIGURES_S),
        "models": (figures.models, MOST_FIGURES_S),
        "all of these at once": (figures.overview, MOST_MATRIX_S),
        "first page of the runs table": (partial(runs.runs, RunFilter(), limit=100), MOST_PAGE_S),
        "names for filters": (figures.choices, MOST_FIGURES_S),
    }
    for name, where in filters(batch.id).items():
        asked[f"metrics by {name}"] = (partial(figures.summary, where), MOST_FIGURES_S)
        asked[f"first page by {name}"] = (partial(runs.runs, where, limit=100), MOST_FILTERED_S)
        asked[f"count by {name}"] = (partial(runs.count, where), MOST_FILTERED_S)
    for order in RunOrder:
        # The window groups repeats by case within one batch only.
        only = batch.id if order is RunOrder.CASE else None
        where = RunFilter(order=order, descending=True, batch_id=only)
        asked[f"first page in order of {order}"] = (partial(runs.runs, where, limit=100), MOST_FILTERED_S)
    return {name: (await seconds(question), limit) for name, (question, limit) in asked.items()}


def bare(path: Path) -> dict[str, float]:
    """Seconds of what no program can do without: sqlite's scan of the rows as they are, and numpy's counting."""
    with closing(sqlite3.connect(path)) as connection:
        wide = _best(
            lambda: connection.execute(
                "SELECT expected_tool_name, selected_tool_name, classification, count(*), avg(execution_time_ms), "
                "sum(cost_usd) FROM test_runs GROUP BY 1, 2, 3"
            ).fetchall()
        )
        narrow = _best(
            lambda: connection.execute("SELECT CAST(group_concat(metrics, '') AS BLOB) FROM run_facts").fetchall()
        )
        (runs,) = connection.execute("SELECT count(*) FROM run_facts").fetchone()
    pairs, values = np.random.default_rng(1).integers(0, TOOLS * TOOLS, runs), np.random.default_rng(2).random(runs)
    counting = _best(lambda: (np.bincount(pairs), np.quantile(values, (0.5, 0.95))))
    return {"sqlite groups the wide rows": wide, "sqlite reads the narrow rows": narrow, "numpy counts": counting}


def _best(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


async def main(runs: int) -> bool:
    """Print the table; whether all limits were kept."""
    random.seed(20261121)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workspace.db"
        store = await open_store(path)
        started = time.perf_counter()
        _, snapshot = await planned(store, runs)
        finish(path, snapshot)
        await refresh(store)
        made = time.perf_counter() - started
        times = await measured(store)
        stored = await store.runs.count(RunFilter())
        await store.close()
        size = path.stat().st_size / stored
        ground = bare(path)
    print(f"{stored} runs, made in {made:.0f} s; {size:.0f} bytes a run, at most {MOST_BYTES}")
    _print(times, ground)
    return size <= MOST_BYTES and all(taken <= limit for taken, limit in times.values())


def _print(times: dict[str, tuple[float, float]], ground: dict[str, float]) -> None:
    for name, taken in ground.items():
        print(f"{'bare: ' + name:42}{taken * 1000:8.1f} ms")
    floor = ground["sqlite reads the narrow rows"] + ground["numpy counts"]
    for name, (taken, limit) in times.items():
        late = "" if taken <= limit else "  TOO SLOW"
        print(f"{name:42}{taken * 1000:8.1f} ms  at most {limit * 1000:3.0f}  {taken / floor:5.1f} × bare{late}")


if __name__ == "__main__":
    kept = asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
    sys.exit(0 if kept else 1)
