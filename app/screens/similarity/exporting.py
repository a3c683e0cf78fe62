"""What can be taken out of the screen: the map as a picture, everything as a table, JSON or a report to read."""

from collections.abc import Callable
from dataclasses import dataclass

from app.screens.similarity.map_pane import MapPane
from app.screens.similarity.presenter import SimilarityPresenter, State
from app.screens.similarity.saving import NAME, Saving, write_chart
from app.screens.similarity.words import KINDS
from app.widgets import Action
from app.widgets.chart import copy_picture

FORMS = (("csv", "Pairs as CSV…"), ("json", "Everything as JSON…"), ("html", "Report as HTML…"))


@dataclass(frozen=True, slots=True)
class Exporting:
    """What is exported, and what with."""

    presenter: SimilarityPresenter
    pane: MapPane
    saving: Saving

    def actions(self) -> list[Action]:
        """The map as PNG and SVG, all pairs as CSV, JSON and HTML."""
        if self.presenter.state is not State.FULL:
            return [Action(text="There is nothing to export yet", do=lambda: None, enabled=False)]
        pictures = [Action(text=f"Map as {kind.upper()}…", do=self._picture(kind)) for kind in ("png", "svg")]
        copied = Action(text="Copy map", do=lambda: copy_picture(self.pane.heatmap, self.title()))
        forms = [Action(text=text, do=self._form(kind), apart=place == 0) for place, (kind, text) in enumerate(FORMS)]
        return [*pictures, copied, *forms]

    def title(self) -> str:
        """What stands above a picture."""
        return f"{KINDS[self.pane.shown_kind()]} of {len(self.pane.heatmap.heat()):,} tools"

    def _picture(self, kind: str) -> Callable[[], object]:
        return lambda: self.saving.ask(NAME, kind, write_chart(self.pane.heatmap, self.title()))

    def _form(self, kind: str) -> Callable[[], object]:
        threshold = self.pane.scale.threshold
        return lambda: self.saving.ask(NAME, kind, lambda file: self.presenter.save(file, threshold()))
