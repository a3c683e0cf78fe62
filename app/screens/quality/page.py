"""The quality screen: which tools are badly described, what to do about each, and a model's opinion on request."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.links import link_actions, tool_commands, tool_links
from app.core_link.model_requests import AskForm
from app.core_link.refresh import Refresh
from app.core_link.session import Page, Session
from app.core_link.targets import AddServer, Screen, ShowScreen, ShowToolQuality, Target
from app.dialogs.consent import ask_for_servers
from app.dialogs.export import copy_markdown
from app.screens.quality.exports import FORMS, ask_where
from app.screens.quality.labels import QualityLevel
from app.screens.quality.model_request import KEPT, ReviewProgress, ReviewRequest, ReviewRequestDialog
from app.screens.quality.presenter import LEVELS, Filters, QualityPresenter, QualityState, stale_after
from app.screens.quality.view import QualityView, tool_row
from app.text.formatting import count
from app.theme import roomy
from app.widgets import Action, MenuButton, show_menu
from mcp_tef import Event, ModelSettings, ToolLabel, ToolQuality

SETTLE_MS = 40
LEVELS_WIDTH = 176
FORM = "quality.ask"
FILTERS = "quality.filters"
_LEVEL_TEXTS = {
    QualityLevel.ERROR: "Errors",
    QualityLevel.WARNING: "Warnings",
    QualityLevel.NOTE: "Notes",
    QualityLevel.FINE: "Nothing to mend",
    QualityLevel.RISKS: "Poisoned or hidden",
}


class QualityPage(Page):
    """Owns the presenter; `open_target` understands a tool, and several of them."""

    _review_received = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__(session, key="quality", title="Quality")
        self.presenter = QualityPresenter(session.call)
        self.presenter.filters = self._kept_filters()
        self.asking = ReviewRequest(session.call, self.presenter)
        self.view = QualityView()
        self.activity = session.activity.add()
        self.levels = MenuButton("Findings")
        self.levels.setFixedWidth(roomy(LEVELS_WIDTH))
        self.sheet: ReviewRequestDialog | None = None
        self._pending_ids: tuple[str, ...] = (session.settings.get("quality.chosen", ""),)
        self._pending_targets: tuple[ToolLabel, ...] = ()
        self._progress: ReviewProgress | None = None
        self._reviewing: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        search = self.header.set_search("Search tools")
        search.searched.connect(self._search)
        self.restore_search(search)
        self.header.place(self.levels)
        self._show_level_choices()
        self._show_buttons()
        self.view.restore(self.session.settings)
        self.restore_layout("quality.table", self.view.table)
        self.body.addWidget(self.view, 1)

    def _connect(self) -> None:
        self._settle.timeout.connect(self._show_detail)
        self.session.closing.connect(self._settle.stop)
        self._review_received.connect(self._take)
        self.levels.changed.connect(lambda key: self._filter(replace(self.presenter.filters, level=key)))
        self.view.server_chosen.connect(self._choose_server)
        self.view.gaps.servers_wanted.connect(lambda: self.session.go(ShowScreen(Screen.SERVERS)))
        self.view.gaps.read_wanted.connect(self.reload_servers)
        self.view.table.chosen.connect(self._choose)
        self.view.table.set_menu(self._menu)
        self.view.table.tell_keys(Enter="Read about the tool", Space="Read about the tool")
        self.activity.cancel_wanted.connect(self.cancel)
        detail = self.view.detail
        detail.review.wanted.connect(lambda: self.ask([self.view.table.current_id()]))
        detail.review.copied.connect(self._copy)

    # ------------------------------------------------------------------ what the window asks of a page

    async def refresh(self) -> None:
        """Judge all tools as they were last seen, and show them."""
        if await self.presenter.load():
            self._present()

    def handle(self, event: Event) -> Refresh:
        return Refresh.NOW if stale_after(event) else Refresh.NONE

    def open_target(self, target: Target) -> None:
        """Choose a tool, or several, whatever the filters say."""
        if isinstance(target, ShowToolQuality):
            self._pending_targets = target.tools
            self._clear()

    def current_target(self) -> Target | None:
        return ShowToolQuality((tool,)) if (tool := self._tool()) else None

    def _tool(self) -> ToolLabel | None:
        """The tool that is chosen."""
        quality = self.presenter.get(self.view.table.current_id())
        return ToolLabel(tool=quality.tool.tool.name, server=quality.tool.tool.server) if quality else None

    async def finish(self) -> None:
        settings = self.session.settings
        self.view.remember(settings)
        settings.set("quality.chosen", self.view.table.current_id())

    def commands(self) -> Sequence[Command]:
        group = "Quality"

        return (
            Command(
                id="quality.ask",
                text="Ask a model about tools",
                keys="Ctrl+R",
                do=self.ask,
                needs=self._any,
                unless="No tools are known yet",
                group=group,
            ),
            Command(
                id="quality.cancel",
                text="Stop asking the model",
                do=self.cancel,
                needs=lambda: self._reviewing is not None,
                unless="No model is being asked",
                group=group,
            ),
            *tool_commands(self.key, group, self._tool, self.session.go),
            Command(id="quality.clear", text="Take all filters away", do=self._clear, group=group),
        )

    def first_focus(self) -> QWidget | None:
        if self.presenter.standing() is QualityState.FULL:
            return self.view.table
        return next(iter(self.view.empty.buttons()), None)

    # ------------------------------------------------------------------ showing

    def _any(self) -> bool:
        return bool(self.presenter.tools())

    def _present(self) -> None:
        presenter = self.presenter
        standing = presenter.standing()
        self.set_badge(presenter.badge())
        self._show_buttons()
        self._show_level_choices()
        self._show_notices()
        if standing in (QualityState.NO_SERVERS, QualityState.NO_TOOLS):
            self._show_empty(standing)
            return
        levels = presenter.levels(presenter.filters.server)
        self.view.show_servers(presenter.cards(), presenter.filters.server)
        self.view.strip.show_levels(levels, presenter.token_summary())
        self.view.show_panes()
        self._show_tools()

    def _show_tools(self) -> None:
        shown = self.presenter.shown()
        every = len(self.presenter.tools())
        self.header.set_count(
            count(every, "tool") if len(shown) == every else f"{len(shown):,} of {count(every, 'tool')}"
        )
        if not shown:
            clear = Action(text="Take all filters away", do=self._clear, kind="primary")
            self.view.nothing.set(
                "funnel", "No tool fits", "No tool is like this. Take a filter away to see more.", [clear]
            )
        self.view.show_tools(shown)
        sought = (tool_id for tool in self._pending_targets for tool_id in self.presenter.ids_of(tool))
        if self.view.table.select_many([*sought, *self._pending_ids]):
            self._pending_targets, self._pending_ids = (), ()
        self._settle.start()

    def _show_empty(self, standing: QualityState) -> None:
        self.header.set_count("")
        reasons = self.presenter.missing_reasons() or self.presenter.missing_summary()
        if standing is QualityState.NO_TOOLS:
            what = "None of the servers has listed a tool yet. Read them to see what a model would."
            again = Action(text="Read the servers again", do=self.reload_servers, kind="primary")
            go = Action(text="Go to Servers", do=lambda: self.session.go(ShowScreen(Screen.SERVERS)))
            self.view.empty.set("medal", "No tools to look at", f"{what}\n\n{reasons}".strip(), [again, go])
        else:
            what = (
                "Here stands how well each tool is described, from worst to best, with what to write instead. "
                "It needs the tools of a server, and no model."
            )
            add = Action(text="Add server", do=lambda: self.session.go(AddServer()), kind="primary", icon="plus")
            sample = Action(text="Open the sample", do=lambda: self.session.spawn(self._open_sample()))
            self.view.empty.set("medal", "Nothing to look at yet", what, [add, sample])
        self.view.show_empty()

    def _show_notices(self) -> None:
        presenter, view = self.presenter, self.view
        view.gaps.show_missing(presenter.missing_summary(), presenter.missing_reasons())
        levels = presenter.levels()
        good = self._any() and not any(levels[one] for one in LEVELS if one is not QualityLevel.FINE)
        hint = "Rules do not see everything: ask a model for its opinion, or look for look-alikes under Similarity."
        view.good.show_message("No rule found anything in any tool." if good else "", hint if good else "")

    def _show_buttons(self) -> None:
        ready = self._any() and self._reviewing is None
        tip = "Grades and suggested descriptions by a language model (Ctrl+R)"
        self.header.set_buttons(
            [
                Action(text="Export", do=self._open_export, icon="export", enabled=self._any()),
                Action(
                    text="Ask a model…", do=self.ask, kind="primary", icon="chat-circle-text", enabled=ready, tip=tip
                ),
            ]
        )

    def _show_level_choices(self) -> None:
        levels = self.presenter.levels(self.presenter.filters.server)
        choices: list[tuple[str, str] | None] = [("", "All findings"), None]
        choices += [(one.value, f"{text} ({levels[one]:,})") for one, text in _LEVEL_TEXTS.items()]
        choices.insert(-1, None)
        self.levels.set_choices(choices, self.presenter.filters.level)

    def _show_detail(self) -> None:
        quality = self.presenter.get(self.view.table.current_id())
        self.view.detail.show_quality(quality, self.presenter.report)
        self.view.detail.head.links.set_links(self._links())

    # ------------------------------------------------------------------ choosing

    def _choose(self, tool_id: str) -> None:
        self._settle.start()

    def _choose_server(self, name: str) -> None:
        if name != self.presenter.filters.server:
            self._filter(replace(self.presenter.filters, server=name))

    def _search(self, text: str) -> None:
        self._filter(replace(self.presenter.filters, text=text.strip()))

    def _clear(self) -> None:
        if self.header.search is not None:
            self.header.search.clear()
        self._filter(Filters())

    def _filter(self, filters: Filters) -> None:
        other = filters.server != self.presenter.filters.server
        self.presenter.filters = filters
        self.session.settings.set(FILTERS, [filters.server, filters.level])
        self.levels.set_current(filters.level)
        if self.presenter.report is None:
            return
        if other:
            self._present()
        else:
            self._show_tools()

    def _kept_filters(self) -> Filters:
        match self.session.settings.get(FILTERS, []):
            case [str(server), str(level)] if level in ("", *_LEVEL_TEXTS):
                return Filters(server=server, level=level)
        return Filters()

    def _menu(self, ids: Sequence[str]) -> Sequence[Action]:
        one = len(ids) == 1
        about = "Ask a model about this tool…" if one else f"Ask a model about {count(len(ids), 'tool')}…"
        return [
            Action(text=about, do=lambda: self.ask(ids), enabled=self._reviewing is None),
            Action(text="Copy findings as Markdown", do=partial(self.copy, tuple(ids)), icon="copy"),
            *(replace(link, apart=not place, enabled=one) for place, link in enumerate(self._links())),
        ]

    def _links(self) -> list[Action]:
        """Where there is more of the chosen tool."""
        tool = self._tool()
        return link_actions(tool_links(tool, self.key), self.session.go) if tool else []

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.session.toast("Copied the suggested description")

    def export_actions(self) -> list[Action]:
        """The whole report, filters or not, in each form."""
        forms = [Action(text=f"{form.upper()}…", do=partial(self.export, form)) for form in FORMS]
        shown = [one.tool.id for one in self.presenter.shown()]
        return [*forms, Action(text="Copy findings as Markdown", do=partial(self.copy, shown), icon="copy", apart=True)]

    def copy(self, ids: Sequence[str]) -> None:
        """Put what was found in tools on the clipboard as Markdown."""
        tools = [one for tool_id in ids if (one := self.presenter.get(tool_id))]
        self.session.spawn(copy_markdown(self.session, self.presenter.findings_markdown(tools), "the findings"))

    def export(self, form: str) -> None:
        """Ask where the report is to go."""
        if (report := self.presenter.current()) is not None:
            ask_where(self, self.presenter, report, form)

    def _open_export(self) -> None:
        made = self.header.buttons()[0]
        show_menu(self.export_actions(), made.mapToGlobal(made.rect().bottomLeft()), self)

    async def _open_sample(self) -> None:
        await self.presenter.open_sample()
        await self.refresh()

    def reload_servers(self) -> None:
        """Ask the servers for their tools; what is not allowed yet is asked about first."""
        if self._reading is None or self._reading.done():
            self._reading = self.session.spawn(self._reload_servers())

    async def _reload_servers(self) -> None:
        await ask_for_servers(self.session, self)
        await self.presenter.read_servers()
        await self.refresh()

    # ------------------------------------------------------------------ asking a model

    def ask(self, ids: Sequence[str] = ()) -> None:
        """Open the form for asking a model: about these tools, else about those that are chosen or shown."""
        if self.sheet is None and self._reviewing is None and self._any():
            self.session.spawn(self._ask(ids))

    async def _ask(self, ids: Sequence[str]) -> None:
        kept = self.session.settings.get(FORM, {})
        form = AskForm(**{name: value for name in KEPT if isinstance(value := kept.get(name), str)})
        self.sheet = ReviewRequestDialog(self.session, self.asking, form, self._scopes(ids), self)
        try:
            await self.sheet.done_with()
            model, tools = self.sheet.agreed, self.sheet.tools()
        finally:
            self.sheet = None
        if model is not None:
            self.session.settings.set(FORM, {"model": model.label, "base_url": model.base_url or ""})
            self._reviewing = self.session.spawn(self._review(model, tools))
            self._show_buttons()

    def _scopes(self, ids: Sequence[str]) -> list[tuple[str, Sequence[ToolQuality]]]:
        chosen = [one for tool_id in ids or self.view.table.selected_ids() if (one := self.presenter.get(tool_id))]
        shown, every = self.presenter.shown(), self.presenter.tools()
        scopes: list[tuple[str, Sequence[ToolQuality]]] = []
        if chosen:
            scopes.append((f"{len(chosen):,} chosen", chosen))
        if shown and len(shown) < len(every):
            scopes.append((f"{len(shown):,} shown", shown))
        scopes.append((f"All {len(every):,}", every))
        return scopes

    async def _review(self, model: ModelSettings, tools: Sequence[ToolQuality]) -> None:
        progress = self._progress = ReviewProgress(model=model.label, total=len(tools))
        self._show_progress()
        stopped = False
        try:
            with suppress(asyncio.CancelledError):
                stopped = True
                await self.presenter.review(tools, model, self._review_received.emit)
                stopped = False
        finally:
            self._reviewing = self._progress = None
            self.activity.clear()
            self._show_buttons()
        self.session.toast(progress.summary(stopped=stopped))

    def cancel(self) -> None:
        """Stop asking; what was heard is kept."""
        if self._reviewing is not None:
            self._reviewing.cancel()

    def _take(self, quality: ToolQuality) -> None:
        known = self.presenter.take(quality)
        if self._progress is not None:
            self._progress.take(quality)
            self._show_progress()
        if known is not None and self.presenter.is_shown(known):
            self.view.table.upsert([tool_row(known)])
            if known.tool.id == self.view.table.current_id():
                self._settle.start()

    def _show_progress(self) -> None:
        if (now := self._progress) is not None:
            self.activity.set_state(now.done / max(1, now.total), now.lead, now.parts, can_pause=False)
