"""The history of runs as columns of numbers, read from their facts in one query."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BLOB, Executable, cast, func, select, union
from sqlmodel import Session

from mcp_tef.model.answers import AnsweringModel
from mcp_tef.model.cases import CaseOrigin
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.metrics import FilterChoices
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.tools import ToolLabel
from mcp_tef.statistics.history import Flags, History, Integers, Numbers, PastBatch, PastCase
from mcp_tef.storage.columns import MisreadError
from mcp_tef.storage.database import Database
from mcp_tef.storage.run_facts import (
    AMOUNTS,
    CODES,
    COST_UNIT,
    KEYS,
    MISSING,
    OUTCOME_CODES,
    RECORD,
    SHARE_UNIT,
    SHARES,
)
from mcp_tef.storage.run_queries import answering_models, past_conditions
from mcp_tef.storage.run_tables import ASKED_LABEL, BATCHES, FACT_KEYS, FACTS, TOOL_NAMES, TOOLS
from mcp_tef.storage.tables import CASE_TAGS, CASES, SUITES

_DTYPE = np.dtype([(name, f">{code}") for name, code in RECORD])


def decoded(records: bytes) -> dict[str, Any]:
    """Return the columns of `History`, by name, from the records of all runs in a row."""
    rows = np.frombuffer(records, dtype=_DTYPE)
    whole: dict[str, Integers] = {name: rows[name].astype(np.int32) for name in (*KEYS, "rank")}
    whole |= {name: np.ascontiguousarray(rows[name]) for name in (*CODES, *OUTCOME_CODES)}
    measures = {name: _measure(rows[name], rows[name] == MISSING) for name in (*SHARES, *AMOUNTS)}
    for name in SHARES:
        measures[name] /= SHARE_UNIT
    return whole | measures | {"cost": _measure(rows["cost"], rows["cost"] < 0) / COST_UNIT}


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


_NUMBER = FACT_KEYS.c.id.label("number")
_CASES = select(_NUMBER, CASES.c.id, CASES.c.name, CASES.c.family, CASES.c.origin).join(
    CASES, CASES.c.id == FACT_KEYS.c.value
)
_BATCHES = select(_NUMBER, BATCHES.c.id, BATCHES.c.name, BATCHES.c.created_at).join(
    BATCHES, BATCHES.c.id == FACT_KEYS.c.value
)
_MODELS = select(_NUMBER, FACT_KEYS.c.value).where(FACT_KEYS.c.value.in_(select(ASKED_LABEL)))
_PICKED = TOOL_NAMES.c.id.in_(union(select(FACTS.c.expected_tool_key), select(FACTS.c.selected_tool_key)))
_TOOLS = union(select(TOOLS.c.name), select(TOOL_NAMES.c.tool).where(_PICKED))
_SERVERS = union(select(TOOLS.c.server_name), select(TOOL_NAMES.c.server).where(_PICKED, TOOL_NAMES.c.server != ""))


def _history(session: Session, where: RunFilter) -> History:
    answered = answering_models(session)
    # One value for all runs: rows of their own would take three times as long to fetch.
    statement = select(cast(func.group_concat(FACTS.c.metrics, ""), BLOB)).where(*past_conditions(where))
    return _checked(
        History(
            **decoded(session.execute(statement).scalar_one() or b""),
            cases={row.number: _past_case(row) for row in session.execute(_CASES)},
            batches={row.number: _past_batch(row, answered) for row in session.execute(_BATCHES)},
            models={row.number: row.value for row in session.execute(_MODELS)},
            tools={row.id: ToolLabel(row.tool, row.server) for row in session.execute(select(TOOL_NAMES))},
        )
    )


_MOST_KEYS = 2**24
"""Figures are counted in arrays as long as the highest key, which somebody else could have written as high as any."""


def _checked(history: History) -> History:
    """Return a history whose runs refer only to names that are there, by keys that this program gives."""
    named = (
        ("fact_keys", history.cases, (history.case,)),
        ("fact_keys", history.batches, (history.batch,)),
        ("fact_keys", history.models, (history.model,)),
        ("tool_names", history.tools, (history.expected, history.selected)),
    )
    for table, names, columns in named:
        if any(not 0 < key < _MOST_KEYS for key in names):
            raise MisreadError(f"id of {table}, row {next(key for key in names if not 0 < key < _MOST_KEYS)}")
        for column in columns:
            missing = column[~np.isin(column, [0, *names], kind="table")]
            if len(missing):
                raise MisreadError(f"{table}, row {missing[0]}")
    return history


def _past_case(row: Any) -> PastCase:
    return PastCase(CaseId(row.id), row.name, row.family or "", row.origin == CaseOrigin.GENERATED)


def _past_batch(row: Any, answered: Mapping[BatchId, frozenset[AnsweringModel]]) -> PastBatch:
    return PastBatch(BatchId(row.id), row.name, row.created_at, answered.get(row.id, frozenset()))


def _choices(session: Session) -> FilterChoices:
    return FilterChoices(
        models=_sorted(session, select(FACT_KEYS.c.value).where(FACT_KEYS.c.value.in_(select(ASKED_LABEL)))),
        tools=_sorted(session, _TOOLS),
        servers=_sorted(session, _SERVERS),
        suites=_sorted(session, select(SUITES.c.name)),
        tags=_sorted(session, select(CASE_TAGS.c.tag).distinct()),
    )


def _sorted(session: Session, names: Executable) -> tuple[str, ...]:
    return tuple(sorted(session.execute(names).scalars()))
