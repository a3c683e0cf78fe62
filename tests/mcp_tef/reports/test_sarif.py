"""SARIF as code hosts read it: checked against the parts of its schema that reports use."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcp_tef.model.metrics import ThresholdCheck
from mcp_tef.model.verdicts import FindingReason, ParameterFinding
from mcp_tef.reports.sarif import quality_sarif, results_sarif
from tests.support import report_factories
from tests.support.report_factories import results, run


def closed(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    """An object with these properties, of which some are required, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


TEXT, BAG, LEVEL = {"type": "string"}, {"type": "object"}, {"enum": ["none", "note", "warning", "error"]}
MESSAGE = closed(("text",), text=TEXT)
REGION = closed(startLine={"type": "integer", "minimum": 1})
PLACE = closed(artifactLocation=closed(uri={"type": "string", "pattern": r"^[^\s\\]+$"}), region=REGION)
NAMED = closed(fullyQualifiedName=TEXT, kind=TEXT)
RULE = closed(
    ("id",),
    id=TEXT,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    defaultConfiguration=closed(level=LEVEL),
)
RESULT = closed(
    ("message",),
    ruleId=TEXT,
    level=LEVEL,
    message=MESSAGE,
    locations={"type": "array", "items": closed(physicalLocation=PLACE, logicalLocations={"items": NAMED})},
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
    baselineState={"enum": ["new", "unchanged", "updated", "absent"]},
    suppressions={"items": closed(("kind",), kind={"enum": ["inSource", "external"]}, justification=TEXT)},
    properties=BAG,
)
DRIVER = closed(("name",), name=TEXT, version=TEXT, rules={"type": "array", "items": RULE})
RUN = closed(
    ("tool",),
    tool=closed(("driver",), driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results={"type": "array", "items": RESULT},
    properties=BAG,
)
LOG = closed(("version", "runs"), **{"$schema": TEXT}, version={"const": "2.1.0"}, runs={"type": "array", "items": RUN})
WRONG = ParameterFinding(
    parameter="city", reason=FindingReason.WRONG_VALUE, sentence="`city` is “Bonn”.", expected="Rome", actual="Bonn"
)


def results_in(text: str) -> list[dict[str, Any]]:
    """The results of a valid document, whose rules are all described."""
    document = json.loads(text)
    Draft202012Validator(LOG).validate(document)
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


def test_findings_of_tools_are_shown_in_their_tools_file(tmp_path: Path) -> None:
    quality = report_factories.quality()
    name = quality.tools[0].tool.tool.name
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps({"tools": [{"name": name}]}, indent=1), "utf-8")
    found = results_in(quality_sarif(quality, [tools]))
    assert len(found) == sum(len(tool.findings) for tool in quality.tools)
    assert found[0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 4}
