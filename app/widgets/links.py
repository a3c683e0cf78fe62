"""Links side by side."""

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.widgets.actions import Action, Button, button


class Links(QWidget):
    """A row of links; hidden while there are none. Links that say the same as before stay, and so does the focus."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons: list[Button] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(12)
        self._row.addStretch(1)
        self.hide()

    def set_links(self, actions: Sequence[Action]) -> None:
        """Show these."""
        if [made.text() for made in self.buttons] != [action.text for action in actions]:
            self._make(actions)
        for made, action in zip(self.buttons, actions, strict=True):
            made.rewire(action)
        self.setVisible(bool(actions))

    def _make(self, actions: Sequence[Action]) -> None:
        for made in self.buttons:
            made.hide()
            made.deleteLater()
        self.buttons = [button(action) for action in actions]
        for place, made in enumerate(self.buttons):
            self._row.insertWidget(place, made)
