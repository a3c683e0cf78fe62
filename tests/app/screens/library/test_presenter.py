"""State of the Library screen without its widgets: the list, the tree of categories, drafts of designs, imports."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from app.screens.kit import FilterValues
from app.screens.library.library_rows import CATEGORY, STATUS, category_path, picked_shares
from app.screens.library.presenter import LibraryPresenter
from app.screens.library.schema_text import SchemaText
from mcp_tef import CaseDraft, Expectation, ExpectedCall, SourceKind, ToolLabel, ToolSource, ToolStatus, ToolVersion
from tests.support.fake_engine import FakeEngine
from tests.support.library_designs import answering, scripted
from tests.support.run_factories import run

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")


async def presenter_over(fake: FakeEngine, selected: str = "") -> LibraryPresenter:
    """A presenter that has read everything, with a tool selected."""

    async def ask(do: "Callable[[Engine], Awaitable[T]]") -> T:
        return await do(fake.engine)

    made = LibraryPresenter(ask)
    assert await made.load()
    if selected:
        assert await made.select(made.id_of(selected))
    return made


async def test_the_list_is_narrowed_by_category_status_and_words() -> None:
    fake = FakeEngine()
    for path in ("Town/Buses", "Town/Weather"):
        await fake.library.ensure_category(path)
    await fake.library.add(answering("weather", category="Weather"))
    await fake.library.add(answering("departures", category="Buses", description="List buses."))
    await fake.library.add(scripted("def run(input): ...", "plain"))
    await fake.library.set_status("departures", ToolStatus.ACTIVE)
    made = await presenter_over(fake)
    rows = [(row.title, row.depth, row.tools) for row in made.category_rows()]
    assert rows == [("All tools", 0, 3), ("Town", 0, 2), ("Buses", 1, 1), ("Weather", 1, 1), ("No category", 0, 1)]
    assert made.summary() == "3 tools, 1 active"
    for field, value, names in ((CATEGORY, "Town", ["departures", "weather"]), (STATUS, "active", ["departures"])):
        made.view = replace(made.view, filters=FilterValues({field.name: (value,)}))
        assert [row.tool.name for row in made.shown()] == names
    made.view = replace(made.view, filters=FilterValues(), text="LIST buses")
    assert [row.tool.name for row in made.shown()] == ["departures"]


def test_categories_that_stand_in_each_other_end_the_path() -> None:
    assert category_path("a", {"a": "b", "b": "a"}) == ("a", "b")


async def test_a_typed_design_is_kept_for_its_tool_until_it_is_saved_or_as_before() -> None:
    fake = FakeEngine()
    for name in ("rain", "snow"):
        await fake.library.add(answering(name))
    made = await presenter_over(fake, "rain")
    typed = replace(made.draft, description="Tell how much it rains.")
    made.type(typed)
    await made.select(made.id_of("snow"))
    assert not made.unsaved
    await made.select(made.id_of("rain"))
    assert made.draft == typed
    made.type(replace(typed, description="Tell the weather in a city."))
    assert not made.unsaved
    made.type(replace(typed, input=SchemaText.of({"type": "object", "properties": {}})))
    assert "{city}" in await made.fault()
    made.type(typed)
    saved = await made.save("Clearer.")
    assert saved is not None
    assert (saved.version, saved.design.description) == (2, "Tell how much it rains.")
    assert not made.unsaved


async def test_a_tool_knows_the_cases_that_expect_it_and_is_listed_unless_disabled() -> None:
    fake = FakeEngine()
    await fake.library.add(answering())
    expected = Expectation(((ExpectedCall(tool="weather", server="Library"),),))
    (case,) = await fake.cases.add([CaseDraft(name="one", query="Rain?", expectation=expected)])
    made = await presenter_over(fake, "weather")
    assert made.detail.cases == (case.id,)
    assert made.label == ToolLabel(tool="weather", server="Library")
    for status in (ToolStatus.ACTIVE, ToolStatus.DISABLED):
        await made.set_status(status)
        await made.load()
    assert made.label is None


async def test_tools_come_from_a_server_a_draft_and_a_file_and_leave_as_a_file(tmp_path: Path) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    made = await presenter_over(fake)
    taken = await made.take(ToolSource(names=("Bike shop",)))
    assert len(taken.added) == 3
    assert (await fake.library.find("book_repair")).design.config == {"server": "Bike shop", "tool": "book_repair"}
    file = tmp_path / "tools.json"
    await made.write_file(file, ["book_repair"])
    gone = await made.delete(["book_repair", "search_parts"])
    assert (await made.take(ToolSource(kind=SourceKind.FILES, names=(str(file),)))).added == ("book_repair",)
    _, drafts = await made.sources()
    assert drafts == ()
    draft = await fake.open_sample_draft()
    refused = await made.take_draft(draft.id)
    assert refused.added == ("search_parts",)
    assert {name for name, _ in refused.refused} | {*refused.unchanged} == {"book_repair", "search_bikes"}
    assert len(gone) == 2


def test_a_run_counts_for_the_version_that_was_the_newest_when_it_was_planned() -> None:
    hours = [datetime(2026, 11, 26, hour, tzinfo=UTC) for hour in range(6)]
    versions = [ToolVersion(version=one, design=answering(), created_at=hours[2 * one - 1]) for one in (2, 1)]
    runs = [
        run(created_at=at, selected_tool=tool, selected_server="Library", model=model)
        for at, tool, model in (
            *((hours[2], "weather", "openai/x"), (hours[2], "rain", "openai/x"), (hours[4], "weather", "openai/x")),
            *((hours[0], "weather", "openai/x"), (hours[5], "rain", "offline/baseline")),
        )
    ]
    shares = picked_shares("weather", "Library", versions, runs)
    assert [(shares[one].picked, shares[one].runs) for one in (1, 2)] == [(1, 2), (1, 1)]
    assert shares[1].detail.startswith("selected in 1 of 2 (")
    assert picked_shares("weather", "Library", versions, runs[-1:])[2].text == "0 % of 1"
