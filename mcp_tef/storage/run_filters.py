"""What a filter of runs means in the narrow rows of the file, and how those are ordered."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, and_, case, exists, func, not_, or_, select

from mcp_tef.model.runs import INTERRUPTED, RunFilter, RunOrder, RunStatus
from mcp_tef.model.tools import LabelKind, ToolLabel
from mcp_tef.storage.ids import one_of
from mcp_tef.storage.tables import (
    BATCHES,
    CASE_TAGS,
    CASES,
    FACTS,
    RUNS,
    SNAPSHOT_TOOLS,
    SUITE_CASES,
    SUITES,
    TOOL_NAMES,
    TOOLS,
    WORDS,
)

_Condition = ColumnElement[bool]
_FACT = FACTS.c
_MODEL = select(WORDS.c.word).where(WORDS.c.id == _FACT.model).scalar_subquery()
_SORTED_BY: Mapping[RunOrder, ColumnElement[Any]] = {
    RunOrder.OUTCOME: case({"FN": 0, "FP": 1, "TP": 2, "TN": 3}, value=_FACT.classification),
    RunOrder.QUERY: func.lower(RUNS.c.query),
    RunOrder.SELECTED: func.lower(RUNS.c.selected_label),
    RunOrder.CONFIDENCE: _FACT.confidence,
    RunOrder.MODEL: _MODEL,
}
_OF_THE_RUN = (RunOrder.QUERY, RunOrder.SELECTED)


def named(words: Select[Any]) -> Select[Any]:
    """The numbers of the ids or labels that a query gives."""
    return select(WORDS.c.id).where(WORDS.c.word.in_(words))


_CUT_OFF = RUNS.alias("cut_off")
_INTERRUPTED = and_(
    _FACT.status == RunStatus.FAILED.value,
    exists().where(_CUT_OFF.c.id == _FACT.run_id, _CUT_OFF.c.error_code == INTERRUPTED.code),
)
_HIDDEN = named(select(CASES.c.id).where(CASES.c.removed_at.is_not(None)))
_GONE = named(select(BATCHES.c.id).where(BATCHES.c.removed_at.is_not(None)))


def conditions(where: RunFilter) -> list[_Condition]:
    """What facts must meet so that a filter names their run. Runs of removed cases and batches never do."""
    there = (_FACT.test_case.not_in(_HIDDEN), func.coalesce(_FACT.batch, 0).not_in(_GONE))
    return [*there, *_by_state(where), *_by_name(where), *_by_case(where), *_by_tool(where), *_by_time(where)]


def source(where: RunFilter) -> FromClause:
    """The facts, with the wide rows where an order needs them."""
    return FACTS.join(RUNS, RUNS.c.id == _FACT.run_id) if where.order in _OF_THE_RUN else FACTS


def order(where: RunFilter) -> Sequence[ColumnElement[Any]]:
    """By what the runs of a filter are ordered."""
    newest = (_FACT.created_at.desc(), _FACT.batch.desc(), _FACT.position)
    if where.order is RunOrder.PLANNED:
        if where.batch_id is not None:
            return (_FACT.position.desc() if where.descending else _FACT.position,)
        return (_FACT.created_at, _FACT.batch, _FACT.position.desc()) if where.descending else newest
    key = _SORTED_BY[where.order]
    return ((key.desc() if where.descending else key).nulls_last(), *newest)


def _by_state(where: RunFilter) -> list[_Condition]:
    stands: list[_Condition] = [_FACT.status.in_([value.value for value in where.statuses])] if where.statuses else []
    if where.interrupted is None:
        return stands
    return [or_(*stands, _INTERRUPTED)] if where.interrupted else [*stands, not_(_INTERRUPTED)]


def _by_name(where: RunFilter) -> list[_Condition]:
    numbered = (
        (_FACT.batch, _told(where.batch_id)),
        (_FACT.batch, where.batch_ids),
        (_FACT.test_case, _told(where.case_id)),
        (_FACT.test_case, where.case_ids),
        (_FACT.model, _told(where.model)),
        (_FACT.model, where.models),
    )
    plain = (
        (_FACT.classification, where.classifications),
        (_FACT.kind, where.kinds),
    )
    return [
        *([_FACT.run_id.in_(one_of(where.run_ids))] if where.run_ids else ()),
        *(column.in_(named(one_of(values))) for column, values in numbered if values),
        *(column.in_([value.value for value in values]) for column, values in plain if values),
    ]


def _told(value: str | None) -> tuple[str, ...]:
    return () if value is None else (value,)


def _by_case(where: RunFilter) -> list[_Condition]:
    found: list[_Condition] = []
    if where.suites:
        there = SUITE_CASES.join(SUITES, SUITES.c.id == SUITE_CASES.c.suite_id)
        cases = select(SUITE_CASES.c.test_case_id).select_from(there)
        found.append(_FACT.test_case.in_(named(cases.where(SUITES.c.name.in_(where.suites)))))
    if where.tags:
        cases = select(CASE_TAGS.c.test_case_id).where(CASE_TAGS.c.tag.in_(where.tags))
        found.append(_FACT.test_case.in_(named(cases)))
    if words := where.text.strip():
        found.append(or_(_FACT.run_id.in_(_saying(words)), _FACT.test_case.in_(named(_called(words)))))
    return found


def _saying(words: str) -> Select[Any]:
    columns = (RUNS.c.query, RUNS.c.expected_label, RUNS.c.selected_label)
    return select(RUNS.c.id).where(or_(*(column.contains(words, autoescape=True) for column in columns)))


def _called(words: str) -> Select[Any]:
    return select(CASES.c.id).where(CASES.c.name.contains(words, autoescape=True))


def _by_tool(where: RunFilter) -> list[_Condition]:
    found: list[_Condition] = []
    if where.expected:
        found += _is(_FACT.expected, where.expected)
    if where.selected:
        found += _is(_FACT.selected, where.selected)
        if where.selected.kind is not None:
            found.append(_FACT.invented == int(where.selected.kind is LabelKind.INVENTED))
    if where.offered and (offered := _names(TOOLS.c.name, TOOLS.c.server_name, where.offered)):
        tools = SNAPSHOT_TOOLS.join(TOOLS, TOOLS.c.id == SNAPSHOT_TOOLS.c.tool_id)
        snapshots = select(SNAPSHOT_TOOLS.c.snapshot_id).select_from(tools).where(*offered)
        found.append(_FACT.snapshot.in_(named(snapshots)))
    return found


def _is(column: ColumnElement[Any], label: ToolLabel) -> list[_Condition]:
    if label.kind is LabelKind.NO_TOOL:
        return [column.is_(None)]
    meant = _names(TOOL_NAMES.c.tool, TOOL_NAMES.c.server, label)
    if meant:
        return [column.in_(select(TOOL_NAMES.c.id).where(*meant))]
    return [] if label.kind is None else [column.is_not(None)]


def _names(tool: ColumnElement[Any], server: ColumnElement[Any], label: ToolLabel) -> list[_Condition]:
    pairs = ((tool, label.tool), (server, label.server))
    return [column == name for column, name in pairs if name is not None]


def _by_time(where: RunFilter) -> list[_Condition]:
    found: list[_Condition] = []
    if where.since is not None:
        found.append(_FACT.created_at >= where.since)
    if where.until is not None:
        found.append(_FACT.created_at < where.until)
    return found
