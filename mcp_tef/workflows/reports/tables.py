"""Results as JSON, and as CSV with one run a line."""

import csv
import io
import json

from mcp_tef.model.json import Json
from mcp_tef.model.runs import RunSummary
from mcp_tef.scoring.figures_codec import overview_to_json
from mcp_tef.workflows.reports.results import Results, run_to_json

_STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_json(results: Results) -> str:
    """The batch, its runs and its metrics, as `run --json` gives them; runs of many batches say which is theirs."""
    document = {
        "batch": results.batch_id,
        "runs": [run_to_json(run) | {"batch": run.batch_id} for run in results.runs],
        "metrics": overview_to_json(results.overview),
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_csv(results: Results) -> str:
    """A head and a line for each run; a cell that a spreadsheet would run as a formula begins with an apostrophe."""
    out = io.StringIO(newline="")
    rows = [_cells(run) for run in results.runs]
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _cells(run: RunSummary) -> dict[str, str]:
    values: dict[str, Json] = run_to_json(run)
    error = values.pop("error") or {}
    values |= {"batch": run.batch_id, "repeat": run.repeat, "hallucinated": ", ".join(run.hallucinated)}
    values |= {"error_code": error.get("code"), "error": error.get("message")}
    values |= {"created_at": run.created_at, "completed_at": run.completed_at}
    return {column: _cell(values[column]) for column in COLUMNS}


def _cell(value: Json) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value.isoformat() if hasattr(value, "isoformat") else str(value)
    return "'" + value if value.startswith(_STARTS_FORMULA) else value


COLUMNS = (
    "id",
    "batch",
    "case",
    "query",
    "model",
    "repeat",
    "status",
    "classification",
    "kind",
    "expected",
    "selected",
    "parameters_ok",
    "completeness",
    "correctness",
    "type_conformance",
    "hallucinated",
    "confidence",
    "confidence_source",
    "confidence_category",
    "explanation",
    "execution_time_ms",
    "tokens",
    "cost_usd",
    "error_code",
    "error",
    "created_at",
    "completed_at",
)
