"""Texts of people who mean harm, in what is looked up, compared, advised, reported and named after them."""

from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QWidget

from app.core_link.settings import Settings
from app.core_link.targets import CompareBatches
from app.core_link.workspaces import Workspaces
from app.dialogs.export import ask_where
from app.help.window import HelpWindow
from app.shell.main_window import MainWindow
from app.widgets import Dialog
from mcp_tef import AnalysisReports, BatchRequest, RunFilter, RunReports, SourceKind, ToolSource
from tests.support.hostile import ALL, MARKUP, hostile_engine
from tests.support.html_reader import Reader
from tests.support.touring import opened
from tests.support.walking import HIDDEN, complaints, drawn
from tests.support.windows import drive, session_for, shown, until

DIRECTIONS = {"\u200e", "\u200f", "\x85"}
"""Marks that belong into texts of some languages, and a line's end: pages keep them."""
Look = Callable[[MainWindow], Coroutine[Any, Any, set[str]]]


def shows_markup(widget: QWidget) -> bool:
    """Whether markup is on the screen as the text that it is."""
    return "<img src=" in drawn(widget)


def hidden(text: str) -> set[str]:
    """The characters of a text that nobody sees."""
    return set(HIDDEN.findall(text))


def wrong(widget: QWidget) -> set[str]:
    """What a widget shows that it must not."""
    return complaints(widget) | {f"it draws U+{ord(found):04X}" for found in hidden(drawn(widget))}


def in_window(look: Look) -> None:
    """Open the window over hostile texts and look at something in it; nothing may be wrong there."""

    async def work() -> set[str]:
        async with opened(await hostile_engine(ALL, ALL)) as window:
            return await look(window)

    found = drive(work())
    assert found == set(), "\n".join(sorted(found))


def test_what_the_window_said_lately_is_listed_as_text(qapp: QApplication) -> None:
    async def look(window: MainWindow) -> set[str]:
        window.session.toast(ALL)
        window.show_messages()
        await until(lambda: window.window().findChildren(Dialog))
        sheet = window.window().findChildren(Dialog)[0]
        await until(partial(shows_markup, sheet), every=0.1)
        found = wrong(sheet)
        sheet.close()
        return found

    in_window(look)


def test_two_batches_are_compared_in_text(qapp: QApplication) -> None:
    async def look(window: MainWindow) -> set[str]:
        first = (await window.session.call(lambda core: core.runs.batches()))[0]
        request = BatchRequest(name=ALL)
        second = await window.session.call(lambda core: core.runs.start(request))
        await window.session.call(lambda core: core.runs.wait(second.id))
        window.show_target(CompareBatches(first.id, second.id))
        page = window.page("metrics")
        await page.settled()
        await until(partial(shows_markup, page), every=0.1)
        return wrong(page)

    in_window(look)


def test_the_help_is_searched_for_whatever_is_typed(qapp: QApplication) -> None:
    below = QWidget()
    window = HelpWindow(dict, below)
    shown(window)
    window.open_at("")
    found: set[str] = set()
    for text in (ALL, MARKUP, "[x](http://evil.test/)", ".*(", "\\"):
        window.search.setText(text)
        window.search.searched.emit(text)
        found |= {f"it draws U+{ord(one):04X}" for part in (window.rail, window.text) for one in hidden(drawn(part))}
    assert found == set()
    assert "evil.test" not in window.text.toHtml()
    window.close()
    below.deleteLater()


def test_workspaces_are_named_in_their_menu_as_text(qapp: QApplication, tmp_path: Path) -> None:
    settings = Settings(None)
    names = ["a&b\u202egnp.db", "<img src=x>.db", "c\u200bd.db"]
    for name in names:
        (tmp_path / name).touch()
    settings.set("workspaces", [str(tmp_path / name) for name in names])

    async def nowhere(_: object) -> None: ...

    async def work() -> list[str]:
        async with session_for(settings=settings):
            return [
                action.text
                for action in Workspaces(QWidget(), settings, nowhere, nowhere, nowhere, lambda _: None).actions()
            ]

    menu = QMenu()
    texts = [menu.addAction(text).text() for text in drive(work())]
    assert [text for text in texts if HIDDEN.search(text)] == []
    assert any("<img src=x>" in text for text in texts)
    menu.deleteLater()


def test_a_file_is_proposed_under_a_name_that_any_system_can_keep(qapp: QApplication) -> None:
    async def look(window: MainWindow) -> set[str]:
        dialog = ask_where(window, window.session, RunFilter(), ALL)
        assert isinstance(dialog, QFileDialog)
        names = [Path(name).name for name in dialog.selectedFiles()]
        found = {name for name in (*names, dialog.windowTitle()) if HIDDEN.search(name)}
        found |= {name for name in names if set(name) & set('<>:"/\\|?*&') or not name.endswith(".html")}
        dialog.reject()
        return found

    in_window(look)


def test_pages_to_be_sent_hold_foreign_text_as_text(qapp: QApplication) -> None:
    async def work() -> dict[str, str]:
        core = await hostile_engine(ALL, ALL)
        first = (await core.runs.batches())[0]
        second = await core.runs.start(BatchRequest(name=ALL))
        await core.runs.wait(second.id)
        tools = await core.tools.gather(ToolSource(kind=SourceKind.SERVERS, names=(ALL,)), at_least=1)
        return {
            "runs": await RunReports(core.engine).page(RunFilter(), ALL),
            "comparison": await RunReports(core.engine).comparison_page(first.id, second.id),
            "quality": await AnalysisReports().quality_page(await core.quality.review(tools)),
        }

    for name, page in drive(work()).items():
        read = Reader(page)
        assert {"script", "img", "a", "iframe", "link", "object", "qt"} & set(read.elements) == set(), name
        assert [key for key, _ in read.attributes if key.startswith("on") or key in ("href", "src")] == [], name
        assert hidden("".join(read.words)) <= DIRECTIONS, name
        assert MARKUP in "".join(read.words), name
