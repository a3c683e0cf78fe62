"""The whole history of runs as numbers: one query over narrow rows, and the names that the numbers stand for."""

from sqlalchemy import Executable, func, select, union
from sqlmodel import Session

from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.metrics import FilterChoices
from mcp_tef.model.runs import RunFilter
from mcp_tef.model.tools import ToolLabel
from mcp_tef.scoring.history import History, PastBatch, PastCase
from mcp_tef.storage.database import Database
from mcp_tef.storage.figures import decoded
from mcp_tef.storage.run_filters import conditions
from mcp_tef.storage.tables import BATCHES, CASE_TAGS, CASES, FACTS, MODEL_SETTINGS, SUITES, TOOL_NAMES, TOOLS, WORDS


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
