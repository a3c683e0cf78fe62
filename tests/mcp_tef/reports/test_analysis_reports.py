"""Recommendations as scripts get them, and as files that apply them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.api.serializers.tools import advice_to_json
from mcp_tef.errors import InputError
from mcp_tef.model.runs import FailureInfo
from mcp_tef.reports.analysis_reports import AnalysisReports, advice_files
from tests.support import report_factories


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
