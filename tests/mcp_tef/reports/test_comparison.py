"""A comparison of two batches as a reader and a program get it."""

import csv
import io
import json
import re
from pathlib import Path

from mcp_tef.api.serializers.runs import comparison_to_json
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall
from mcp_tef.model.runs import BatchRequest
from mcp_tef.model.transfer import ReportFormat
from mcp_tef.reports.comparison import ComparedBatches, comparison_csv, comparison_html, comparison_json
from mcp_tef.reports.run_reports import RunReports
from tests.support.fake_engine import FakeEngine
from tests.support.report_factories import Reader

EVIL = "<img src=x onerror=alert(1)> =cmd\u202e"


async def compared() -> tuple[RunReports, ComparedBatches]:
    """Two batches, between which a case was given another expectation, and one was added."""
    core = FakeEngine()
    await core.open_sample()
    first = await core.runs.start(BatchRequest(name="Before"))
    await core.runs.wait(first.id)
    case = (await core.cases.list())[0]
    wrong = Expectation(((ExpectedCall(tool="book_repair"),),))
    await core.cases.edit(case.id, CaseDraft(name=case.name, query=EVIL, expectation=wrong, servers=case.draft.servers))
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
