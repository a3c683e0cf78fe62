"""Trials with models in the workshop: the dialog, Stop, Run more, fresh runs, several models, and the evidence."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from PySide6.QtWidgets import QApplication

from app.core_link.targets import ShowRuns
from app.dialogs.model_request_dialog import ModelRequestDialog
from app.screens.workshop import commands as ids
from app.screens.workshop.decision_dialogs import DecisionDialog
from app.screens.workshop.trial_view import OTHER
from app.widgets import FlowText, Label
from mcp_tef import TrialEnd
from tests.app.screens.workshop.test_drafts import WorkshopBench, workshop
from tests.app.screens.workshop.test_trials import HELPFUL, changed
from tests.support.windows import opened_dialog

LOCAL, CLOUD = "ollama/qwen3:8b", "openai/gpt-4.1-mini"


async def take_model(bench: WorkshopBench, model: str, key: str = "") -> None:
    """Choose a model in the dialog, as a user does."""
    bench.page.view.footer.model.choose(OTHER)
    dialog = await opened_dialog(bench.page, ModelRequestDialog)
    dialog.model.other.emit(model)
    if key:
        await bench.until(dialog.key.isVisible)
        dialog.key.edit.setText(key)
    dialog.ask.click()
    await bench.until(lambda: model in [one.label for one in bench.page.trial.presenter.models])
    await bench.until(lambda: not bench.page.findChildren(ModelRequestDialog))


@asynccontextmanager
async def with_a_model(text: str = HELPFUL) -> AsyncIterator[WorkshopBench]:
    """The workshop with a changed tool, to be tried with a local model."""
    async with workshop() as bench:
        await changed(bench, text)
        await take_model(bench, LOCAL)
        yield bench


async def link(bench: WorkshopBench, text: str) -> str:
    """Press a link of the verdict once it is there; return its whole text."""
    links = bench.page.view.banner.links
    await bench.until(lambda: any(one.text().startswith(text) for one in links.buttons if one.isVisible()))
    found = next(one for one in links.buttons if one.text().startswith(text))
    whole = found.text()
    found.click()
    return whole


async def tried(bench: WorkshopBench) -> None:
    """Try the draft, and wait for the verdict."""
    bench.do(ids.TRY)
    await bench.until(bench.page.view.banner.isVisible)


async def test_run_more_keeps_the_pairs_and_says_its_price(qapp: QApplication) -> None:
    async with with_a_model() as bench:
        await tried(bench)
        trial = bench.page.trial.presenter
        before = trial.results[0]
        text = await link(bench, "Run more")
        assert "up to" in text
        assert "call" in text
        await bench.until(lambda: trial.decided() and trial.results[0].pairs > before.pairs)
        assert trial.results[0].batch_id == before.batch_id
        assert trial.results[0].claims.look == before.claims.look + 1
        await bench.until(lambda: bench.can(ids.MORE))


async def test_the_baseline_is_not_asked_for_more(qapp: QApplication) -> None:
    async with workshop() as bench:
        await changed(bench)
        await tried(bench)
        assert not bench.can(ids.MORE)
        assert not any(one.text().startswith("Run more") for one in bench.page.view.banner.links.buttons)


async def test_a_stopped_trial_keeps_what_was_asked_and_goes_on(qapp: QApplication) -> None:
    async with with_a_model() as bench:
        bench.fake.selector.gate.clear()
        trial, go = bench.page.trial.presenter, bench.page.view.footer.go
        bench.do(ids.TRY)
        await bench.until(lambda: go.text() == "Stop" and "call" in bench.page.view.footer.line.text())
        assert not bench.can(ids.TRY)
        assert go.toolTip() == next(one.keys for one in bench.page.commands() if one.id == ids.STOP)
        go.click()
        await bench.until(lambda: trial.decided() and not trial.running)
        (stopped,) = trial.results
        assert stopped.end is TrialEnd.CANCELLED
        bench.fake.selector.gate.set()
        await link(bench, "Continue the trial")
        await bench.until(lambda: trial.decided() and trial.results[0].end is not TrialEnd.CANCELLED)
        assert trial.results[0].batch_id == stopped.batch_id


async def test_a_second_draft_on_the_same_cases_is_confirmed_with_fresh_runs(qapp: QApplication) -> None:
    async with with_a_model() as bench:
        await tried(bench)
        await bench.type_text(f"{HELPFUL} Also a check of the whole bike.")
        await bench.until(lambda: bench.can(ids.TRY) and not bench.page.trial.presenter.tried_as_it_is)
        bench.do(ids.TRY)
        trial = bench.page.trial.presenter
        await bench.until(lambda: trial.decided() and trial.results[0].drafts_tried == 2)
        first = trial.results[0]
        await link(bench, "Confirm with fresh runs")
        await bench.until(lambda: trial.decided() and trial.results[0].batch_id != first.batch_id)
        assert trial.results[0].seed != first.seed


async def test_several_models_have_a_verdict_each_and_a_joint_line(qapp: QApplication) -> None:
    async with with_a_model() as bench:
        await take_model(bench, CLOUD, key="sk-of-a-test")
        view, trial = bench.page.view, bench.page.trial.presenter
        await bench.until(lambda: view.footer.model.text() == "2 models" and bench.can(ids.TRY))
        await tried(bench)
        assert [one.model for one in trial.results] == [LOCAL, CLOUD]
        said = [claim.text() for claim in view.banner.claims]
        assert "of 2 models" in said[0]
        assert [text.split(": ")[0] for text in said[1:]] == [LOCAL, CLOUD]
        await link(bench, "How was this decided?")
        dialog = await opened_dialog(bench.page, DecisionDialog)
        titles = [label.text() for label in dialog.findChildren(Label)]
        assert {LOCAL, CLOUD} <= set(titles)
        assert sum("40 decides" in text.text() for text in dialog.findChildren(FlowText)) == len(trial.results)
        dialog.accept()
        await link(bench, "Show the runs")
        (target,) = bench.gone
        assert isinstance(target, ShowRuns)
        assert len(target.where.batch_ids) == 2
        view.footer.model.choose(LOCAL)
        await bench.until(lambda: view.footer.model.text() == CLOUD)


async def test_the_pull_request_tells_the_evidence_of_what_was_tried(qapp: QApplication) -> None:
    async with with_a_model() as bench:
        await tried(bench)
        markdown = next(one for one in bench.page.exports.actions() if one.text.startswith("Copy markdown"))
        markdown.do()
        await bench.until(lambda: "### Evidence" in qapp.clipboard().text())
        assert "qwen3" in qapp.clipboard().text()
        await bench.type_text("Something that was never tried.")
        markdown.do()
        await bench.until(lambda: "never tried" in qapp.clipboard().text())
        assert "Evidence" not in qapp.clipboard().text()
