"""Two hands at one row: edits of different fields both survive, and of the same field nobody overwrites the other."""

from dataclasses import fields, replace
from itertools import permutations
from typing import Any

import pytest

from mcp_tef.errors import ChangedMeanwhileError, NotFoundError
from mcp_tef.model.cases import CaseDraft, CaseOrigin, EarlierMessage, Speaker, expectation_from_json
from mcp_tef.model.definitions import DefinitionKind
from mcp_tef.model.ids import DraftId
from mcp_tef.model.library import ToolCategory, ToolDesign, ToolStatus
from mcp_tef.model.servers import AuthType, OAuthClient, ServerSpec, Transport
from mcp_tef.ports import Store
from tests.mcp_tef.storage.test_store_contract import changed
from tests.support.workspace_files import fill, http

OF_CASE: dict[str, tuple[Any, Any]] = {
    "name": ("Another name", "A third name"),
    "query": ("Another query", "A third query"),
    "expectation": (expectation_from_json([{"tool": "one"}]), expectation_from_json([{"tool": "two"}])),
    "servers": (("docs",), ("wiki",)),
    "suites": (("Smoke",), ("Slow",)),
    "tags": (("easy",), ("hard",)),
    "family": ("bikes", "books"),
    "before": ((EarlierMessage(Speaker.USER, "Hello"),), (EarlierMessage(Speaker.USER, "Bye"),)),
    "origin": (CaseOrigin.GENERATED, CaseOrigin.GENERATED),
    "held_back": (True, True),
}
OF_SERVER: dict[str, tuple[Any, Any]] = {
    "name": ("other", "third"),
    "url": ("https://one.example/mcp", "https://two.example/mcp"),
    "args": (("-a",), ("-b",)),
    "cwd": ("/one", "/two"),
    "env": ({"A": "1"}, {"A": "2"}),
    "headers": ({"A": "1"}, {"A": "2"}),
    "auth_type": (AuthType.BEARER, AuthType.BASIC),
    "secret": ("${ONE}", "${TWO}"),
    "oauth": (OAuthClient(client_id="one"), OAuthClient(client_id="two")),
    "alias": ("one", "two"),
    "allowed_tools": (("one",), ("two",)),
    "disallowed_tools": (("one",), ("two",)),
    "env_file": ("/one", "/two"),
    "project": ("/one", "/two"),
    "origin": ("/one", "/two"),
    "extra": ({"a": 1}, {"a": True}),
}


def test_the_tables_name_every_field() -> None:
    """A new field without a row here could be overwritten unseen."""
    assert OF_CASE.keys() == {one.name for one in fields(CaseDraft)}
    decided_with_another = {"transport", "command", "path"}
    assert OF_SERVER.keys() == {one.name for one in fields(ServerSpec)} - decided_with_another


async def test_edits_of_two_fields_of_a_case_both_survive(any_store: Store) -> None:
    for name in ("docs", "wiki"):
        await any_store.servers.add(http(name))
    for mine, theirs in permutations(OF_CASE, 2):
        (case,) = await any_store.cases.add([CaseDraft(name="A case", query="A query")])
        seen, first, second = case.draft, OF_CASE[mine][0], OF_CASE[theirs][0]
        await any_store.cases.update(case.id, replace(seen, **{theirs: second}), seen)
        stored = await any_store.cases.update(case.id, replace(seen, **{mine: first}), seen)
        assert stored.draft == replace(seen, **{mine: first, theirs: second}), (mine, theirs)


@pytest.mark.parametrize("field", [name for name in OF_CASE if name not in ("origin", "held_back")])
async def test_of_two_edits_of_one_field_of_a_case_the_second_is_refused_with_both_values(
    any_store: Store, field: str
) -> None:
    for name in ("docs", "wiki"):
        await any_store.servers.add(http(name))
    (case,) = await any_store.cases.add([CaseDraft(name="A case", query="A query")])
    one, other = OF_CASE[field]
    await any_store.cases.update(case.id, replace(case.draft, **{field: one}), case.draft)
    with pytest.raises(ChangedMeanwhileError) as refused:
        await any_store.cases.update(case.id, replace(case.draft, held_back=True, **{field: other}), case.draft)
    (conflict,) = refused.value.conflicts
    assert conflict.field == field
    assert conflict.stored != conflict.wanted
    assert conflict.stored in str(refused.value)
    assert conflict.wanted in str(refused.value)
    assert (await any_store.cases.get(case.id)).draft == replace(case.draft, **{field: one})


