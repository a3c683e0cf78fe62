"""What the page says while nothing is compared: that it is under way, was stopped, or takes more tools."""

from collections.abc import Callable

from app.widgets import Action, EmptyState

ICON = "grid-four"
BUSY = (
    "Comparing your tools",
    "Their definitions are read as the servers last gave them, and each is compared with every other.",
)


def tell_busy(empty: EmptyState) -> None:
    """They are being compared."""
    empty.set(ICON, *BUSY)


def tell_stopped(empty: EmptyState, again: Callable[[], object]) -> None:
    """The user stopped it before anything was compared."""

    def begin() -> None:
        tell_busy(empty)
        again()

    empty.set(
        ICON, "Comparing was stopped", "No tools are compared yet.", [Action(text="Compare", do=begin, kind="primary")]
    )


def tell_too_few(
    empty: EmptyState, *, known: bool, go: Callable[[], object], again: Callable[[], object] | None
) -> None:
    """Fewer than two tools are `known`; `again` reads the servers, where some could not be read."""
    sentence = (
        "Here stands which tools look alike, why, and what to write instead. "
        f"{'One tool is' if known else 'No tools are'} known so far; it takes two to compare."
    )
    actions = [Action(text="Add server", do=go, kind="primary", icon="plus")]
    actions += [Action(text="Read the servers again", do=again)] if again else []
    empty.set(ICON, "Nothing to compare yet", sentence, actions)
