"""The tool library: versions, statuses, categories, import and export, and its server inside the product."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp_tef import Engine
from mcp_tef.errors import ChangedMeanwhileError, ConflictError, InputError, NotFoundError
from mcp_tef.events import Event, LibraryChanged
from mcp_tef.model.definitions import PromptKind, PromptTemplate
from mcp_tef.model.library import ExecutorKind, ToolCategory, ToolStatus
from tests.support.library_designs import CITY, answering


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine on an empty workspace."""
    async with await Engine.open(tmp_path / "workspace.db") as opened:
        yield opened


async def listed(engine: Engine) -> dict[str, str]:
    """The tools that the server of the library lists, with their descriptions."""
    server = await engine.library.server()
    return {tool.name: tool.description for tool in (await engine.servers.tools(server.id)).tools}


async def test_every_update_makes_a_version_that_can_be_compared_and_restored(engine: Engine) -> None:
    library = engine.library
    await library.add(answering(), changelog="Made.")
    await library.edit("weather", answering(description="Tell how the weather is."), changelog="Clearer.")
    assert await library.compare("weather", 1, 2) == {
        ("description",): ("Tell the weather in a city.", "Tell how the weather is.")
    }
    restored = await library.restore_version("weather", 1)
    assert (restored.version, restored.design) == (3, answering())
    assert [one.version for one in await library.versions("weather")] == [3, 2, 1]
    assert (await library.edit("weather", answering())).version == 3
    with pytest.raises(NotFoundError, match="no version 9"):
        await library.restore_version("weather", 9)


async def test_two_edits_of_a_tool_or_prompt_both_survive_or_the_second_is_refused(engine: Engine) -> None:
    seen = await engine.library.add(answering())
    await engine.library.edit(seen.name, replace(seen.design, tags=("theirs",)), seen=seen)
    both = await engine.library.edit(seen.name, replace(seen.design, description="Mine."), seen=seen)
    assert (both.design.tags, both.design.description) == (("theirs",), "Mine.")
    with pytest.raises(ChangedMeanwhileError, match="Mine"):
        await engine.library.edit(seen.name, replace(seen.design, description="Another."), seen=seen)
    first = await engine.prompts.add(PromptTemplate(name="p", version=0, kind=PromptKind.SYSTEM, text="Text"))
    await engine.prompts.edit(replace(first, model="theirs/model"))
    assert (await engine.prompts.edit(replace(first, text="Mine"))).model == "theirs/model"
    with pytest.raises(ChangedMeanwhileError, match="Mine"):
        await engine.prompts.edit(replace(first, text="Another"))


async def test_a_deleted_tool_comes_back(engine: Engine) -> None:
    events: list[Event] = []
    engine.subscribe(events.append)
    await engine.library.add(answering())
    ids = await engine.library.delete(["weather"])
    assert await engine.library.list() == ()
    await engine.library.restore(ids, by="me")
    assert (await engine.library.find("weather")).version == 1
    assert [one for one in events if isinstance(one, LibraryChanged)][-1] == LibraryChanged(ids, "me")


async def test_the_server_of_the_library_follows_each_change_without_a_process(engine: Engine) -> None:
    library = engine.library
    for name in ("drafted", "active", "disabled", "deprecated"):
        await library.add(answering(name))
    for name, statuses in (
        ("active", ["active"]), ("disabled", ["active", "disabled"]), ("deprecated", ["active", "deprecated"])
    ):  # fmt: skip
        for status in statuses:
            await library.set_status(name, ToolStatus(status))
    server = await library.server()
    known = await engine.servers.known_tools(server.id)
    assert known is not None
    found = {tool.name: tool.description for tool in known.tools}
    assert found == await listed(engine)
    assert list(found) == ["active", "deprecated", "drafted"]
    assert found["deprecated"].startswith("Deprecated")


async def test_a_server_that_is_named_library_already_keeps_its_name(engine: Engine, tmp_path: Path) -> None:
    from mcp_tef import ServerSpec, Transport

    await engine.servers.add(ServerSpec(name="Library", transport=Transport.FILE, path=str(tmp_path / "tools.json")))
    await engine.library.add(answering())
    assert (await engine.library.server()).name == "Tool library"
    assert list(await listed(engine)) == ["weather"]


