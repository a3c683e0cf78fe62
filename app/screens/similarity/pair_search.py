"""Search and filters of the similarity screen: they apply to the map, the pairs and the groups."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from app.screens.kit import SortState
from app.screens.similarity.pair_list import matching_tools
from app.screens.similarity.presenter import SimilarityPresenter
from app.screens.similarity.view import SimilarityView
from app.screens.similarity.view_state import SimilarityViewState
from mcp_tef import MatrixKind, PairStatus

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class PairSearch:
    """Applies the view state to the views; until tools are compared it only saves the changes."""

    def __init__(
        self, presenter: SimilarityPresenter, view: SimilarityView, view_state: SimilarityViewState, spawn: Spawn
    ) -> None:
        self._presenter, self._view, self._view_state, self._spawn = presenter, view, view_state, spawn
        self._requests = 0

    def search(self, text: str) -> None:
        """Show tools, groups and pairs whose names contain every word."""
        self.highlight(text)
        if text != self._view_state.state.text:
            self._view_state.change(text=text)
            self._spawn(self.show_pairs())

    def highlight(self, text: str) -> None:
        """Highlight matching tools on the map, and filter the groups."""
        analysis = self._presenter.analysis
        if analysis is not None:
            self._view.map.heatmap.bring_out(matching_tools(analysis, text))
            self._view.groups.search(text)

    def sort(self, by: MatrixKind) -> None:
        """List the pairs that are highest in another score."""
        self._view_state.change(sort=SortState(by.value))
        self._spawn(self.show_pairs())

    def filter(self, status: PairStatus | None) -> None:
        """List the pairs of one status, or of any."""
        self._view.work_summary.mark(status)
        self._view_state.set_status(status)
        self.sort(MatrixKind.SIMILARITY)

    async def show_pairs(self) -> None:
        """List the pairs that match; an answer to an older query is dropped."""
        self._requests += 1
        mine = self._requests
        found = await self._presenter.load_pairs(self._view_state.query)
        if mine == self._requests:
            self._view.pairs.show_pairs(found)
