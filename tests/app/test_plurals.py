"""Texts and spoken names never put a plural after 1."""

import re
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from app.screens.metrics.metric_values import percent_points
from app.screens.settings.presenter import size_text
from app.widgets import plain
from tests.support.displayed_text import drawn, said
from tests.support.special_workspaces import ONLY_SERVER, ONLY_TEXT, singleton_engine
from tests.support.window_tour import filled, looked_over, opened, over_screens, tour

MANY_OF_ONE = re.compile(r"(?<![\d.,–-])\b1 (?:more |right |chosen |judged |older |other )?(\w+s)\b")
NO_PLURALS = {"is", "was", "has", "this", "its", "as", "pass", "passes", "ms", "across"}


def wrong_plurals(root: QWidget) -> set[str]:
    """Texts in which one thing is told of as many."""
    return {text for text in said(root) for word in MANY_OF_ONE.findall(text) if word not in NO_PLURALS}


@pytest.mark.parametrize("tools", [1, 2])
async def test_one_thing_is_never_called_many(tools: int, tmp_path: Path, qapp: QApplication) -> None:
    found: dict[str, str] = {}

    def look(name: str, shown: QWidget) -> None:
        found.update(dict.fromkeys(wrong_plurals(shown.window()), name))

    async with opened(await singleton_engine(tools)) as window:
        await filled(window, lambda page: ONLY_SERVER in drawn(page) or page.key in ("similarity", "library", "models"))
        await tour(window, lambda _: True, lambda page: look(page.title, page))
        server = (await window.session.call(lambda core: core.servers.list()))[0]
        dialogs = over_screens(window, tmp_path, server, ONLY_TEXT, ONLY_SERVER) if tools == 1 else ()
        for name, show in dialogs:
            await looked_over(window, show, partial(look, name))
    assert not found, "\n".join(sorted(f"{name}: {text}" for text, name in found.items()))


def test_a_point_a_byte_and_a_character_stand_alone_where_there_is_one() -> None:
    assert percent_points(0.01, None, None) == "+1 point"
    assert percent_points(-0.014, None, None) == "−1 point"
    assert percent_points(0.02, None, None) == "+2 points"
    assert size_text(1) == "1 byte"
    assert plain("ab", limit=1) == "a … (1 more character)"