async def test_many_cases_are_changed_together_or_not_at_all(any_store: Store) -> None:
    first, second = await any_store.cases.add([CaseDraft(name=name, query=name) for name in ("one", "two")])
    await any_store.cases.update(second.id, replace(second.draft, family="theirs"), second.draft)
    wanted = {case.id: replace(case.draft, family="mine") for case in (first, second)}
    with pytest.raises(ChangedMeanwhileError):
        await any_store.cases.apply([], wanted, seen={case.id: case.draft for case in (first, second)})
    assert [case.draft.family for case in await any_store.cases.all()] == ["", "theirs"]


async def test_an_undo_takes_back_its_own_change_only(any_store: Store) -> None:
    (case,) = await any_store.cases.add([CaseDraft(name="A case", query="A query")])
    mine = await any_store.cases.update(case.id, replace(case.draft, query="Mine"), case.draft)
    await any_store.cases.update(case.id, replace(mine.draft, tags=("theirs",)), mine.draft)
    undone = await any_store.cases.update(case.id, case.draft, mine.draft)
    assert undone.draft == replace(case.draft, tags=("theirs",))
    with pytest.raises(ChangedMeanwhileError):
        await any_store.cases.update(case.id, replace(case.draft, query="Redone by mistake"), mine.draft)


async def test_equal_values_that_are_written_otherwise_are_changes(any_store: Store) -> None:
    one, other = (expectation_from_json([{"tool": "t", "parameters": {"n": value}}]) for value in (1, True))
    (case,) = await any_store.cases.add([CaseDraft(name="A case", query="A query", expectation=one)])
    stored = await any_store.cases.update(case.id, replace(case.draft, expectation=other), case.draft)
    (call,) = stored.draft.expectation.alternatives[0]
    assert (call.parameters or {})["n"] is True


async def test_edits_of_two_fields_of_a_server_both_survive(any_store: Store) -> None:
    for number, (mine, theirs) in enumerate(permutations(OF_SERVER, 2)):
        address = f"https://{number}.example/mcp"
        server = await any_store.servers.add(ServerSpec(name="docs", transport=Transport.STREAMABLE_HTTP, url=address))
        seen, first, second = server.spec, OF_SERVER[mine][0], OF_SERVER[theirs][0]
        await any_store.servers.update(server.id, replace(seen, **{theirs: second}), seen)
        stored = await any_store.servers.update(server.id, replace(seen, **{mine: first}), seen)
        assert stored.spec == replace(seen, **{mine: first, theirs: second}), (mine, theirs)
        await any_store.servers.remove([server.id])


@pytest.mark.parametrize("field", OF_SERVER)
async def test_of_two_edits_of_one_field_of_a_server_the_second_is_refused(any_store: Store, field: str) -> None:
    server = await any_store.servers.add(http("docs"))
    one, other = OF_SERVER[field]
    await any_store.servers.update(server.id, replace(server.spec, **{field: one}), server.spec)
    with pytest.raises(ChangedMeanwhileError):
        await any_store.servers.update(server.id, replace(server.spec, **{field: other}), server.spec)
    with pytest.raises(ChangedMeanwhileError):
        await any_store.servers.apply(
            [], {server.id: replace(server.spec, **{field: other})}, seen={server.id: server.spec}
        )
    assert (await any_store.servers.get(server.id)).spec == replace(server.spec, **{field: one})


