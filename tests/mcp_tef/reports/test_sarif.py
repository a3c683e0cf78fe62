"""SARIF as code hosts read it: checked against its official schema."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from mcp_tef.model.metrics import ThresholdCheck
from mcp_tef.model.quality import Suppression
from mcp_tef.model.verdicts import FindingReason, ParameterFinding
from mcp_tef.reports.sarif import quality_sarif, results_sarif
from tests.support import report_factories
from tests.support.report_factories import results, run

SCHEMA = Path(__file__).parents[2] / "data" / "sarif_schema.json"
VALID = Draft4Validator(json.loads(SCHEMA.read_text("utf-8")), format_checker=Draft4Validator.FORMAT_CHECKER)
WRONG = ParameterFinding(
    parameter="city", reason=FindingReason.WRONG_VALUE, sentence="`city` is “Bonn”.", expected="Rome", actual="Bonn"
)


def results_in(text: str) -> list[dict[str, Any]]:
    """The results of a valid document, whose rules are all described."""
    document = json.loads(text)
    VALID.validate(document)
    (only,) = document["runs"]
    assert {one["ruleId"] for one in only["results"]} == {rule["id"] for rule in only["tool"]["driver"]["rules"]}
    found: list[dict[str, Any]] = only["results"]
    return found


def test_every_run_that_did_not_pass_is_a_result() -> None:
    found = results_in(results_sarif(results()))
    assert [one["ruleId"] for one in found] == ["wrong_tool", "wrong_arguments", "server_silent", "not_run"]
    assert {one["level"] for one in found} == {"error"}


def test_a_failed_case_is_shown_at_its_line_with_both_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my cases.yaml").write_text("cases:\n- name: case 7\n  query: question 7\n- name: case 8\n", "utf-8")
    made = results(run(7, parameters_ok=False, findings=(WRONG,)))
    (found,) = results_in(results_sarif(replace(made, case_file=Path("my cases.yaml"))))
    where = found["locations"][0]["physicalLocation"]
    assert where == {"artifactLocation": {"uri": "my%20cases.yaml"}, "region": {"startLine": 3}}
    (finding,) = found["properties"]["findings"]
    assert (finding["expected"], finding["actual"]) == ("Rome", "Bonn")


def test_where_thresholds_decide_single_runs_are_warnings() -> None:
    made = replace(results(), checks=(ThresholdCheck("recall is at least 0.1"),))
    assert {one["level"] for one in results_in(results_sarif(made))} == {"warning"}


def test_findings_of_tools_are_shown_in_their_tools_file_and_accepted_ones_are_suppressed(tmp_path: Path) -> None:
    quality = report_factories.quality()
    worst, *others = quality.tools
    accepted = (report_factories.finding("accepted"), Suppression(rule="accepted", reason="Meant so."))
    quality = replace(quality, tools=(replace(worst, ignored=(accepted,)), *others))
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps({"tools": [{"name": worst.tool.tool.name}]}, indent=1), "utf-8")
    found = results_in(quality_sarif(quality, [tools]))
    assert len(found) == 1 + sum(len(tool.findings) for tool in quality.tools)
    assert [one["ruleId"] for one in found if one["suppressions"]] == ["accepted"]
    assert found[0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 4}
