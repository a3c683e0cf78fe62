"""Dialog to add or edit a server: select a kind, fill in the form, test the connection, save."""

from functools import partial

from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from app.core_link.session import Session
from app.dialogs.consent import WARNINGS, ConsentBar
from app.screens.servers.presenter import ServersPresenter, probe_summary
from app.screens.servers.server_fields import ServerFields
from app.screens.servers.server_form import ServerForm, form_from_spec
from app.text.formatting import error_text
from app.theme import Role
from app.widgets import Action, ChoiceCard, Dialog, FlowText, Notice, ScrollPane, column_layout, row_layout, visible
from app.widgets.dialog import BAR
from mcp_tef import (
    ConflictError,
    ConsentRequest,
    DefinitionWithoutSecrets,
    InputError,
    Server,
    ServerSpec,
    TefError,
    consent_rows,
)

_ADD = {"command": "Add and start", "url": "Add and connect", "file": "Add server"}
MOST_SHOWN, MOST_WARNINGS = 300, 3
_CARDS = (
    ("command", "terminal-window", "A command", ("npx, uvx, python …", "started on this computer")),
    ("url", "globe", "An address", ("HTTP or SSE,", "on any machine")),
    ("file", "file-text", "A tools file", ("A saved list of tools,", "no server needed")),
)


