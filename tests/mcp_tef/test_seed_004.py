"""The rules of seed 004 (LLM tool management), a row each; those that were changed say why."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mcp_tef import ConsentError, Engine
from mcp_tef.errors import ConflictError
from mcp_tef.model.library import (
    NEXT_EXECUTION_STATUSES,
    NEXT_STATUSES,
    Execution,
    ExecutionStatus,
    ExecutorKind,
    LibraryTool,
    ToolCategory,
    ToolDesign,
    ToolStatus,
)
from tests.support.library_designs import CITY, answering, scripted
from tests.support.seed_rules import Rule, SeedRules, kept, refused

SEED = SeedRules()


async def with_status(engine: Engine, status: ToolStatus) -> LibraryTool:
    """A tool of a status."""
    await engine.library.add(answering())
    if status is not ToolStatus.DRAFT:
        await engine.library.set_status("weather", ToolStatus.ACTIVE)
    if status in (ToolStatus.DISABLED, ToolStatus.DEPRECATED):
        await engine.library.set_status("weather", status)
    return await engine.library.find("weather")


def add_transitions() -> None:
    """One row for each pair of statuses, and one for deleting from each."""
    for before in ToolStatus:
        for after in ToolStatus:
            allowed = after in NEXT_STATUSES[before]

            async def move(engine: Engine, b: ToolStatus = before, a: ToolStatus = after, ok: bool = allowed) -> None:
                await with_status(engine, b)
                if ok:
                    assert (await engine.library.set_status("weather", a)).status is a
                else:
                    await refused(engine.library.set_status("weather", a))

            SEED.add("State Transitions", f"{before} → {after}: {'yes' if allowed else 'no'}", move)

        async def delete(engine: Engine, b: ToolStatus = before) -> None:
            await with_status(engine, b)
            await engine.library.delete(["weather"])
            assert await engine.library.list() == ()

        SEED.add("State Transitions", f"{before} → delete: yes", delete)


add_transitions()


def add_bad_designs() -> None:
    """One row for each design that is refused."""
    bad: Sequence[tuple[str, ToolDesign]] = (
        ("a name of capitals is refused", answering("Weather")),
        ("a name with a hyphen is refused", answering("get-weather")),
        ("a name of more than 100 characters is refused", answering("w" * 101)),
        ("a display name of more than 200 characters is refused", answering(display_name="w" * 201)),
        ("the description must not be missing", answering(description="")),
        (
            "an input schema that is no JSON Schema is refused",
            answering(input_schema={"type": "object", "required": 1}),
        ),
        ("script_content is required for python", answering(executor=ExecutorKind.PYTHON, config={})),
    )
    for text, design in bad:

        async def refuse(engine: Engine, given: ToolDesign = design) -> None:
            await refused(engine.library.add(given))

        SEED.add("Tool", text, refuse)


add_bad_designs()


@SEED.rule("Tool", "name is unique")
async def _(engine: Engine) -> None:
    await engine.library.add(answering())
    await refused(engine.library.add(answering()), ConflictError)


@SEED.rule("Tool", "status begins as draft, version as 1, tags as none, category as none; both times are set")
async def _(engine: Engine) -> None:
    tool = await engine.library.add(answering())
    assert (tool.status, tool.version, tool.design.tags, tool.design.category) == (ToolStatus.DRAFT, 1, (), None)
    assert tool.created_at <= tool.updated_at


@SEED.rule("Tool", "version grows by one with every update")
async def _(engine: Engine) -> None:
    await engine.library.add(answering())
    for number in (2, 3):
        assert (await engine.library.edit("weather", answering(description=f"Text {number}."))).version == number


@SEED.rule("Tool", "a change of status makes no version", "It changes nothing of what a version keeps.")
async def _(engine: Engine) -> None:
    assert (await with_status(engine, ToolStatus.DEPRECATED)).version == 1


@SEED.rule("Tool", "executor types are python, http, shell and mcp", "search and answer were added by LIBRARY.md.")
async def _(_: Engine) -> None:
    assert {"python", "http", "shell", "mcp"} < set(ExecutorKind)


@SEED.rule("Tool", "executor_type is python by default", "An answer needs no program, and so no consent.")
async def _(_: Engine) -> None:
    assert ToolDesign(name="a", input_schema={}, config={}).executor is ExecutorKind.ANSWER


@SEED.rule("Tool", "input_schema may be of draft-07")
async def _(engine: Engine) -> None:
    await engine.library.add(answering(input_schema={"$schema": "http://json-schema.org/draft-07/schema#", **CITY}))


@SEED.rule("JSON Schema Examples", "both examples are accepted and checked")
async def _(engine: Engine) -> None:
    limit = {"type": "integer", "default": 10, "minimum": 1, "maximum": 100}
    asked = {"type": "object", "properties": {"query": {"type": "string"}, "limit": limit}, "required": ["query"]}
    items = {"type": "object", "properties": {"title": {"type": "string"}, "url": {"type": "string"}}}
    told = {
        "type": "object",
        "properties": {"results": {"type": "array", "items": items}, "total": {"type": "integer"}},
    }
    answer = {"results": [], "total": 0}
    await engine.library.add(answering("find", answer, input_schema=asked, output_schema=told))
    assert (await engine.library_runs.run("find", {"query": "x"})).output == answer
    await refused(engine.library_runs.run("find", {"query": "x", "limit": 101}))


@SEED.rule("ToolCategory", "name is unique: saving it again changes it; description may be missing")
async def _(engine: Engine) -> None:
    await engine.library.save_category(ToolCategory(name="town"))
    await engine.library.save_category(ToolCategory(name="town", description="All of it"))
    assert [one.description for one in await engine.library.categories()] == ["All of it"]


@SEED.rule("ToolCategory", "parents make a tree; a circle is refused")
async def _(engine: Engine) -> None:
    await engine.library.ensure_category("town/buses")
    await refused(engine.library.save_category(ToolCategory(name="town", parent="buses")))


@SEED.rule("ToolVersion", "a snapshot of schemas, config and script stays, with its changelog")
async def _(engine: Engine) -> None:
    await engine.library.add(scripted("def run(input): return 1"), changelog="New.")
    await engine.library.edit("scripted", scripted("def run(input): return 2"))
    old = (await engine.library.versions("scripted"))[-1]
    assert (old.design.script, old.changelog) == ("def run(input): return 1", "New.")


@SEED.rule("ToolVersion", "is_latest is true for exactly one")
async def _(engine: Engine) -> None:
    await engine.library.add(answering())
    await engine.library.edit("weather", answering(description="Other."))
    assert [one.is_latest for one in await engine.library.versions("weather")] == [True, False]


@SEED.rule("ToolVersion", "version is a string", "An integer everywhere, as by the seed's migration 3.")
async def _(engine: Engine) -> None:
    await engine.library.add(answering())
    assert (await engine.library.versions("weather"))[0].version == 1


def add_execution_transitions() -> None:
    """One row for each pair of states of an execution."""
    for before, after in (
        *(("pending", one) for one in ("running", "cancelled")),
        *(("running", one) for one in ("success", "failed", "timeout", "cancelled")),
    ):

        async def allowed(_: Engine, b: str = before, a: str = after) -> None:
            assert ExecutionStatus(a) in NEXT_EXECUTION_STATUSES[ExecutionStatus(b)]

        SEED.add("Execution Status Transitions", f"{before} → {after}", allowed)

    async def no_others(_: Engine) -> None:
        assert sum(map(len, NEXT_EXECUTION_STATUSES.values())) == 6

    SEED.add("Execution Status Transitions", "there are no others", no_others)


add_execution_transitions()


async def allow(engine: Engine, design: ToolDesign) -> None:
    """Allow what a tool of the library does."""
    with pytest.raises(ConsentError) as asked:
        await engine.library_runs.require_consent(design)
    for request in asked.value.requests:
        await engine.consents.allow(request)


async def ended(engine: Engine, script: str, **config: Any) -> Execution:
    """An execution of a script that was agreed to."""
    design = scripted(script, **config)
    await engine.library.add(design)
    await allow(engine, design)
    return await engine.library_runs.run("scripted", {})


@SEED.rule("ToolExecution", "it has input, output, times, duration, version, caller and trace")
async def _(engine: Engine) -> None:
    tool = await engine.library.add(answering())
    given = {"caller_id": "agent", "trace_id": "00-1"}
    done = await engine.library_runs.execute(tool, {"city": "Rome"}, **given)
    assert (done.status, done.input, done.output) == (ExecutionStatus.SUCCESS, {"city": "Rome"}, "It rains in Rome.")
    assert (done.version, done.caller_id, done.trace_id) == (1, "agent", "00-1")
    assert done.started_at is not None
    assert done.completed_at is not None
    assert done.created_at <= done.started_at <= done.completed_at
    assert done.duration_ms is not None


@SEED.rule("ToolExecution", "an error is kept as failed, with its message and without output")
async def _(engine: Engine) -> None:
    done = await ended(engine, "def run(input): raise ValueError('no city')")
    assert (done.status, done.output) == (ExecutionStatus.FAILED, None)
    assert "no city" in (done.error_message or "")


@SEED.rule("ToolExecution", "what exceeds its limit of at most 30 s is kept as timeout")
async def _(engine: Engine) -> None:
    done = await ended(engine, "def run(input):\n while True: pass", seconds=1)
    assert done.status is ExecutionStatus.TIMEOUT
    await refused(engine.library.edit("scripted", scripted("def run(input): pass", seconds=31)))


@SEED.rule("ToolExecution", "what was cancelled is kept as cancelled")
async def _(engine: Engine) -> None:
    fifo = engine.workspace.with_name("begun")
    os.mkfifo(fifo)
    design = scripted(f"def run(input):\n open({str(fifo)!r}, 'w').close()\n while True: pass")
    await engine.library.add(design)
    await allow(engine, design)
    task = asyncio.create_task(engine.library_runs.run("scripted", {}))
    await asyncio.to_thread(fifo.read_text)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert [one.status for one in await engine.library_runs.history("scripted")] == [ExecutionStatus.CANCELLED]


@pytest.mark.parametrize("row", SEED.rows, ids=lambda row: row.name)
async def test_the_rule_is_kept_or_changed_for_a_reason(row: Rule, tmp_path: Path) -> None:
    await kept(row, tmp_path)
