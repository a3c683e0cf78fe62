"""What can be taken out of the screen: the map as a picture, everything as a table, JSON or a report to read."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from app.core_link.session import Session
from app.dialogs.export import copy_markdown
from app.screens.similarity.map_pane import MapPane
from app.screens.similarity.pairs import Places
from app.screens.similarity.presenter import SimilarityPresenter, State
from app.screens.similarity.saving import NAME, Saving, write_chart
from app.screens.similarity.words import KINDS, MapKind
from app.widgets import Action
from app.widgets.chart import copy_picture

FORMS = (
    ("csv", "Pairs as CSV…"),
    ("json", "Everything as JSON…"),
    ("html", "Report as HTML…"),
    ("pdf", "Report as PDF…"),
)
OVERLAP_FORMS = (
    ("csv", "Overlap as CSV…"),
    ("json", "Overlap as JSON…"),
    ("html", "Overlap report as HTML…"),
    ("pdf", "Overlap report as PDF…"),
)
OVERLAP_NAME = "tool-overlap"


@dataclass(frozen=True, slots=True)
class Exporting:
    """What is exported, and what with."""

    presenter: SimilarityPresenter
    pane: MapPane
    saving: Saving
    session: Session
    pair: Callable[[], Places | None]

    def actions(self) -> list[Action]:
        """The map as PNG and SVG, all pairs as CSV, JSON, HTML and PDF; where the map shows the overlap, that."""
        if self.presenter.state is not State.FULL:
            return [Action(text="There is nothing to export yet", do=lambda: None, enabled=False)]
        pictures = [Action(text=f"Map as {kind.upper()}…", do=self._picture(kind)) for kind in ("png", "svg")]
        copied = Action(text="Copy map", do=lambda: copy_picture(self.pane.heatmap, self.title()))
        overlap = self.pane.shown_kind() is MapKind.OVERLAP
        forms = [
            Action(text=text, do=self._overlap(kind) if overlap else self._form(kind), apart=place == 0)
            for place, (kind, text) in enumerate(OVERLAP_FORMS if overlap else FORMS)
        ]
        return [*pictures, copied, *forms, *self._copied_work(), *self._copied_pair()]

    def _copied_work(self) -> list[Action]:
        """The pairs to work on for the clipboard."""
        results, session = self.presenter.results(self.pane.scale.threshold()), self.session
        if results is None:
            return []
        made = partial(copy_markdown, session, lambda core: core.exports.similarity_markdown(results), "the pairs")
        text = "Copy the pairs to work on as Markdown"
        return [Action(text=text, do=lambda: session.spawn(made()), icon="copy", apart=True)]

    def _copied_pair(self) -> list[Action]:
        """The open pair for the clipboard."""
        analysis, pair, session = self.presenter.analysis, self.pair(), self.session
        if analysis is None or pair is None:
            return []
        similarity = analysis.similarity
        made = partial(copy_markdown, session, lambda core: core.exports.pair_markdown(similarity, *pair), "the pair")
        return [Action(text="Copy the pair as Markdown", do=lambda: session.spawn(made()), icon="copy")]

    def title(self) -> str:
        """What stands above a picture."""
        return f"{KINDS[self.pane.shown_kind()]} of {len(self.pane.heatmap.heat()):,} tools"

    def _picture(self, kind: str) -> Callable[[], object]:
        return lambda: self.saving.ask(NAME, kind, write_chart(self.pane.heatmap, self.title()))

    def _overlap(self, kind: str) -> Callable[[], object]:
        weights = self.pane.weights.weights
        return lambda: self.saving.ask(OVERLAP_NAME, kind, lambda file: self.presenter.save_overlap(file, weights()))

    def _form(self, kind: str) -> Callable[[], object]:
        threshold = self.pane.scale.threshold
        return lambda: self.saving.ask(NAME, kind, lambda file: self.presenter.save(file, threshold()))
