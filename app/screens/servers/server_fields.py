"""Input fields of a server, for each of its three kinds."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from app.screens.servers.server_form import OAUTH_TYPES, ParsedServerForm, ServerForm, free_name, read, suggested_name
from app.theme import theme
from app.widgets import Action, Field, LineEdit, MenuButton, TextArea, button, column_layout, row_layout
from app.widgets.file_dialog import ask_path
from mcp_tef import AuthType, ServerSpec

_AUTH = [
    (AuthType.NONE.value, "No sign-in"),
    (AuthType.BEARER.value, "Bearer token"),
    (AuthType.API_KEY.value, "API key"),
    (AuthType.BASIC.value, "User and password"),
    (AuthType.OAUTH2.value, "In the browser (OAuth)"),
    (AuthType.CLIENT_CREDENTIALS.value, "Client credentials (OAuth)"),
]
_SECRET_LABELS = {
    AuthType.BEARER: "Environment variable that holds the token",
    AuthType.API_KEY: "Environment variable that holds the key",
    AuthType.BASIC: "Environment variable that holds user:password",
    AuthType.OAUTH2: "Environment variable that holds the client's secret (if it has one)",
    AuthType.CLIENT_CREDENTIALS: "Environment variable that holds the client's secret",
}
_NAME_ONLY_NOTE = (
    "The secret is read when connecting and is never stored. Write keychain:NAME to use the system keychain."
)
_ISSUER_NOTE = "The authorization server that knows the client. The secret is sent to no other server."
FILES = "JSON files (*.json);;All files (*)"


class ServerFields(QWidget):
    """Fields that a kind of server needs; `changed` is emitted with every keystroke.

    `others` are the names of the other servers with their addresses.
    """

    changed = Signal()

    def __init__(self, others: Mapping[str, str | None]) -> None:
        super().__init__()
        self._others = others
        self._kind = "command"
        self._base: ServerSpec | None = None
        self._suggests_name = True
        self._filling = False
        self._touched: set[str] = set()
        self.name = LineEdit()
        self.command = _line("npx -y @acme/docs-server ~/handbook", mono=True)
        self.folder = _line("", mono=True)
        self.environment = TextArea("ACME_REGION=eu", lines=2, mono=True)
        self.url = _line("https://tools.example.com/mcp", mono=True)
        self.old_sse = QCheckBox("Use the older SSE transport")
        self.headers = TextArea("X-Team: docs", lines=2, mono=True)
        self.auth = MenuButton("Sign-in", _AUTH)
        self.variable = _line("ACME_TOKEN", mono=True)
        self.client_id = _line("", mono=True)
        self.key_file = _line("", mono=True)
        self.issuer = _line("https://login.example.com", mono=True)
        self.scope = _line("tools:read tools:call", mono=True)
        self.remember = QCheckBox("Keep me signed in, with the system keychain")
        self.path = _line("tools.json", mono=True)
        self._edits: dict[str, LineEdit | TextArea] = {
            "command": self.command,
            "folder": self.folder,
            "environment": self.environment,
            "url": self.url,
            "headers": self.headers,
            "variable": self.variable,
            "client_id": self.client_id,
            "key_file": self.key_file,
            "issuer": self.issuer,
            "scope": self.scope,
            "path": self.path,
        }
        self.fields = self._made_fields()
        self._lay_out()
        self._listen()

    def _made_fields(self) -> dict[str, Field]:
        note = "One NAME=value per line. Write ${NAME} to use a value of your own environment."
        path = QWidget()
        row = row_layout(path, spacing=None)
        row.addWidget(self.path, 1)
        row.addWidget(button(Action(text="Select…", do=self._choose_file)))
        path.setFocusProxy(self.path)
        return {
            "command": Field("Command line", self.command, note="As you would type it in a terminal."),
            "folder": Field("Folder to start it in (optional)", self.folder),
            "environment": Field("Environment variables (optional)", self.environment, note=note),
            "url": Field("Address", self.url),
            "old_sse": Field("Transport", self.old_sse),
            "auth": Field("Sign-in", self.auth),
            "client_id": Field("Client id", self.client_id, note="Only if the service gave you one."),
            "variable": Field("", self.variable, note=_NAME_ONLY_NOTE),
            "key_file": Field("Private key instead (PEM file)", self.key_file, note="Only its path is stored."),
            "issuer": Field("Issuer (optional)", self.issuer, note=_ISSUER_NOTE),
            "scope": Field("Scopes (optional)", self.scope, note="Replace those that the server asks for."),
            "remember": Field("Sign-in", self.remember),
            "headers": Field("Headers (optional)", self.headers, note="One Name: value per line."),
            "path": Field("File", path, note="A saved tools/list answer, or a plain list of tools, as JSON."),
            "name": Field("Name", self.name, note="Short and unique. Used in cases and results."),
        }

    def _lay_out(self) -> None:
        column = column_layout(self, spacing=12)
        for field in self.fields.values():
            column.addWidget(field)
        column.addStretch(1)

    def _listen(self) -> None:
        for key, edit in self._edits.items():
            edit.textChanged.connect(partial(self._on_typed, key))
        self.old_sse.toggled.connect(self._on_change)
        self.remember.toggled.connect(self._on_change)
        self.auth.changed.connect(self._on_change)
        self.name.textEdited.connect(self._on_name)

    def fill(self, form: ServerForm) -> None:
        """Show a form."""
        self._filling = True
        self._touched.clear()
        self._kind, self._base = form.kind, form.base
        self._suggests_name = not form.name
        self.name.setText(form.name)
        for key, edit in self._edits.items():
            text = getattr(form, key)
            edit.setPlainText(text) if isinstance(edit, TextArea) else edit.setText(text)
        self.old_sse.setChecked(form.old_sse)
        self.auth.set_current(form.auth.value)
        self.remember.setChecked(form.remember)
        self._filling = False
        self.show_errors({})
        self._arrange()

    def form(self) -> ServerForm:
        """Return the form as it is filled in now."""
        texts: dict[str, Any] = {key: edit.text() for key, edit in self._edits.items()}
        return ServerForm(
            kind=self._kind,
            name=self.name.text(),
            old_sse=self.old_sse.isChecked(),
            auth=AuthType(self.auth.current()),
            remember=self.remember.isChecked(),
            base=self._base,
            **texts,
        )

    def reading(self) -> ParsedServerForm:
        """Return the parsed form."""
        return read(self.form(), self._others)

    def show_errors(self, faults: dict[str, str]) -> None:
        """Show the faults at their fields, and focus the first."""
        for key, field in self.fields.items():
            field.set_error(faults.get(key, ""))
        first = next((field for key, field in self.fields.items() if key in faults), None)
        if first is not None:
            first.widget.setFocus()

    def first(self) -> QWidget:
        """Return the field that gets the focus first."""
        return {"command": self.command, "url": self.url, "file": self.path}[self._kind]

    def _on_typed(self, key: str, _text: str = "") -> None:
        if not self._filling:
            self._touched.add(key)
            self._on_change()

    def _on_change(self) -> None:
        if self._filling:
            return
        if self._suggests_name:
            self.name.setText(free_name(suggested_name(self.form()), self._others))
        self._arrange()
        self._judge()
        self.changed.emit()

    def _on_name(self, text: str) -> None:
        self._suggests_name = not text
        self._touched.add("name")
        self._judge()
        self.changed.emit()

    def _judge(self) -> None:
        """Show the faults of the fields that were edited."""
        faults = self.reading().faults
        for key, field in self.fields.items():
            if key in self._touched or key not in faults:
                field.tell(faults.get(key, ""))

    def _arrange(self) -> None:
        auth = AuthType(self.auth.current())
        needed = {
            "command": {"command", "folder", "environment", "name"},
            "url": {"url", "old_sse", "auth", "headers", "name", *_fields_of(auth)},
            "file": {"path", "name"},
        }[self._kind]
        for key, field in self.fields.items():
            field.setVisible(key in needed)
        self.fields["variable"].set_label(_SECRET_LABELS.get(auth, ""))

    def _choose_file(self) -> None:
        ask_path(self, "Select a tools file", lambda file: self.path.setText(str(file)), filters=FILES)


def _fields_of(auth: AuthType) -> set[str]:
    more = {"client_id", "issuer", "scope"} if auth in OAUTH_TYPES else set()
    if more:
        more.add("remember" if auth is AuthType.OAUTH2 else "key_file")
    return ({"variable"} if auth in _SECRET_LABELS else set()) | more


def _line(placeholder: str, *, mono: bool = False) -> LineEdit:
    made = LineEdit()
    made.setPlaceholderText(placeholder)
    made.setFont(theme().font(mono=mono))
    return made
