"""The similarity screen: similar tools, the reasons, and recommended definitions."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent, Qt
from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.refresh import Refresh
from app.core_link.session import Page, Session
from app.core_link.targets import AddServer, Screen, ShowPair, ShowScreen, ShowSimilarTools, Target
from app.dialogs.consent import ask_for_servers, with_consent
from app.screens.similarity.commands import Deeds, pair_actions
from app.screens.similarity.comparison_choices import OTHER, CompareMenu, EmbedderMenu, EmbedderSheet, ServersMenu
from app.screens.similarity.exports import Exporting, Saving
from app.screens.similarity.labels import MapKind
from app.screens.similarity.notices import tell_stopped, tell_too_few
from app.screens.similarity.pair_controller import OnePair
from app.screens.similarity.pair_list import Aim, Places, any_of, text_of
from app.screens.similarity.pair_pane import PairPane
from app.screens.similarity.presenter import SimilarityPresenter, State
from app.screens.similarity.table_panes import GroupsPane, PairsPane
from app.screens.similarity.task_progress import Comparing, Downloading
from app.screens.similarity.view import PAUSE_S, VIEWS, Finding, SimilarityView
from app.screens.similarity.view_state import Kept
from app.text.formatting import count
from app.theme import sized
from app.widgets import Action, Segmented, show_menu, show_menu_under
from mcp_tef import EmbedderKind, Event, PairStatus, parse_embedder

QUIET_MS = 150
ROOMY, SEARCH, NARROW_SEARCH = 1_060, 200, 150


class SimilarityPage(Page):
    """Owns the presenter; `open_target` understands a tool, and two of them."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, key="similarity", title="Similarity")
        self.kept = Kept(session.settings)
        self.presenter = SimilarityPresenter(session.call, self.kept.wanted())
        self.view = SimilarityView(session.settings)
        self.saving = Saving(self)
        self.pair = OnePair(self, self.presenter, self.view, self.saving, self.kept)
        self.exporting = Exporting(self.presenter, self.view.map, self.saving, session, lambda: self.pair.places)
        self.downloading = Downloading(self, self.presenter, self.view.notices)
        self.comparing = Comparing(self, self._stop_comparing)
        self.sheet: EmbedderSheet | None = None
        self._shown: tuple[object, ...] = ()
        self._fresh = False
        self._started = False
        self._quiet = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._lay_out()
        self.finding = Finding(self.presenter, self.view, session.spawn, self.restore_search(self.search))
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
        self.header.set_buttons([Action(text="Export", do=self._open_export, icon="export")])
        self.body.addWidget(self.view, 1)
        self.view.map.set_kind(self.kept.kind())
        self.views.set_current(self.kept.view())
        self.embedder.show_embedder(self.presenter.wanted.embedder, "")

    def _connect(self) -> None:
        view, session = self.view, self.session
        session.closing.connect(self._quiet.stop)
        session.closing.connect(view.map.weights.stop)
        self._quiet.timeout.connect(lambda: session.spawn(self._show_work()))
        self.views.changed.connect(self.show_view)
        self.search.searched.connect(self.finding.search)
        self.search.returnPressed.connect(self._focus)
        self.servers.picked.connect(lambda names: self._compare(servers=names))
        self.embedder.wanted.connect(self._choose_embedder)
        session.configured.connect(self._follow_settings)
        self.pair.closed.connect(self._focus)
        self._connect_panes()

    def _follow_settings(self) -> None:
        """A method of its own: what a lambda hears, it hears when this page is gone, too."""
        self.kept.follow(self.presenter, self.view.map.set_threshold, self._choose_embedder)

    def _connect_panes(self) -> None:
        view = self.view
        view.map.kind_changed.connect(self._choose_kind)
        view.map.weights_changed.connect(lambda _: self.session.spawn(self._recolour()))
        view.map.threshold_changed.connect(self._move_threshold)
        view.map.heatmap.menu_wanted.connect(lambda at: show_menu(self.exporting.actions(), at, self))
        view.map.opened.connect(self.pair.open_two)
        view.made.connect(self._wire)
        view.strip.chosen.connect(self._choose_standing)
        view.notices.servers_wanted.connect(lambda: self.session.go(ShowScreen(Screen.SERVERS)))
        view.notices.read_wanted.connect(self.read_again)
        view.notices.download_wanted.connect(self.downloading.start)

    def _wire(self, pane: object) -> None:
        """Hear what the user wants of a pane that has just been made."""
        match pane:
            case PairsPane():
                pane.opened.connect(self.pair.open_two)
                pane.chosen.connect(lambda a, b: self.pair.open((a, b)) if self.view.pair_open else None)
                pane.sort_wanted.connect(self.finding.sort)
                pane.standing_cleared.connect(lambda: self._choose_standing(None))
                pane.table.set_menu(lambda rows: pair_actions(self.pair, rows, self._show_on_map))
                self.restore_layout("similarity.pairs", pane.table)
            case GroupsPane():
                pane.pair_opened.connect(self.pair.open_two)
                pane.group_opened.connect(self._open_group)
                pane.copies.set_menu(lambda rows: pair_actions(self.pair, rows, self._show_on_map))
                self.restore_layout("similarity.groups", pane.groups)
                self.restore_layout("similarity.copies", pane.copies)
            case PairPane():
                self.pair.wire(pane)

    # ------------------------------------------------------------------ what the window asks of a page

    async def refresh(self) -> None:
        if not self._started:
            self._started = True
            await self.view.furnish()
            self.view.turn(self.views.current())
            self.view.map.set_threshold(self.kept.threshold())
        fresh, self._fresh = self._fresh, False
        self.comparing.begin()
        try:
            done = await self.presenter.load(fresh=fresh, progress=self.comparing.heard.emit)
        finally:
            self.comparing.end()
        if done:
            await self._show_all()
            self.pair.take_aim()
            if self.views.hasFocus():
                self._focus()

    def handle(self, event: Event) -> Refresh:
        return self.presenter.handle(event)

    def open_target(self, target: Target) -> None:
        match target:
            case ShowSimilarTools(tools=(tool,)):
                self.show_view("pairs")
                self.search.setText(text_of(tool))
            case ShowSimilarTools(tools=(first, second)) | ShowPair(first=first, second=second):
                advice = isinstance(target, ShowPair) and target.advice
                self.pair.aim = Aim(a=first, b=second, advice=advice)
                self.request_refresh()
            case ShowSimilarTools(tools=tools):
                self.show_view("pairs")
                self.search.setText(any_of(tools))

    def current_target(self) -> Target | None:
        tools = self.pair.tools()
        return ShowPair(tools[0], tools[1]) if tools else None

    async def finish(self) -> None:
        self.view.remember()

    def commands(self) -> Sequence[Command]:
        deeds = Deeds(
            turn=self.show_view,
            colour=self._choose_kind,
            read=self.read_again,
            ask=self.pair.ask_about_it,
            fit=self.view.map.heatmap.fit,
            export=self._open_export,
        )
        return deeds.commands(lambda: self.presenter.state is State.FULL, lambda: self.pair.places is not None)

    def first_focus(self) -> QWidget | None:
        if self.presenter.state is not State.FULL:
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
        self._say_count(roomy=roomy)
        for part in (self.servers, self.embedder):
            part.setVisible(roomy)
        self.narrow.setVisible(not roomy)
        self.search.setFixedWidth(sized(SEARCH) if roomy else NARROW_SEARCH)

    # ------------------------------------------------------------------ showing

    async def _show_all(self) -> None:
        presenter, analysis = self.presenter, self.presenter.analysis
        self._say_count(roomy=self.width() >= sized(ROOMY))
        self.servers.show_servers(presenter.gathered.by_server, presenter.wanted.servers)
        self.view.notices.show_gaps(presenter.gathered)
        used = analysis.similarity.embedder if analysis else ""
        self.embedder.show_embedder(presenter.wanted.embedder, used)
        self._say_embedder()
        self.view.show_full(analysis is not None)
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
            self.finding.show_found(self.search.text())
        await self._show_work()
        await self._open_first(fresh=fresh)

    def _say_embedder(self) -> None:
        analysis = self.presenter.analysis
        similarity = analysis.similarity if analysis else None
        choice = self.presenter.wanted.choice
        offer = choice is None or choice.kind is EmbedderKind.FASTEMBED
        notice = similarity.notice if similarity and not self.downloading.busy else None
        self.view.notices.show_embedder(notice, offer=offer)

    def _say_count(self, *, roomy: bool) -> None:
        analysis = self.presenter.analysis
        if analysis is None or not roomy:
            self.header.set_count("")
            return
        servers = {one.tool.server for one in analysis.tools}
        self.header.set_count(f"{count(len(analysis.tools), 'tool')} on {count(len(servers), 'server')}")

    def _show_empty(self) -> None:
        gathered = self.presenter.gathered
        again = self.read_again if gathered.unreachable else None
        go = partial(self.session.go, AddServer())
        tell_too_few(self.view.empty, known=any(gathered.by_server.values()), go=go, again=again)

    async def _show_map(self) -> None:
        kind, weights = self.view.map.shown_kind(), self.view.map.weights.weights()
        wanted = self._map_wanted()
        if wanted == self._shown and kind is not MapKind.OBSERVED:
            return
        heat = await self.presenter.heat(kind, weights)
        if heat is not None and wanted == self._map_wanted():
            self._shown = wanted
            self.view.map.show_heat(heat)
            self.view.map.heatmap.choose(self.pair.places)

    def _map_wanted(self) -> tuple[object, ...]:
        kind = self.view.map.shown_kind()
        weights = self.view.map.weights.weights() if kind is MapKind.OVERLAP else None
        return self.presenter.analysis, kind, weights

    async def _show_work(self) -> None:
        threshold = self.view.map.scale.threshold()
        self._say_flagged()
        work = await self.presenter.list_work(threshold)
        if work is not None:
            self.view.strip.show_work(work)
            await self._show_pairs()

    def _say_flagged(self) -> None:
        analysis = self.presenter.analysis
        if analysis is not None:
            flagged = analysis.similarity.count_at(self.view.map.scale.threshold())
            self.view.map.show_flagged(flagged, analysis.similarity.pair_count)

    async def _show_pairs(self) -> None:
        await self.finding.show_pairs()
        self.view.pairs.mark(self.pair.places)

    async def _open_first(self, *, fresh: bool) -> None:
        """The pair that was open, or else, where there is room, the one that needs work most or is most alike."""
        if not fresh:
            await self.pair.show()
            return
        items, rows = self.presenter.work.items, self.view.pairs.list.rows
        if rows and self.width() >= sized(ROOMY) and self.kept.pair_wanted():
            first = items[0].pair if items else rows[0].pair
            self.pair.open((first.a, first.b))

    # ------------------------------------------------------------------ what is looked at

    def show_view(self, key: str) -> None:
        """Turn to the map, the pairs or the groups."""
        self.views.set_current(key)
        self.view.turn(key)
        self.view.pairs.mark(self.pair.places)
        self.kept.set_view(key)
        self.finding.search(self.search.text())

    def _choose_kind(self, kind: MapKind) -> None:
        self.view.map.set_kind(kind)
        self.kept.set_kind(kind)
        self.session.spawn(self._recolour())

    async def _recolour(self) -> None:
        await self._show_map()
        await self.pair.show()

    def _move_threshold(self, threshold: float) -> None:
        self.kept.set_threshold(threshold)
        self._say_flagged()
        self.view.pair.show_threshold(threshold)
        self._quiet.start()

    def _focus(self) -> None:
        part = self.first_focus()
        if part is not None:
            part.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _choose_standing(self, standing: PairStatus | None) -> None:
        if standing is not None:
            self.show_view("pairs")
        self.finding.choose(standing)

    def _open_group(self, members: tuple[int, ...]) -> None:
        self.show_view("map")
        self.view.map.heatmap.focus_on(members)

    def _show_on_map(self, pair: Places) -> None:
        self.show_view("map")
        self.pair.open(pair, reveal=True)

    # ------------------------------------------------------------------ what is compared

    def read_again(self) -> None:
        """Ask the servers for their tools, and compare; what is not allowed yet is asked about first."""
        self.session.spawn(self._read_again())

    async def _read_again(self) -> None:
        await ask_for_servers(self.session, self)
        self.presenter.try_again()
        self._fresh = True
        self.request_refresh()

    def _compare(self, **changes: object) -> None:
        self.presenter.wanted = replace(self.presenter.wanted, **changes)  # type: ignore[arg-type]  # names of its fields
        self.kept.set_wanted(self.presenter.wanted)
        self.presenter.try_again()
        self.request_refresh()

    def _choose_embedder(self, label: str) -> None:
        if label == OTHER:
            self.session.spawn(self._choose_other())
        else:
            self.presenter.key = None
            self._compare(embedder=label)

    async def _choose_other(self) -> None:
        self.sheet = EmbedderSheet(self.presenter.wanted.embedder, self)
        agreed = await self.sheet.done_with()
        chosen, key = self.sheet.chosen, self.sheet.key
        self.sheet = None
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
            tell_stopped(self.view.empty, self.request_refresh)

    def _open_export(self) -> None:
        show_menu_under(self.exporting.actions(), self.header.buttons()[-1])
