"""Clients tab: profiles of the programs that show tools to models."""

from typing import Final

from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.screens.models.clients_presenter import ClientsPresenter
from app.screens.models.tab import ModelsTab
from app.text.formatting import count
from app.theme import Role, height
from app.widgets import CardList, CardRow, Cell, Column, ListTable, Row, Span, Split

FACTS: Final = (
    Column(key="of", title="Figure", width=150, tip="What the source tells about"),
    Column(key="says", title="What is known", stretch=True, tip="The statement of the source"),
    Column(key="confidence", title="Confidence", width=100, role=Role.DIM, tip="How sure the statement is"),
    Column(key="date", title="Date", width=100, role=Role.DIM, tip="The day on which the source was read"),
    Column(key="source", title="Source", width=200, role=Role.DIM, tip="Where the figure was found"),
)


class ClientsTab(ModelsTab):
    """Lists client profiles, with the source of each figure of the selected one."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "Clients")
        self.presenter = ClientsPresenter(session.call)
        self.cards = CardList("Clients", row_height=height("server_row"))
        self.facts = ListTable(FACTS, "Sources of the figures")
        split = Split([self.cards, self.facts], "Clients", [260, 800])
        split.set_stretch(1)
        self.body.addWidget(split, 1)
        self.cards.chosen.connect(self._show)

    async def refresh(self) -> None:
        await self.presenter.load()
        self.cards.set_rows(
            [
                CardRow(id=one.name, title=one.title, sub=(Span(f"checked {one.checked}", Role.DIM),))
                for one in self.presenter.clients.values()
            ]
        )
        if not self.cards.current_id():
            self.cards.select_first()

    def show_item(self, item: str) -> None:
        self.cards.select(item)

    def current_item(self) -> str:
        return self.cards.current_id()

    def count_text(self) -> str:
        return count(len(self.presenter.clients), "client")

    def first_focus(self) -> QWidget | None:
        return self.cards

    def _show(self, name: str) -> None:
        profile = self.presenter.clients.get(name)
        facts = profile.facts if profile else ()
        texts = [(one.of, one.says, one.confidence, one.date, one.source) for one in facts]
        self.facts.set_rows(
            [Row(str(place), tuple(Cell(text=text, tip=text) for text in one)) for place, one in enumerate(texts)]
        )
