"""An address that a server wants opened goes to the browser only after the user was asked, and only if it is a page."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication

from app.core_link.bridge import Addresses
from app.shell.workspace_controller import WorkspaceController
from app.widgets import Dialog, FlowText
from tests.support.fake_engine import FakeEngine
from tests.support.windows import until
from tests.support.workbench import workbench

LOGIN = "https://login.example/authorize?state=1&client_id=us"


@asynccontextmanager
async def asked(address: str) -> AsyncIterator[tuple[WorkspaceController, list[str]]]:
    """A window whose core wants an address opened, and what its browser was given."""
    visited: list[str] = []
    addresses = Addresses()
    async with workbench(FakeEngine(), browse=lambda url: visited.append(url.toString())) as bench:
        addresses.wanted.connect(bench.offer_sign_in)
        addresses.wanted.emit(address)
        yield bench, visited
    addresses.deleteLater()


def question(bench: WorkspaceController) -> Dialog | None:
    """The question, if it is shown."""
    return next((sheet for sheet in bench.frame.findChildren(Dialog) if sheet.isVisible()), None)


def words(sheet: Dialog | None) -> str:
    """What the question says."""
    assert sheet is not None
    return " ".join(part.text() for part in sheet.findChildren(FlowText))


def answer(bench: WorkspaceController, words: str) -> None:
    """Press a button of the question."""
    sheet = question(bench)
    assert sheet is not None
    next(found for found in sheet.findChildren(QAbstractButton) if found.text() == words).click()


async def test_the_browser_is_opened_once_the_user_agrees(qapp: QApplication) -> None:
    async with asked(LOGIN) as (bench, visited):
        await until(lambda: question(bench) is not None)
        assert "login.example" in words(question(bench))
        assert visited == []
        answer(bench, "Open the browser")
        await until(lambda: visited == [LOGIN])


async def test_without_a_yes_no_browser_is_opened(qapp: QApplication) -> None:
    async with asked(LOGIN) as (bench, visited):
        await until(lambda: question(bench) is not None)
        answer(bench, "Cancel")
        await until(lambda: question(bench) is None)
        assert visited == []


@pytest.mark.parametrize("address", ["file:///etc/passwd", "javascript:alert(1)", "tef://x"])
async def test_what_is_no_page_is_not_even_asked_about(qapp: QApplication, address: str) -> None:
    async with asked(address) as (bench, visited):
        bench.offer_sign_in(LOGIN)
        await until(lambda: question(bench) is not None)
        assert [words(sheet) for sheet in bench.frame.findChildren(Dialog)] == [words(question(bench))]
        assert "login.example" in words(question(bench))
        answer(bench, "Cancel")
        await until(lambda: question(bench) is None)
        assert visited == []
