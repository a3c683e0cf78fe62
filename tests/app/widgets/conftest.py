"""Widgets are tested in the light scheme."""

import pytest
from PySide6.QtWidgets import QApplication

from app.theme import ThemeMode, theme


@pytest.fixture(autouse=True)
def looks(qapp: QApplication) -> None:
    """Dress the application."""
    theme().install(ThemeMode.LIGHT)
