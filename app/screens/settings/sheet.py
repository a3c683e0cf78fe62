"""The dialog of all settings, a tab for each kind; they hold at once, so there is nothing to save."""

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app.screens.settings.consents import ConsentsSection
from app.screens.settings.general import GeneralSection, Places
from app.session import Session
from app.widgets import Action, DetailPane, Sheet

HEIGHT = 540


class SettingsSheet(Sheet):
    """`set_theme` is told which scheme to wear."""

    def __init__(
        self, session: Session, parent: QWidget, *, set_theme: Callable[[str], object], places: Places
    ) -> None:
        super().__init__("Settings", parent, width=680)
        self.setMinimumHeight(HEIGHT)
        self.consents = ConsentsSection(session)
        self.pane = DetailPane("Settings")
        self.pane.add_tab("general", "General", GeneralSection(set_theme, places))
        self.pane.add_tab("consents", "Consents", self.consents)
        self.body.addWidget(self.pane)
        self.set_buttons([Action(text="Close", do=self.accept, kind="primary")])
        self.while_open(session.spawn(self.consents.load()))
