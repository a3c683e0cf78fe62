"""Persisted state of the screen; threshold and embedder are settings that the settings dialog shows too."""

from collections.abc import Callable

from app.core_link.preferences import Preferences
from app.core_link.settings import Settings
from app.screens.similarity.labels import MapKind
from app.screens.similarity.presenter import ComparisonRequest, SimilarityPresenter
from app.screens.similarity.view import VIEWS
from mcp_tef import EmbedderChoice

THRESHOLD = "SIMILARITY_THRESHOLD"
EMBEDDER = "EMBEDDING_MODEL_TYPE"


class SimilarityViewState:
    """Settings of the page, each read with its default where it makes no sense."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._preferences = Preferences(settings)

    def view(self) -> str:
        """Map, pairs or groups."""
        return self._settings.get("similarity.view", "map", lambda key: key in {key for key, _ in VIEWS})

    def set_view(self, key: str) -> None:
        """Remember the view."""
        self._settings.set("similarity.view", key)

    def kind(self) -> MapKind:
        """What the map shows."""
        known = {str(kind) for kind in MapKind}
        return MapKind(self._settings.get("similarity.kind", MapKind.SIMILARITY.value, known.__contains__))

    def set_kind(self, kind: MapKind) -> None:
        """Remember what the map shows."""
        self._settings.set("similarity.kind", kind.value)

    def threshold(self) -> float:
        """From where on pairs are flagged."""
        return float(self._preferences.text(THRESHOLD) or self._preferences.variable(THRESHOLD).default)

    def set_threshold(self, threshold: float) -> None:
        """Remember the threshold."""
        self._preferences.set(THRESHOLD, f"{round(threshold, 2):g}")

    def is_pair_open(self) -> bool:
        """Whether a pair is to be open."""
        return self._settings.get("similarity.pair", True)

    def set_pair_open(self, wanted: bool) -> None:
        """Remember whether a pair is to be open."""
        self._settings.set("similarity.pair", wanted)

    def request(self) -> ComparisonRequest:
        """What is compared, and by which embedder; never a key."""
        servers = tuple(str(name) for name in self._settings.get("similarity.servers", []))
        return ComparisonRequest(embedder=self._embedder(), servers=servers)

    def set_request(self, request: ComparisonRequest) -> None:
        """Remember what is compared."""
        self._settings.set("similarity.servers", list(request.servers))
        if request.embedder != self._embedder():
            self._preferences.set(EMBEDDER, request.embedder)

    def follow(
        self,
        presenter: SimilarityPresenter,
        set_threshold: Callable[[float], object],
        choose_embedder: Callable[[str], object],
    ) -> None:
        """What was set elsewhere holds here as well."""
        set_threshold(self.threshold())
        if self._embedder() != presenter.request.embedder:
            choose_embedder(self._embedder())

    def _embedder(self) -> str:
        text = self._preferences.text(EMBEDDER)
        choice = self._preferences.variable(EMBEDDER).read(text)
        return choice.label if isinstance(choice, EmbedderChoice) else ""
