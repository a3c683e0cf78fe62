"""The help beside the window: pages, links, search, and nothing that comes from elsewhere."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QImage, QTextDocument
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.core_link.commands import Command
from app.help.topics import ORDER
from app.help.window import NOTHING, HelpWindow
from app.theme import ThemeMode, theme

COMMANDS = {"Everywhere": (Command(id="palette", text="Find a command", keys="Ctrl+K", do=lambda: None),)}
IMAGE = QTextDocument.ResourceType.ImageResource.value


@pytest.fixture
def shown(qtbot: QtBot) -> Iterator[HelpWindow]:
    """The help, open at its first page."""
    theme().install(ThemeMode.LIGHT)
    parent = QWidget()
    qtbot.addWidget(parent)
    made = HelpWindow(lambda: COMMANDS, parent)
    made.open_at("")
    yield made
    made.close()


def words(shown: HelpWindow) -> str:
    return shown.text.toPlainText()


def test_it_opens_at_the_first_page_or_at_the_one_that_is_asked_for(shown: HelpWindow) -> None:
    assert shown.current == ORDER[0]
    assert words(shown).startswith("Getting started in five minutes")
    shown.open_at("runs")
    assert words(shown).startswith("Runs")
    shown.open_at("")
    assert words(shown).startswith("Runs")


def test_every_page_is_listed_and_can_be_chosen(shown: HelpWindow) -> None:
    assert shown.topic_list.rows.ids() == [f"{key}.md" for key in ORDER]
    for key in ORDER:
        shown.topic_list.select(f"{key}.md")
        assert shown.current == key


def test_links_lead_to_sections_and_back_and_forward_again(shown: HelpWindow) -> None:
    shown.text.anchorClicked.emit(QUrl("runs.md#models-and-keys"))
    assert shown.current == "runs"
    assert shown.text.textCursor().block().text() == "Models and keys"
    shown.back.click()
    assert shown.current == ORDER[0]
    assert not shown.back.isEnabled()
    shown.forward.click()
    assert shown.current == "runs"


def test_a_link_to_the_web_only_asks(shown: HelpWindow) -> None:
    wanted: list[str] = []
    shown.address_wanted.connect(lambda url: wanted.append(url.toString()))
    shown.text.anchorClicked.emit(QUrl("https://example.org/page"))
    assert wanted == ["https://example.org/page"]
    assert shown.current == ORDER[0]


def test_sections_are_found_by_typing_and_the_pages_come_back(qtbot: QtBot, shown: HelpWindow) -> None:
    shown.search.setText("sign-flip")
    qtbot.waitUntil(lambda: "comparison.md#two-claims" in shown.topic_list.rows.ids(), timeout=30_000)
    shown.topic_list.select("comparison.md#two-claims")
    assert shown.text.textCursor().block().text() == "Two claims"
    shown.search.clear()
    qtbot.waitUntil(lambda: len(shown.topic_list.rows.ids()) == len(ORDER), timeout=30_000)
    assert shown.topic_list.current_id() == "comparison.md"


def test_every_picture_of_a_page_is_drawn_after_its_words(qtbot: QtBot, shown: HelpWindow) -> None:
    def width(name: str) -> int:
        picture = shown.text.document().resource(IMAGE, QUrl(f"pictures/{name}.png"))
        assert isinstance(picture, QImage)
        return picture.width()

    qtbot.waitUntil(shown.text.has_drawn, timeout=30_000)
    assert min(width(name) for name in ("welcome", "run-form", "run", "metrics", "pair")) > 200


def test_pictures_come_from_the_help_alone(shown: HelpWindow) -> None:
    assert isinstance(shown.text.loadResource(IMAGE, QUrl("pictures/run.png")), QImage)
    for address in (
        "/etc/hostname",
        "file:///etc/hostname",
        "../theme/tick.svg",
        "https://example.org/a.png",
        "../../a.png",
    ):
        assert shown.text.loadResource(IMAGE, QUrl(address)) is None


def test_a_search_that_finds_nothing_says_so(qtbot: QtBot, shown: HelpWindow) -> None:
    shown.search.setText("zzyzx")
    qtbot.waitUntil(lambda: shown.topic_list.rows.ids() == [NOTHING.id], timeout=30_000)
    shown.topic_list.select(NOTHING.id)
    assert "No help found" in shown.topic_list.rows.row(0).spoken
    assert shown.current == ORDER[0]
