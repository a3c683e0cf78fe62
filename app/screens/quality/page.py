"""Quality screen: findings on the definition of each tool, and reviews by a model."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.links import link_actions, tool_links
from app.core_link.refresh import Refresh
from app.core_link.session import Page, Session
from app.core_link.targets import AddServer, ChangeTool, Screen, ShowScreen, ShowToolQuality, Target
from app.dialogs.consent import ask_for_servers
from app.dialogs.export import ask_file, copy_markdown, copy_text, report_writers
from app.dialogs.model_request_dialog import ModelRequests, ModelTask
from app.screens.kit import NO_FILTERS, FilterValues, ViewState, ViewStates
from app.screens.kit.menus import command_action
from app.screens.quality.commands import ASK, CANCEL, CLEAR, COPY, EXPORT, READ, quality_commands
from app.screens.quality.finding_card import IgnoreDialog
from app.screens.quality.labels import QualityLevel
from app.screens.quality.presenter import FIELDS, LEVEL, LEVELS, SERVER, QualityPresenter, QualityState
from app.screens.quality.view import QualityView, tool_row
from app.text.formatting import count
from app.theme import roomy
from app.widgets import Action, MenuButton, show_menu_under
from mcp_tef import Event, ToolLabel, ToolQuality

SETTLE_MS = 40
LEVELS_WIDTH = 176


def review_task(presenter: QualityPresenter) -> ModelTask:
    """Return the request that asks a model to review tools."""
    return ModelTask(
        title="Ask a model",
        explanation=(
            "A model reads each definition, grades its clarity, completeness and conciseness, and suggests a "
            "description. Its review is shown beside the findings and does not change the score."
        ),
        noun="tool",
        activity="reviews definitions",
        result="reviewed",
        estimate=presenter.estimate,
        run=presenter.review,
        cost=lambda quality: quality.review.cost_usd if quality.review else None,
    )


class QualityPage(Page):
    """Page of tools with their findings; `open_target` shows one or several tools."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, key="quality", title="Quality")
        self.presenter = QualityPresenter(session.call)
        self._views = ViewStates(session.settings, session.workspace, self.key)
        self.presenter.view = self._views.load(FIELDS)
        self.requests = ModelRequests(self, review_task(self.presenter))
        self.view = QualityView()
        self.levels = MenuButton("Findings")
        self.levels.setFixedWidth(roomy(LEVELS_WIDTH))
        self._pending_ids: tuple[str, ...] = (self.presenter.view.selected,)
        self._pending_targets: tuple[ToolLabel, ...] = ()
        self._reading: asyncio.Task[None] | None = None
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        search = self.header.set_search("Search tools")
        search.setText(self.presenter.view.text)
        search.searched.connect(lambda text: self._show_view(replace(self.presenter.view, text=text.strip())))
        self.header.place(self.levels)
        self._show_level_choices()
        self._show_buttons()
        self.view.restore(self.session.settings)
        self.restore_layout("quality.table", self.view.table)
        self.body.addWidget(self.view, 1)

    def _connect(self) -> None:
        self._settle.timeout.connect(self._show_detail)
        self.session.closing.connect(self._settle.stop)
        self.requests.answered.connect(self._take)
        self.requests.changed.connect(self._show_buttons)
        self.levels.changed.connect(lambda key: self._filter(self.presenter.set_filter(LEVEL, key)))
        self.view.server_chosen.connect(self._choose_server)
        self.view.gaps.servers_wanted.connect(lambda: self.session.go(ShowScreen(Screen.SERVERS)))
        self.view.gaps.read_wanted.connect(self.reload_servers)
        self.view.table.chosen.connect(self._choose)
        self.view.table.set_menu(self._menu)
        self.view.table.describe_keys(Enter="Show the findings", Space="Show the findings")
        detail = self.view.detail
        detail.review.wanted.connect(lambda: self.ask([self.view.table.current_id()]))
        detail.ignore_wanted.connect(lambda rule: self.session.spawn(self._ignore(rule)))
        detail.fix_wanted.connect(self._fix)
        detail.ignored.restore_wanted.connect(lambda rule: self.session.spawn(self._restore(rule)))
        detail.review.copied.connect(lambda text: copy_text(self.session, text, "the suggested description"))

    # ------------------------------------------------------------------ what the window asks of a page

    async def refresh(self) -> None:
        """Judge the tools that the servers listed last, and show them."""
        if await self.presenter.load():
            self._present()

    def handle(self, event: Event) -> Refresh:
        return self.presenter.handle(event)

    def open_target(self, target: Target) -> None:
        """Clear search and filters, and select the tools."""
        if isinstance(target, ShowToolQuality):
            self._pending_targets = target.tools
            self.clear_filters()

    def current_target(self) -> Target | None:
        return ShowToolQuality((tool,)) if (tool := self._tool()) else None

    def _tool(self) -> ToolLabel | None:
        """Return the selected tool, if any."""
        quality = self.presenter.get(self.view.table.current_id())
        return ToolLabel(tool=quality.tool.tool.name, server=quality.tool.tool.server) if quality else None

    async def finish(self) -> None:
        self.view.remember(self.session.settings)
        self._views.save(replace(self.presenter.view, selected=self.view.table.current_id()), FIELDS)

    @cached_property
    def _commands(self) -> Mapping[str, Command]:
        return quality_commands(
            {
                ASK: self.ask,
                CANCEL: self.requests.stop,
                COPY: lambda: self.copy(self.view.table.selected_ids()),
                EXPORT: self.open_export,
                READ: self.reload_servers,
                CLEAR: self.clear_filters,
            },
            has_tools=lambda: bool(self.presenter.tools()),
            is_busy=lambda: self.requests.busy,
            tool=self._tool,
            go=self.session.go,
        )

    def commands(self) -> Sequence[Command]:
        return tuple(self._commands.values())

    def first_focus(self) -> QWidget | None:
        if self.presenter.state is QualityState.FULL:
            return self.view.table
        return next(iter(self.view.empty.buttons()), None)

    # ------------------------------------------------------------------ showing

    def _present(self) -> None:
        presenter = self.presenter
        state = presenter.state
        self.set_badge(presenter.badge())
        self._show_buttons()
        self._show_level_choices()
        self._show_notices()
        if state in (QualityState.NO_SERVERS, QualityState.NO_TOOLS):
            self._show_empty(state)
            return
        levels = presenter.levels(presenter.server)
        self.view.show_servers(presenter.cards(), presenter.server)
        self.view.summary.show_levels(levels, presenter.token_summary())
        self.view.show_panes()
        self._show_tools()

    def _show_tools(self) -> None:
        shown = self.presenter.shown()
        every = len(self.presenter.tools())
        self.header.set_count(
            count(every, "tool") if len(shown) == every else f"{len(shown):,} of {count(every, 'tool')}"
        )
        if not shown:
            clear = command_action(self._commands[CLEAR], kind="primary")
            self.view.nothing.set("funnel", "No tools match", "No tool matches the search and the filters.", [clear])
        self.view.show_tools(shown)
        sought = (tool_id for tool in self._pending_targets for tool_id in self.presenter.ids_of(tool))
        if self.view.table.select_many([*sought, *self._pending_ids]):
            self._pending_targets, self._pending_ids = (), ()
        self._settle.start()

    def _show_empty(self, state: QualityState) -> None:
        self.header.set_count("")
        reasons = self.presenter.missing_reasons() or self.presenter.missing_summary()
        if state is QualityState.NO_TOOLS:
            text = "No server has listed a tool yet. Read the servers to see their tools."
            again = command_action(self._commands[READ], kind="primary")
            go = Action(text="Go to Servers", do=lambda: self.session.go(ShowScreen(Screen.SERVERS)))
            self.view.empty.set("medal", "No tools yet", f"{text}\n\n{reasons}".strip(), [again, go])
        else:
            text = (
                "This page shows how well each tool is described, worst first, and how to improve it. "
                "It needs a server with tools, but no model."
            )
            add = Action(text="Add server…", do=lambda: self.session.go(AddServer()), kind="primary", icon="plus")
            sample = Action(text="Open the sample", do=lambda: self.session.spawn(self._open_sample()))
            self.view.empty.set("medal", "No servers yet", text, [add, sample])
        self.view.show_empty()

    def _show_notices(self) -> None:
        presenter, view = self.presenter, self.view
        view.gaps.show_missing(presenter.missing_summary(), presenter.missing_reasons())
        levels = presenter.levels()
        good = bool(presenter.tools()) and not any(levels[one] for one in LEVELS if one is not QualityLevel.FINE)
        hint = "Rules do not find everything: ask a model for a review, or look for similar tools under Similarity."
        view.good.show_message("No issues in any tool." if good else "", hint if good else "")

    def _show_buttons(self) -> None:
        tip = "Grades and suggested descriptions by a language model (Ctrl+Shift+R)"
        kind = "primary" if self._commands[ASK].needs() else "plain"
        ask = command_action(self._commands[ASK], "Ask a model…", kind=kind, icon="chat-circle-text", tip=tip)
        export = command_action(self._commands[EXPORT], "Export", icon="export")
        self.header.set_buttons([export, replace(ask, enabled=ask.enabled and not self.requests.busy)])

    def _show_level_choices(self) -> None:
        levels = self.presenter.levels(self.presenter.server)
        choices: list[tuple[str, str] | None] = [("", "All findings"), None]
        choices += [(one.value, f"{LEVEL.texts[one]} ({levels[one]:,})") for one in map(QualityLevel, LEVEL.texts)]
        choices.insert(-1, None)
        self.levels.set_choices(choices, self.presenter.view.filters.first(LEVEL.name))

    def _show_detail(self) -> None:
        quality = self.presenter.get(self.view.table.current_id())
        self.view.detail.show_quality(quality, self.presenter.report)
        self.view.detail.head.links.set_links(self._links())

    # ------------------------------------------------------------------ choosing

    def _choose(self, tool_id: str) -> None:
        self._settle.start()

    def _choose_server(self, name: str) -> None:
        if name != self.presenter.server:
            self._filter(self.presenter.set_filter(SERVER, name))

    def clear_filters(self) -> None:
        """Clear search and filters."""
        if self.header.search is not None:
            self.header.search.clear()
        self._filter(NO_FILTERS)

    def _filter(self, filters: FilterValues) -> None:
        self._show_view(replace(self.presenter.view, filters=filters))

    def _show_view(self, view: ViewState) -> None:
        other_server = view.filters.of(SERVER.name) != self.presenter.view.filters.of(SERVER.name)
        self.presenter.view = view
        self._views.save(view, FIELDS)
        self.levels.set_current(view.filters.first(LEVEL.name))
        if self.presenter.report is None:
            return
        if other_server:
            self._present()
        else:
            self._show_tools()

    def _menu(self, ids: Sequence[str]) -> Sequence[Action]:
        one = len(ids) == 1
        text = "Ask a model about this tool…" if one else f"Ask a model about {count(len(ids), 'tool')}…"
        return [
            command_action(self._commands[ASK], text, enabled=not self.requests.busy),
            command_action(self._commands[COPY], "Copy findings as Markdown", icon="copy"),
            *(replace(link, apart=not place, enabled=one) for place, link in enumerate(self._links())),
        ]

    def _links(self) -> list[Action]:
        """Return links from the selected tool to other screens."""
        tool = self._tool()
        return link_actions(tool_links(tool, self.key), self.session.go) if tool else []

    def export_actions(self) -> list[Action]:
        """Return the actions of the export menu: the whole report, and the shown findings."""
        shown = [one.tool.id for one in self.presenter.shown()]
        copy = Action(text="Copy findings as Markdown", do=partial(self.copy, shown), icon="copy")
        return [Action(text="Report…", do=self.export), copy]

    def copy(self, ids: Sequence[str]) -> None:
        """Copy the findings of these tools as Markdown."""
        tools = [one for tool_id in ids if (one := self.presenter.get(tool_id))]
        self.session.spawn(copy_markdown(self.session, self.presenter.findings_markdown(tools), "the findings"))

    def export(self) -> None:
        """Ask for a file and export the report."""
        if (report := self.presenter.current()) is not None:
            presenter, title = self.presenter, "How well are the tools described?"
            html, write = partial(presenter.report_html, report), partial(presenter.write_report, report)
            ask_file(
                self, self.session, "Export the quality report", "tool-quality", report_writers(html, title, write)
            )

    def open_export(self) -> None:
        """Open the export menu."""
        show_menu_under(self.export_actions(), self.header.buttons()[0])

    async def _open_sample(self) -> None:
        await self.presenter.open_sample()
        await self.refresh()

    def reload_servers(self) -> None:
        """Read the tools of all servers again, after asking for missing consents."""
        if self._reading is None or self._reading.done():
            self._reading = self.session.spawn(self._reload_servers())

    async def _reload_servers(self) -> None:
        await ask_for_servers(self.session, self)
        await self.presenter.read_servers()
        await self.refresh()

    # ------------------------------------------------------------------ ignoring findings

    async def _ignore(self, rule: str) -> None:
        """Ask for a reason, and ignore the findings of a rule in the selected tool."""
        quality = self.presenter.get(self.view.table.current_id())
        title = next((one.rule.title for one in quality.findings if one.rule.id == rule), "") if quality else ""
        if quality is None or not title:
            return
        dialog = IgnoreDialog(quality.tool.id, title, self)
        if await dialog.done_with():
            await self.presenter.ignore(quality, rule, dialog.reason)
            await self.refresh()

    async def _restore(self, rule: str) -> None:
        """Report the findings of a rule in the selected tool again."""
        await self.presenter.restore(self.view.table.current_id(), rule)
        await self.refresh()

    # ------------------------------------------------------------------ asking a model

    def ask(self, ids: Sequence[str] = ()) -> None:
        """Open the form that asks a model to review these tools; without ids, the selected or shown ones."""
        self.requests.ask(self._scopes(ids))

    def _scopes(self, ids: Sequence[str]) -> list[tuple[str, Sequence[ToolQuality]]]:
        chosen = [one for tool_id in ids or self.view.table.selected_ids() if (one := self.presenter.get(tool_id))]
        shown, every = self.presenter.shown(), self.presenter.tools()
        some_shown = shown if len(shown) < len(every) else ()
        return [
            (f"{len(chosen):,} selected", chosen),
            (f"{len(some_shown):,} shown", some_shown),
            (f"All {len(every):,}", every),
        ]

    def _fix(self, rule: str) -> None:
        """Change the tool in the Workshop, beside the advice of its finding."""
        quality, tool = self.view.detail.quality, self._tool()
        if quality is not None and tool is not None:
            fix = next((one.fix for one in quality.findings if one.rule.id == rule), "")
            self.session.go(ChangeTool(tool, fix))

    def _take(self, quality: ToolQuality) -> None:
        known = self.presenter.add_review(quality)
        if known is not None and self.presenter.is_shown(known):
            self.view.table.upsert([tool_row(known)])
            if known.tool.id == self.view.table.current_id():
                self._settle.start()
