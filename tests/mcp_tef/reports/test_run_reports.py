"""Results and comparisons as files: which runs they are about, JSON, CSV, HTML, and SARIF checked by its schema."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from mcp_tef.api.serializers.runs import comparison_to_json
from mcp_tef.errors import InputError
from mcp_tef.formats.csv_tables import from_spreadsheet_cell
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall
from mcp_tef.model.metrics import ThresholdCheck
from mcp_tef.model.quality import Suppression
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import BatchRequest
from mcp_tef.model.transfer import ReportFormat
from mcp_tef.model.verdicts import Classification, FindingReason, ParameterFinding
from mcp_tef.reports.comparison import ComparedBatches, comparison_csv, comparison_html, comparison_json
from mcp_tef.reports.results import COLUMNS, to_csv, to_json
from mcp_tef.reports.run_reports import WRITERS, RunReports
from mcp_tef.reports.sarif import quality_sarif, results_sarif
from tests.support import report_factories
from tests.support.fake_engine import FakeEngine
from tests.support.report_factories import EVIL, Reader, results, run


async def two_batches() -> tuple[RunReports, FakeEngine]:
    core = FakeEngine()
    await core.open_sample()
    for name in ("First", ""):
        batch = await core.runs.start(BatchRequest(name=name))
        await core.runs.wait(batch.id)
    return RunReports(core.engine), core


async def test_every_form_can_be_written_for_a_batch_and_for_runs_of_several(tmp_path: Path) -> None:
    reports, core = await two_batches()
    batch = (await core.runs.batches())[0]
    for form in ReportFormat:
        await reports.write(batch.id, tmp_path / f"batch.{form}", form)
        await reports.write_found(RunFilter(), "Everything", tmp_path / f"all.{form}", form)
    assert set(WRITERS) == set(ReportFormat)
    one, everything = (json.loads((tmp_path / f"{name}.json").read_text("utf-8")) for name in ("batch", "all"))
    assert (one["batch"], len(one["runs"])) == (batch.id, 4)
    assert (everything["batch"], len(everything["runs"])) == (None, 8)
    assert len({run["batch"] for run in everything["runs"]}) == 2
    assert "<h1>Everything</h1>" in (tmp_path / "all.html").read_text("utf-8")


async def test_figures_and_runs_are_those_of_the_same_filter() -> None:
    reports, _ = await two_batches()
    found = await reports.found(RunFilter(classifications=(Classification.FN,)), "Missed")
    assert len(found.runs) == found.overview.metrics.fn == found.overview.metrics.n > 0


async def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    reports, core = await two_batches()
    batch = (await core.runs.batches())[0]
    with pytest.raises(InputError, match=r"r\.html could not be written"):
        await reports.write(batch.id, tmp_path / "nowhere" / "r.html", ReportFormat.HTML)


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


EVIL_NAME = "<img src=x onerror=alert(1)> =cmd\u202e"


async def compared() -> tuple[RunReports, ComparedBatches]:
    """Two batches, between which a case was given another expectation, and one was added."""
    core = FakeEngine()
    await core.open_sample()
    first = await core.runs.start(BatchRequest(name="Before"))
    await core.runs.wait(first.id)
    case = (await core.cases.list())[0]
    wrong = Expectation(((ExpectedCall(tool="book_repair"),),))
    await core.cases.edit(
        case.id, CaseDraft(name=case.name, query=EVIL_NAME, expectation=wrong, servers=case.draft.servers)
    )
    await core.cases.add([CaseDraft(name="new", query="something new", servers=case.draft.servers)])
    second = await core.runs.start(BatchRequest(name="After"))
    await core.runs.wait(second.id)
    reports = RunReports(core.engine)
    return reports, await reports.comparison(first.id, second.id)


async def test_the_page_says_what_it_comes_to_with_n_and_intervals_and_every_pair() -> None:
    _, found = await compared()
    text = comparison_html(found)
    seen = Reader(text)
    words = "".join(seen.words)
    assert "Before against After" in words
    assert "on these cases: " in words
    assert "Cannot tell yet for queries like these: " in words
    assert re.search(r"Correct tool[\d.]+ % \([\d.]+ % to [\d.]+ %, n 4\)", words)
    assert seen.elements["tr"] == 2 + 2 + 1 + 1 + len(found.rows) + 1
    assert words.index("Regressed") < words.index("Right in both")
    assert '<td class="bad">✗ Regressed</td>' in text
    assert '<td class="dim">✓ Right in both</td>' in text


async def test_nothing_in_it_runs_or_comes_from_elsewhere_and_strangers_words_are_words() -> None:
    _, found = await compared()
    text = comparison_html(found)
    seen = Reader(text)
    assert not {"script", "link", "iframe", "object", "img", "a", "form"} & set(seen.elements)
    assert any("<img src=x onerror=alert(1)>" in words for words in seen.words)
    assert "\u202e" not in text


async def test_a_table_has_a_line_for_each_pair_and_no_formula() -> None:
    _, found = await compared()
    rows = list(csv.DictReader(io.StringIO(comparison_csv(found))))
    assert [row["change"] for row in rows] == [one.pair.change for one in found.rows]
    assert {row["change"] for row in rows} >= {"new"}
    assert not [cell for row in rows for cell in row.values() if cell.startswith("=")]


async def test_the_document_is_what_the_command_line_promises() -> None:
    _, found = await compared()
    assert json.loads(comparison_json(found)) == json.loads(json.dumps(comparison_to_json(found.comparison)))


async def test_each_form_goes_into_its_file(tmp_path: Path) -> None:
    reports, found = await compared()
    before, after = found.comparison.before.id, found.comparison.after.id
    for form, beginning in ((ReportFormat.HTML, "<!doctype"), (ReportFormat.CSV, "change,"), (ReportFormat.JSON, "{")):
        await reports.write_comparison(before, after, tmp_path / "file", form)
        assert (tmp_path / "file").read_text("utf-8").startswith(beginning)


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
