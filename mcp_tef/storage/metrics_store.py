"""The whole history of runs as numbers: one query over narrow rows, and the names behind the numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Executable, func, select, union
from sqlmodel import Session

from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.metrics import FilterChoices
from mcp_tef.model.runs import RunFilter
from mcp_tef.model.tools import ToolLabel
from mcp_tef.statistics.history import Flags, History, Integers, Numbers, PastBatch, PastCase
from mcp_tef.storage.database import Database
from mcp_tef.storage.run_queries import conditions
from mcp_tef.storage.tables import BATCHES, CASE_TAGS, CASES, FACTS, MODEL_SETTINGS, SUITES, TOOL_NAMES, TOOLS, WORDS

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


class SqliteMetrics:
    """Satisfies `MetricsStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def history(self, where: RunFilter) -> History:
        """The runs that a filter names, whatever its order."""
        return await self._database.read(lambda session: _history(session, where))

    async def choices(self) -> FilterChoices:
        """The names that occur in runs, and the suites and tags of cases."""
        return await self._database.read(_choices)


_NUMBER = WORDS.c.id.label("number")
_CASES = select(_NUMBER, CASES.c.id, CASES.c.name).join(CASES, CASES.c.id == WORDS.c.word)
_BATCHES = select(_NUMBER, BATCHES.c.id, BATCHES.c.name, BATCHES.c.created_at).join(
    BATCHES, BATCHES.c.id == WORDS.c.word
)
_LABEL = MODEL_SETTINGS.c.provider + "/" + MODEL_SETTINGS.c.model
_MODELS = select(_NUMBER, WORDS.c.word).where(WORDS.c.word.in_(select(_LABEL)))
_PICKED = TOOL_NAMES.c.id.in_(union(select(FACTS.c.expected), select(FACTS.c.selected)))
_TOOLS = union(select(TOOLS.c.name), select(TOOL_NAMES.c.tool).where(_PICKED))
_SERVERS = union(select(TOOLS.c.server_name), select(TOOL_NAMES.c.server).where(_PICKED, TOOL_NAMES.c.server != ""))


def _history(session: Session, where: RunFilter) -> History:
    statement = select(func.group_concat(FACTS.c.figures, "")).where(*conditions(where))
    digits = session.execute(statement).scalar_one() or ""
    return History(
        **decoded(digits),
        cases={row.number: PastCase(CaseId(row.id), row.name) for row in session.execute(_CASES)},
        batches={row.number: PastBatch(BatchId(row.id), row.name, row.created_at) for row in session.execute(_BATCHES)},
        models={row.number: row.word for row in session.execute(_MODELS)},
        tools={row.id: ToolLabel(row.tool, row.server) for row in session.execute(select(TOOL_NAMES))},
    )


def _choices(session: Session) -> FilterChoices:
    return FilterChoices(
        models=_sorted(session, select(WORDS.c.word).where(WORDS.c.word.in_(select(_LABEL)))),
        tools=_sorted(session, _TOOLS),
        servers=_sorted(session, _SERVERS),
        suites=_sorted(session, select(SUITES.c.name)),
        tags=_sorted(session, select(CASE_TAGS.c.tag).distinct()),
    )


def _sorted(session: Session, names: Executable) -> tuple[str, ...]:
    return tuple(sorted(session.execute(names).scalars()))
