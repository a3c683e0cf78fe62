"""Results as JSON and CSV."""

import csv
import io
import json

from mcp_tef.formats.csv_tables import from_spreadsheet_cell
from mcp_tef.reports.results import COLUMNS, to_csv, to_json
from tests.support.report_factories import EVIL, results, run


def test_csv_has_a_line_for_each_run_and_every_column() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(results()), newline="")))
    assert len(rows) == 5
    assert tuple(rows[0]) == COLUMNS
    assert (rows[0]["parameters_ok"], rows[3]["error_code"]) == ("true", "server_silent")
    assert from_spreadsheet_cell(rows[1]["query"]) == EVIL
    assert rows[4]["classification"] == ""


def test_no_cell_is_a_formula() -> None:
    odd = run(1, query="=HYPERLINK(1)", explanation="\uff20sum", selected=" -1+1", case_name="+x\x1b[2J")
    text = to_csv(results(odd))
    [row] = csv.DictReader(io.StringIO(text, newline=""))
    guarded = ["query", "explanation", "selected", "case"]
    assert [row[name] for name in guarded] == ["'=HYPERLINK(1)", "'\uff20sum", "' -1+1", '\'"+x\\u001b[2J"']


def test_json_has_the_shape_of_run() -> None:
    document = json.loads(to_json(results()))
    assert set(document) == {"batch", "runs", "metrics", "conditions", "thresholds"}
    assert document["runs"][3]["error"]["code"] == "server_silent"
    assert document["metrics"]["hallucination"]["value"] is None
