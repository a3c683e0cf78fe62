"""Tables as CSV, safe to open in a spreadsheet, and the results of runs as CSV and JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from mcp_tef.api.serializers.metrics import overview_to_json
from mcp_tef.api.serializers.runs import run_to_json, timestamp
from mcp_tef.formats.csv_tables import csv_text
from mcp_tef.model.json import Json
from mcp_tef.model.runs import RunSummary
from mcp_tef.reports.results import Results


def to_json(results: Results) -> str:
    """Return the batch, its runs and its metrics as `run --json` does; runs of several batches name theirs."""
    document = {
        "batch": results.batch_id,
        "runs": [run_to_json(run) | {"batch": run.batch_id} for run in results.runs],
        "metrics": overview_to_json(results.overview),
        "conditions": [results.conditions(model) for model in results.models],
        "thresholds": [asdict(check) for check in results.checks],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_csv(results: Results) -> str:
    """Return a head and a line for each run; a cell that could be a formula begins with an apostrophe."""
    conditions = {model: results.conditions(model) for model in results.models}
    return csv_text(COLUMNS, (_cells(run, conditions[run.model]) for run in results.runs))


def _cells(run: RunSummary, conditions: Mapping[str, str]) -> list[Json]:
    values: dict[str, Json] = run_to_json(run)
    error = values.pop("error") or {}
    values |= {"batch": run.batch_id, "repeat": run.repeat, "hallucinated": ", ".join(run.hallucinated)}
    values |= {"error_code": error.get("code"), "error": error.get("message")}
    values |= {"created_at": timestamp(run.created_at), "completed_at": timestamp(run.completed_at)}
    values |= {"findings": " ".join(one.sentence for one in run.findings)}
    values |= {"version": conditions["mcp-tef"], **{name: conditions.get(name) for name in ("settings", "address")}}
    return [values[column] for column in COLUMNS]


COLUMNS = (
    "id",
    "batch",
    "case",
    "query",
    "model",
    "repeat",
    "status",
    "classification",
    "mark",
    "unreadable",
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
    "findings",
    "settings",
    "address",
    "version",
)
