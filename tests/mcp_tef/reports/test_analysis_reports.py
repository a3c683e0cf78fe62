"""Recommendations and the quality of tools as files, for scripts, spreadsheets and readers."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.api.serializers.tools import advice_to_json, quality_to_json
from mcp_tef.errors import InputError
from mcp_tef.formats.csv_tables import from_spreadsheet_cell
from mcp_tef.model.runs import FailureInfo
from mcp_tef.reports.analysis_reports import AnalysisReports, advice_files, quality_csv, quality_html
from tests.support import report_factories
from tests.support.report_factories import EVIL, Reader


def test_a_pair_tells_its_issues_with_evidence_and_what_to_do() -> None:
    made = advice_to_json(report_factories.advice())
    assert (made["a"], made["similarity"], made["failure"]) == ("shop/find_file", 0.9123, None)
    assert made["issues"] == [
        {
            "type": "terminology_overlap",
            "priority": "high",
            "sentence": "Both speak of files.",
            "evidence": ["file", "name"],
        }
    ]
    (one,) = made["recommendations"]
    assert one["revised"] == 'Find "one"\nfile – by name.'
    assert (one["author"], one["cases"]) == ("draft", {"cases": 9, "correct_before": 5, "correct_after": 7})
    assert one["patch"][0]["op"] == "replace"


def test_what_a_model_failed_at_is_told() -> None:
    made = advice_to_json(
        report_factories.advice(failure=FailureInfo("key_wrong", "The key was refused.", "Check it."))
    )
    assert made["failure"] == {"code": "key_wrong", "message": "The key was refused.", "hint": "Check it."}


def test_each_recommendation_is_a_patch_and_an_override_whose_texts_survive() -> None:
    files = advice_files([report_factories.advice(), report_factories.advice()])
    assert [name[:4] for name in files] == ["001-", "001-", "all-", "all-"]
    patch, override = [json.loads(text) for text in list(files.values())[:2]]
    assert patch[0]["value"] == 'Find "one"\nfile – by name.'
    assert list(override) == ["toolsOverride"]


def test_names_of_files_hold_nothing_of_what_strangers_wrote_but_letters_and_digits() -> None:
    assert all(name.replace("-", "").replace(".", "").isalnum() for name in advice_files([report_factories.advice()]))
    assert all(name.isascii() and len(name) < 120 for name in advice_files([report_factories.advice()]))


def test_each_server_gets_all_its_changes_in_one_patch_and_one_override() -> None:
    (first,) = report_factories.advice().recommendations
    second = replace(first, tool_id="evil/other", override={"toolsOverride": {"other": {"description": "y"}}})
    elsewhere = replace(first, tool_id="good/one", server="good")
    files = advice_files([replace(report_factories.advice(), recommendations=(first, second, elsewhere))])
    patch, override = [json.loads(files[f"all-evil.{kind}.json"]) for kind in ("patch", "override")]
    assert patch == [dict(each) for each in (*first.patch, *second.patch)]
    assert override["toolsOverride"].keys() == {first.tool_name, "other"}
    assert json.loads(files["all-good.patch.json"]) == [dict(each) for each in elsewhere.patch]


async def test_the_folder_is_made_and_the_files_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "fixes"
    paths = await AnalysisReports().write_advice([report_factories.advice()], folder)
    assert len(paths) == 4
    assert all(path.parent == folder for path in paths)
    with pytest.raises(InputError, match="could not be written"):
        await AnalysisReports().write_advice([report_factories.advice()], paths[0])


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
