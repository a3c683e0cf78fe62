"""Import of servers: choose a source, preview what it contains, import what is ticked."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtWidgets import QWidget

from app.core_link.cancellable_work import call_cancellable
from app.core_link.import_outcomes import DropOutcome, DropStatus
from app.core_link.session import Page, Session
from app.dialogs.consent import Rows, fact_rows, warning_rows
from app.screens.servers.import_presenter import STATUS_TEXTS, ImportChoice, ImportEntry, ServerImportPresenter
from app.screens.servers.presenter import ServersPresenter
from app.screens.servers.server_form import ServerForm, free_name, suggested_name
from app.text.formatting import count, error_text
from app.theme import Role, Size, sized
from app.widgets import (
    Action,
    Cell,
    CellKind,
    CheckableTable,
    Column,
    Dialog,
    Field,
    FlowText,
    KeyValues,
    Notice,
    Rule,
    ScrollPane,
    SearchField,
    Section,
    Span,
    TextArea,
    one_line,
)
from app.widgets.fields import files_in
from app.widgets.file_dialog import ask_paths
from mcp_tef import (
    DetectedConfig,
    DetectedFile,
    ImportStatus,
    ServerId,
    StoppedError,
    TefError,
    Transport,
    launch_preview,
    unlink,
)

WHAT = (
    "A config of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, the Inspector or the registry: a whole file, "
    "or the part that a README shows. You see a preview before anything changes. No server is started."
)
EXAMPLE = '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'
FILES = "Server configs (*.json *.jsonc);;All files (*)"


class SnippetArea(TextArea):
    """Field for JSON; `brought` is emitted for files that are dropped or pasted into it."""

    brought = Signal(list)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return bool(files_in(source)) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if files := files_in(source):
            self.brought.emit(files)
        else:
            super().insertFromMimeData(source)


class ImportSourceDialog(Dialog):
    """Dialog that reads a pasted config or files; once accepted, `choice` holds their servers."""

    def __init__(self, session: Session, presenter: ServerImportPresenter, parent: QWidget) -> None:
        super().__init__("Import servers", parent, width=620)
        self.choice: ImportChoice | None = None
        self._session, self._presenter = session, presenter
        self.area = SnippetArea(EXAMPLE, lines=12, mono=True)
        self.field = Field("A config, pasted as JSON or JSON with comments", self.area)
        self.body.addWidget(FlowText(WHAT, role=Role.DIM))
        self.body.addWidget(self.field)
        self.area.brought.connect(self._read_files_soon)
        self.area.textChanged.connect(lambda: self.field.set_error(""))
        files = Action(text="Select files…", do=self._ask_files, icon="folder-open")
        look = Action(text="Preview", do=lambda: self.while_open(session.spawn(self.read_text())), kind="primary")
        self.set_buttons([Action(text="Cancel", do=self.reject), look], left=[files])
        self.area.setFocus()

    async def read_text(self) -> None:
        """Read the pasted text; an error is shown below the field."""
        text = self.area.text()
        if not text.strip():
            self.field.set_error("Paste a config here, or select a file.")
            return
        try:
            choice = await self._presenter.preview_text(text)
        except TefError as error:
            words = error_text(error)
            self.field.set_error(f"{words.message} {words.hint}".strip())
        else:
            self._end(choice)

    async def read_files(self, files: list[Path]) -> None:
        """Read files; the preview names those that cannot be read."""
        self._end(await self._presenter.preview_files(files))

    def _read_files_soon(self, files: list[Path]) -> None:
        self.while_open(self._session.spawn(self.read_files(files)))

    def _end(self, choice: ImportChoice) -> None:
        self.choice = choice
        self.accept()

    def _ask_files(self) -> None:
        ask_paths(self, "Import servers", self._read_files_soon, FILES)


COLUMNS = (
    Column(key="name", title="Server", width=150),
    Column(key="change", title="Change", width=116),
    Column(key="transport", title="Transport", width=100, role=Role.DIM),
    Column(key="address", title="Program or address", kind=CellKind.MONO, stretch=True),
    Column(key="source", title="From", width=150, role=Role.DIM),
)
_ROLES = {ImportStatus.ADDED: Role.GOOD, ImportStatus.CHANGED: Role.WARN, ImportStatus.REFUSED: Role.BAD}
NOTHING = (
    "No servers found in the configs of Claude Desktop, Claude Code, Cursor, VS Code and Windsurf. "
    "You can paste any other config, or select its file."
)
LABELS = 104
DETAIL_HEIGHT = 190


class ImportPreviewDialog(Dialog):
    """Preview of an import; `ticked` are the keys of the servers to import."""

    def __init__(self, choice: ImportChoice, parent: QWidget) -> None:
        super().__init__("Import servers", parent, width=920)
        self._choice = choice
        self.search = SearchField("Search what is imported", self)
        self._found = FlowText(size=Size.SMALL, role=Role.DIM, parent=self)
        self.table = CheckableTable(COLUMNS, "Servers to import", self)
        self._details = KeyValues(label_width=sized(LABELS), parent=self)
        self._import = self.set_buttons(self._actions())[-1]
        self._lay_out()
        for part in (self.search, self.table):
            part.setVisible(bool(choice.offers))
        self.search.searched.connect(self._find)
        self.table.chosen.connect(self._show_details)
        self.table.ticks_changed.connect(self._count)
        ticks = dict.fromkeys(choice.useful, True)
        self.table.show_cells({key: partial(_cells, offer) for key, offer in choice.offers.items()}, ticks)
        self.table.select_first()
        self.table.setFocus()
        self._count()

    @property
    def ticked(self) -> tuple[str, ...]:
        """The keys of the ticked servers."""
        return self.table.ticked()

    def _actions(self) -> list[Action]:
        if not self._choice.useful:
            return [Action(text="Close", do=self.reject, kind="primary")]
        wanted = Action(text="Import", do=self.accept, kind="primary")
        return [Action(text="Cancel", do=self.reject), wanted]

    def _lay_out(self) -> None:
        words = f"{self._choice.summary()} Nothing has changed yet. Importing does not start a server."
        self.body.addWidget(FlowText(words if self._choice.offers else NOTHING, role=Role.DIM))
        if self._choice.problems:
            problem = Notice("warn")
            self.body.addWidget(problem)
            problem.show_message("Some configs could not be read", "\n".join(self._choice.problems))
        if self._choice.offers:
            self.need(height=668)
            self._lay_out_table()

    def _lay_out_table(self) -> None:
        details = Section(margins=False)
        details.add(self._details)
        details.column.addStretch(1)
        pane = ScrollPane(details, "Selected server")
        pane.setFixedHeight(sized(DETAIL_HEIGHT))
        for part in (self.search, self._found, self.table, Rule(), pane):
            self.body.addWidget(part, int(part is self.table))

    def _find(self, text: str) -> None:
        self.table.find_rows(text)
        if not self.table.current_id():
            self.table.select_first()
        self._count()

    def _count(self) -> None:
        self._found.set_text(self._match_summary())
        self._found.setVisible(bool(self._found.text()))
        if self._choice.useful:
            number = len(self.ticked)
            self._import.setText(f"Import {count(number, 'server')}")
            self._import.setEnabled(number > 0)

    def _match_summary(self) -> str:
        """Return how many servers match the search, and how many others are ticked."""
        shown = set(self.table.rows.ids())
        if len(shown) == len(self._choice.offers):
            return ""
        hidden = sum(key not in shown for key in self.ticked)
        others = f", and {count(hidden, 'other server')} ticked" if hidden else ""
        return f"{len(shown):,} of {count(len(self._choice.offers), 'server')} found{others}."

    def _show_details(self, key: str) -> None:
        self._details.set_rows(_details(self._choice.offers[key]) if key else [])


def _cells(offer: ImportEntry) -> list[Cell]:
    server = offer.server
    known = bool(server.spec)
    return [
        Cell(text=one_line(server.name), strong=True),
        Cell(text=STATUS_TEXTS[server.fate], role=_ROLES.get(server.fate, Role.DIM)),
        Cell(text=offer.transport),
        Cell(text=one_line(offer.address), prose=not known, role=Role.TEXT if known else Role.DIM),
        Cell(text=one_line(offer.source), tip=offer.path),
    ]


def _details(offer: ImportEntry) -> Rows:
    spec = offer.server.spec
    rows: Rows = []
    if spec and spec.transport is Transport.STDIO:
        request = launch_preview(spec)
        rows = [*fact_rows(request), *warning_rows(request)]
    elif spec:
        rows = [("Address", [Span(spec.address, mono=True)])]
        rows += [("Headers", [Span(", ".join(spec.headers), mono=True)])] if spec.headers else []
    return [*rows, *offer.remarks()]


class ServerImporter:
    """Import from source to undo step; `show_server` is called with the first server that was imported."""

    def __init__(self, page: Page, show_server: Callable[[ServerId], Awaitable[None]]) -> None:
        self._page = page
        self._session = page.session
        self._presenter = ServerImportPresenter(page.session, partial(call_cancellable, page.session))
        self._show_server = show_server

    def ask(self) -> None:
        """Open the dialog for a config."""
        self._session.spawn(self._ask())

    def find(self) -> None:
        """Look for configs of other programs on this computer."""
        self._session.spawn(self._find())

    async def bring_in(self, arrivals: Sequence[DetectedFile]) -> Sequence[DropOutcome]:
        """Preview configs that were dropped or pasted, and import what the user ticks."""
        if files := [arrival.path for arrival in arrivals if arrival.path]:
            choice = await self._presenter.preview_files(files)
            ticked = await self._offer(choice)
            return [_outcome(config, choice.of(config.path, ticked)) for config in choice.configs]
        return [await self._bring_in_text(arrival) for arrival in arrivals]

    async def _bring_in_text(self, arrival: DetectedFile) -> DropOutcome:
        ticked = await self._offer(await self._presenter.preview_text(arrival.text))
        return DropOutcome(arrival.name, DropStatus.TAKEN if ticked else DropStatus.LEFT, _imported(len(ticked)))

    async def _ask(self) -> None:
        dialog = ImportSourceDialog(self._session, self._presenter, self._page)
        if await dialog.done_with() and dialog.choice is not None:
            await self._offer(dialog.choice)

    async def _find(self) -> None:
        await self._offer(await self._presenter.discover())

    async def _offer(self, choice: ImportChoice) -> Sequence[str]:
        """Show the preview, import what is ticked, and return the keys of what was imported."""
        dialog = ImportPreviewDialog(choice, self._page)
        if await dialog.done_with() and await self._apply(choice, dialog.ticked):
            return dialog.ticked
        return ()

    async def _apply(self, choice: ImportChoice, keys: Sequence[str]) -> bool:
        try:
            change = await self._presenter.apply(choice, keys)
        except StoppedError:
            self._session.toast("The import was cancelled, and no server was kept")
            return False
        await self._show_server(change.first)
        servers = count(change.number, "server")
        undo, redo = partial(self._presenter.undo, change), partial(self._presenter.redo, change)
        self._session.toast(f"Imported {servers}. None was started.", undo, redo, action=f"import {servers}")
        return True


def _outcome(config: DetectedConfig, imported: int) -> DropOutcome:
    if config.problem:
        return DropOutcome(config.path.name, DropStatus.REFUSED, config.problem)
    return DropOutcome(config.path.name, DropStatus.TAKEN if imported else DropStatus.LEFT, _imported(imported))


def _imported(servers: int) -> str:
    return f"{count(servers, 'server')} imported." if servers else "Nothing was imported."


OpenForm = Callable[[ServerForm], Awaitable[bool]]


async def offer_tools(presenter: ServersPresenter, open_form: OpenForm, arrival: DetectedFile) -> DropOutcome:
    """Offer to add a list of tools that was dropped or pasted as a server."""
    path = arrival.path
    if path is None:
        path = await presenter.keep_tools_file(arrival.text)
    form = ServerForm(kind="file", path=str(path))
    taken = [server.name for server in presenter.servers.values()]
    kept = await open_form(replace(form, name=free_name(suggested_name(form), taken)))
    if not kept and arrival.path is None:
        await asyncio.to_thread(unlink, path)
    text = "Added as a server." if kept else "Nothing was imported."
    return DropOutcome(arrival.name, DropStatus.TAKEN if kept else DropStatus.LEFT, text)
