"""Reads the figures of many runs at once: hexadecimal digits of fixed width, as `run_facts` holds them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_tef.scoring.history import Flags, Integers, Numbers

_WIDE = ("case", "batch", "model", "expected", "selected")
_CODES = ("status", "classification", "parameters_ok", "conformance", "hallucinated", "invented", "category", "source")
_SHARES = ("confidence", "correctness", "completeness")
_COUNTED = ("latency", "tokens")
_RECORD = np.dtype(
    [
        *((name, ">u4") for name in _WIDE),
        *((name, "u1") for name in _CODES),
        ("rank", ">u4"),
        *((name, ">u4") for name in (*_SHARES, *_COUNTED)),
        ("cost", ">i8"),
    ]
)
_MISSING = 0xFFFFFFFF
_SHARE_UNIT = 1e9
_COST_UNIT = 1e12


def decoded(digits: str) -> dict[str, Any]:
    """The columns of `History`, by name, from the figures of all runs in a row."""
    rows = np.frombuffer(bytes.fromhex(digits), dtype=_RECORD)
    whole: dict[str, Integers] = {name: rows[name].astype(np.int32) for name in (*_WIDE, "rank")}
    whole |= {name: np.ascontiguousarray(rows[name]) for name in _CODES}
    measures = {name: _measure(rows[name], rows[name] == _MISSING) for name in (*_SHARES, *_COUNTED)}
    for name in _SHARES:
        measures[name] /= _SHARE_UNIT
    return whole | measures | {"cost": _measure(rows["cost"], rows["cost"] < 0) / _COST_UNIT}


def _measure(values: NDArray[np.integer[Any]], missing: Flags) -> Numbers:
    numbers = values.astype(np.float64)
    numbers[missing] = np.nan
    return numbers
