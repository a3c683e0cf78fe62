"""Results as JSON and CSV."""

import csv
import io
import json

from mcp_tef.workflows.reports.tables import COLUMNS, to_csv, to_json
from tests.support.made_results import EVIL, results, run


def test_csv_has_a_line_for_each_run_and_every_column() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(results()), newline="")))
    assert len(rows) == 5
    assert tuple(rows[0]) == COLUMNS
    assert (rows[0]["parameters_ok"], rows[1]["query"], rows[3]["error_code"]) == ("true", EVIL, "server_silent")
    assert rows[4]["classification"] == ""


def test_no_cell_is_a_formula() -> None:
    text = to_csv(results(run(1, query="=HYPERLINK(1)", explanation="@sum", selected="-1+1", case_name="+x")))
    [row] = csv.DictReader(io.StringIO(text, newline=""))
    guarded = ["query", "explanation", "selected", "case"]
    assert [row[name] for name in guarded] == ["'=HYPERLINK(1)", "'@sum", "'-1+1", "'+x"]


def test_json_has_the_shape_of_run() -> None:
    document = json.loads(to_json(results()))
    assert set(document) == {"batch", "runs", "metrics"}
    assert document["runs"][3]["error"]["code"] == "server_silent"
    assert document["metrics"]["hallucination"]["value"] is None
