"""The whole history of runs as numbers: one query over narrow rows, and the names behind the numbers."""

from sqlalchemy import BLOB, Executable, cast, func, select, union
from sqlmodel import Session

from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.metrics import FilterChoices
from mcp_tef.model.runs import RunFilter
from mcp_tef.model.tools import ToolLabel
from mcp_tef.statistics.history import History, PastBatch, PastCase
from mcp_tef.storage.database import Database
from mcp_tef.storage.run_facts import decoded
from mcp_tef.storage.run_queries import conditions
from mcp_tef.storage.tables import (
    BATCHES,
    CASE_TAGS,
    CASES,
    FACT_KEYS,
    FACTS,
    MODEL_SETTINGS,
    SUITES,
    TOOL_NAMES,
    TOOLS,
)


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
_CASES = select(_NUMBER, CASES.c.id, CASES.c.name).join(CASES, CASES.c.id == FACT_KEYS.c.value)
_BATCHES = select(_NUMBER, BATCHES.c.id, BATCHES.c.name, BATCHES.c.created_at).join(
    BATCHES, BATCHES.c.id == FACT_KEYS.c.value
)
_LABEL = MODEL_SETTINGS.c.provider + "/" + MODEL_SETTINGS.c.model
_MODELS = select(_NUMBER, FACT_KEYS.c.value).where(FACT_KEYS.c.value.in_(select(_LABEL)))
_PICKED = TOOL_NAMES.c.id.in_(union(select(FACTS.c.expected_tool_key), select(FACTS.c.selected_tool_key)))
_TOOLS = union(select(TOOLS.c.name), select(TOOL_NAMES.c.tool).where(_PICKED))
_SERVERS = union(select(TOOLS.c.server_name), select(TOOL_NAMES.c.server).where(_PICKED, TOOL_NAMES.c.server != ""))


def _history(session: Session, where: RunFilter) -> History:
    # One value for all runs: rows of their own would take three times as long to fetch.
    statement = select(cast(func.group_concat(FACTS.c.metrics, ""), BLOB)).where(*conditions(where))
    return History(
        **decoded(session.execute(statement).scalar_one() or b""),
        cases={row.number: PastCase(CaseId(row.id), row.name) for row in session.execute(_CASES)},
        batches={row.number: PastBatch(BatchId(row.id), row.name, row.created_at) for row in session.execute(_BATCHES)},
        models={row.number: row.value for row in session.execute(_MODELS)},
        tools={row.id: ToolLabel(row.tool, row.server) for row in session.execute(select(TOOL_NAMES))},
    )


def _choices(session: Session) -> FilterChoices:
    return FilterChoices(
        models=_sorted(session, select(FACT_KEYS.c.value).where(FACT_KEYS.c.value.in_(select(_LABEL)))),
        tools=_sorted(session, _TOOLS),
        servers=_sorted(session, _SERVERS),
        suites=_sorted(session, select(SUITES.c.name)),
        tags=_sorted(session, select(CASE_TAGS.c.tag).distinct()),
    )


def _sorted(session: Session, names: Executable) -> tuple[str, ...]:
    return tuple(sorted(session.execute(names).scalars()))
