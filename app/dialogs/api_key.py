"""Field for an API key, shared by every dialog that asks for one."""

from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from app.widgets import Spoken, column_layout
from mcp_tef import Secret


class ApiKeyField(QWidget):
    """Hidden input for a key, with a choice to remember it; `take` returns the key once and clears the input."""

    SPOKEN_AS = Spoken.Grouping

    def __init__(self, *, can_remember: bool = True) -> None:
        super().__init__()
        self.edit = QLineEdit()
        self.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.edit.setAccessibleName("Key")
        self.remember = QCheckBox("Remember in the system keychain")
        self.remember.setVisible(can_remember)
        self._provider = ""
        self.setAccessibleName("Key")
        self.setFocusProxy(self.edit)
        column_layout(self, self.edit, self.remember, spacing=6)

    def set_provider(self, provider: str) -> None:
        """Ask for a key of this provider; a key typed for another one is cleared, so that it is not sent there.

        An empty provider changes nothing.
        """
        if provider and self._provider not in ("", provider):
            self.edit.clear()
        self._provider = provider or self._provider

    def take(self) -> Secret | None:
        """Return the typed key, if any, and clear the input."""
        text = self.edit.text().strip()
        self.edit.clear()
        return Secret(text) if text else None
