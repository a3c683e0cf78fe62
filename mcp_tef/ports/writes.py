"""Context of a write to a store: what the writer saw, which runs are from elsewhere, and who hears of progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from mcp_tef.model.ids import CaseId, RunId
    from mcp_tef.model.runs import ModelSettings

ProgressStep: TypeAlias = Callable[[int, int], object]
KnownRuns: TypeAlias = "Mapping[tuple[CaseId, ModelSettings, int], RunId]"
"""Ids of runs that were done elsewhere, by case, model and repeat."""
NOTHING_SEEN: Final[Mapping[Any, Any]] = MappingProxyType({})
"""Names nothing: what the store holds counts as seen."""


def ignore_progress(_done: int, _whole: int) -> None:
    """Ignore the progress of a write."""
