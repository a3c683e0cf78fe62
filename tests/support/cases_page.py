"""The screen of test cases over the sample, and the hands of a user on it."""

from collections.abc import Callable

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget

from app.screens.cases.editor_state import SaveStatus
from app.screens.cases.page import CasesPage
from mcp_tef import CaseDraft, ExpectedCall
from tests.support.fake_engine import FakeEngine
from tests.support.windows import PageBench

BIKE = "Do you have a city bike in size M?"
THANKS = "Thanks, that is all"
Bench = PageBench[CasesPage]


async def a_bike_shop() -> FakeEngine:
    """The sample, with its tools seen."""
    fake = FakeEngine()
    await fake.open_sample()
    for server in await fake.servers.list():
        await fake.servers.check(server.id)
    return fake


def select(page: CasesPage, query: str) -> None:
    page.table.select(next(row.id for row in page.presenter.rows() if row.query == query))


def state(page: CasesPage) -> SaveStatus | None:
    return page.presenter.edited.save_status if page.presenter.edited else None


def value_of(page: CasesPage, parameter: str) -> QLineEdit:
    widget = page.editor.calls.parameters.row(parameter).value_widget()
    assert isinstance(widget, QLineEdit)
    return widget


def type_into(widget: QWidget, text: str) -> None:
    widget.setFocus()
    QTest.keyClicks(widget, text)


async def stored(bench: Bench) -> CaseDraft:
    """What the workspace holds of the case on the desk."""
    case_id = bench.page.presenter.current
    assert case_id is not None
    return (await bench.session.call(lambda core: core.cases.get(case_id))).draft


async def saved_call(bench: Bench) -> ExpectedCall:
    """Wait until the case is saved; return the first call that it expects."""
    await bench.until(lambda: state(bench.page) is SaveStatus.SAVED)
    call = (await stored(bench)).expectation.first_call
    assert call is not None
    return call


def button(page: CasesPage, words: str) -> QAbstractButton:
    return next(made for made in page.header.buttons() if made.text().startswith(words))


def command(page: CasesPage, name: str) -> Callable[[], object]:
    found = next(command for command in page.commands() if command.id == name)
    assert found.needs(), (
        page.table.selected_ids(),
        page.table.current_id(),
        page.table.rows.rowCount(),
        page.presenter.current,
    )
    return found.do
