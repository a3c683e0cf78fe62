"""Golden reports of fixed results: one file for each kind of report and format."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_tef import (
    BatchRequest,
    CaseDraft,
    Clusters,
    Expectation,
    ExpectedCall,
    LabelKind,
    Overlap,
    PairObservation,
    PairStatus,
    Rate,
    ReportFormat,
    RunFilter,
    SimilarityResults,
    ToolGroup,
    ToolLabel,
    WorkItem,
)
from mcp_tef.model.similarity import FlagRule
from mcp_tef.reports.analysis_reports import AnalysisReports
from mcp_tef.reports.junit import to_junit
from mcp_tef.reports.markdown import results_markdown
from mcp_tef.reports.results import Results, to_csv, to_json
from mcp_tef.reports.results_html import to_html
from mcp_tef.reports.run_reports import RunReports
from mcp_tef.reports.sarif import results_sarif
from tests.support import report_factories
from tests.support.fake_engine import FakeEngine
from tests.support.golden import assert_golden, normalized
from tests.support.report_factories import EVIL, results

RUN_REPORTS: dict[str, Callable[[Results], str]] = {
    "runs.html": to_html,
    "runs.csv": to_csv,
    "runs.junit.xml": to_junit,
    "runs.json": to_json,
    "runs.md": results_markdown,
    "runs.sarif": results_sarif,
}
COMPARISONS = {
    "html": ReportFormat.HTML,
    "csv": ReportFormat.CSV,
    "json": ReportFormat.JSON,
    "junit.xml": ReportFormat.JUNIT,
    "md": ReportFormat.MARKDOWN,
}
ENDINGS = ("html", "csv", "json")


def written(file: Path) -> str:
    """The text of a report, with the ends of its lines as they are."""
    return file.read_bytes().decode("utf-8", "surrogatepass")


def similarity_results() -> SimilarityResults:
    """An analysis with one group, and one pair that was confused in runs."""
    similarity = report_factories.similarity(full=True)
    label = ToolLabel(tool="x", kind=LabelKind.TOOL)
    observation = PairObservation(
        confused=3,
        runs=12,
        a_taken_for_b=1,
        b_taken_for_a=2,
        rate=Rate(0.25, 0.1, 0.5, 12),
        label_a=label,
        label_b=label,
    )
    pair = similarity.pair(0, 1)
    work = WorkItem(pair=pair, observation=observation, standing=PairStatus.SIMILAR_AND_CONFUSED, harm=3.0)
    group = ToolGroup("file, name", (0, 1))
    clusters = Clusters(order=(3, 0, 1, 2), merges=(), groups=(group,), near_duplicates=(pair,))
    return SimilarityResults(similarity=similarity, rule=FlagRule(0.4), clusters=clusters, work=(work,))


async def compared() -> tuple[FakeEngine, RunReports]:
    """An engine with two batches, between which one case was edited and one was added."""
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
    return core, RunReports(core.engine)


@pytest.mark.parametrize("name", RUN_REPORTS)
def test_runs(name: str) -> None:
    assert_golden(f"reports/{name}", RUN_REPORTS[name](results()))


async def test_comparisons(tmp_path: Path) -> None:
    core, reports = await compared()
    after, before = (batch.id for batch in await core.runs.batches())
    for ending, form in COMPARISONS.items():
        file = tmp_path / f"comparison.{ending}"
        await reports.write_comparison(before, after, file, form)
        assert_golden(f"reports/{file.name}", normalized(written(file), {}))
    markdown = await reports.comparison_markdown(before, after)
    assert_golden("reports/comparison.md", normalized(markdown, {}))


async def test_a_run() -> None:
    core, reports = await compared()
    texts = [await reports.run_markdown(run.id) for run in await core.runs.list(RunFilter())]
    assert_golden("reports/run.md", normalized("\n".join(texts), {}))


@pytest.mark.parametrize("ending", ENDINGS)
async def test_analyses(ending: str, tmp_path: Path) -> None:
    similarity = similarity_results()
    exports = AnalysisReports()
    await exports.write_similarity(similarity, tmp_path / f"similarity.{ending}")
    overlap = Overlap(similarity.similarity)
    await exports.write_overlap(similarity.similarity, overlap, tmp_path / f"overlap.{ending}", limit=3)
    await exports.write_quality(report_factories.quality(), tmp_path / f"quality.{ending}")
    for name in ("similarity", "overlap", "quality"):
        assert_golden(f"reports/{name}.{ending}", written(tmp_path / f"{name}.{ending}"))


async def test_analyses_as_markdown() -> None:
    exports, similarity, quality = AnalysisReports(), similarity_results(), report_factories.quality()
    assert_golden("reports/similarity.md", await exports.similarity_markdown(similarity))
    assert_golden("reports/similarity_pair.md", await exports.pair_markdown(similarity.similarity, 0, 1))
    assert_golden("reports/quality.md", await exports.quality_markdown(quality.tools))


async def test_advice(tmp_path: Path) -> None:
    files = await AnalysisReports().write_advice([report_factories.advice()], tmp_path)
    text = "".join(f"--- file {file.name}\n{written(file)}\n" for file in sorted(files))
    assert_golden("reports/advice.txt", text)
