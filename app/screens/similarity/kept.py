"""What the page remembers between starts."""

from app.screens.similarity.presenter import Wanted
from app.screens.similarity.view import VIEWS
from app.screens.similarity.words import MapKind
from app.settings import Settings
from mcp_tef import InputError, parse_embedder

UNSET = -1


class Kept:
    """Settings of the page, each read with its default where it makes no sense."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

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

    def threshold(self, default: float) -> float:
        """From where on pairs are flagged."""
        hundredths = self._settings.get("similarity.threshold", UNSET, lambda value: 0 <= value <= 100)
        return default if hundredths == UNSET else hundredths / 100

    def set_threshold(self, threshold: float) -> None:
        """Remember the threshold."""
        self._settings.set("similarity.threshold", round(threshold * 100))

    def pair_wanted(self) -> bool:
        """Whether a pair is to be open."""
        return self._settings.get("similarity.pair", True)

    def want_pair(self, wanted: bool) -> None:
        """Remember whether a pair is to be open."""
        self._settings.set("similarity.pair", wanted)

    def wanted(self) -> Wanted:
        """What is compared, and by which embedder; never a key."""
        servers = tuple(str(name) for name in self._settings.get("similarity.servers", []))
        return Wanted(embedder=self._settings.get("similarity.embedder", "", _is_embedder), servers=servers)

    def set_wanted(self, wanted: Wanted) -> None:
        """Remember what is compared."""
        self._settings.set("similarity.servers", list(wanted.servers))
        self._settings.set("similarity.embedder", wanted.embedder)


def _is_embedder(label: str) -> bool:
    try:
        parse_embedder(label)
    except InputError:
        return not label
    return True
