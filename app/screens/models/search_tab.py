"""Search tab: search tools of six providers, their keys, and a search by hand."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core_link.commands import Command
from app.core_link.refresh import Refresh
from app.core_link.session import Session
from app.dialogs.consent import with_consent
from app.screens.kit.menus import command_action
from app.screens.models.check_pane import ask_for_key
from app.screens.models.definition_tab import DefinitionDialog, DefinitionTab
from app.screens.models.search_presenter import (
    NO_KEY,
    PROVIDERS,
    SearchPresenter,
    SearchToolForm,
    answer_text,
)
from app.text.formatting import count, error_text
from app.theme import Role, Size, sized
from app.widgets import (
    Action,
    Button,
    CardRow,
    Cell,
    Column,
    Field,
    FlowText,
    KeyValues,
    LineEdit,
    Links,
    ListTable,
    MenuButton,
    Notice,
    Row,
    Rule,
    Span,
    Split,
    column_layout,
)
from mcp_tef import USUAL_RESULTS, Event, SearchAnswer, SearchProvider, SearchResult, SearchTool, TefError

RESULTS: Final = (
    Column(key="title", title="Title", width=230, least=90, tip="Title of the page"),
    Column(key="snippet", title="Snippet", stretch=True, least=110, role=Role.DIM, tip="What the provider shows of it"),
    Column(key="date", title="Date", width=110, role=Role.DIM, tip="Date of the page, if the provider gives one"),
)
BEFORE: Final = "Search once by hand to see what a model gets: at most 20 results in the one shape of all providers."


class SearchTab(DefinitionTab):
    """Lists search tools; the selected one is tried by a query."""

    NOUN, ICON = "search tool", "magnifying-glass"
    WHY_EMPTY = (
        "A search tool asks one of six providers in the one request and answer of all. Tools of the library use it by "
        "its name. Its key is kept in memory, and is never part of the workspace."
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session, "Search")
        self.presenter = SearchPresenter(session.call)
        self.title, self.links = FlowText(size=Size.LEAD, strong=True), Links()
        self.facts = KeyValues(label_width=sized(92))
        self.query, self.number = LineEdit(), LineEdit()
        self.go = Button("Search", icon="magnifying-glass")
        self.notice = Notice("bad")
        self.found = FlowText(BEFORE, role=Role.DIM)
        self.results = ListTable(RESULTS, "Results")
        self.page = FlowText()
        self._lower_pane = self._lower()
        self.lay_out(Split([self._upper(), self._lower_pane], "Results and page", [560, 130], stacked=True))
        self.go.clicked.connect(lambda: session.spawn(self.search(), of=self))
        self.query.returnPressed.connect(self.go.click)
        self.results.chosen.connect(lambda _: self._show_page())

    def _upper(self) -> QWidget:
        made, head, row = QWidget(), QVBoxLayout(), QHBoxLayout()
        self.number.setText(str(USUAL_RESULTS))
        self.number.setFixedWidth(sized(64))
        self.query.setPlaceholderText("What to search for")
        row.setSpacing(8)
        row.addWidget(Field("Query", self.query), 1)
        row.addWidget(Field("Results", self.number))
        row.addWidget(self.go, 0, Qt.AlignmentFlag.AlignBottom)
        head.setContentsMargins(16, 12, 16, 8)
        head.setSpacing(8)
        for part in (self.title, self.links, self.facts):
            head.addWidget(part)
        head.addLayout(row)
        head.addWidget(self.found)
        column = column_layout(made, head, self.notice, Rule())
        column.addWidget(self.results, 1)
        return made

    def _lower(self) -> QWidget:
        made = QWidget()
        column = column_layout(made, self.page, margins=(16, 10, 16, 10), spacing=None)
        column.addStretch(1)
        return made

    # ------------------------------------------------------------ what the page asks of a tab

    async def refresh(self) -> None:
        presenter = self.presenter
        await presenter.load()
        self.show_cards([self._card(tool) for tool in presenter.tools.values()])

    def _card(self, tool: SearchTool) -> CardRow:
        lacking = tool.needs_key and tool.provider.value not in self.presenter.at_hand
        note = f"{PROVIDERS[tool.provider]}{' · no key' if lacking else ''}"
        return CardRow(id=tool.name, title=tool.name, sub=(Span(note, Role.DIM),), tip=tool.description)

    def handle(self, event: Event) -> Refresh:
        return self.presenter.handle(event)

    def count_text(self) -> str:
        return count(len(self.presenter.tools), "search tool")

    def buttons(self) -> Sequence[Action]:
        new = self.commands()[0]
        if not self.presenter.tools:
            return ()
        return (command_action(new, "New search tool…", kind="primary", icon="plus"),)

    def commands(self) -> Sequence[Command]:
        def needs_key() -> bool:
            return self.tool is not None and self.tool.needs_key

        unless = "Select a search tool that needs a key"
        return (
            self.new_command(self.new_tool),
            self.command("edit_search", "Change the search tool", self.edit_tool),
            self.command("search_key", "Type the key of the search tool", self.type_key, "", needs_key, unless),
            self.command("search_now", "Search by the tool", self.search, "Ctrl+Return"),
            self.delete_command(),
        )

    @property
    def tool(self) -> SearchTool | None:
        """The selected search tool."""
        return self.presenter.tools.get(self.cards.current_id())

    # ------------------------------------------------------------ showing

    def show_selected(self) -> None:
        tool, presenter = self.tool, self.presenter
        if tool is None:
            return
        self.title.set_text(tool.name)
        _, edit, key, *_ = self.commands()
        links = [command_action(edit, "Change…", kind="link")]
        links += [command_action(key, "Type a key…", kind="link")] if tool.needs_key else []
        self.links.set_links(links)
        rows = [("Provider", PROVIDERS[tool.provider]), ("Address", tool.address), ("Key", presenter.key_text(tool))]
        rows += [("Engine", tool.engine)] if tool.engine else []
        rows += [("For", tool.description)] if tool.description else []
        self.facts.set_rows(rows)
        self._show_answer(tool, presenter.answers.get(tool.name))

    def _show_answer(self, tool: SearchTool, answer: SearchAnswer | str | None) -> None:
        results = answer.results if isinstance(answer, SearchAnswer) else ()
        self.notice.show_message(answer if isinstance(answer, str) else "")
        self.found.set_text(answer_text(answer, tool) if isinstance(answer, SearchAnswer) else BEFORE)
        self.found.setVisible(not isinstance(answer, str))
        self.results.set_rows([Row(str(place), _cells(one)) for place, one in enumerate(results)])
        if results and not self.results.current_id():
            self.results.select_first()
        self._show_page()

    def _show_page(self) -> None:
        answer = self.presenter.answers.get(self.cards.current_id())
        row = self.results.current_id()
        found = answer.results if isinstance(answer, SearchAnswer) else ()
        one = found[int(row)] if row and int(row) < len(found) else None
        self._lower_pane.setVisible(one is not None)
        if one is None:
            return
        dates = ((one.date, "dated"), (one.last_updated, "last updated"))
        told = "".join(f" · {what} {date}" for date, what in dates if date)
        spans = (Span(one.title, strong=True), Span(f"\n{one.url}{told}\n", Role.DIM), Span(one.snippet))
        self.page.set_spans(spans)

    # ------------------------------------------------------------ doing

    async def search(self) -> None:
        """Search by the selected tool, asking for a missing key or consent; an error is shown in one sentence."""
        tool, presenter = self.tool, self.presenter
        if tool is None:
            return
        self.found.set_text("Searching…")
        self.found.show()
        self.go.setEnabled(False)
        ask = partial(presenter.search, tool.name, self.query.text(), self.number.text())
        try:
            await with_consent(self.session, self, ask)
        except TefError as error:
            words = error_text(error)
            hint = "Type one with “Type a key…”." if error.code == NO_KEY else words.hint
            presenter.answers[tool.name] = f"{words.message} {hint}".strip()
        finally:
            self.go.setEnabled(True)
        self.show_selected()

    async def type_key(self) -> None:
        """Ask for the key of the selected tool, which is kept in memory unless the keychain is chosen."""
        tool = self.tool
        if tool and await ask_for_key(self.session, self, tool.provider.value, tool.base_url or None):
            self.presenter.answers.pop(tool.name, None)
            await self.refresh()

    async def new_tool(self) -> None:
        """Ask for a new search tool."""
        presenter = self.presenter
        dialog = SearchToolDialog(self.session, "New search tool", "Create search tool", SearchToolForm(), self)
        tool = await dialog.kept(lambda: presenter.add(dialog.form()))
        if tool is not None:
            await self.added(tool.name, partial(presenter.remove, tool.name), partial(presenter.save, tool))

    async def edit_tool(self) -> None:
        """Change the selected search tool."""
        before, presenter = self.tool, self.presenter
        if before is None:
            return
        form = SearchToolForm.of(before)
        dialog = SearchToolDialog(self.session, "Change the search tool", "Save", form, self, named=False)
        tool = await dialog.kept(lambda: presenter.edit(before, dialog.form()))
        if tool is not None:
            undo, again = partial(presenter.save, before, tool), partial(presenter.save, tool, before)
            self.session.toast(f"Changed {tool.name}", undo, again, action=f"change {tool.name}")
            await self.refresh()

    async def remove(self, name: str) -> Callable[[], object]:
        return partial(self.presenter.save, await self.presenter.remove(name))


class SearchToolDialog(DefinitionDialog):
    """Fields of a search tool; the engine is asked for where the provider has several."""

    def __init__(
        self,
        session: Session,
        title: str,
        button: str,
        form: SearchToolForm,
        parent: QWidget,
        *,
        named: bool = True,
    ) -> None:
        super().__init__(session, title, button, parent)
        self._form = form
        if named:
            self.name = self.add_line("Name", form.name, note="Tools of the library name it.")
        self.provider = MenuButton("Provider", [(one.value, text) for one, text in PROVIDERS.items()])
        self.provider.set_current(form.provider)
        self.body.addWidget(Field("Provider", self.provider, note="The key is never part of the search tool."))
        self.address = self.add_line("Address", form.base_url, hint="Empty: the provider’s own. Needed for SearXNG")
        self.engine = self.add_line("Search engine (cx)", form.engine, hint="Needed for Google")
        self.description = self.add_line("For", form.description, hint="What it is for")
        self.provider.changed.connect(lambda _: self._show_fields())
        self._named = named
        self._show_fields()
        (self.name if named else self.provider).setFocus()

    def _show_fields(self) -> None:
        engine = self.engine.parentWidget()
        if engine is not None:
            engine.setVisible(self.provider.current() == SearchProvider.GOOGLE_PSE.value)

    def form(self) -> SearchToolForm:
        """Return what was typed."""
        return SearchToolForm(
            name=self.name.text() if self._named else self._form.name,
            provider=self.provider.current(),
            base_url=self.address.text(),
            engine=self.engine.text(),
            description=self.description.text(),
        )


def _cells(one: SearchResult) -> tuple[Cell, ...]:
    date = (one.date or one.last_updated or "")[:10]
    return Cell(text=one.title, tip=one.url), Cell(text=one.snippet, tip=one.snippet), Cell(text=date)
