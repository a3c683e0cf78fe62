"""What is remembered comes back, and nothing that was spoilt blocks the start."""

from pathlib import Path

import pytest

from app.core_link.settings import Settings


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
