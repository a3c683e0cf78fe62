"""What is searched for, and which standing is wanted: on the map, in the groups and among the pairs."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from app.screens.similarity.pairs import PairQuery, matching
from app.screens.similarity.presenter import SimilarityPresenter
from app.screens.similarity.view import SimilarityView
from mcp_tef import MatrixKind, Standing

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class Finding:
    """Narrows what the page shows, at first to `words`; until tools are compared it only notes what is wanted."""

    def __init__(self, presenter: SimilarityPresenter, view: SimilarityView, spawn: Spawn, words: str) -> None:
        self._presenter, self._view, self._spawn = presenter, view, spawn
        self._query = PairQuery(text=words)
        self._listed = 0

    def search(self, text: str) -> None:
        """Have tools, groups and pairs that hold every word."""
        self.show_found(text)
        if text != self._query.text:
            self._list(replace(self._query, text=text))

    def show_found(self, text: str) -> None:
        """Bring out on the map what was found, and narrow the groups to it."""
        analysis = self._presenter.analysis
        if analysis is not None:
            self._view.map.heatmap.bring_out(matching(analysis, text))
            self._view.groups.search(text)

    def sort(self, by: MatrixKind) -> None:
        """Have the pairs that are highest in another score."""
        self._list(replace(self._query, by=by))

    def choose(self, standing: Standing | None) -> None:
        """Have the pairs of one standing, or of any."""
        self._view.strip.mark(standing)
        self._list(replace(self._query, standing=standing, by=MatrixKind.SIMILARITY))

    async def show_pairs(self) -> None:
        """List the pairs that are wanted; an answer to an older question is not shown."""
        self._listed += 1
        mine = self._listed
        found = await self._presenter.list_pairs(self._query)
        if mine == self._listed:
            self._view.pairs.show_pairs(found)

    def _list(self, query: PairQuery) -> None:
        self._query = query
        self._spawn(self.show_pairs())
