"""Presenter of crowd tests over a real workspace, without Qt: inputs, estimate, a test, and its wrong runs."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from app.screens.workshop.crowd_presenter import ALL, CrowdPresenter
from app.screens.workshop.crowd_rows import measures, tokens_plot
from app.screens.workshop.rival_presenter import read_rival
from mcp_tef import (
    CaseDraft,
    Engine,
    Expectation,
    ExpectedCall,
    ModelSettings,
    Secret,
    ServerSpec,
    Transport,
    repeat_text,
)
from tests.support.model_stub import ModelStub
from tests.support.stand_in_models import TOOL, CrowdedModel
from tests.support.workspace_files import written_tools

T = TypeVar("T")
KEYS = {"openai": Secret("sk-test")}


class Desk:
    """A presenter over a workspace with one server and cases for two of its tools."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.presenter = CrowdPresenter(self.ask)

    async def ask(self, work: Callable[[Engine], Awaitable[T]], /) -> T:
        return await work(self.engine)

    async def shown(self) -> None:
        """Wait for the batch, and read everything again."""
        assert self.presenter.batch_id
        await self.engine.runs.wait(self.presenter.batch_id)
        await self.presenter.load()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with await Engine.open(tmp_path / "work.db") as engine:
        tools = {TOOL: "Book a repair of a bicycle in the workshop.", "rent": "Rent a bicycle for some days."}
        path = written_tools(tmp_path, tools)
        await engine.servers.add(ServerSpec(name="bikes", transport=Transport.FILE, path=str(path)))
        for tool, number in ((TOOL, 12), ("rent", 2)):
            expected = Expectation(((ExpectedCall(tool=tool),),))
            queries = [f"{tool} of a bicycle, number {place}" for place in range(number)]
            await engine.cases.add(
                [CaseDraft(name=one, query=one, expectation=expected, servers=("bikes",)) for one in queries]
            )
        made = Desk(engine)
        await made.presenter.load()
        yield made


def options(**texts: str) -> dict[str, str]:
    return {"sizes": "10", "search": "", "rounds": "", "margin": "10", "cap": ""} | texts


async def test_the_inputs_say_what_a_test_takes_before_any_call(desk: Desk) -> None:
    presenter = desk.presenter
    assert [key for key, _ in presenter.tools()] == [ALL, f"{TOOL} of bikes", "rent of bikes"]
    assert presenter.set_options(options(sizes="10, 30", search="5")) == {}
    await presenter.plan()
    every = presenter.estimate
    assert every is not None
    assert "free" in presenter.plan_text()
    assert [one.strangers for one in presenter.line] == [0, 10, 30]
    assert "No model was asked" in presenter.line_text()
    presenter.tool = "rent of bikes"
    await presenter.plan()
    assert presenter.estimate is not None
    assert presenter.estimate.runs < every.runs
    presenter.toggle_source("bikes")
    await presenter.plan()
    assert "no tool" in presenter.plan_text()
    assert presenter.why_not()


@pytest.mark.parametrize(
    ("key", "text"),
    [("sizes", "many"), ("sizes", "0"), ("sizes", "2000"), ("search", "0"), ("rounds", "2, 3"), ("cap", "little")],
)
async def test_an_option_that_cannot_be_read_is_told_and_changes_nothing(desk: Desk, key: str, text: str) -> None:
    before = desk.presenter.options()
    assert list(desk.presenter.set_options(options(**{key: text}))) == [key]
    assert desk.presenter.options() == before


async def test_a_lost_tool_lists_its_wrong_runs_and_the_tool_that_was_selected(desk: Desk) -> None:
    presenter = desk.presenter
    presenter.set_options(options(sizes="10, 40", rounds="2"))
    presenter.tool = f"{TOOL} of bikes"
    with ModelStub(CrowdedModel(lost_from=20)) as stub:
        desk.engine.consents.add_typed_address("openai", stub.url)
        presenter.choose([ModelSettings(provider="openai", model="x", base_url=stub.url, max_retries=0)])
        await presenter.plan()
        await presenter.start(KEYS)
        assert presenter.batch_id
        await presenter.load()
        assert presenter.why_not() == "A crowd test is running."
        await presenter.stop()
        await presenter.load()
        assert presenter.cut_off
        stopped = presenter.batch_id
        await presenter.start(KEYS)
        assert presenter.batch_id == stopped
        await desk.shown()
    assert presenter.result is not None
    assert not presenter.cut_off
    assert "lost with at most 40" in presenter.result.sentence
    point = presenter.shown_point()
    assert point is not None
    assert (point.strangers, len(presenter.wrong)) == (40, 12)
    assert presenter.batch
    assert repeat_text(presenter.wrong[0], presenter.batch.trial) == "40 other tools, repeat 1"
    label = presenter.expected(presenter.wrong[0])
    assert label is not None
    assert (label.tool, label.server) == (TOOL, "bikes")
    rival = await read_rival(desk.ask, presenter.wrong[0].id)
    assert rival is not None
    assert rival.name == presenter.wrong[0].selected_tool
    assert rival.description
    await presenter.show_point(0)
    assert presenter.wrong == ()
    assert [key for key, _ in measures(presenter.result)] == ["share", "tokens"]
    sizes = [point.y for point in tokens_plot(presenter.result).points]
    assert 0 < sizes[0] < sizes[1] < sizes[2] <= tokens_plot(presenter.result).y[1]
    assert "<svg" in await presenter.report()
