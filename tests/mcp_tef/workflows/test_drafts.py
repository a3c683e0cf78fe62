"""Drafts as a user works with them: made, changed step by step, undone, redone, moved to a newer listing."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.engine import Engine
from mcp_tef.errors import ConflictError, InputError, NotFoundError
from mcp_tef.events import DraftsChanged
from mcp_tef.model.draft_edits import ToolEdit
from mcp_tef.model.drafts import Draft
from mcp_tef.model.improvements import ImprovementEnd, ImprovementRequest
from mcp_tef.model.json_patch import apply_patch
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Listing
from mcp_tef.ports import CheckResult
from mcp_tef.workflows.drafts import Drafts
from mcp_tef.workflows.sample_program import SAMPLE_SERVER
from mcp_tef.workflows.source_edits import SourceEdit
from tests.support.memory_store import MemoryStore
from tests.support.workflow_bench import Bench, bench
from tests.support.workspace_files import tool


def nobody(_: object) -> Any:
    """No model is asked here."""
    raise AssertionError


@pytest.fixture
async def workshop() -> tuple[Drafts, Bench]:
    """Drafts over a server with three tools."""
    tools = [tool("search"), tool("read", description="Reads."), tool("list", description="Lists.")]
    made = bench(MemoryStore(), {"docs": tools}, nobody)
    await made.register("docs")
    return Drafts(made.store.drafts, made.servers, made.gateway, made.events), made


@pytest.fixture
async def drafted(workshop: tuple[Drafts, Bench]) -> Draft:
    """A draft without a step."""
    return await workshop[0].new("Shorter texts", server="docs")


def describe(place: int, text: str) -> dict[str, Any]:
    """The operation that gives a tool another description."""
    return {"op": "replace", "path": f"/tools/{place}/description", "value": text}


def texts(draft: Draft) -> list[str]:
    """The descriptions of the draft's tools."""
    return [raw["description"] for raw in draft.tools]


async def test_edits_are_undone_and_redone_and_a_new_one_drops_what_was_undone(
    workshop: tuple[Drafts, Bench], drafted: Draft
) -> None:
    drafts, made = workshop
    await drafts.edit(drafted.id, "search", ToolEdit(description="Finds."))
    await drafts.apply(drafted.id, [describe(1, "Fetches.")])
    await drafts.remove_tool(drafted.id, "list")
    assert texts(await drafts.undo(drafted.id, by="me")) == ["Finds.", "Fetches.", "Lists."]
    assert texts(await drafts.undo(drafted.id)) == ["Finds.", "Reads.", "Lists."]
    assert texts(await drafts.redo(drafted.id)) == ["Finds.", "Fetches.", "Lists."]
    after = await drafts.edit(drafted.id, "read", ToolEdit(title="Read"))
    assert (texts(after), after.step, len(after.steps)) == (["Finds.", "Fetches.", "Lists."], 3, 3)
    with pytest.raises(InputError, match="nothing to redo in the draft Shorter texts"):
        await drafts.redo(drafted.id)
    assert DraftsChanged((drafted.id,), "me") in made.of(DraftsChanged)
    assert apply_patch(after.listing, after.patch) == {"tools": list(after.tools)}
    assert [one.states for one in await drafts.list()] == [after.states]  # each step applied anew


@pytest.mark.parametrize(("before", "after"), [(1, True), (0, False), (1, 1.0)])
async def test_a_patch_that_only_changes_a_number_into_true_or_false_is_a_step(
    workshop: tuple[Drafts, Bench], drafted: Draft, before: object, after: object
) -> None:
    drafts, _ = workshop
    place = "/tools/0/inputSchema/default"
    await drafts.apply(drafted.id, [{"op": "add", "path": place, "value": before}])
    changed = await drafts.apply(drafted.id, [{"op": "replace", "path": place, "value": after}])
    assert (changed.step, repr(changed.tools[0]["inputSchema"]["default"])) == (2, repr(after))


