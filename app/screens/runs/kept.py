"""What narrows the runs screen, remembered for each workspace: words for batches, words and ticks for runs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, TypeVar

from app.core_link.settings import Settings
from app.screens.runs.filtering import KINDS, OUTCOMES, STATES, states_of, with_states
from mcp_tef import RunFilter

KEPT: Final = "runs.narrowed"
MOST_WORKSPACES: Final = 10
Value = TypeVar("Value", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """Words that batches are found by, and a filter of runs of which only words and ticks count."""

    batches: str = ""
    runs: RunFilter = RunFilter()  # noqa: RUF009  # it is frozen

    def onto(self, where: RunFilter) -> RunFilter:
        """The same words and ticks on another filter."""
        kept = self.runs
        return replace(
            where,
            text=kept.text,
            classifications=kept.classifications,
            kinds=kept.kinds,
            statuses=kept.statuses,
            interrupted=kept.interrupted,
        )


def narrowed_in(settings: Settings, workspace: str) -> Narrowed:
    """What narrowed the screen when this workspace was left; whatever does not fit is left out."""
    values = next((values for place, values in _kept(settings) if place == workspace), {})
    runs = RunFilter(
        text=_text(values.get("text")),
        classifications=_known(values.get("outcomes"), OUTCOMES),
        kinds=_known(values.get("kinds"), KINDS),
    )
    states = _known(values.get("states"), STATES)
    return Narrowed(batches=_text(values.get("batches")), runs=with_states(runs, states))


def keep_narrowed(settings: Settings, workspace: str, narrowed: Narrowed) -> None:
    """Remember it; of very many workspaces, those that were narrowed last."""
    runs = narrowed.runs
    values = {
        "batches": narrowed.batches,
        "text": runs.text,
        "outcomes": [item.value for item in runs.classifications],
        "kinds": [item.value for item in runs.kinds],
        "states": [item.value for item in states_of(runs)],
    }
    others = [(place, kept) for place, kept in _kept(settings) if place != workspace]
    now = [*others, (workspace, values)] if any(values.values()) else others
    settings.set(KEPT, [[place, kept] for place, kept in now[-MOST_WORKSPACES:]])


def _kept(settings: Settings) -> list[tuple[str, Mapping[str, Any]]]:
    found: list[tuple[str, Mapping[str, Any]]] = []
    for one in settings.get(KEPT, []):
        match one:
            case [str(place), dict(values)]:
                found.append((place, values))
    return found


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _known(values: object, offered: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple(item for item in offered if isinstance(values, list) and item.value in values)
