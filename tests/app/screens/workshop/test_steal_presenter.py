"""Presenter of steal tests over a real workspace, without Qt: inputs, verdicts, and the cases that were lost."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from app.screens.workshop.steal_presenter import StealPresenter
from mcp_tef import CaseDraft, Engine, Expectation, ExpectedCall, ServerSpec, Transport, repeat_text
from tests.support.workspace_files import written_tools

T = TypeVar("T")
TOOLS = {
    "bikes": {"book_repair": "Book a repair of a bicycle in the workshop.", "rent": "Rent a bicycle."},
    "garage": {"fix_bicycle": "Book a repair of my bicycle, brake or gears, please."},
    "poems": {"write_sonnet": "Compose rhymes."},
}


async def test_a_thief_is_told_with_its_cases_and_a_calm_server_is_not(tmp_path: Path) -> None:
    async with await Engine.open(tmp_path / "work.db") as engine:

        async def ask(work: Callable[[Engine], Awaitable[T]], /) -> T:
            return await work(engine)

        for name, tools in TOOLS.items():
            path = written_tools(tmp_path, tools).rename(tmp_path / f"{name}.json")
            server = await engine.servers.add(ServerSpec(name=name, transport=Transport.FILE, path=str(path)))
            await engine.servers.check(server.id)
        expected = Expectation(((ExpectedCall(tool="book_repair", server="bikes"),),))
        queries = [f"Please book a repair of my bicycle, brake {place}" for place in range(12)]
        await engine.cases.add(
            [CaseDraft(name=one, query=one, expectation=expected, servers=("bikes",)) for one in queries]
        )
        presenter = StealPresenter(ask)
        await presenter.load()
        presenter.choose_server("garage")
        assert presenter.among() == ("bikes", "poems")
        presenter.toggle_among("poems")
        assert presenter.set_options({"rounds": "many", "margin": "5", "cap": ""}).keys() == {"rounds"}
        await presenter.plan()
        assert presenter.size() == 12
        assert "24 searches, free" in presenter.plan_text()
        await presenter.start({})
        assert presenter.batch_id
        await engine.runs.wait(presenter.batch_id)
        await presenter.load()
        assert [(one.tool, one.worse) for one in presenter.tools()] == [("book_repair", True)]
        assert all(one.lost and one.with_new.selected_tool == "fix_bicycle" for one in presenter.pairs())
        assert len(presenter.pairs()) == 12
        assert presenter.batch
        first = presenter.pairs()[0]
        repeats = [repeat_text(run, presenter.batch.trial) for run in (first.without, first.with_new)]
        assert repeats == ["without garage, repeat 1", "with garage, repeat 1"]
        assert "exit code 1" in presenter.how_text()
        assert "fix_bicycle" in await presenter.report()
        presenter.choose_server("poems")
        presenter.toggle_among("garage")
        await presenter.start({})
        await engine.runs.wait(presenter.batch_id)
        await presenter.load()
        assert presenter.result is not None
        assert not presenter.result.worse
        assert presenter.pairs() == ()
        assert next(name for _, name in presenter.test_names()).startswith("Steal test of poems")
