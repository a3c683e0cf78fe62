"""Where servers are imported from: a pasted config, or files that are chosen or dropped."""

from pathlib import Path

from PySide6.QtCore import QDir, QMimeData, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.core_link.session import Session
from app.screens.servers.import_choice import ImportChoice, choice_of_configs, choice_of_text
from app.text.formatting import error_words
from app.theme import Role
from app.widgets import Action, Field, FlowText, Sheet, TextArea
from app.widgets.drops import files_in
from mcp_tef import TefError

WHAT = (
    "From Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, the Inspector or the registry: a whole file, "
    "or the part of one that a README shows. You see what it brings before anything is changed, and nothing is started."
)
EXAMPLE = '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'
FILES = "Server configs (*.json *.jsonc);;All files (*)"


class SnippetArea(TextArea):
    """A field for JSON; files that are dropped or pasted are not written into it."""

    brought = Signal(list)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return bool(files_in(source)) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if files := files_in(source):
            self.brought.emit(files)
        else:
            super().insertFromMimeData(source)


class SourceSheet(Sheet):
    """Accepted once something was read; `choice` is what it offers."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__("Import servers", parent, width=620)
        self.choice: ImportChoice | None = None
        self._session = session
        self.area = SnippetArea(EXAMPLE, lines=12, mono=True)
        self.field = Field("A config, pasted as JSON or JSON with comments", self.area)
        self.body.addWidget(FlowText(WHAT, role=Role.DIM))
        self.body.addWidget(self.field)
        self.area.brought.connect(self._read_files_soon)
        self.area.textChanged.connect(lambda: self.field.set_error(""))
        files = Action(text="Choose files…", do=self._ask_files, icon="folder-open")
        look = Action(text="Preview", do=lambda: self.while_open(session.spawn(self.read_text())), kind="primary")
        self.set_buttons([Action(text="Cancel", do=self.reject), look], left=[files])
        self.area.setFocus()

    async def read_text(self) -> None:
        """Read what was pasted; what is wrong with it is said below the field."""
        text = self.area.toPlainText()
        if not text.strip():
            self.field.set_error("Paste a config here, or choose a file.")
            return
        try:
            preview = await self._session.call(lambda core: core.server_files.preview(text))
        except TefError as error:
            words = error_words(error)
            self.field.set_error(f"{words.message} {words.hint}".strip())
        else:
            self._end(choice_of_text(preview))

    async def read_files(self, files: list[Path]) -> None:
        """Read files; those that cannot be read are told in the preview."""
        self._end(choice_of_configs(await self._session.call(lambda core: core.server_files.preview_all(files))))

    def _read_files_soon(self, files: list[Path]) -> None:
        self.while_open(self._session.spawn(self.read_files(files)))

    def _end(self, choice: ImportChoice) -> None:
        self.choice = choice
        self.accept()

    def _ask_files(self) -> None:
        dialog = QFileDialog(self, "Import servers")
        dialog.setNameFilters(FILES.split(";;"))
        dialog.setFilter(dialog.filter() | QDir.Filter.Hidden)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda names: self._read_files_soon([Path(name) for name in names]))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
