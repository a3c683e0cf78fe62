"""Prediction and trial of a draft in the workshop, offline."""

from PySide6.QtWidgets import QApplication

from app.core_link.targets import ShowBatch
from app.screens.workshop import commands as ids
from app.screens.workshop.decision_dialogs import DecisionDialog, PredictionDialog
from app.screens.workshop.prediction_bar import BY_SEARCH
from app.widgets import FlowText
from mcp_tef import CaseDraft, ClaimVerdict, Expectation, ExpectedCall
from tests.app.screens.workshop.test_drafts import NEW_TEXT, WorkshopBench, workshop
from tests.support.windows import opened_dialog

HELPFUL = "Book a repair in the workshop on a day: brakes that squeak, somebody to look at a bike on Friday."


async def changed(bench: WorkshopBench, text: str = HELPFUL) -> None:
    """Change the description, and wait for the cases that it is about."""
    await bench.change()
    await bench.type_text(text)
    await bench.until(lambda: bench.page.view.cases.table.rows.ids())


async def test_typing_shows_what_it_changes_before_any_model_is_asked(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        bar = bench.page.view.prediction
        bench.row("description").draft.setPlainText(NEW_TEXT)
        await bench.until(lambda: bench.page.presenter.prediction)
        await bench.until(lambda: bar.values[3].isVisible())
        assert "→" in bar.values[3].values.text()
        assert BY_SEARCH in bar.record.text()
        await bench.until(lambda: any(row.ranks for row in bench.page.trial.show_lists()))
        bar.details.click()
        shown = await opened_dialog(bench.page, PredictionDialog)
        assert 0 < shown.near.rows.rowCount() <= 5
        assert any("Tokens of book_repair: " in part.text() for part in shown.findChildren(FlowText))
        shown.accept()
        bench.do(ids.UNDO)
        await bench.until(
            lambda: (bench.page.presenter.prediction is None and bar.values[3].isHidden()) or bar.line.isVisible()
        )


async def test_nothing_changed_cannot_be_tried(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        await bench.until(lambda: bench.page.view.footer.line.text())
        assert not bench.can(ids.TRY)
        assert not bench.page.view.footer.go.isEnabled()


async def test_cases_say_why_they_are_asked_and_can_be_left_out(qapp: QApplication) -> None:
    async with workshop() as bench:
        await changed(bench)
        cases = bench.page.view.cases
        assert "expects it" in cases.table.rows.row(0).cells[2].text
        size = cases.counts.text()
        cases.table.tick([cases.table.rows.ids()[0]], ticked=False)
        await bench.until(lambda: cases.counts.text() != size)


async def test_from_a_wrong_run_to_a_verdict_and_the_new_text(qapp: QApplication) -> None:
    async with workshop() as bench:
        await changed(bench)
        bench.do(ids.TRY)
        trial, view = bench.page.trial.presenter, bench.page.view
        await bench.until(trial.decided)
        await bench.until(view.banner.isVisible)
        (result,) = trial.results
        assert result.sentence.startswith(view.banner.claims[0].text())
        assert BY_SEARCH in view.banner.note.text()
        assert view.prediction.line.isVisible()
        await bench.until(lambda: "not worthwhile" in view.drafts.rows.row(0).spoken)
        bench.do(ids.EXPLAIN)
        explained = await opened_dialog(bench.page, DecisionDialog)
        told = " ".join(part.text() for part in explained.findChildren(FlowText))
        assert "1 pair: 0 wins, 0 losses" in told
        assert "the count itself decides" in told
        explained.accept()
        row = view.cases.table.rows.row(0)
        assert all(cell.tip.endswith("correct") for cell in row.cells[4:])
        assert all(row.original and row.draft and row.said == "no change" for row in trial.guard_rows())
        assert view.guards.counts.text().endswith("· none broken")
        next(link for link in view.banner.links.buttons if link.text() == "Show the runs").click()
        assert bench.gone == [ShowBatch(result.batch_id)]
        bench.do(ids.COPY)
        assert qapp.clipboard().text() == HELPFUL


async def test_a_case_whose_tool_is_not_offered_is_named_beside_the_verdict(qapp: QApplication) -> None:
    async with workshop() as bench:
        calls = tuple(ExpectedCall(tool=name, server="Bike shop") for name in ("book_repair", "wash_bike"))
        made = CaseDraft(
            name="Repair and wash",
            query="Repair it and wash it",
            expectation=Expectation((calls,)),
            servers=("Bike shop",),
        )
        await bench.fake.cases.add([made])
        await changed(bench)
        bench.do(ids.TRY)
        await bench.until(bench.page.view.banner.isVisible)
        note = bench.page.view.banner.note.text()
        assert "“Repair and wash” was not asked" in note
        assert "`wash_bike` is not offered" in note
        assert "`book_repair`" not in note


async def test_a_change_after_the_trial_is_said_beside_the_verdict(qapp: QApplication) -> None:
    async with workshop() as bench:
        await changed(bench)
        bench.do(ids.TRY)
        await bench.until(bench.page.view.banner.isVisible)
        await bench.type_text(NEW_TEXT)
        await bench.until(lambda: "changed after" in bench.page.view.banner.note.text())


async def test_each_verdict_has_a_mark_and_words_of_its_own() -> None:
    from app.screens.workshop.trial_view import CLAIM_MARKS, CLAIM_WORDS

    for known in (CLAIM_MARKS, CLAIM_WORDS):
        assert set(known) == set(ClaimVerdict)
        assert len(set(known.values())) == len(ClaimVerdict)
