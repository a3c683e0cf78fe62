"""Empty screens lead on: one button stands out, and a button that opens a form says so."""

from PySide6.QtWidgets import QApplication

from app.shell.main_window import MainWindow
from app.shell.screen_specs import screens
from app.widgets import Button
from tests.support.fake_engine import FakeEngine
from tests.support.windows import until
from tests.support.workbench import window, workbench

FORMS = ("Add server", "Run", "Edit", "Import servers", "Select a model", "Draft cases")


async def primary_buttons(inside: MainWindow, key: str) -> list[str]:
    """The buttons of a screen that stand out, once it has read what there is."""
    inside.show_screen(key)
    page = inside.page(key)
    await page.settled()
    await until(lambda: [one for one in page.findChildren(Button) if one.isVisible() and one.kind == "primary"])
    return [one.text() for one in page.findChildren(Button) if one.isVisible() and one.kind == "primary"]


async def test_an_empty_screen_has_one_button_that_stands_out(qapp: QApplication) -> None:
    async with workbench(FakeEngine()) as bench:
        inside = window(bench)
        bench.frame.set_content(inside)  # in place of the first page
        for place in screens():
            found = await primary_buttons(inside, place.key)
            assert len(found) == 1, (place.key, found)


async def test_a_button_that_opens_a_form_ends_with_an_ellipsis(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake) as bench:
        inside = window(bench)
        for place in screens():
            inside.show_screen(place.key)
            await inside.page(place.key).settled()
            texts = [one.text() for one in inside.page(place.key).header.buttons()]
            assert not [text for text in texts if text in FORMS or (text.startswith("Run ") and text[-1] != "…")], place