class ServerDialog(Dialog):
    """Dialog for one server; `saved` is the server once it was added or changed."""

    def __init__(
        self, session: Session, presenter: ServersPresenter, parent: QWidget, server: Server | None = None
    ) -> None:
        super().__init__(f"Edit {server.name}" if server else "Add a server", parent, width=620)
        self.saved: Server | None = None
        self._session = session
        self._presenter = presenter
        self._server = server
        self._busy = False
        self._named: ConsentRequest | None = None
        others = (one for one in presenter.servers.values() if server is None or one.id != server.id)
        self.fields = ServerFields({one.name: one.spec.url for one in others})
        self._consent = ConsentBar()
        self._good, self._bad, self._working = Notice("good"), Notice("bad"), Notice("info")
        self._starts = Notice("warn")
        self._stack = QStackedWidget()
        self._page = self._form()
        for page in (self._cards(), self._page) if server is None else (self._page,):
            self._stack.addWidget(page)
        self.add_scrolling(self._stack)
        self._consent.agreed.connect(lambda: session.spawn(self._agree(), of=self))
        self._consent.postponed.connect(self._put_question_away)
        self.fields.changed.connect(self._forget_result)
        if server is None:
            self.set_buttons([Action(text="Cancel", do=self.reject)])
        else:
            self.open_form(form_from_spec(server.spec))

    def close_innermost(self) -> bool:
        """Put the question about consent away first."""
        asks = self._consent.isVisible()
        if asks:
            self._put_question_away()
        return asks

    def _put_question_away(self) -> None:
        self._consent.put_away(self.fields.first())
        self._starts.setVisible(self._named is not None)

    def _cards(self) -> QWidget:
        page = QWidget()
        column = column_layout(
            page, FlowText("Where do the tools come from?", role=Role.DIM), margins=(0, 0, BAR, 0), spacing=16
        )
        row = row_layout(spacing=12)
        for kind, icon, title, lines in _CARDS:
            card = ChoiceCard(icon, title, lines)
            card.clicked.connect(partial(self.open_form, ServerForm(kind=kind)))
            row.addWidget(card, 1)
        column.addLayout(row)
        column.addStretch(1)
        return page

    def _form(self) -> QWidget:
        page = QWidget()
        column = column_layout(page, spacing=12)
        filled = ScrollPane(self.fields, "Server")  # shrinks for the questions below it
        filled.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        column.addWidget(filled, 1)
        notices = column_layout(
            None,
            self._starts,
            self._consent,
            self._working,
            self._good,
            self._bad,
            margins=(0, 0, BAR, 0),
            spacing=None,
        )
        column.addLayout(notices)
        return page

    def open_form(self, form: ServerForm, _checked: bool = False) -> None:
        """Show the fields of a kind, filled in."""
        self.fields.fill(form)
        self._stack.setCurrentWidget(self._page)
        self.need(height=540)
        save = "Save changes" if self._server else _ADD[form.kind]
        back = [] if self._server else [Action(text="Back", do=self._back, icon="arrow-left", kind="quiet")]
        test = Action(text="Test connection", do=self.test)
        keep = Action(text=save, do=self.keep, kind="primary")
        self.set_buttons([Action(text="Cancel", do=self.reject), test, keep], left=back)
        self.fields.first().setFocus()
        self._name_program()

    def test(self) -> None:
        """Connect to the server as the fields define it, without saving it."""
        self._session.spawn(self._test(), of=self)

    def keep(self, remember: bool | None = None) -> None:
        """Save the server and close; ask first for the place of secrets that are written in the fields."""
        self._session.spawn(self._keep(remember), of=self)

    def _back(self) -> None:
        self._forget_result()
        self._stack.setCurrentIndex(0)
        self.set_buttons([Action(text="Cancel", do=self.reject)])

    def _forget_result(self) -> None:
        for part in (self._good, self._bad, self._working):
            part.clear()
        self._consent.hide()
        self._name_program()

    def _name_program(self) -> None:
        """Name the program that a new server starts, so that adding the server is the consent to start it."""
        if self._server is None:
            self._session.spawn(self._look_up_program(), of=self)

    async def _look_up_program(self) -> None:
        spec = self.fields.reading().spec
        request = await self._presenter.program_request(spec) if spec else None
        if spec == self.fields.reading().spec and request != self._named:
            self._show_program(request)

    def _show_program(self, request: ConsentRequest | None) -> None:
        """Show what would start; what cannot be shown whole is asked about on the page of the server."""
        warnings = _warnings(request) if request else []
        if request is None or request.obstacle or len(request.target) > MOST_SHOWN or len(warnings) > MOST_WARNINGS:
            self._named = None
            self._starts.clear()
            return
        self._named = request
        text = (
            f"Adding it starts this program on your computer, with your rights: {visible(request.target, MOST_SHOWN)}"
        )
        self._starts.show_message(text, "\n".join([*(f"It reads {name}." for name in request.names), *warnings]))

    async def _definition(self) -> DefinitionWithoutSecrets | None:
        """Return the definition without the secrets written in it; show the errors and return None if it is wrong."""
        reading = self.fields.reading()
        self.fields.show_errors(reading.faults)
        spec, before = reading.spec, self._server.spec if self._server else None
        if spec is None:
            return None
        try:
            return await self._presenter.without_secrets(spec, before)
        except InputError as error:
            self._bad.show_message(error.message, error.hint)
            return None

    async def _spec(self) -> ServerSpec | None:
        """Return the specification for use now: its secrets stay in memory until the program quits."""
        definition = await self._definition()
        return None if definition is None else await self._presenter.with_secrets_in_memory(definition)

    async def _ask_where(self, typed: DefinitionWithoutSecrets) -> None:
        """Ask for the place of the secrets, because the workspace never holds them."""
        places = ", ".join(dict.fromkeys(secret.where for secret in typed.secrets))
        names = ", ".join(dict.fromkeys(secret.variable for secret in typed.secrets))
        actions = [Action(text="Use until I quit", do=lambda: self.keep(remember=False))]
        if await self._presenter.has_keychain():
            actions.insert(0, Action(text="Keep in keychain", do=lambda: self.keep(remember=True)))
        self._working.show_message(
            f"The {places} contains a secret. It is not stored in the workspace.",
            f"Without the keychain, set the environment variable {names} before the next start.",
            actions,
        )

    async def _test(self) -> None:
        spec = await self._spec()
        if spec is None or self._busy:
            return
        self._forget_result()
        if requests := await self._presenter.missing_consents(spec, self.fields.reading().spec, self._server):
            self._starts.hide()
            self._consent.ask(requests[0])
            return
        self._busy = True
        self._working.show_message("Connecting. A first start may take ten seconds or more.")
        try:
            listing = await self._presenter.probe(spec)
        except TefError as error:
            words = error_text(error)
            self._forget_result()
            self._bad.show_message(words.message, words.hint, details=words.details)
        else:
            self._forget_result()
            self._good.show_message("Connected.", probe_summary(listing))
        finally:
            self._busy = False

    async def _agree(self) -> None:
        spec = await self._spec()
        if spec is not None:
            await self._presenter.allow(spec)
            await self._test()

    async def _keep(self, remember: bool | None) -> None:
        definition = await self._definition()
        if definition is None:
            return
        if definition.secrets and remember is None:
            await self._ask_where(definition)
            return
        try:
            self.saved = await self._presenter.save(
                definition,
                self._server,
                self.fields.reading().spec,
                in_keychain=bool(remember),
                named=self._named,
            )
        except ConflictError as error:
            self.fields.show_errors({"name": error.message})
        except TefError as error:
            words = error_text(error)
            self._bad.show_message(words.message, words.hint, details=words.details)
        else:
            self.accept()


def _warnings(request: ConsentRequest) -> list[str]:
    return [line for label, lines in consent_rows(request) if label in WARNINGS for line in lines]
