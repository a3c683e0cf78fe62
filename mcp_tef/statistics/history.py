"""Many runs as columns of numbers, the input of all metrics."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.answers import AnsweringModel
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.runs import is_baseline
from mcp_tef.model.tools import ToolLabel
from mcp_tef.statistics.run_codes import COMPLETED, CORRECT_CALL, FAILED, FP, WRONG_ARGUMENTS

Integers: TypeAlias = NDArray[np.integer[Any]]
Numbers: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PastCase:
    """A case that runs refer to."""

    id: CaseId
    name: str
    family: str = ""
    generated: bool = False


@dataclass(frozen=True, slots=True)
class PastBatch:
    """A batch that runs refer to."""

    id: BatchId
    name: str
    started: datetime
    answered: frozenset[AnsweringModel] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Columns with one entry a run, in no order, and what their numbers mean.

    `case`, `batch`, `model`, `expected` and `selected` are keys of the mappings, 0 for none. `status` is COMPLETED,
    FAILED or 0; `classification`, `category`, `source` and `mark` are places in CLASSIFICATIONS, CATEGORIES, SOURCES
    and MARKS; `failure` is 0 or a value of FAILURES, OTHER_FAILURE for the rest.
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
    mark: Integers
    unreadable: Integers
    failure: Integers
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
    def correct_call(self) -> Flags:
        """Mask of the runs with the right tools and every judged argument right, shape (n,)."""
        return np.asarray(self.mark == CORRECT_CALL, dtype=np.bool_)

    @property
    def correct_tool(self) -> Flags:
        """Mask of the runs with the right tools, whatever the arguments, shape (n,)."""
        return np.asarray(np.logical_or(self.mark == CORRECT_CALL, self.mark == WRONG_ARGUMENTS), dtype=np.bool_)

    @property
    def has_extra_call(self) -> Flags:
        """Mask of the runs that made all expected calls and others, shape (n,)."""
        return np.asarray((self.classification == FP) & (self.expected > 0), dtype=np.bool_)

    @property
    def apart_by_address(self) -> "History":
        """The runs with models of their own for the addresses at which one model was asked, if they are several."""
        apart = self._asked_at_several()
        if not apart:
            return self
        places = {label: key for key, label in self.models.items()}
        names = sorted({one.label_at for _, one in apart})
        added = dict(enumerate(names, start=max(self.models) + 1))
        numbers, model = {name: key for key, name in added.items()}, self.model.astype(np.int64)
        for batch, one in apart:
            model[(self.batch == batch) & (self.model == places.get(one.label, 0))] = numbers[one.label_at]
        return replace(self, model=model, models={**self.models, **added})

    def _asked_at_several(self) -> list[tuple[int, AnsweringModel]]:
        """Return batch and model of runs elsewhere than at the provider's address, if not all were at the same."""
        asked = [(key, one) for key in np.unique(self.batch).tolist() for one in self._answered(key)]
        addresses = Counter(label for label, _ in {(one.label, one.address) for _, one in asked})
        return [(key, one) for key, one in asked if addresses[one.label] > 1 and one.address]

    def _answered(self, batch: int) -> frozenset[AnsweringModel]:
        return self.batches[batch].answered if batch in self.batches else frozenset()

    @property
    def is_baseline(self) -> Flags:
        """Mask of the runs of an offline baseline, shape (n,)."""
        return np.isin(self.model, [key for key, label in self.models.items() if is_baseline(label)])

    @property
    def is_shown_together(self) -> Flags:
        """Mask of the runs that shares are made of: all, but none of a baseline where a model was asked as well."""
        baseline = self.is_baseline
        return np.full(len(self), fill_value=True) if baseline.all() else ~baseline

    @property
    def together(self) -> "History":
        """The runs that shares are made of."""
        return self.of(self.is_shown_together)

    @property
    def family(self) -> Integers:
        """For each run the key of the first case of its family, shape (n,): the unit of statistics."""
        first: dict[str, int] = {}
        units = np.arange(max(self.cases, default=0) + 2)
        for key, case in self.cases.items():
            units[key] = first.setdefault(case.family, key) if case.family else key
        return np.asarray(units[np.minimum(self.case, len(units) - 1)])

    @property
    def is_generated(self) -> Flags:
        """Mask of the runs of generated cases, shape (n,)."""
        return np.isin(self.case, [key for key, case in self.cases.items() if case.generated])


_MEANINGS = ("cases", "batches", "models", "tools")
COLUMNS = tuple(field.name for field in fields(History) if field.name not in _MEANINGS)
