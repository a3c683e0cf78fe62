"""Question for a model that a trial or a crowd test asks, with its key, cost cap and estimate."""

from collections.abc import Awaitable, Callable, Sequence

from app.core_link.model_requests import ModelForm
from app.core_link.session import Page
from app.dialogs.model_request_dialog import ModelRequestDialog, ModelTask, last_form
from mcp_tef import Estimate, ModelSettings


async def ask_model(
    page: Page,
    title: str,
    explanation: str,
    estimate: Callable[[ModelSettings], Awaitable[Estimate]],
    cases: Sequence[object],
    form: ModelForm | None = None,
) -> tuple[ModelSettings, float | None] | None:
    """Ask for a model with its key and cost cap in US dollars, the form filled in; None without an answer."""

    async def estimated(_cases: object, model: ModelSettings) -> Estimate:
        return await estimate(model)

    async def run(*_: object) -> None:
        """Do nothing: the test starts with its own button."""

    task = ModelTask(
        title=title,
        explanation=explanation,
        noun="case",
        activity="is asked",
        result="was asked about",
        button="Use this model",
        estimate=estimated,
        run=run,
        cost=lambda _: None,
    )
    filled = form or last_form(page.session.settings)
    dialog = ModelRequestDialog(page.session, task, [("Cases", cases)], filled, page)
    if not await dialog.done_with() or dialog.agreed is None:
        return None
    return dialog.agreed, dialog.max_cost_usd
