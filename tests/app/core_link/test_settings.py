"""Settings come back at the next start, and an unreadable file or value never blocks it."""

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.core_link.settings import Settings
from app.shell.screen_specs import screens
from tests.support.fake_engine import FakeEngine
from tests.support.window_tour import opened


def test_values_come_back(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "settings.json"
    settings = Settings(file)
    settings.set("theme", "dark")
    settings.set("window.place_and_size", [1, 2, 3, 4])
    settings.save()
    again = Settings(file)
    assert again.get("theme", "system") == "dark"
    assert again.get("window.place_and_size", []) == [1, 2, 3, 4]


@pytest.mark.parametrize("text", ["", "{", "[1]", "nul", '{"theme": 3}', "[" * 100_000])
def test_a_spoilt_file_gives_defaults(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(text, encoding="utf-8")
    assert Settings(file).get("theme", "system") == "system"


def test_an_unreadable_file_is_set_aside(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{oops", encoding="utf-8")
    settings = Settings(file)
    assert settings.set_aside is not None
    assert settings.set_aside.read_text(encoding="utf-8") == "{oops"


def test_a_value_that_is_not_allowed_gives_the_default(tmp_path: Path) -> None:
    settings = Settings(None)
    settings.set("theme", "pink")
    settings.set("flag", 1)
    assert settings.get("theme", "system", lambda value: value in ("system", "dark")) == "system"
    assert settings.get("flag", True) is True


def test_a_disk_that_refuses_is_no_reason_to_stop(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    settings = Settings(blocked / "settings.json")
    settings.set("theme", "dark")
    settings.save()
    assert settings.get("theme", "") == "dark"


LISTS: list[Any] = [None, {}, "x", -5, 10**30, [[]], "\ud800"]
MAPPINGS: dict[str, Any] = {
    "widths": {"query": -(10**12), "x": "y"},
    "sort": ["nope", 7],
    "model": 7,
    "suites": 7,
    "": 1,
}
SPOILT: dict[type, Any] = {list: LISTS, dict: MAPPINGS, str: "\ud800" + "x" * 5_000, int: -(10**18), bool: True}


async def visited(file: Path) -> list[tuple[str, ...]]:
    """Start the window with its settings in a file, go everywhere, close it; what it told of failures."""
    engine, settings, told = FakeEngine(), Settings(file), list[tuple[str, ...]]()
    await engine.open_sample()
    async with opened(engine, settings) as window:
        window.session.failed.connect(lambda *words: told.append(words))
        for place in screens():
            window.show_screen(place.key)
            await window.page(place.key).settled()
    return told


async def test_every_setting_may_be_spoilt_in_its_own_kind(qapp: QApplication, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    assert await visited(file) == []
    kept = json.loads(file.read_text("utf-8"))
    assert len(kept) > 10
    file.write_text(json.dumps({key: SPOILT[type(value)] for key, value in kept.items()}), "utf-8")
    assert await visited(file) == []