async def test_a_draft_is_changed_as_it_was_seen_only(any_store: Store) -> None:
    drafts = any_store.drafts
    made = await drafts.add(changed("Shorter", 3))
    undone = await drafts.move(made, 2)
    for stale in (drafts.move(made, 1), drafts.append(made, made.steps[2]), drafts.replace(made, made)):
        with pytest.raises(ChangedMeanwhileError):
            await stale
    renamed = await drafts.rename(made, "Renamed")
    assert (renamed.name, renamed.step) == ("Renamed", undone.step)
    other = await drafts.append(
        undone, replace(made.steps[2], operations=({"op": "remove", "path": "/tools/0/title"},))
    )
    with pytest.raises(ChangedMeanwhileError):  # as many steps as were seen, but another one
        await drafts.move(replace(made, step=3), 2)
    assert (await drafts.get(DraftId(made.id))).steps == other.steps


@pytest.mark.parametrize("kind", DefinitionKind)
async def test_edits_of_two_fields_of_a_definition_both_survive_and_of_one_field_the_second_is_refused(
    any_store: Store, kind: DefinitionKind
) -> None:
    definitions = any_store.definitions
    seen = {"name": "one", "first": 1, "second": 1}
    await definitions.add(kind, "one", seen, seen={})
    await definitions.add(kind, "one", seen | {"first": 2}, seen=seen)
    merged = await definitions.add(kind, "one", seen | {"second": 2}, seen=seen)
    assert merged.document == {"name": "one", "first": 2, "second": 2}
    for late in (seen | {"first": 3}, {"name": "one", "second": 1}):
        with pytest.raises(ChangedMeanwhileError):
            await definitions.add(kind, "one", late, seen=seen)
    assert await definitions.add(kind, "one", merged.document, seen=seen) == merged
    assert await definitions.get(kind, "one") == merged


@pytest.mark.parametrize("kind", DefinitionKind)
async def test_a_definition_is_neither_made_over_another_nor_brought_back_unseen(
    any_store: Store, kind: DefinitionKind
) -> None:
    definitions = any_store.definitions
    made = await definitions.add(kind, "one", {"text": "mine"})
    with pytest.raises(ChangedMeanwhileError, match="“mine”; you wanted “theirs”"):
        await definitions.add(kind, "one", {"text": "theirs"}, seen={})
    assert await definitions.get(kind, "one") == made
    await definitions.remove(kind, "one")
    with pytest.raises(NotFoundError):
        await definitions.add(kind, "one", {"text": "edited"}, seen={"text": "mine"})
    assert await definitions.all(kind) == ()
    assert (await definitions.add(kind, "one", {"text": "anew"}, seen={})).document == {"text": "anew"}


async def test_a_status_of_the_library_and_a_category_are_changed_as_they_were_seen_only(any_store: Store) -> None:
    library = any_store.library
    tool = await library.add(ToolDesign(name="one", input_schema={"type": "object"}, config={"text": "1"}))
    await library.set_status(tool.id, ToolStatus.DEPRECATED, seen=tool.status)
    with pytest.raises(ChangedMeanwhileError, match="“status”"):
        await library.set_status(tool.id, ToolStatus.ACTIVE, seen=tool.status)
    assert (await library.get(tool.id)).status is ToolStatus.DEPRECATED
    for name in ("town", "country"):
        await library.save_category(ToolCategory(name=name))
    seen = ToolCategory(name="buses")
    await library.save_category(seen)
    await library.save_category(replace(seen, description="All"), seen=seen)
    await library.save_category(replace(seen, parent="town"), seen=seen)
    with pytest.raises(ChangedMeanwhileError, match="“parent”"):
        await library.save_category(replace(seen, parent="country"), seen=seen)
    assert ToolCategory(name="buses", description="All", parent="town") in await library.categories()


async def test_a_batch_is_renamed_as_it_was_seen_only(any_store: Store) -> None:
    batch = (await fill(any_store)).batch
    await any_store.runs.rename_batch(batch.id, "Theirs", seen=batch.name)
    with pytest.raises(ChangedMeanwhileError, match="“Theirs”; you wanted “Mine”"):
        await any_store.runs.rename_batch(batch.id, "Mine", seen=batch.name)
    assert (await any_store.runs.batch(batch.id)).name == "Theirs"