async def test_an_edit_that_changes_nothing_is_no_step(workshop: tuple[Drafts, Bench], drafted: Draft) -> None:
    same = await workshop[0].edit(drafted.id, "read", ToolEdit(description="Reads."))
    assert (same.steps, same.changed_tools()) == ((), ())
    with pytest.raises(InputError, match="nothing to undo"):
        await workshop[0].undo(drafted.id)


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ([describe(7, "x")], "there is no place 7 in a list of 3"),
        ([{"op": "test", "path": "/tools/0/name", "value": "read"}], 'there is not "read" but "search"'),
        ([{"op": "remove", "path": "/tools/0"}] * 3, "no tool would be left"),
        ([{"op": "replace", "path": "/tools/0/name", "value": "read"}], "2 tools would be named “read”"),
        (
            [{"op": "replace", "path": "/tools/0/name", "value": " "}],
            "Definition 1: Its name is empty.",
        ),
        (
            [{"op": "replace", "path": "/tools/0/inputSchema/type", "value": "array"}],
            "would make search invalid: Its inputSchema must have the type “object”",
        ),
        ([{"op": "replace", "path": "/tools/0/description", "value": 5}], "Its description is a number, not text."),
        ([{"op": "remove", "path": "/tools/0/inputSchema"}], "It has no inputSchema."),
        ([{"op": "replace", "path": "/tools/0/description", "value": "x" * 9_000_000}], "bytes, more than"),
        ([{"op": "fly", "path": ""}], "has the op fly"),
        ("no list", "The patch is not a list of operations"),
    ],
)
async def test_a_bad_patch_is_told_in_one_sentence_and_nothing_is_lost(
    workshop: tuple[Drafts, Bench], drafted: Draft, patch: Any, said: str
) -> None:
    drafts = workshop[0]
    before = await drafts.edit(drafted.id, "list", ToolEdit(description="Shows."))
    with pytest.raises(InputError) as caught:
        await drafts.apply(drafted.id, patch)
    assert said in caught.value.message
    assert caught.value.hint
    assert await drafts.get(drafted.id) == before


async def test_names_are_unique_and_unknown_ones_name_the_nearest(
    workshop: tuple[Drafts, Bench], drafted: Draft
) -> None:
    drafts = workshop[0]
    with pytest.raises(ConflictError, match="a draft named “SHORTER texts” already"):
        await drafts.new("SHORTER  texts", server="docs")
    assert await drafts.find("shorter TEXTS") == await drafts.find(drafted.id) == drafted
    with pytest.raises(NotFoundError) as caught:
        await drafts.find("Shorter text")
    assert "Shorter texts" in caught.value.hint
    with pytest.raises(NotFoundError) as caught:
        await drafts.edit(drafted.id, "serch", ToolEdit(description="x"))
    assert "search" in caught.value.hint
    await drafts.remove_tool(drafted.id, "read")
    with pytest.raises(NotFoundError, match="“read” is not in the draft Shorter texts any more"):
        await drafts.edit(drafted.id, "read", ToolEdit(description="x"))
    assert (await drafts.rename(drafted.id, "Short")).name == "Short"


async def test_a_removed_draft_comes_back_with_its_steps(workshop: tuple[Drafts, Bench], drafted: Draft) -> None:
    drafts = workshop[0]
    kept = await drafts.add_tool(drafted.id, dict(tool("write", description="Writes.").raw))
    await drafts.remove([drafted.id])
    assert await drafts.list() == ()
    assert await drafts.restore(kept) == kept
    assert (await drafts.find("Shorter texts")).changed_tools() == ("write",)


async def test_a_draft_over_a_changed_listing_names_the_texts_that_both_changed(
    workshop: tuple[Drafts, Bench], drafted: Draft
) -> None:
    drafts, made = workshop
    await drafts.edit(drafted.id, "search", ToolEdit(description="Finds."))
    before = await drafts.edit(drafted.id, "read", ToolEdit(description="Fetches."))
    assert await drafts.newer_listing(before) is None
    assert (await drafts.rebase(drafted.id)).draft == before
    made.gateway.servers["docs"] = [
        tool("more"),
        tool("search", description="Seeks."),
        tool("read", description="Reads."),
    ]
    await made.servers.tools((await made.servers.find("docs")).id)
    found = await drafts.rebase(drafted.id)
    (conflict,) = found.conflicts
    assert (conflict.tool, conflict.was, conflict.now, conflict.draft) == (
        *("search", "Looks for words."),
        *("Seeks.", "Finds."),
    )
    assert found.draft == before == await drafts.get(drafted.id)
    moved = (await drafts.rebase(drafted.id, keep_draft=True)).draft
    assert texts(moved) == ["Looks for words.", "Finds.", "Fetches."]
    assert texts(await drafts.undo(drafted.id)) == ["Looks for words.", "Finds.", "Reads."]
    assert await drafts.newer_listing(moved) is None


