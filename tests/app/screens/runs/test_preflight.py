"""Consent and API keys are asked for before a batch starts."""

from typing import Any

import pytest

from app.dialogs.consent import ConsentSheet
from app.dialogs.preflight import ApiKeyDialog
from mcp_tef import (
    BatchRequest,
    BatchStatus,
    ModelError,
    ModelFault,
    ModelSettings,
    RunStatus,
    Secret,
    ServerSpec,
    Transport,
)
from mcp_tef.model.runs import RunResult
from mcp_tef.ports import Question
from tests.app.screens.runs.conftest import Desk, on_page


async def make_it_a_program(desk: Desk) -> None:
    """Have the sample's server be a program that nobody agreed to."""
    server = await desk.session.call(lambda core: core.servers.find("Bike shop"))
    spec = ServerSpec(name="Bike shop", transport=Transport.STDIO, command="serve-bikes", args=("--all",))
    await desk.session.call(lambda core: core.servers.edit(server.id, spec))


@on_page()
async def test_a_program_is_shown_in_full_and_started_only_after_a_yes(desk: Desk) -> None:
    await desk.open()
    await make_it_a_program(desk)
    desk.session.spawn(desk.page.batch_actions.run_offline())
    await desk.press("Allow and start")
    await desk.until(lambda: desk.said)
    assert desk.said == ["All cases: 50 % correct."]


@on_page()
async def test_a_no_starts_nothing(desk: Desk) -> None:
    await desk.open()
    await make_it_a_program(desk)
    wish = desk.session.spawn(desk.page.batch_actions.run_offline())
    await desk.press("Cancel")
    await wish
    assert await desk.session.call(lambda core: core.runs.batches()) == ()


def test_a_retry_without_its_key_asks_for_it(use: Any) -> None:
    answers = iter([ModelError(ModelFault.QUOTA, "The quota of openai is used up.")] * 4)

    def refuses_first(question: Question) -> Any:
        return next(answers, None) or ModelError(ModelFault.DOWN, f"Down, with {bool(question.key)}.")

    async def story(desk: Desk) -> None:
        await desk.open()
        model = ModelSettings(provider="openai", model="gpt-4.1-mini", max_retries=0)
        request = BatchRequest(models=(model,))
        await desk.session.call(lambda core: core.runs.start(request, {"openai": Secret("sk-first")}))
        await desk.until_ended(1)
        await desk.press("Retry")
        await desk.until(lambda: desk.page.findChildren(ApiKeyDialog))
        sheet = desk.page.findChildren(ApiKeyDialog)[0]
        sheet.edit.setText("sk-second")
        await desk.press("Use this key")
        await desk.until(lambda: len(desk.said) == 2)
        assert desk.fake.selector.questions[-1].key == Secret("sk-second")
        assert desk.fake.keys.typed("openai") == Secret("sk-second")

    use(story, script=refuses_first)


async def stored_by_somebody_else(desk: Desk) -> None:
    """Put a cancelled batch of openai at a foreign address into the workspace, as a stranger's file could hold it."""
    await desk.session.call(lambda core: core.open_sample())
    store = desk.fake.store
    model = ModelSettings(provider="openai", model="gpt-4.1-mini", base_url="https://evil.example/v1")
    request = BatchRequest(models=(model,), name="Theirs")
    batch, runs = await store.runs.create_batch(request, await store.cases.all())
    await store.runs.finish([RunResult(run_id=run.id, status=RunStatus.CANCELLED) for run in runs])
    await store.runs.set_batch_status(batch.id, BatchStatus.CANCELLED)


@pytest.mark.parametrize(
    ("button", "key"),
    [("Send the key", Secret("sk-of-the-user")), ("Run without a key", None)],
    ids=["send", "without"],
)
@on_page(environment={"OPENAI_API_KEY": "sk-of-the-user"})
async def test_a_stored_address_gets_a_key_only_after_a_yes(desk: Desk, button: str, key: Secret | None) -> None:
    await stored_by_somebody_else(desk)
    await desk.open(sample=False)
    await desk.press("Resume")
    await desk.until(lambda: desk.page.findChildren(ConsentSheet))
    (sheet,) = desk.page.findChildren(ConsentSheet)
    assert sheet.request.target == "https://evil.example"
    assert sheet.request.names == ("OPENAI_API_KEY",)
    assert desk.fake.selector.questions == []
    await desk.press(button)
    await desk.until(lambda: desk.said)
    assert {question.key for question in desk.fake.selector.questions} == {key}


@on_page(environment={"OPENAI_API_KEY": "sk-of-the-user"})
async def test_a_stored_address_gets_nothing_where_the_user_cancels(desk: Desk) -> None:
    await stored_by_somebody_else(desk)
    await desk.open(sample=False)
    await desk.press("Resume")
    await desk.press("Cancel")
    await desk.until(lambda: not [sheet for sheet in desk.page.findChildren(ConsentSheet) if sheet.isVisible()])
    assert desk.fake.selector.questions == []
