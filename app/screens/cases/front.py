"""Whatever shows the cases now: steps that are taken back outlive a page, which goes when the window is built anew."""

from collections.abc import Callable, Sequence

from app.screens.cases.rows import neighbour
from mcp_tef import CaseId

Show = Callable[[str], object]
Ids = Callable[[], Sequence[str]]


class Front:
    """One for a session; a page stands at it from its making until its end."""

    def __init__(self) -> None:
        self._show: Show = lambda _: None
        self._ids: Ids = tuple

    def stand(self, show: Show, ids: Ids) -> None:
        """A page is there: it shows all there is now, and a case of it; `ids` are those it lists."""
        self._show, self._ids = show, ids

    def leave(self) -> None:
        """The page goes."""
        self.stand(lambda _: None, tuple)

    def show(self, case_id: str = "") -> None:
        """Show what there is now, and choose a case."""
        self._show(case_id)

    def after(self, gone: Sequence[CaseId]) -> str:
        """The case to look at once some are gone."""
        return neighbour(self._ids(), gone)
