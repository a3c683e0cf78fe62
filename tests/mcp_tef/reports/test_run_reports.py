"""Which runs a report is about: a batch, or what a filter finds in all of them."""

import json
from pathlib import Path

import pytest

from mcp_tef.errors import InputError
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import BatchRequest
from mcp_tef.model.transfer import ReportFormat
from mcp_tef.model.verdicts import Classification
from mcp_tef.reports.run_reports import WRITERS, RunReports
from tests.support.fake_engine import FakeEngine


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
