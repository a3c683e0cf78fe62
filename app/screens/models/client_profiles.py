"""Client profiles: their rules, and each figure with its source, date and confidence."""

from typing import Final

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.screens.models.clients_presenter import ClientsPresenter
from app.theme import Role, Size, height, sized
from app.widgets import (
    CardList,
    CardRow,
    Cell,
    Column,
    FlowText,
    KeyValues,
    LineText,
    ListTable,
    Row,
    Rule,
    Span,
    Split,
)
from mcp_tef import ClientProfile

SIDE: Final = 16
CONFIDENCE: Final = "S: source code, D: documentation, C: change log, P: maintainers, I: issues, B: third parties"
FACTS: Final = (
    Column(key="of", title="Figure", width=140, least=90, tip="What the source is about"),
    Column(key="says", title="What is known", stretch=True, least=160, tip="The statement of the source"),
    Column(key="confidence", title="Known from", width=92, least=60, tip=CONFIDENCE),
    Column(key="date", title="Date", width=92, least=60, role=Role.DIM, tip="The day on which the source was read"),
    Column(key="source", title="Source", width=220, least=90, role=Role.DIM, tip="Where the figure was found"),
)
LIMITS: Final = {
    "most_tools": "Tools at most",
    "names.longest": "Longest name",
    "names.longest_prefix": "Longest prefix",
    "texts.description": "Description cut at",
    "texts.parameters": "Parameter text cut at",
    "texts.largest_schema": "Largest schema, bytes",
    "texts.instructions": "Instructions cut at",
    "search.results": "Tools found by search",
}


class ProfilesPane(QWidget):
    """Profiles at the left, the selected one with its sources at the right."""

    def __init__(self) -> None:
        super().__init__()
        self._presenter: ClientsPresenter | None = None
        self.cards = CardList("Client profiles", row_height=height("server_row"))
        self.title = LineText(size=Size.LEAD, strong=True)
        self.note, self.result = FlowText(role=Role.DIM), FlowText()
        self.rules = KeyValues(label_width=150)
        self.facts = ListTable(FACTS, "Sources of the figures")
        self.facts.when_empty = "The profile names no source."
        right = QWidget()
        head = QVBoxLayout()
        head.setContentsMargins(SIDE, 12, SIDE, 12)
        head.setSpacing(8)
        for part in (self.title, self.note, self.result, self.rules):
            head.addWidget(part)
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(Rule())
        column.addWidget(self.facts, 1)
        self.cards.setMinimumWidth(sized(180))
        split = Split([self.cards, right], "Profiles and sources", [250, 800])
        split.set_stretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(split)
        self.cards.chosen.connect(self._show)

    def show_profiles(self, presenter: ClientsPresenter) -> None:
        """Show all profiles; the selected one stays selected."""
        self._presenter = presenter
        self.cards.set_rows(
            [
                CardRow(id=one.name, title=one.title, sub=(Span(presenter.short_text(one.name), Role.DIM),))
                for one in presenter.clients.values()
            ]
        )
        if not self.cards.current_id():
            self.cards.select_first()
        self._show(self.cards.current_id())

    def _show(self, name: str) -> None:
        presenter = self._presenter
        if presenter is None or name not in presenter.clients:
            return
        profile = presenter.clients[name]
        self.title.set_text(f"{profile.title}, version {profile.version}")
        self.note.set_text(profile.note)
        self.note.setVisible(bool(profile.note))
        result = presenter.result_text(name)
        self.result.set_text(result)
        self.result.setVisible(bool(result))
        self.rules.set_rows(_rules(profile))
        self.facts.set_rows([_fact_row(place, profile) for place in range(len(profile.facts))])


def _rules(profile: ClientProfile) -> list[tuple[str, str]]:
    limits = [(LIMITS[key], f"{limit:,}") for key, limit in profile.limits().items()]
    told = "reach the model" if profile.uses_instructions else "not known to reach the model"
    rows = [("Name of a tool", profile.names.pattern), *limits, ("Server instructions", told)]
    if profile.search:
        rows.append(("Search", f"{profile.search.method}, over {', '.join(profile.search.reads)}"))
    return [*rows, ("Checked", profile.checked)]


def _fact_row(place: int, profile: ClientProfile) -> Row:
    fact = profile.facts[place]
    texts = (fact.of, fact.says, fact.confidence, fact.date, fact.source)
    return Row(str(place), tuple(Cell(text=text, tip=text) for text in texts))
