"""Commands of the similarity screen: one list for buttons, the export menu, the palette and shortcuts; the row menu."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from app.core_link.commands import Command
from app.core_link.session import Page
from app.dialogs.export import ask_file, copy_markdown, picture_writers, report_writers
from app.screens.kit.menus import ScreenCommand, menu_of
from app.screens.similarity.labels import MAP_LABELS, MapKind
from app.screens.similarity.map_pane import MapPane
from app.screens.similarity.pair_controller import PairController
from app.screens.similarity.pair_list import PairIndices, pair_of_row
from app.screens.similarity.presenter import SimilarityPresenter, SimilarityState
from app.screens.similarity.view import VIEWS
from app.text.formatting import count
from app.widgets import Action
from app.widgets.chart import copy_picture

GROUP = "Similarity"
READ, ASK, FIT, EXPORT = (f"similarity.{name}" for name in ("read", "ask", "fit", "export"))
WORK: Final = "Copy the pairs to work on as Markdown"


def similarity_commands(
    does: Mapping[str, Callable[[], object]],
    show_view: Callable[[str], object],
    show_kind: Callable[[MapKind], object],
    *,
    has_analysis: Callable[[], bool],
    has_pair: Callable[[], bool],
) -> dict[str, Command]:
    """Return all commands by id; `does` gives the operations of READ, ASK, FIT and EXPORT."""

    def command(key: str, text: str, do: Callable[[], object]) -> Command:
        return Command(id=key, text=text, do=do, needs=has_analysis, unless="Compare tools first", group=GROUP)

    commands = [
        *(command(f"similarity.{key}", f"Show {label.lower()}", partial(show_view, key)) for key, label in VIEWS),
        *(
            command(f"similarity.colour.{kind}", f"Colour the map by {name.lower()}", partial(show_kind, kind))
            for kind, name in MAP_LABELS.items()
        ),
        Command(id=READ, text="Read the servers again", keys="F5", do=does[READ], group=GROUP),
        Command(
            id=ASK,
            text="Ask a model about this pair",
            do=does[ASK],
            needs=has_pair,
            unless="Open a pair first",
            group=GROUP,
        ),
        command(FIT, "Show all tools on the map", does[FIT]),
        Command(id=EXPORT, text="Export similarity", do=does[EXPORT], group=GROUP),
    ]
    return {one.id: one for one in commands}


def pair_actions(pair: PairController, rows: Sequence[str], reveal: Callable[[PairIndices], object]) -> list[Action]:
    """Return the menu for selected pairs: open one of them, or ask a model about all."""
    pairs = [pair_of_row(row) for row in rows]
    one = len(pairs) == 1
    ask = f"Ask a model about {count(len(pairs), 'pair')}…"
    return [
        Action(text="Open side by side", do=lambda: pair.open(pairs[0]), enabled=one),
        Action(text="Show on the map", do=lambda: reveal(pairs[0]), enabled=one),
        Action(text=ask, do=lambda: pair.ask(pairs), apart=True, enabled=not pair.requests.busy),
    ]


@dataclass(frozen=True, slots=True)
class SimilarityExports:
    """Exports: the map as a picture, the report of what the map shows, and Markdown for the clipboard."""

    page: Page
    presenter: SimilarityPresenter
    map: MapPane
    pair: PairController

    def commands(self) -> tuple[ScreenCommand, ...]:
        """Return a command for each entry of the export menu."""
        has_pair, pair = (lambda: self.pair.places is not None), "Copy the pair as Markdown"
        return (
            self._command("map", "Export the map", "Map…", self._export_map),
            self._command("copy_map", "Copy the map", "Copy map", self._copy_map),
            self._command("report", "Export the report of the map", self._report_text, self._export_shown, apart=True),
            self._command("work", WORK, WORK, self._copy_work, icon="copy", apart=True),
            self._command("pair", pair, pair, self._copy_pair, icon="copy", needs=has_pair, unless="Open a pair first"),
        )

    def actions(self) -> list[Action]:
        """Return the export menu."""
        return menu_of(self.commands())

    def _command(
        self, name: str, text: str, menu_text: str | Callable[[], str], do: Callable[[], object], **options: Any
    ) -> ScreenCommand:
        options = {"needs": self._has_analysis, "unless": "Compare tools first", **options}
        return ScreenCommand(id=f"{EXPORT}.{name}", text=text, menu_text=menu_text, do=do, group=GROUP, **options)

    def _has_analysis(self) -> bool:
        return self.presenter.state is SimilarityState.FULL

    def _report_text(self) -> str:
        return "Overlap report…" if self.map.shown_kind() is MapKind.OVERLAP else "Similarity report…"

    def _export_shown(self) -> None:
        if self.map.shown_kind() is MapKind.OVERLAP:
            self._export_overlap()
        else:
            self._export_report()

    def _copy_map(self) -> None:
        copy_picture(self.map.heatmap, self._map_title())

    def _map_title(self) -> str:
        return f"{MAP_LABELS[self.map.shown_kind()]} of {len(self.map.heatmap.heat()):,} tools"

    def _export_map(self) -> None:
        writers = picture_writers(self.map.heatmap, self._map_title())
        ask_file(self.page, self.page.session, "Export the map", "tool-similarity", writers)

    def _export_report(self) -> None:
        presenter, threshold = self.presenter, self.map.scale.threshold()
        html, write = partial(presenter.report_html, threshold), partial(presenter.write_report, threshold)
        writers = report_writers(html, "Which tools are similar?", write)
        ask_file(self.page, self.page.session, "Export the similarity report", "tool-similarity", writers)

    def _export_overlap(self) -> None:
        presenter, weights = self.presenter, self.map.weights.weights()
        html, write = partial(presenter.overlap_html, weights), partial(presenter.write_overlap, weights)
        writers = report_writers(html, "What do tools share?", write)
        ask_file(self.page, self.page.session, "Export the overlap report", "tool-overlap", writers)

    def _copy_work(self) -> None:
        markdown = self.presenter.work_markdown(self.map.scale.threshold())
        self.page.session.spawn(copy_markdown(self.page.session, markdown, "the pairs"))

    def _copy_pair(self) -> None:
        if (pair := self.pair.places) is not None:
            self.page.session.spawn(copy_markdown(self.page.session, self.presenter.pair_markdown(pair), "the pair"))
