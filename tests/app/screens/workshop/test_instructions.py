"""The instructions of a server in the workshop: edited beside its tools, undone, and tried with a client."""

from PySide6.QtWidgets import QApplication

from app.screens.workshop import commands as ids
from mcp_tef import INSTRUCTIONS
from tests.app.screens.workshop.test_drafts import workshop

SHORT = "Look a bike up before you book a repair of it."


async def test_instructions_are_edited_undone_copied_and_tried_only_where_a_client_shows_them(
    qapp: QApplication,
) -> None:
    async with workshop() as bench:
        await bench.change()
        page = bench.page
        assert page.view.tools.rows.ids()[-1] == INSTRUCTIONS
        page.view.tool_chosen.emit(INSTRUCTIONS)
        await bench.until(lambda: [one.key for one in page.presenter.fields()] == ["description"])
        assert not bench.can(ids.REMOVE_TOOL)
        bench.row("description").draft.setPlainText(SHORT)
        await bench.until(lambda: bench.draft.instructions == SHORT)
        assert page.presenter.changed_texts() == ((INSTRUCTIONS, SHORT),)
        await bench.until(lambda: "instructions" in page.view.drafts.rows.row(0).spoken)
        await bench.until(lambda: page.presenter.prediction and page.presenter.prediction.tools)
        assert page.presenter.prediction is not None
        assert page.presenter.prediction.tools[0].tokens_after > 0
        trial = page.trial.presenter
        await bench.until(lambda: trial.can_try(bench.draft).endswith("shows it the instructions."))
        choices = [one for group in page.trial.options() for one in group.under]
        next(one for one in choices if one.text == "Claude Code").do()
        await bench.until(lambda: trial.client.startswith("claude-code@"))
        assert trial.requests(bench.draft)[0].settings.client == ""  # a baseline reads no client
        bench.do(ids.UNDO)
        await bench.until(lambda: bench.draft.instructions == "")
