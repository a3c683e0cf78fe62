"""Widgets need the application, which has the light scheme before each test."""

import pytest
from PySide6.QtWidgets import QApplication


@pytest.fixture(autouse=True)
def application(qapp: QApplication) -> None:
    """Make the application."""
