"""Commands of the similarity screen, for menus, palette and shortcuts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from app.core_link.commands import Command
from app.screens.similarity.labels import MAP_LABELS, MapKind
from app.screens.similarity.pair_controller import PairController
from app.screens.similarity.pair_list import PairIndices, pair_of_row
from app.screens.similarity.view import VIEWS
from app.text.formatting import count
from app.widgets import Action

GROUP = "Similarity"
Deed = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityCommands:
    """The page's deeds; all but `read` need something to show, and `ask` an open pair."""

    turn: Callable[[str], object]
    colour: Callable[[MapKind], object]
    read: Deed
    ask: Deed
    fit: Deed
    export: Deed

    def commands(self, shown: Callable[[], bool], paired: Callable[[], bool]) -> tuple[Command, ...]:
        """One command for each."""
        turns = [_command(key, f"Show {label.lower()}", partial(self.turn, key), shown) for key, label in VIEWS]
        colours = [
            _command(f"colour.{kind}", f"Colour the map by {name.lower()}", partial(self.colour, kind), shown)
            for kind, name in MAP_LABELS.items()
        ]
        return (
            *turns,
            *colours,
            Command(id="similarity.read", text="Read the servers again", keys="Ctrl+R", do=self.read, group=GROUP),
            _command("ask", "Ask a model about this pair", self.ask, paired),
            _command("fit", "Show all tools on the map", self.fit, shown),
            _command("export", "Export similarity", self.export, shown),
        )


def _command(key: str, text: str, do: Deed, needs: Callable[[], bool]) -> Command:
    why = "Open a pair first" if key == "ask" else "Nothing was compared yet"
    return Command(id=f"similarity.{key}", text=text, do=do, needs=needs, unless=why, group=GROUP)


def pair_actions(pair: PairController, rows: Sequence[str], reveal: Callable[[PairIndices], object]) -> list[Action]:
    """Look at one of them, or ask a model about all."""
    pairs = [pair_of_row(row) for row in rows]
    one = len(pairs) == 1
    ask = f"Ask a model about {count(len(pairs), 'pair')}…"
    return [
        Action(text="Open side by side", do=lambda: pair.open(pairs[0]), enabled=one),
        Action(text="Show on the map", do=lambda: reveal(pairs[0]), enabled=one),
        Action(text=ask, do=lambda: pair.ask(pairs), apart=True, enabled=not pair.requests.busy),
    ]
