"""Filters over runs in memory."""

from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import RunSummary
from mcp_tef.model.tools import LabelKind, ToolLabel


def passes(row: RunSummary, where: RunFilter) -> bool:
    """True for a run that the filter lets through, as the store on disk decides."""
    one = (row.batch_id, where.batch_id), (row.case_id, where.case_id), (row.model, where.model)
    values = (row.classification, row.mark, row.id, row.batch_id, row.case_id, row.model)
    wanted = (where.classifications, where.marks, where.run_ids, where.batch_ids, where.case_ids, where.models)
    tests = (
        all(only is None or value == only for value, only in one),
        all(not some or value in some for value, some in zip(values, wanted, strict=True)),
        where.admits_state(row),
        where.text.casefold() in f"{row.query} {row.selected or ''}".casefold(),
        _is(where.expected, row.expected_tool, row.expected_server),
        _is(where.selected, row.selected_tool, row.selected_server),
        row.created_at is None or where.since is None or row.created_at >= where.since,
        row.created_at is None or where.until is None or row.created_at < where.until,
    )
    return all(tests)


def _is(label: ToolLabel | None, tool: str | None, server: str | None) -> bool:
    if label is None:
        return True
    if label.kind is LabelKind.NO_TOOL:
        return tool is None
    return label.tool in (None, tool) and label.server in (None, server or "")
