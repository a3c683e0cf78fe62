"""Search, order and menus of the tables of the metrics screen."""

from PySide6.QtWidgets import QApplication

from app.core_link.settings import Settings
from app.core_link.targets import ShowPair, ShowRuns, ShowToolQuality, StartRuns
from app.screens.metrics.filters import Dimension
from app.widgets import Action, ListTable
from tests.app.screens.metrics.conftest import Desk, metrics_page
from tests.support.run_factories import GPT
from tests.support.windows import until


def menu(table: ListTable) -> dict[str, Action]:
    """Return the entries of the context menu of the selected rows, by text."""
    assert table._menu is not None
    return {action.text: action for action in table._menu(table.selected_ids())}


def names(table: ListTable) -> list[str]:
    """The first cell of every row."""
    return [table.table_rows.row(place).cells[0].text for place in range(table.rows.rowCount())]


async def find(desk: Desk, text: str) -> None:
    """Type into the search field, and wait until it was heard."""
    desk.page.search.setText(text)
    await until(lambda: desk.page.presenter.view_state.text == text)


async def test_the_search_narrows_every_table_and_says_where_nothing_is_left(desk: Desk) -> None:
    await find(desk, "READ")
    assert names(desk.page.overview.tools) == ["read_file"]
    desk.page.show_view("models")
    assert names(desk.page.models.models) == []
    await find(desk, "gpt")
    assert names(desk.page.models.models) == ["gpt-4.1-mini"]
    assert names(desk.page.overview.tools) == []
    desk.page.search.setText("")
    await until(lambda: len(names(desk.page.overview.tools)) > 1)


async def test_words_that_are_searched_for_stay_until_the_next_start(qapp: QApplication) -> None:
    settings = Settings(None)

    async with metrics_page(settings) as desk:
        await find(desk, "read")

    async with metrics_page(settings) as desk:
        assert desk.page.search.text() == "read"
        await until(lambda: names(desk.page.overview.tools) == ["read_file"])


async def test_models_have_room_for_all_of_them_where_a_search_was_kept(qapp: QApplication) -> None:
    settings = Settings(None)
    settings.set("metrics.search", "of nobody")

    async with metrics_page(settings) as desk:
        desk.page.show_view("models")
        table = desk.page.models.models
        await until(lambda: desk.page.search.text() == "of nobody" and names(table) == [])
        await find(desk, "")
        await until(lambda: len(names(table)) == 2)
        assert table.maximumHeight() >= table.verticalHeader().length() + table.horizontalHeader().height()


def queries(table: ListTable) -> list[str]:
    """The query of every pair, once all are there."""
    return [table.table_rows.row(place).cells[1].text for place in range(table.rows.rowCount())]


async def test_pairs_of_a_comparison_are_sorted_by_a_click_and_stay_so_until_the_next_start(qapp: QApplication) -> None:
    settings = Settings(None)

    async with metrics_page(settings) as desk:
        desk.page.show_view("compare")
        table = desk.page.compare.table
        await until(lambda: table.rows.rowCount() > 1 and all(queries(table)))
        every, given = sorted(queries(table), key=str.casefold), queries(table)
        assert given != every
        chosen = desk.page.compare._current()
        table.sort_by_next(1)
        await until(lambda: queries(table) == every)
        await until(lambda: desk.page.compare._current() == chosen)
        table.sort_by_next(1)
        await until(lambda: queries(table) == every[::-1])
        table.sort_by_next(1)
        await until(lambda: queries(table) == given)
        table.sort_by_next(2)
        await until(
            lambda: (said := [table.table_rows.row(n).cells[2].text for n in range(len(every))]) == sorted(said)
        )

    async with metrics_page(settings) as desk:
        desk.page.show_view("compare")
        table = desk.page.compare.table
        await until(lambda: table.rows.rowCount() > 1 and all(queries(table)))
        said = [table.table_rows.row(place).cells[2].text for place in range(table.rows.rowCount())]
        assert said == sorted(said)


async def test_pairs_of_a_comparison_are_found_by_what_their_runs_say(desk: Desk) -> None:
    desk.page.show_view("compare")
    pane = desk.page.compare
    await until(lambda: pane.table.pages.rowCount() > 1)
    every = pane.table.pages.rowCount()
    desk.page.search.setText("search_code")
    await until(lambda: 0 < pane.table.pages.rowCount() < every)
    desk.page.search.setText("of nobody")
    await until(lambda: pane.table.pages.rowCount() == 0)
    desk.page.search.setText("")
    await until(lambda: pane.table.pages.rowCount() == every)


async def test_a_tool_leads_to_its_runs_to_its_rival_and_to_the_other_screens(desk: Desk) -> None:
    tools = desk.page.overview.tools
    tools.select("0")
    offered = menu(tools)
    assert list(offered) == [
        "Show runs",
        "Compare with search_files",
        "Change in the Workshop…",
        "Definition",
        "Test cases",
        "Look-alikes",
        "Quality",
    ]
    offered["Compare with search_files"].do()
    offered["Quality"].do()
    pair, quality = desk.gone
    assert isinstance(pair, ShowPair)
    assert isinstance(quality, ShowToolQuality)
    assert (pair.first.tool, pair.second.tool) == ("search_code", "search_files")


async def test_several_models_are_looked_into_and_kept_alone_together(desk: Desk) -> None:
    desk.page.show_view("models")
    models = desk.page.models.models
    models.selectAll()
    labels = models.selected_ids()
    menu(models)["Show runs"].do()
    (target,) = desk.gone
    assert isinstance(target, ShowRuns)
    assert (target.where.models, target.title) == (labels, "2 models")
    menu(models)["Show only these 2 models"].do()
    assert desk.page.presenter.filters.of(Dimension.MODEL) == labels
    await desk.page.settled()
    models.select(GPT)
    menu(models)["Show only this model"].do()
    await desk.page.settled()
    assert desk.page.presenter.filters.of(Dimension.MODEL) == (GPT,)


async def test_a_server_is_kept_alone(desk: Desk) -> None:
    desk.page.show_view("models")
    servers = desk.page.models.servers
    servers.select_first()
    (name,) = servers.selected_ids()
    menu(servers)["Show only this server"].do()
    assert desk.page.presenter.filters.of(Dimension.EXPECTED_SERVER) == (name,)
    await desk.page.settled()


async def test_the_cases_of_chosen_pairs_are_run_again_each_once(desk: Desk) -> None:
    desk.page.show_view("compare")
    pane = desk.page.compare
    await until(lambda: pane.table.current_id())
    assert next(iter(menu(pane.table))) == "Show its runs"
    pane.table.selectAll()
    ((words, action),) = menu(pane.table).items()
    action.do()
    (target,) = desk.gone
    assert isinstance(target, StartRuns)
    cases = target.cases
    assert len(set(cases)) == len(cases) == len({pair.case_id for pair in pane.selected_pairs()})
    assert words == f"Run {len(cases):,} cases again…"
