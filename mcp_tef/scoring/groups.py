"""The figures of each server and each model."""

from collections.abc import Mapping

import numpy as np

from mcp_tef.model.metrics import GroupMetrics
from mcp_tef.scoring.history import FAILED, History, Integers
from mcp_tef.scoring.rates import Counts

_OUTCOMES = 6
_FAILED = 5


def by_model(ended: History) -> tuple[GroupMetrics, ...]:
    """The runs of each model."""
    return _grouped(ended, ended.model, ended.models)


def by_server(ended: History) -> tuple[GroupMetrics, ...]:
    """The runs that each server had a part in: whose tool was expected, or picked where nothing was expected."""
    names = sorted({label.server for label in ended.tools.values() if label.server})
    numbers = {name: place for place, name in enumerate(names, start=1)}
    of_tool = np.zeros(max(ended.tools, default=0) + 1, dtype=np.int64)
    for key, label in ended.tools.items():
        of_tool[key] = numbers.get(label.server or "", 0)
    meant = np.where(ended.expected > 0, ended.expected, ended.selected)
    return _grouped(ended, of_tool[meant], {place: name for name, place in numbers.items()})


def _grouped(ended: History, keys: Integers, names: Mapping[int, str]) -> tuple[GroupMetrics, ...]:
    """Counts by name of the key of each run; 0 is no key."""
    outcome = np.where(ended.status == FAILED, _FAILED, ended.classification)
    size = _OUTCOMES * (max(names, default=0) + 1)
    table = np.bincount(keys * _OUTCOMES + outcome, minlength=size).reshape(-1, _OUTCOMES)
    found = ((name, table[key, 1:].tolist()) for key, name in sorted(names.items(), key=lambda item: item[1]))
    return tuple(Counts(*numbers).group(name) for name, numbers in found if any(numbers))