async def test_a_draft_over_a_tools_file_needs_no_server(workshop: tuple[Drafts, Bench], tmp_path: Path) -> None:
    drafts, file = workshop[0], tmp_path / "tools.json"
    file.write_text(json.dumps({"tools": [dict(tool("a").raw), {"name": "broken"}]}))
    draft = await drafts.new("From a file", tools_file=str(file))
    assert (draft.server, [raw["name"] for raw in draft.base]) == (None, ["a", "broken"])
    await drafts.edit(draft.id, "a", ToolEdit(description="Finds."))
    (original,), (changed,) = await drafts.arms(await drafts.get(draft.id))
    assert [(one.server, one.name, one.description) for one in (*original.tools, *changed.tools)] == [
        ("From a file", "a", "Looks for words."),
        ("From a file", "a", "Finds."),
    ]
    file.write_text("[]")
    for name, given in (("x", {"tools_file": str(file)}), ("x", {}), ("x", {"tools_file": str(tmp_path / "gone")})):
        with pytest.raises(InputError):
            await drafts.new(name, **given)


async def test_changed_texts_are_found_in_the_folder_of_the_server(tmp_path: Path) -> None:
    made = bench(MemoryStore(), {"own": [tool("search", server="own")]}, nobody)
    spec = ServerSpec(name="own", transport=Transport.STDIO, command="python3", cwd=str(tmp_path))
    server = await made.store.servers.add(spec)
    found = Listing(server="own", tools=(tool("search", server="own"),))
    await made.store.servers.record_check(server.id, CheckResult(listing=found))
    (tmp_path / "main.py").write_text('description = "Looks for words."\n')
    drafts = Drafts(made.store.drafts, made.servers, made.gateway, made.events)
    draft = await drafts.new("Own", server="own")
    assert await drafts.source_edits(draft) == ()
    (edit,) = await drafts.source_edits(await drafts.edit(draft.id, "search", ToolEdit(description="Finds.")))
    assert isinstance(edit, SourceEdit)
    assert (edit.path, edit.line, edit.after) == (tmp_path / "main.py", 1, b'description = "Finds."\n')
    assert (tmp_path / "main.py").read_bytes() == edit.before


async def test_the_prepared_draft_breaks_none_and_a_search_is_better_on_sealed_cases(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    async with await Engine.open(tmp_path / "work.db", environment=environment) as engine:
        await engine.open_sample()
        draft = await engine.open_sample_draft()
        prediction = await engine.predictions.predict(draft)
        assert prediction is not None
        assert (prediction.fixed > 0, prediction.broken) == (True, 0)
        assert not prediction.tools[0].findings_new
        assert await engine.open_sample_draft() == draft
        assert len(await engine.drafts.list()) == 1
        request = ImprovementRequest(server=SAMPLE_SERVER, settings=ModelSettings(), budget=1_000)
        result = await engine.improvements.run(await engine.improvements.plan(request))
        assert result.sealed is not None
        assert (result.end, result.sealed.losses) == (ImprovementEnd.BETTER, 0)
        assert result.draft is not None
        assert "update_booking" in result.draft.changed_tools()


async def test_drafts_are_listed_in_their_order_though_the_clock_was_set_back(
    workshop: tuple[Drafts, Bench], drafted: Draft
) -> None:
    drafts, _ = workshop
    await drafts.remove([drafted.id])
    first = await drafts.restore(replace(drafted, created_at=datetime(2040, 1, 1, tzinfo=UTC)))
    later = [await drafts.new(name, server="docs") for name in ("Second", "Third")]
    assert [draft.id for draft in await drafts.list()] == [first.id, *(draft.id for draft in later)]
