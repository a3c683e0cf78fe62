"""The similarity screen: similar tools, the reasons, and recommended definitions."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from PySide6.QtCore import QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent, Qt
from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.refresh import Refresh
from app.core_link.session import Page, Session
from app.core_link.targets import AddServer, Screen, ShowPair, ShowScreen, ShowSimilarTools, Target
from app.dialogs.consent import ask_for_servers, with_consent
from app.screens.kit.menus import command_action
from app.screens.similarity.commands import ASK, EXPORT, FIT, READ, SimilarityExports, pair_actions, similarity_commands
from app.screens.similarity.comparison_choices import OTHER, CompareMenu, EmbedderDialog, EmbedderMenu, ServersMenu
from app.screens.similarity.labels import MapKind
from app.screens.similarity.notices import ComparisonProgress, ModelDownloadTask, show_stopped, show_too_few
from app.screens.similarity.pair_controller import PairController
from app.screens.similarity.pair_list import PairIndices, PairTarget, any_tool_query, tool_query
from app.screens.similarity.pair_pane import ToolPairPane
from app.screens.similarity.presenter import SimilarityPresenter, SimilarityState
from app.screens.similarity.table_panes import ToolGroupsPane, ToolPairsPane
from app.screens.similarity.view import PAUSE_S, VIEWS, SimilarityView
from app.screens.similarity.view_state import PairSearch, SimilarityViewState
from app.text.formatting import count
from app.theme import sized
from app.widgets import Action, Segmented, show_menu, show_menu_under
from mcp_tef import Event, FlagRule, PairStatus, parse_embedder

DEBOUNCE_MS = 150
ROOMY, SEARCH, NARROW_SEARCH = 1_060, 200, 150


class SimilarityPage(Page):
    """Owns the presenter; `open_target` understands a tool, and two of them."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, key="similarity", title="Similarity")
        self.view_state = SimilarityViewState(session.settings, session.workspace)
        self.presenter = SimilarityPresenter(session.call, self.view_state.request())
        self.view = SimilarityView(session.settings)
        self.pair = PairController(self, self.presenter, self.view, self.view_state)
        self.exports = SimilarityExports(self, self.presenter, self.view.map, self.pair)
        self.model_download = ModelDownloadTask(self, self.presenter, self.view.notices)
        self.progress = ComparisonProgress(self, self._stop_comparing)
        self.dialog: EmbedderDialog | None = None
        self._shown: tuple[object, ...] = ()
        self._fresh = False
        self._started = False
        self._debounce = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._lay_out()
        self.search.setText(self.view_state.state.text)
        self.pair_search = PairSearch(self.presenter, self.view, self.view_state, session.spawn)
        self._connect()

    def _lay_out(self) -> None:
        self.views = Segmented(VIEWS, "View")
        self.header.place(self.views, beside_title=True)
        self.search = self.header.set_search("Find a tool")
        self.servers, self.embedder = ServersMenu(), EmbedderMenu()
        self.header.place(self.servers)
        self.header.place(self.embedder)
        self.narrow = CompareMenu(self.servers, self.embedder)
        self.header.place(self.narrow)
        self.header.set_buttons([command_action(self._commands[EXPORT], "Export", icon="export")])
        self.body.addWidget(self.view, 1)
        self.view.map.set_kind(MapKind(self.view_state.mode("kind")))
        self.views.set_current(self.view_state.mode("view"))
        self.embedder.show_embedder(self.presenter.request.embedder, "")

    def _connect(self) -> None:
        view, session = self.view, self.session
        session.closing.connect(self._debounce.stop)
        session.closing.connect(view.map.weights.stop)
        self._debounce.timeout.connect(lambda: session.spawn(self._show_work()))
        self.views.changed.connect(self.show_view)
        self.search.searched.connect(self.pair_search.search)
        self.search.returnPressed.connect(self._focus)
        self.servers.picked.connect(lambda names: self._compare(servers=names))
        self.embedder.wanted.connect(self._choose_embedder)
        session.configured.connect(self._follow_settings)
        self.pair.closed.connect(self._focus)
        self._connect_panes()

    def _follow_settings(self) -> None:
        """Apply changed settings; a method, because a lambda would still be called after the page is closed."""
        self.view_state.follow_preferences(self.presenter, self.view.map.set_threshold, self._choose_embedder)

    def _connect_panes(self) -> None:
        view = self.view
        view.map.kind_changed.connect(self._choose_kind)
        view.map.weights_changed.connect(lambda _: self.session.spawn(self._recolour()))
        view.map.threshold_changed.connect(self._move_threshold)
        view.map.heatmap.menu_wanted.connect(lambda at: show_menu(self.exports.actions(), at, self))
        view.map.opened.connect(self.pair.open_indices)
        view.view_built.connect(self._connect_view)
        view.work_summary.chosen.connect(self._choose_status)
        view.notices.servers_wanted.connect(lambda: self.session.go(ShowScreen(Screen.SERVERS)))
        view.notices.read_wanted.connect(self.reread_servers)
        view.notices.download_wanted.connect(self.model_download.start)

    def _connect_view(self, pane: object) -> None:
        """Connect a pane that was just built."""
        match pane:
            case ToolPairsPane():
                pane.opened.connect(self.pair.open_indices)
                pane.chosen.connect(lambda a, b: self.pair.open((a, b)) if self.view.pair_open else None)
                pane.sort_wanted.connect(self.pair_search.sort)
                pane.status_cleared.connect(lambda: self._choose_status(None))
                pane.table.set_menu(lambda rows: pair_actions(self.pair, rows, self._show_on_map))
                self.restore_layout("similarity.pairs", pane.table)
            case ToolGroupsPane():
                pane.pair_opened.connect(self.pair.open_indices)
                pane.group_opened.connect(self._open_group)
                pane.copies.set_menu(lambda rows: pair_actions(self.pair, rows, self._show_on_map))
                self.restore_layout("similarity.groups", pane.groups)
                self.restore_layout("similarity.copies", pane.copies)
            case ToolPairPane():
                self.pair.connect_pane(pane)

    # ------------------------------------------------------------------ what the window asks of a page

    async def refresh(self) -> None:
        if not self._started:
            self._started = True
            await self.view.build_views()
            self.view.turn(self.views.current())
            self.view.map.set_threshold(self.view_state.threshold())
        fresh, self._fresh = self._fresh, False
        self.progress.begin()
        try:
            done = await self.presenter.load(fresh=fresh, progress=self.progress.reported.emit)
        finally:
            self.progress.end()
        if done:
            await self._show_all()
            self.pair.open_target()
            if self.views.hasFocus():
                self._focus()

    def loading_text(self) -> str:
        """Leave it to the view, which shows how far the comparison is."""
        return ""

    def handle(self, event: Event) -> Refresh:
        return self.presenter.handle(event)

    def open_target(self, target: Target) -> None:
        match target:
            case ShowSimilarTools(tools=(tool,)):
                self.show_view("pairs")
                self.search.setText(tool_query(tool))
            case ShowSimilarTools(tools=(first, second)) | ShowPair(first=first, second=second):
                advice = isinstance(target, ShowPair) and target.advice
                self.pair.wanted_pair = PairTarget(a=first, b=second, advice=advice)
                self.request_refresh()
            case ShowSimilarTools(tools=tools):
                self.show_view("pairs")
                self.search.setText(any_tool_query(tools))

    def current_target(self) -> Target | None:
        tools = self.pair.tools()
        return ShowPair(tools[0], tools[1]) if tools else None

    async def finish(self) -> None:
        self.view.save_layout()

    @cached_property
    def _commands(self) -> Mapping[str, Command]:
        return similarity_commands(
            {
                READ: self.reread_servers,
                ASK: self.pair.request_advice,
                FIT: self.view.map.heatmap.fit,
                EXPORT: self._open_export,
            },
            self.show_view,
            self._choose_kind,
            has_analysis=lambda: self.presenter.state is SimilarityState.FULL,
            has_pair=lambda: self.pair.places is not None,
        )

    def commands(self) -> Sequence[Command]:
        return (*self._commands.values(), *self.exports.commands())

    def first_focus(self) -> QWidget | None:
        if self.presenter.state is not SimilarityState.FULL:
            return next(iter(self.view.empty.buttons()), self.views)
        parts = {"map": self.view.map.heatmap, "pairs": self.view.pairs.table, "groups": self.view.groups.groups}
        return parts[self.views.current()]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.view.pair_open:
            self.pair.close()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        roomy = event.size().width() >= sized(ROOMY)
        self._show_count(roomy=roomy)
        for part in (self.servers, self.embedder):
            part.setVisible(roomy)
        self.narrow.setVisible(not roomy)
        self.search.setFixedWidth(sized(SEARCH) if roomy else NARROW_SEARCH)

    # ------------------------------------------------------------------ showing

    async def _show_all(self) -> None:
        presenter, analysis = self.presenter, self.presenter.analysis
        self._show_count(roomy=self.width() >= sized(ROOMY))
        self.servers.show_servers(presenter.gathered.by_server, presenter.request.servers)
        self.view.notices.show_missing_tools(presenter.gathered)
        used = analysis.similarity.embedder if analysis else ""
        self.embedder.show_embedder(presenter.request.embedder, used)
        self._show_embedder_notice()
        self.view.show_map(analysis is not None)
        if analysis is None:
            self._show_empty()
            return
        fresh = not self._shown or self._shown[0] is not analysis
        if fresh:
            self.pair.forget()
            self.view.groups.show_analysis(analysis)
            self.view.map.scale.set_numbers(analysis.histogram)
            await asyncio.sleep(PAUSE_S)
        await self._show_map()
        if fresh:
            self.pair_search.highlight(self.search.text())
        await self._show_work()
        await self._open_first(fresh=fresh)

    def _show_embedder_notice(self) -> None:
        analysis = self.presenter.analysis
        similarity = analysis.similarity if analysis else None
        notice = similarity.notice if similarity and not self.model_download.busy else None
        self.view.notices.show_embedder(notice, offer=bool(analysis and analysis.can_download))

    def _show_count(self, *, roomy: bool) -> None:
        analysis = self.presenter.analysis
        if analysis is None or not roomy:
            self.header.set_count("")
            return
        servers = {one.tool.server for one in analysis.tools}
        self.header.set_count(f"{count(len(analysis.tools), 'tool')} on {count(len(servers), 'server')}")

    def _show_empty(self) -> None:
        gathered = self.presenter.gathered
        add = Action(text="Add server…", do=partial(self.session.go, AddServer()), kind="primary", icon="plus")
        read = [command_action(self._commands[READ])] if gathered.unreachable else []
        show_too_few(self.view.empty, known=any(gathered.by_server.values()), actions=[add, *read])

    async def _show_map(self) -> None:
        kind, weights = self.view.map.shown_kind(), self.view.map.weights.weights()
        wanted = self._map_inputs()
        if wanted == self._shown and kind is not MapKind.OBSERVED:
            return
        heat = await self.presenter.heat(kind, weights)
        if heat is not None and wanted == self._map_inputs():
            self._shown = wanted
            self.view.map.show_heat(heat)
            self.view.map.heatmap.choose(self.pair.places)

    def _map_inputs(self) -> tuple[object, ...]:
        kind = self.view.map.shown_kind()
        weights = self.view.map.weights.weights() if kind is MapKind.OVERLAP else None
        return self.presenter.analysis, kind, weights

    async def _show_work(self) -> None:
        threshold = self.view.map.scale.threshold()
        self._show_flagged()
        work = await self.presenter.load_work(threshold)
        if work is not None:
            self.view.work_summary.show_work(work)
            await self._show_pairs()

    def _show_flagged(self) -> None:
        analysis = self.presenter.analysis
        if analysis is not None:
            flagged = analysis.similarity.count_flagged(FlagRule(self.view.map.scale.threshold()))
            self.view.map.show_flagged(flagged, analysis.similarity.pair_count)

    async def _show_pairs(self) -> None:
        await self.pair_search.show_pairs()
        self.view.pairs.mark(self.pair.places)

    async def _open_first(self, *, fresh: bool) -> None:
        """Open the pair that was open, otherwise, if there is room, the one that needs work most."""
        if not fresh:
            await self.pair.show()
            return
        items, rows = self.presenter.work_list.items, self.view.pairs.list.rows
        if rows and self.width() >= sized(ROOMY) and self.view_state.mode("pair") == "yes":
            first = items[0].pair if items else rows[0].pair
            self.pair.open((first.a, first.b))

    # ------------------------------------------------------------------ what is looked at

    def show_view(self, key: str) -> None:
        """Turn to the map, the pairs or the groups."""
        self.views.set_current(key)
        self.view.turn(key)
        self.view.pairs.mark(self.pair.places)
        self.view_state.set_mode("view", key)
        self.pair_search.search(self.search.text())

    def _choose_kind(self, kind: MapKind) -> None:
        self.view.map.set_kind(kind)
        self.view_state.set_mode("kind", kind.value)
        self.session.spawn(self._recolour())

    async def _recolour(self) -> None:
        await self._show_map()
        await self.pair.show()

    def _move_threshold(self, threshold: float) -> None:
        self.view_state.set_threshold(threshold)
        self._show_flagged()
        self.view.pair.show_threshold(threshold)
        self._debounce.start()

    def _focus(self) -> None:
        part = self.first_focus()
        if part is not None:
            part.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _choose_status(self, status: PairStatus | None) -> None:
        if status is not None:
            self.show_view("pairs")
        self.pair_search.filter(status)

    def _open_group(self, members: tuple[int, ...]) -> None:
        self.show_view("map")
        self.view.map.heatmap.focus_on(members)

    def _show_on_map(self, pair: PairIndices) -> None:
        self.show_view("map")
        self.pair.open(pair, reveal=True)

    # ------------------------------------------------------------------ what is compared

    def reread_servers(self) -> None:
        """Ask the servers for their tools, and compare; what is not allowed yet is asked about first."""
        self.session.spawn(self._reread_servers())

    async def _reread_servers(self) -> None:
        await ask_for_servers(self.session, self)
        self.presenter.retry_embedder()
        self._fresh = True
        self.request_refresh()

    def _compare(self, **changes: object) -> None:
        self.presenter.request = replace(self.presenter.request, **changes)  # type: ignore[arg-type]  # names of its fields
        self.view_state.set_request(self.presenter.request)
        self.presenter.retry_embedder()
        self.request_refresh()

    def _choose_embedder(self, label: str) -> None:
        if label == OTHER:
            self.session.spawn(self._choose_other())
        else:
            self.presenter.key = None
            self._compare(embedder=label)

    async def _choose_other(self) -> None:
        self.dialog = EmbedderDialog(self.presenter.request.embedder, self)
        agreed = await self.dialog.done_with()
        chosen, key = self.dialog.chosen, self.dialog.key
        self.dialog = None
        if not agreed:
            return
        choice = parse_embedder(chosen)
        if await with_consent(self.session, self, lambda: self.presenter.check_consents(choice, key)):
            self.presenter.key = key
            self._compare(embedder=choice.label)

    def _stop_comparing(self) -> None:
        if self._refreshing is not None:
            self._refreshing.cancel()
        if self.presenter.analysis is None:
            show_stopped(self.view.empty, self.request_refresh)

    def _open_export(self) -> None:
        show_menu_under(self.exports.actions(), self.header.buttons()[-1])
