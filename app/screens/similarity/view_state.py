"""View state of the similarity screen, saved per workspace, and the search that applies it to map, pairs and groups."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from app.core_link.preferences import Preferences
from app.core_link.settings import Settings
from app.screens.kit import FilterField, FilterFields, SortState, ViewState, ViewStates
from app.screens.similarity.labels import STATUS_LABELS, MapKind
from app.screens.similarity.pair_list import PairQuery, matching_tools
from app.screens.similarity.presenter import ComparisonRequest, SimilarityPresenter
from app.screens.similarity.view import VIEWS, SimilarityView
from mcp_tef import EmbedderChoice, MatrixKind, PairStatus

THRESHOLD = "CONFUSABILITY_THRESHOLD"
EMBEDDER = "EMBEDDING_MODEL_TYPE"
SERVERS: Final[FilterField[None]] = FilterField(name="servers", many=True)
STATUS: Final[FilterField[None]] = FilterField(
    name="status", texts={status.value: text for status, text in STATUS_LABELS.items()}, saved=False
)
FIELDS: Final[FilterFields[None]] = FilterFields((SERVERS, STATUS))
MODES: Final[Mapping[str, Sequence[str]]] = {
    "view": [key for key, _ in VIEWS],
    "kind": list(MapKind),
    "pair": ["yes", "no"],
}


class SimilarityViewState:
    """Search, filters, visible view, map and threshold; each change is saved."""

    def __init__(self, settings: Settings, workspace: str) -> None:
        self._views = ViewStates(settings, workspace, "similarity")
        self._preferences = Preferences(settings)
        self.state: ViewState = self._views.load(FIELDS)

    def change(self, **changes: Any) -> None:
        """Change and save fields of the view state."""
        self.state = replace(self.state, **changes)
        self._views.save(self.state, FIELDS)

    def mode(self, name: str) -> str:
        """Return the choice of a mode; its first choice if none is saved."""
        value = self.state.modes.get(name, "")
        return value if value in MODES[name] else MODES[name][0]

    def set_mode(self, name: str, value: str) -> None:
        """Save the choice of a mode."""
        self.change(modes={**self.state.modes, name: value})

    @property
    def query(self) -> PairQuery:
        """Query of the pair list: search, work list status, and the score that ranks pairs."""
        status, score = self.state.filters.first(STATUS.name), self.state.sort.name
        return PairQuery(
            text=self.state.text,
            status=PairStatus(status) if status else None,
            by=MatrixKind(score) if score in set(MatrixKind) else MatrixKind.CONFUSABILITY,
        )

    def set_status(self, status: PairStatus | None) -> None:
        """Limit the pair list to one status of the work list, or to none."""
        self.change(filters=self.state.filters.with_values(STATUS.name, *([status.value] if status else [])))

    def threshold(self) -> float:
        """Return the confusability from which pairs are flagged."""
        return float(self._preferences.text(THRESHOLD) or self._preferences.variable(THRESHOLD).default)

    def set_threshold(self, threshold: float) -> None:
        """Save the threshold."""
        self._preferences.set(THRESHOLD, f"{round(threshold, 2):g}")

    def request(self) -> ComparisonRequest:
        """Return the servers to compare and the embedder; never a key."""
        return ComparisonRequest(embedder=self._embedder(), servers=self.state.filters.of(SERVERS.name))

    def set_request(self, request: ComparisonRequest) -> None:
        """Save the servers to compare and the embedder."""
        self.change(filters=self.state.filters.with_values(SERVERS.name, *request.servers))
        if request.embedder != self._embedder():
            self._preferences.set(EMBEDDER, request.embedder)

    def follow_preferences(
        self,
        presenter: SimilarityPresenter,
        set_threshold: Callable[[float], object],
        choose_embedder: Callable[[str], object],
    ) -> None:
        """Apply a threshold and an embedder that were changed in the settings."""
        set_threshold(self.threshold())
        if self._embedder() != presenter.request.embedder:
            choose_embedder(self._embedder())

    def _embedder(self) -> str:
        text = self._preferences.text(EMBEDDER)
        choice = self._preferences.variable(EMBEDDER).read(text)
        return choice.label if isinstance(choice, EmbedderChoice) else ""


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
        self.sort(MatrixKind.CONFUSABILITY)

    async def show_pairs(self) -> None:
        """List the pairs that match; an answer to an older query is dropped."""
        self._requests += 1
        mine = self._requests
        found = await self._presenter.load_pairs(self._view_state.query)
        if mine == self._requests:
            self._view.pairs.show_pairs(found)
