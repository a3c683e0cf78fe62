"""The draft that is selected, whatever is read or chosen while its creation or a saved text is on its way."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from PySide6.QtWidgets import QApplication

from app.screens.workshop.presenter import WorkshopPresenter
from tests.app.screens.workshop.test_drafts import NEW_TEXT, workshop
from tests.support.fake_engine import FakeEngine
from tests.support.windows import until

T = TypeVar("T")


class SlowCore:
    """Asks the core; what it answers waits for `gate` while there is one."""

    def __init__(self, fake: FakeEngine) -> None:
        self.fake = fake
        self.gate: asyncio.Event | None = None
        self.waiting = 0

    async def __call__(self, work: Callable[[Any], Awaitable[T]], /) -> T:
        """The answer, once the gate that stood when it was asked is open."""
        gate, found = self.gate, await work(self.fake.engine)
        if gate is not None:
            self.waiting += 1
            await gate.wait()
        return found


async def test_a_new_draft_stays_selected_when_a_reading_from_before_it_ends() -> None:
    fake = FakeEngine()
    await fake.open_sample()
    (server,) = await fake.servers.list()
    await fake.servers.tools(server.id)
    await fake.drafts.new("Older", server=server.name)
    core = SlowCore(fake)
    presenter = WorkshopPresenter(core)
    await presenter.load()
    core.gate = gate = asyncio.Event()
    reading = asyncio.create_task(presenter.load())
    await until(lambda: core.waiting)
    core.gate = None
    made = await fake.drafts.new("Newer", server=server.name)
    await presenter.open_draft(made.id)
    gate.set()
    await reading
    assert presenter.draft == made
    assert presenter.tool()[1] is not None
    await fake.close()


async def test_a_draft_that_is_gone_leaves_the_selection_as_it_is() -> None:
    fake = FakeEngine()
    await fake.open_sample()
    (server,) = await fake.servers.list()
    await fake.servers.tools(server.id)
    kept, gone = [await fake.drafts.new(name, server=server.name) for name in ("Kept", "Gone")]
    await fake.drafts.remove([gone.id])
    presenter = WorkshopPresenter(SlowCore(fake))
    await presenter.load()
    await presenter.open_draft(gone.id)
    assert presenter.draft == kept
    await fake.close()


async def test_the_last_choice_wins_while_a_typed_text_is_saved(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        first, page = bench.draft, bench.page
        other = await bench.fake.drafts.new("Other", server="Bike shop")
        third = await bench.fake.drafts.new("Third", server="Bike shop")
        await bench.until(lambda: len(page.presenter.drafts()) == 3)
        bench.row("description").draft.setPlainText(NEW_TEXT)
        page.view.draft_chosen.emit(other.id)
        page.view.draft_chosen.emit(third.id)
        await bench.until(lambda: bench.draft.id == third.id)
        stored = await bench.fake.drafts.get(first.id)
        assert stored.changed_tools() == ("book_repair",)