async def test_categories_are_a_tree_without_circles(engine: Engine) -> None:
    library = engine.library
    assert await library.ensure_category("town/transport/buses") == "buses"
    await library.add(answering(category="buses"))
    assert [tool.name for tool in await library.list(category="town")] == ["weather"]
    with pytest.raises(InputError, match="stand in itself"):
        await library.save_category(ToolCategory(name="town", parent="buses"))
    with pytest.raises(InputError, match="stand in itself"):
        await library.save_category(ToolCategory(name="town", parent="town"))
    with pytest.raises(ConflictError):
        await library.save_category(ToolCategory(name="trams", parent="nowhere"))
    with pytest.raises(ConflictError):
        await library.ensure_category("trams/buses")
    with pytest.raises(InputError, match="no category"):
        await library.add(answering("other", category="nowhere"))


BAD: dict[str, dict[str, Any]] = {
    "cannot be the name": {"name": "Weather Now"},
    "has no description": {"description": " "},
    "is no JSON Schema": {"input_schema": {"type": "object", "properties": {"city": {"type": "text"}}}},
    "describes no object": {"input_schema": {"type": "string"}, "config": {"answer": ""}},
    "uses {town}": {"config": {"answer": "It rains in {town}."}},
    "does not say its url": {"executor": ExecutorKind.HTTP, "config": {}},
    "unknown setting": {"config": {"answer": "", "colour": "red"}},
    "wrong type": {"executor": ExecutorKind.SHELL, "config": {"argv": "ls"}},
    "fixed program": {"executor": ExecutorKind.SHELL, "config": {"argv": ["{city}"]}},
    "fixed address": {"executor": ExecutorKind.HTTP, "config": {"url": "https://{city}.example.com/"}},
    "value of the header": {
        "executor": ExecutorKind.HTTP, "config": {"url": "https://example.com", "headers": {"X-Api-Key": "abc"}}
    },
    "function run": {"executor": ExecutorKind.PYTHON, "config": {}, "script": "print(1)"},
    "time limit": {"config": {"answer": "", "seconds": 31}},
    "memory limit": {
        "executor": ExecutorKind.SHELL, "config": {"argv": ["ls"], "memory_mb": 0}
    },
    "no JSON Pointer": {"executor": ExecutorKind.HTTP, "config": {"url": "https://example.com", "result": "items"}},
}  # fmt: skip


@pytest.mark.parametrize("said", BAD)
async def test_a_bad_design_is_refused_in_one_sentence_and_nothing_is_kept(engine: Engine, said: str) -> None:
    with pytest.raises(InputError) as refused:
        await engine.library.add(replace(answering(), **BAD[said]))
    assert said in refused.value.message
    assert refused.value.hint
    assert await engine.library.list() == ()


async def test_what_is_exported_comes_back_the_same(engine: Engine, tmp_path: Path) -> None:
    await engine.library.ensure_category("town")
    design = answering(tags=("rain",), category="town", output_schema={"type": "object"}, answer={"rain": "{city}"})
    await engine.library.add(design)
    exported = await engine.library.export()
    async with await Engine.open(tmp_path / "other.db") as other:
        taken = await other.library.take([(raw, None) for raw in exported["tools"]])
        assert (taken.added, taken.refused) == (("weather",), ())
        assert (await other.library.find("weather")).design == design


async def test_tools_are_taken_from_elsewhere_and_the_others_are_named(engine: Engine) -> None:
    good = {"name": "find_parts", "description": "Find parts.", "inputSchema": CITY}
    bad = {"name": "findParts", "description": "Find parts.", "inputSchema": CITY}
    stand_in = answering(answer="Nothing found.")
    taken = await engine.library.take([(good, stand_in), (bad, stand_in), (good, stand_in)])
    assert taken.added == ("find_parts",)
    assert [name for name, _ in taken.refused] == ["findParts", "find_parts"]
    assert (await engine.library.find("find_parts")).design.config == {"answer": "Nothing found."}
    better = good | {"description": "Find spare parts by name."}
    assert (await engine.library.take([(better, None)], replacing=True)).changed == ("find_parts",)
    found = await engine.library.find("find_parts")
    assert (found.version, found.design.config) == (2, {"answer": "Nothing found."})


async def test_two_edits_at_once_lose_nothing(engine: Engine) -> None:
    await engine.library.add(answering())
    edits = [engine.library.edit("weather", answering(description=f"Text {number}.")) for number in range(4)]
    results = await asyncio.gather(*edits, return_exceptions=True)
    kept = [one for one in results if not isinstance(one, BaseException)]
    assert kept
    assert all(isinstance(one, ConflictError) for one in results if isinstance(one, BaseException))
    assert (await engine.library.find("weather")).version == 1 + len(kept)
