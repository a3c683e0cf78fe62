"""How well tools are described, for other programs, for spreadsheets and for readers."""

import csv
import io
import json
import re
from pathlib import Path

from mcp_tef.api.serializers.tools import quality_to_json
from mcp_tef.formats.csv_tables import from_spreadsheet_cell
from mcp_tef.reports.analysis_reports import AnalysisReports, quality_csv, quality_html
from tests.support import report_factories
from tests.support.report_factories import EVIL, Reader


def test_tools_come_from_worst_to_best_with_their_findings_and_weights() -> None:
    made = quality_to_json(report_factories.quality())
    assert [tool["score"] for tool in made["tools"]] == [45, 90, 100]
    (found,) = made["tools"][0]["findings"]
    assert (found["rule"], found["severity"], found["penalty"]) == ("description-missing", "error", 40)
    assert made["servers"][0] == {"server": "shop", "tools": 2, "tokens": 22}
    assert made["tokenizer"] == "made"
    assert made["problems"] == [
        {"server": "shop", "tool": None, "reason": "The listing was cut short because its pages repeat."}
    ]
    assert made["unreachable"][0]["server"] == "gone"


def test_a_review_and_a_failed_one_are_told_apart() -> None:
    worst, failed, good = quality_to_json(report_factories.quality())["tools"]
    assert worst["review"]["clarity"]["score"] == 2
    assert worst["failure"] is None
    assert failed["review"] is None
    assert failed["failure"]["code"] == "model_timeout"
    assert (good["review"], good["failure"], good["findings"]) == (None, None, [])


def test_for_spreadsheets_a_finding_is_a_line_and_so_is_a_tool_without_any() -> None:
    rows = list(csv.DictReader(io.StringIO(quality_csv(report_factories.quality()))))
    assert [row["rule"] for row in rows] == ["description-missing", "vague-words", ""]
    assert from_spreadsheet_cell(rows[0]["excerpt"]).startswith("<script>")
    assert rows[2]["score"] == "100"


def test_the_page_holds_everything_and_nothing_runs() -> None:
    text = quality_html(report_factories.quality())
    seen = Reader(text)
    words = " ".join(seen.words)
    assert "1 error  and 1 warning, 0 notes in 3 tools; 1 tool without any finding." in words
    for said in ("45 of 100", "vague-words", "Do it well.", "2 of 10", "The model did not answer. Try again.", "made"):
        assert said in words
    assert not {"script", "a", "img", "form"} & set(seen.elements)
    assert set(re.findall(r"https?://[^\"]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert any(EVIL.split("&")[0] in said for said in seen.words)


def test_a_tool_without_findings_is_only_in_the_table() -> None:
    assert Reader(quality_html(report_factories.quality())).elements["h3"] == 2


async def test_the_form_is_that_of_the_ending_and_else_json(tmp_path: Path) -> None:
    report = report_factories.quality()
    files = [tmp_path / name for name in ("q.html", "q.CSV", "q.json", "q")]
    for file in files:
        await AnalysisReports().write_quality(report, file)
    page, rows, document, other = (file.read_text("utf-8", "replace") for file in files)
    assert page.startswith("<!doctype html>")
    assert rows.startswith("tool,server,score")
    assert document == other
    assert json.loads(document) == quality_to_json(report)
