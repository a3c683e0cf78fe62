"""The contract of the store of definitions, held by the workspace file and by the store in memory."""

import pytest

from mcp_tef.errors import NotFoundError
from mcp_tef.model.definitions import DefinitionKind
from mcp_tef.ports import Store

PROMPT, ROUTE = DefinitionKind.PROMPT, DefinitionKind.ROUTE


async def test_versions_count_up_and_are_found_by_name_or_number(any_store: Store) -> None:
    definitions = any_store.definitions
    first = await definitions.add(PROMPT, "counter", {"text": "One"}, "Begun.")
    second = await definitions.add(PROMPT, "counter", {"text": "Two \ud800"})
    await definitions.add(PROMPT, "answers", {"text": "Other"})
    await definitions.add(ROUTE, "counter", {"routes": []})
    assert (first.label, first.note, second.label) == ("counter@1", "Begun.", "counter@2")
    assert await definitions.get(PROMPT, "counter", 1) == first
    assert (await definitions.get(PROMPT, "counter")).document == {"text": "Two \ud800"}
    assert [one.version for one in await definitions.versions(PROMPT, "counter")] == [2, 1]
    assert [one.label for one in await definitions.all(PROMPT)] == ["answers@1", "counter@2"]
    assert [one.label for one in await definitions.all(ROUTE)] == ["counter@1"]


async def test_unknown_names_and_versions_are_named(any_store: Store) -> None:
    await any_store.definitions.add(PROMPT, "counter", {})
    with pytest.raises(NotFoundError, match="no version 9"):
        await any_store.definitions.get(PROMPT, "counter", 9)
    for call in (any_store.definitions.get, any_store.definitions.versions, any_store.definitions.remove):
        with pytest.raises(NotFoundError, match="route named counter"):
            await call(ROUTE, "counter")


async def test_numbers_of_removed_versions_are_not_reused_and_removal_can_be_undone(any_store: Store) -> None:
    definitions = any_store.definitions
    await definitions.add(PROMPT, "counter", {})
    await definitions.remove(PROMPT, "counter")
    assert await definitions.all(PROMPT) == ()
    assert (await definitions.add(PROMPT, "counter", {})).version == 2
    assert [one.version for one in await definitions.versions(PROMPT, "counter")] == [2]
    await definitions.restore(PROMPT, "counter")
    assert [one.version for one in await definitions.versions(PROMPT, "counter")] == [2, 1]
