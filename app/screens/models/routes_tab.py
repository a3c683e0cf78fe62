"""Routes tab: routers with their routes, the route of a typed query, and the comparison with asking one model."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.refresh import Refresh
from app.core_link.session import Session
from app.core_link.targets import StartRuns
from app.screens.kit.menus import command_action
from app.screens.models.definition_tab import DefinitionTab, LinesDialog, model_items
from app.screens.models.route_rows import route_card, utterance_rows
from app.screens.models.routes_presenter import (
    RouteComparisonRequest,
    RoutesPresenter,
    decision_texts,
    route_of,
    threshold_from,
    with_route,
    without_route,
)
from app.screens.models.routes_view import COMPARE, CompareDialog, RouteDialog, RoutesView
from app.text.formatting import count
from app.theme import Role
from app.widgets import Action, CardRow, Span
from mcp_tef import Event, InputError, ModelRoute, ModelRouter

TYPING_MS: Final = 250
NO_QUERY: Final = ("Which route would take it?", "Type a query to see every route with its score. No model is asked.")


class RoutesTab(DefinitionTab):
    """Lists routers; the selected one is tried, changed and compared."""

    NOUN, ICON = "router", "shuffle"
    WHY_EMPTY = (
        "A router asks a large model only where it has to: each route has utterances, and a query goes to the model "
        "whose utterances are nearest. It is run like a model, as router/NAME."
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session, "Routes")
        self.presenter = RoutesPresenter(session.call)
        self.view = RoutesView(session, self.cards)
        self.lay_out(self.view.panes, self.view.sidebar, (204, 876))
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._connect()

    def _connect(self) -> None:
        view, spawn = self.view, self.session.spawn
        self._typing.timeout.connect(lambda: spawn(self._decide(), of=self))
        self.session.closing.connect(self._typing.stop)
        view.query.textChanged.connect(self._typing.start)
        view.routes.chosen.connect(lambda _: self._show_route())
        view.routes.delete_wanted.connect(lambda _: spawn(self.remove_route(), of=self))
        view.routes.set_menu(lambda _: self._route_actions())
        view.routes.describe_keys(Del="Remove the route; can be undone")
        view.utterances.opened.connect(lambda _: spawn(self.edit_utterance(), of=self))
        view.utterances.delete_wanted.connect(lambda ids: spawn(self.remove_utterances(ids), of=self))
        view.utterances.describe_keys(Enter="Change the utterance", Del="Remove the utterances; can be undone")
        view.default.picked.connect(lambda target: self._change("change the default", _with("default", target)))
        view.default.other.connect(lambda target: self._change("change the default", _with("default", target)))
        view.embedder.changed.connect(lambda name: self._change("change the embedder", _with("embedder", name)))
        view.threshold.editingFinished.connect(self._take_threshold)
        view.own_threshold.editingFinished.connect(self._take_own_threshold)
        view.target.picked.connect(self._retarget)
        view.target.other.connect(self._retarget)
        view.comparison.runs_wanted.connect(self.run_missing)
        view.comparison.threshold_wanted.connect(
            lambda value: self._change("change the threshold", _with("threshold", value))
        )

    # ------------------------------------------------------------ what the page asks of a tab

    async def refresh(self) -> None:
        presenter = self.presenter
        await presenter.load()
        for picker in (self.view.default, self.view.target):
            picker.set_items(model_items(presenter.known))
        self.show_cards(
            [
                CardRow(id=name, title=name, sub=(Span(count(len(router.routes), "route"), Role.DIM),))
                for name, router in presenter.routers.items()
            ]
        )
        await self._decide()

    def handle(self, event: Event) -> Refresh:
        return self.presenter.handle(event)

    def count_text(self) -> str:
        return count(len(self.presenter.routers), "router")

    def buttons(self) -> Sequence[Action]:
        new, compare, *_ = self.commands()
        if not self.presenter.routers:
            return ()
        return (
            command_action(new, "New router…", icon="plus"),
            command_action(compare, "Compare on cases…", icon="scales", kind="primary"),
        )

    def commands(self) -> Sequence[Command]:
        def has_route() -> bool:
            return bool(self.view.routes.current_id())

        unless = "Select a route first"
        return (
            self.new_command(self.new_router),
            self.command("compare", "Compare the router on test cases", self.compare, "Ctrl+Return"),
            self.command("use_router", "Use the router in a run", self.use),
            self.command("add_route", "Add a route", self.add_route),
            self.command("remove_route", "Remove the route", self.remove_route, "", has_route, unless),
            self.command("add_utterances", "Add utterances", self.add_utterances, "", has_route, unless),
            self.command(
                "export_routes", "Export the comparison", self.view.comparison.save, "Ctrl+Shift+E",
                self.view.comparison.can_save, "Compare the router first",
            ),
            self.delete_command(),
        )  # fmt: skip

    def first_focus(self) -> QWidget | None:
        return self.view.query if self.presenter.routers else super().first_focus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.view.place_panes(self.width())

    # ------------------------------------------------------------ showing

    @property
    def router(self) -> ModelRouter | None:
        """The selected router."""
        return self.presenter.routers.get(self.cards.current_id())

    @property
    def route(self) -> ModelRoute | None:
        """The selected route."""
        return route_of(self.router, self.view.routes.current_id()) if self.router else None

    def show_selected(self) -> None:
        router, view = self.router, self.view
        if router is None:
            return
        view.show_settings(router)
        self._show_routes()
        view.comparison.show_comparison(router, self.presenter.comparisons.get(router))

    def _select(self) -> None:
        super()._select()
        self._typing.start()

    def _show_routes(self) -> None:
        router, view, presenter = self.router, self.view, self.presenter
        if router is None:
            return
        head, note = decision_texts(presenter.decision) if presenter.decision else NO_QUERY
        view.show_decision(head, presenter.problem or note, wrong=bool(presenter.problem))
        view.show_routes([route_card(router, route, presenter) for route in router.routes])
        route = presenter.decision.route if presenter.decision else None
        if route is not None:
            view.routes.select(route.target)
        elif not view.routes.current_id():
            view.routes.select_first()
        self._show_route()

    def _show_route(self) -> None:
        router, route = self.router, self.route
        if router is None or route is None:
            return
        _, _, use, add, _, utter, *_ = self.commands()
        self.view.show_route(router, route, utterance_rows(route, self.presenter))
        self.view.links.set_links(
            [
                command_action(utter, "Add utterances…", kind="link"),
                command_action(add, "Add a route…", kind="link"),
                command_action(use, "Use in a run", kind="link"),
            ]
        )

    def _route_actions(self) -> list[Action]:
        _, _, _, add, remove, utter, *_ = self.commands()
        return [
            command_action(utter, "Add utterances…"),
            command_action(add, "Add a route…"),
            command_action(remove, "Remove", apart=True),
        ]

    async def _decide(self) -> None:
        if await self.presenter.decide(self.cards.current_id(), self.view.query.text()):
            self._show_routes()

    # ------------------------------------------------------------ changing

    def _change(self, what: str, change: Callable[[ModelRouter], ModelRouter]) -> None:
        self.session.spawn(self._changed(what, change), of=self)

    async def _changed(self, what: str, change: Callable[[ModelRouter], ModelRouter]) -> None:
        name, presenter = self.cards.current_id(), self.presenter
        try:
            before, after = await presenter.change(name, change)
            if after != before:
                undo, again = partial(presenter.save, before, after), partial(presenter.save, after, before)
                self.session.toast(f"Changed {name}", undo, again, action=what)
        finally:
            self.show_selected()
        await self._decide()

    def _take_threshold(self) -> None:
        """Keep the threshold that was typed, or say below the field why it cannot be one."""
        view, router = self.view, self.router
        if router is not None:
            self._keep_threshold(
                view.threshold.text(),
                view.threshold_field.set_error,
                router,
                lambda one, value: _with("threshold", value)(one),
            )

    def _take_own_threshold(self) -> None:
        route, view, router = self.route, self.view, self.router
        if route is None or router is None:
            return
        target = route.target

        def change(one: ModelRouter, value: float | None) -> ModelRouter:
            known = route_of(one, target)
            return with_route(one, target, replace(known, threshold=value)) if known else one

        text = view.own_threshold.text()
        if not text.strip():
            self._change("change the threshold", lambda one: change(one, None))
            return
        self._keep_threshold(text, view.own_field.set_error, router, change)

    def _keep_threshold(
        self,
        text: str,
        tell: Callable[[str], object],
        router: ModelRouter,
        change: Callable[[ModelRouter, float], ModelRouter],
    ) -> None:
        try:
            value = threshold_from(text, f"router {router.name}")
            change(router, value)
        except InputError as error:
            tell(f"{error.message} {error.hint}")
            return
        tell("")
        self._change("change the threshold", lambda one: change(one, value))

    def _retarget(self, target: str) -> None:
        route = self.route
        if route is not None and target != route.target:
            self._change(
                "change the model of a route", lambda one: with_route(one, route.target, replace(route, target=target))
            )

    async def new_router(self) -> None:
        """Ask for a new router with its first route."""
        presenter = self.presenter
        dialog = RouteDialog(self.session, "New router", "Create router", presenter.known, self, named=True)
        made = await dialog.kept(lambda: presenter.add(dialog.name.text(), dialog.route(), dialog.default.current()))
        if made is not None:
            await self.added(made.name, partial(presenter.remove, made.name), partial(presenter.save, made))

    async def add_route(self) -> None:
        """Ask for one more route of the router."""
        name, presenter = self.cards.current_id(), self.presenter
        dialog = RouteDialog(self.session, "Add a route", "Add route", presenter.known, self, named=False)

        async def keep() -> Any:
            made = dialog.route()
            return await presenter.change(name, lambda one: replace(one, routes=(*one.routes, made)))

        if changed := await dialog.kept(keep):
            await self._tell_changed(changed, "add a route")

    async def remove_route(self) -> None:
        """Remove the selected route; the last one of a router stays."""
        if self.route is not None:
            target = self.route.target
            await self._changed("remove a route", lambda one: without_route(one, target))

    async def add_utterances(self) -> None:
        """Ask for more utterances of the selected route."""
        await self._ask_utterances("Add utterances", "Add", "", lambda known, lines: (*known, *lines))

    async def edit_utterance(self) -> None:
        """Change the selected utterance."""
        row = self.view.utterances.current_id()
        if self.route is not None and row:
            at = int(row)
            text = self.route.utterances[at]
            await self._ask_utterances(
                "Change the utterance", "Save", text, lambda known, lines: (*known[:at], *lines, *known[at + 1 :])
            )

    async def _ask_utterances(
        self,
        title: str,
        button: str,
        text: str,
        place: Callable[[tuple[str, ...], tuple[str, ...]], tuple[str, ...]],
    ) -> None:
        route, name = self.route, self.cards.current_id()
        if route is None:
            return
        note = f"One a line. A query that is near to one of them goes to {route.target}."
        dialog = LinesDialog(self.session, title, button, self, note=note, text=text)

        async def keep() -> Any:
            made = replace(route, utterances=place(route.utterances, dialog.lines()))
            return await self.presenter.change(name, lambda one: with_route(one, route.target, made))

        if changed := await dialog.kept(keep):
            await self._tell_changed(changed, title.lower())

    async def remove_utterances(self, ids: Sequence[str]) -> None:
        """Remove utterances of the selected route; one stays."""
        route, gone = self.route, set(ids)
        if route is not None:
            kept = tuple(text for place, text in enumerate(route.utterances) if str(place) not in gone)
            made = replace(route, utterances=kept)
            await self._changed("remove utterances", lambda one: with_route(one, route.target, made))

    async def _tell_changed(self, changed: tuple[ModelRouter, ModelRouter], what: str) -> None:
        before, after = changed
        undo, again = partial(self.presenter.save, before, after), partial(self.presenter.save, after, before)
        self.session.toast(f"Changed {after.name}", undo, again, action=what)
        await self.refresh()

    async def remove(self, name: str) -> Callable[[], object]:
        return partial(self.presenter.save, await self.presenter.remove(name))

    # ------------------------------------------------------------ comparing and running

    async def compare(self) -> None:
        """Ask on which cases the router is compared, and show the result."""
        router, presenter = self.router, self.presenter
        if router is None:
            return
        last = presenter.requests.get(router.name, RouteComparisonRequest())
        dialog = CompareDialog(self.session, router, presenter.suites, last, self)
        if await dialog.kept(lambda: presenter.compare(router.name, dialog.request())):
            self.view.views.set_current(COMPARE)
            self.view.place_panes(self.width())
            self.show_selected()
            self.header_changed.emit()

    def run_missing(self) -> None:
        """Open the form that runs all cases with the models that have no run yet."""
        found = self.presenter.comparisons.get(self.router) if self.router else None
        if found is not None:
            self.session.go(StartRuns(model=", ".join(found.missing)))

    def use(self) -> None:
        """Open the form that starts runs with the router."""
        self.session.go(StartRuns(model=f"router/{self.cards.current_id()}"))


def _with(name: str, value: object) -> Callable[[ModelRouter], ModelRouter]:
    return lambda router: replace(router, **{name: value})  # type: ignore[arg-type]  # one of its fields
