"""Many runs as columns of numbers, the input of all metrics."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.answers import ConfidenceSource
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.runs import OFFLINE_MODEL, OFFLINE_PROVIDER
from mcp_tef.model.tools import ToolLabel
from mcp_tef.model.verdicts import Classification, ConfidenceCategory

Integers: TypeAlias = NDArray[np.integer[Any]]
Numbers: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

COMPLETED, FAILED = 1, 2
TP, FP, TN, FN = 1, 2, 3, 4
CLASSIFICATIONS = (None, Classification.TP, Classification.FP, Classification.TN, Classification.FN)
CATEGORIES = (None, ConfidenceCategory.ROBUST, ConfidenceCategory.NEEDS_CLARITY, ConfidenceCategory.MISLEADING)
SOURCES = (
    None,
    ConfidenceSource.SELF_REPORTED,
    ConfidenceSource.AGREEMENT,
    ConfidenceSource.LOGPROB,
    ConfidenceSource.MARGIN,
)
RANKING_MODEL = f"{OFFLINE_PROVIDER}/{OFFLINE_MODEL}"


@dataclass(frozen=True, slots=True)
class PastCase:
    """A case that runs refer to."""

    id: CaseId
    name: str


@dataclass(frozen=True, slots=True)
class PastBatch:
    """A batch that runs refer to."""

    id: BatchId
    name: str
    started: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Columns with one entry a run, in no order, and what their numbers mean.

    `case`, `batch`, `model`, `expected` and `selected` are keys of the mappings, 0 for none. `status` is COMPLETED,
    FAILED or 0; `classification`, `category` and `source` are places in CLASSIFICATIONS, CATEGORIES and SOURCES.
    `parameters_ok` and `conformance` are 0 (not judged), 1 (no) or 2 (yes); `rank` is 0 where there is none.
    Numbers are NaN where there is none: latency in milliseconds, cost in US dollars.
    """

    case: Integers
    batch: Integers
    model: Integers
    expected: Integers
    selected: Integers
    status: Integers
    classification: Integers
    parameters_ok: Integers
    conformance: Integers
    hallucinated: Integers
    invented: Integers
    category: Integers
    source: Integers
    rank: Integers
    confidence: Numbers
    correctness: Numbers
    completeness: Numbers
    latency: Numbers
    tokens: Numbers
    cost: Numbers
    cases: Mapping[int, PastCase]
    batches: Mapping[int, PastBatch]
    models: Mapping[int, str]
    tools: Mapping[int, ToolLabel]

    def __len__(self) -> int:
        return len(self.status)

    def of(self, mask: Flags | Integers) -> "History":
        """Return the runs that a mask or their places name."""
        if mask.dtype == np.bool_ and mask.all():
            return self
        return replace(self, **{name: getattr(self, name)[mask] for name in COLUMNS})

    def grouped(self, key: Integers) -> "list[tuple[int, History]]":
        """Return the runs apart by a column that goes with them, each key above 0 with its runs."""
        order = np.argsort(key, kind="stable")
        values, starts = np.unique(key[order], return_index=True)
        ends = np.append(starts, len(order))[1:]
        places = zip(values.tolist(), starts.tolist(), ends.tolist(), strict=True)
        return [(value, self.of(order[start:end])) for value, start, end in places if value > 0]

    @property
    def is_judged(self) -> Flags:
        """Mask of the runs with a verdict, shape (n,)."""
        return np.asarray(np.logical_and(self.status == COMPLETED, self.classification > 0), dtype=np.bool_)

    @property
    def judged(self) -> "History":
        """The runs that have a verdict."""
        return self.of(self.is_judged)

    @property
    def ended(self) -> "History":
        """The runs that were judged or failed."""
        return self.of(self.is_judged | (self.status == FAILED))

    @property
    def right(self) -> Flags:
        """Mask of the runs that chose the right tools, shape (n,)."""
        return np.asarray(np.logical_or(self.classification == TP, self.classification == TN), dtype=np.bool_)

    @property
    def passed(self) -> Flags:
        """Mask of the runs with the right tools and no wrong parameter, shape (n,)."""
        return np.asarray(np.logical_and(self.right, self.parameters_ok != 1), dtype=np.bool_)


_MEANINGS = ("cases", "batches", "models", "tools")
COLUMNS = tuple(field.name for field in fields(History) if field.name not in _MEANINGS)
