"""What can be done to the chosen pairs."""

from collections.abc import Callable, Sequence

from app.screens.similarity.one_pair import OnePair
from app.screens.similarity.pairs import Places, places_of
from app.text.formatting import count
from app.widgets import Action


def pair_actions(pair: OnePair, rows: Sequence[str], reveal: Callable[[Places], object]) -> list[Action]:
    """Look at one of them, or ask a model about all."""
    pairs = [places_of(row) for row in rows]
    one = len(pairs) == 1
    ask = f"Ask a model about {count(len(pairs), 'pair')}…"
    return [
        Action(text="Open side by side", do=lambda: pair.open(pairs[0]), enabled=one),
        Action(text="Show on the map", do=lambda: reveal(pairs[0]), enabled=one),
        Action(text=ask, do=lambda: pair.ask(pairs), apart=True, enabled=not pair.advising.busy),
    ]
