"""What the screen says where nothing has run yet, and the ways on from there."""

from collections.abc import Callable

from app.text.formatting import count
from app.widgets import Action, EmptyState

Deed = Callable[[], object]


def say_no_cases(state: EmptyState, to_cases: Deed, to_sample: Deed) -> None:
    """There is nothing to run."""
    sentence = "A run asks a model to pick a tool for a test case. Write a case first, or open the sample."
    go = Action(text="Go to test cases", do=to_cases, kind="primary")
    state.set("check-square", "No test cases to run", sentence, [go, Action(text="Open the sample", do=to_sample)])


def say_no_runs(state: EmptyState, cases: int, run: Deed, choose: Deed) -> None:
    """There are cases, and none of them was run."""
    sentence = (
        "A run asks a selector to pick a tool for each case, and judges what it picked. "
        "The offline baseline needs no key and no network."
    )
    now = Action(text=f"Run {count(cases, 'case')} offline", do=run, kind="primary", icon="play")
    state.set("play-circle", "Nothing has run yet", sentence, [now, Action(text="Choose a model…", do=choose)])
