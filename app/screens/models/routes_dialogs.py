"""Dialogs of the Routes tab: a router or a route, and what a comparison is about."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.screens.models.definition_tab import DefinitionDialog, model_items
from app.screens.models.routes_presenter import RouteComparisonRequest, made_route
from app.theme import Role
from app.widgets import Field, FlowText, MenuButton, TextArea
from mcp_tef import ModelRoute, ModelRouter

SAMPLE = "Which of these offers is better, and why?\nCompare two bikes for my way to work"


class RouteDialog(DefinitionDialog):
    """A route with its utterances, below the name and the default of a new router."""

    def __init__(
        self, session: Session, title: str, button: str, known: Sequence[str], parent: QWidget, *, named: bool
    ) -> None:
        super().__init__(session, title, button, parent, width=520)
        if named:
            self.name = self.add_line("Name", note="The router is run as router/NAME.")
            self.default = self.add_model("Otherwise", model_items(known), note="Asked where no route is near enough.")
        self.target = self.add_model("First route runs as" if named else "Runs as", model_items(known))
        self.utterances = TextArea(SAMPLE, lines=4)
        self.body.addWidget(Field("Utterances, one a line", self.utterances, note="Sentences that call for it."))
        (self.name if named else self.target).setFocus()

    def route(self) -> ModelRoute:
        """Return the route; InputError."""
        lines = (line.strip() for line in self.utterances.text().splitlines())
        return made_route(self.target.current(), [line for line in lines if line])


class CompareDialog(DefinitionDialog):
    """The cases of a comparison, and the small and the large model."""

    def __init__(
        self,
        session: Session,
        router: ModelRouter,
        suites: Sequence[str],
        last: RouteComparisonRequest,
        parent: QWidget,
    ) -> None:
        super().__init__(session, "Compare on test cases", "Compare", parent, width=460)
        text = "Routing is computed anew; the answers are those of stored runs. Nothing is sent to a model."
        self.body.addWidget(FlowText(text, role=Role.DIM))
        targets = [(one, one) for one in router.targets]
        self.suite = MenuButton("Cases", [("", "All test cases"), *((one, one) for one in suites)])
        self.small = MenuButton("Always small", [("", "The cheapest by the catalogue"), *targets])
        self.large = MenuButton("Always large", [("", "The dearest by the catalogue"), *targets])
        for menu, label, now in (
            (self.suite, "Cases", last.suite),
            (self.small, "Always small", last.small),
            (self.large, "Always large", last.large),
        ):
            menu.set_current(now)
            self.body.addWidget(Field(label, menu))

    def request(self) -> RouteComparisonRequest:
        """Return what was selected."""
        return RouteComparisonRequest(
            suite=self.suite.current(), small=self.small.current(), large=self.large.current()
        )
