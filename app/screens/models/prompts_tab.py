"""Prompts tab: prompt templates in versions."""

from PySide6.QtWidgets import QWidget

from app.core_link.refresh import Refresh
from app.core_link.session import Session
from app.screens.models.prompts_presenter import PromptsPresenter
from app.screens.models.tab import ModelsTab
from app.text.formatting import count
from app.theme import Role, height
from app.widgets import CardList, CardRow, Span, Split
from app.widgets.text_view import CodeView
from mcp_tef import Event


class PromptsTab(ModelsTab):
    """Lists prompt templates, with the text of the selected one."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "Prompts")
        self.presenter = PromptsPresenter(session.call)
        self.cards = CardList("Prompts", row_height=height("server_row"))
        self.text = CodeView("Text of the prompt")
        split = Split([self.cards, self.text], "Prompts", [260, 800])
        split.set_stretch(1)
        self.body.addWidget(split, 1)
        self.cards.chosen.connect(self._show)

    async def refresh(self) -> None:
        await self.presenter.load()
        self.cards.set_rows(
            [
                CardRow(id=one.name, title=one.name, sub=(Span(f"{one.kind} · version {one.version}", Role.DIM),))
                for one in self.presenter.prompts.values()
            ]
        )
        if not self.cards.current_id():
            self.cards.select_first()

    def handle(self, event: Event) -> Refresh:
        return self.presenter.handle(event)

    def show_item(self, item: str) -> None:
        self.cards.select(item)

    def current_item(self) -> str:
        return self.cards.current_id()

    def count_text(self) -> str:
        return count(len(self.presenter.prompts), "prompt")

    def first_focus(self) -> QWidget | None:
        return self.cards

    def _show(self, name: str) -> None:
        if name in self.presenter.prompts:
            self.text.show_text(self.presenter.prompts[name].text)
