"""The start form: parsed values, estimate, catalogue, saved values, and questions before a start."""

from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core_link.model_requests import KeyNeed
from app.dialogs.consent import ApiKeyDialog, ConsentDialog
from app.screens.runs.dialogs import PausedBatchDialog
from app.screens.runs.labels import format_tokens, model_row, model_rows, model_summary
from app.screens.runs.start_form import (
    CaseScope,
    StartField,
    StartForm,
    estimate_text,
    form_from_settings,
    form_to_settings,
    parse_start_form,
    run_button_text,
    tags_of,
)
from app.screens.runs.start_panel import StartPanel, with_cases
from app.widgets import Button
from mcp_tef import (
    BatchRequest,
    BatchStatus,
    CallingMode,
    CaseId,
    Estimate,
    ModelError,
    ModelFault,
    ModelInfo,
    ModelSettings,
    RunStatus,
    Secret,
    ServerSpec,
    ToolChoiceMode,
    Transport,
)
from mcp_tef.model.runs import RunResult
from mcp_tef.ports import Question
from tests.app.screens.runs.conftest import Desk
from tests.support.displayed_text import drawn
from tests.support.fake_engine import FakeEngine
from tests.support.run_factories import case
from tests.support.windows import opened_dialog

CASES = (case(1), case(2), case(3, suites=("Look-alikes",), tags=()))
MODEL = StartForm(offline=False, model="openai/gpt-4.1-mini")


def test_a_fresh_form_runs_every_case_with_the_baseline() -> None:
    reading = parse_start_form(StartForm(), CASES)
    assert reading.request == BatchRequest(name="All cases")
    assert run_button_text(reading) == "Run 3 cases"


def test_a_suite_a_tag_or_a_selection_narrows_the_cases() -> None:
    suite = parse_start_form(StartForm(scope=CaseScope.SUITE, name="Everyday"), CASES)
    tag = parse_start_form(StartForm(scope=CaseScope.TAG, name="smoke"), CASES)
    chosen = parse_start_form(StartForm(scope=CaseScope.SELECTED, selected=(CaseId("case-3"),)), CASES)
    assert (suite.request or BatchRequest()).suites == ("Everyday",)
    assert (tag.request or BatchRequest()).tags == ("smoke",)
    assert chosen.request == BatchRequest(cases=(CaseId("case-3"),), name="case 3")
    assert [run_button_text(item) for item in (suite, tag, chosen)] == ["Run 2 cases", "Run 2 cases", "Run 1 case"]


def test_everything_that_is_set_is_passed_on() -> None:
    form = replace(
        MODEL,
        base_url="http://localhost:11434/v1",
        temperature="0",
        timeout="60",
        retries="1",
        repeats="3",
        concurrency="16",
        cost_cap="$1.50",
        price="0.15, $0.6",
        max_tokens="500",
        seed="7",
        system_prompt=" You are Ann. ",
        mode=CallingMode.JSON,
        tool_choice=ToolChoiceMode.REQUIRED,
    )
    assert form_from_settings(form_to_settings(form)) == form
    assert parse_start_form(form, CASES).request == BatchRequest(
        models=(
            ModelSettings(
                provider="openai",
                model="gpt-4.1-mini",
                base_url="http://localhost:11434/v1",
                temperature=0.0,
                timeout=60,
                max_retries=1,
                system_prompt="You are Ann.",
                mode=CallingMode.JSON,
                tool_choice=ToolChoiceMode.REQUIRED,
                seed=7,
                max_tokens=500,
                input_price=0.15,
                output_price=0.6,
            ),
        ),
        repeats=3,
        concurrency=16,
        max_cost_usd=1.5,
        name="All cases",
    )


def test_several_models_can_be_named_each_runs_once() -> None:
    reading = parse_start_form(replace(MODEL, model="openai/gpt-4.1, ollama/qwen3:8b,openai/gpt-4.1"), CASES)
    assert [model.label for model in reading.models] == ["openai/gpt-4.1", "ollama/qwen3:8b"]
    assert run_button_text(reading) == "Run 3 cases on 2 models"


def test_a_model_of_an_own_server_keeps_its_whole_name() -> None:
    form = replace(MODEL, own_server=True, own_address="http://127.0.0.1:8000/v1", own_model="Qwen/Qwen3-8B")
    (model,) = parse_start_form(form, CASES).models
    assert (model.provider, model.model, model.base_url) == ("openai", "Qwen/Qwen3-8B", "http://127.0.0.1:8000/v1")
    assert form_from_settings(form_to_settings(form)) == form
    assert StartField.BASE_URL in parse_start_form(replace(form, own_address=""), CASES).problems


def test_a_single_case_runs_once_whatever_was_set_before() -> None:
    assert with_cases(StartForm(repeats="5"), (CaseId("case-1"),)).repeats == "1"
    assert with_cases(StartForm(repeats="5"), (CaseId("case-1"), CaseId("case-2"))).repeats == "5"


def test_a_model_can_run_beside_the_baseline() -> None:
    reading = parse_start_form(replace(MODEL, with_baseline=True), CASES)
    assert [model.offline for model in (reading.request or BatchRequest()).models] == [False, True]
    assert run_button_text(reading) == "Run 3 cases on 1 model and the baseline"


@pytest.mark.parametrize(
    ("form", "where", "sentence"),
    [
        (
            replace(MODEL, temperature="3"),
            StartField.TEMPERATURE,
            "The temperature is 3, outside 0 to 2. Set it from 0 to 2.",
        ),
        (replace(MODEL, temperature="hot"), StartField.TEMPERATURE, "The temperature is “hot”. Write a number."),
        (replace(MODEL, timeout="1.5"), StartField.TIMEOUT, "The timeout is “1.5”. Write a whole number."),
        (
            replace(MODEL, retries="11"),
            StartField.RETRIES,
            "The number of retries is 11, outside 0 to 10. Set it from 0 to 10.",
        ),
        (
            StartForm(repeats="0"),
            StartField.REPEATS,
            "The number of repeats is 0, outside 1 to 1000. Set it from 1 to 1000.",
        ),
        (
            StartForm(concurrency="999"),
            StartField.CONCURRENCY,
            "The concurrency is 999, outside 1 to 256. Set it from 1 to 256.",
        ),
        (
            replace(MODEL, model=""),
            StartField.MODEL,
            "No model is selected. Select one from the list, or type PROVIDER/NAME.",
        ),
        (
            replace(MODEL, model="gpt"),
            StartField.MODEL,
            "The model “gpt” is not of the form PROVIDER/NAME. Write for example openai/gpt-4.1-mini.",
        ),
        (
            replace(MODEL, base_url="localhost:11434"),
            StartField.BASE_URL,
            "The address does not start with http:// or https://.",
        ),
        (
            replace(MODEL, base_url="http://ines:hush-4711@127.0.0.1:9"),
            StartField.BASE_URL,
            "The address holds a password or a key, and addresses are stored and shown. Leave it out. Give the key"
            " where it is asked for, or set the provider's variable.",
        ),
        (replace(MODEL, cost_cap="0"), StartField.COST, "Write a cost cap above 0, or leave it empty for none."),
        (replace(MODEL, cost_cap="inf"), StartField.COST, "Write a cost cap above 0, or leave it empty for none."),
        (
            replace(MODEL, price="0,15,0,6"),
            StartField.PRICE,
            "The price “0,15,0,6” is not of the form IN,OUT. Write for example 0.15,0.6.",
        ),
        (StartForm(scope=CaseScope.SUITE), StartField.CASES, "Select a suite."),
        (
            StartForm(scope=CaseScope.TAG, name="gone"),
            StartField.CASES,
            "No test case matches. Select other cases.",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_at_its_field(form: StartForm, where: StartField, sentence: str) -> None:
    reading = parse_start_form(form, CASES)
    assert reading.request is None
    assert reading.problems == {where: sentence}


def test_everything_that_is_wrong_is_said_at_once() -> None:
    reading = parse_start_form(replace(MODEL, temperature="3", repeats="x"), ())
    assert set(reading.problems) == {StartField.CASES, StartField.TEMPERATURE, StartField.REPEATS}


def test_repeats_stand_on_the_button() -> None:
    assert run_button_text(parse_start_form(StartForm(repeats="5"), CASES)) == "Run 3 cases, 5 times each"


def test_the_baseline_ignores_what_only_a_model_has() -> None:
    assert parse_start_form(StartForm(temperature="nonsense", cost_cap="x"), CASES).problems == {}


def test_an_estimate_says_what_is_not_known() -> None:
    request = parse_start_form(MODEL, CASES).request
    assert request is not None
    unknown = Estimate(runs=28, tokens=None, cost_usd=None, seconds=None)
    known = Estimate(runs=28, tokens=34000, cost_usd=0.02, seconds=75)
    assert estimate_text(unknown, request) == "28 runs · cost unknown"
    assert estimate_text(known, request) == "28 runs · about 1 min 15 s · about 34,000 tokens · about $0.02"


def test_the_baseline_costs_nothing_and_says_that_nothing_leaves() -> None:
    made = Estimate(runs=28, tokens=0, cost_usd=0.0, seconds=0.3)
    assert estimate_text(made, BatchRequest()) == "28 runs · about 1 s · no cost, nothing leaves this machine"


def test_tags_are_offered_by_name() -> None:
    assert tags_of((case(1, tags=("b", "a")), case(2, tags=("a",)))) == ("a", "b")


def test_a_key_that_was_typed_for_one_provider_is_none_for_another(qapp: QApplication) -> None:
    panel = StartPanel()
    panel.show_key_need(KeyNeed(provider="openai", needed=True))
    panel.key.edit.setText("typed-for-openai")
    panel.show_key_need(KeyNeed(provider="openai", needed=True))
    panel.show_key_need(KeyNeed())
    assert panel.key.edit.text() == "typed-for-openai"
    panel.show_key_need(KeyNeed(provider="anthropic", needed=True))
    assert panel.key.take() is None
    panel.deleteLater()


MINI = ModelInfo(
    provider="openai",
    model="gpt-4.1-mini",
    context_tokens=1_047_576,
    input_price=0.4e-6,
    output_price=1.6e-6,
    tool_calling=True,
    vision=True,
)
UNKNOWN = ModelInfo(provider="ollama", model="mystery")
BASELINE = ModelInfo(provider="offline", model="words")


def test_a_model_shows_context_price_and_abilities() -> None:
    row = model_row(MINI)
    assert (row.label, row.context, row.price, row.tools) == (
        "openai/gpt-4.1-mini",
        "1.05 M",
        "$0.40 / $1.60",
        "yes",
    )


def test_what_is_not_known_is_unknown_and_neither_no_nor_free() -> None:
    row = model_row(UNKNOWN)
    assert (row.context, row.price, row.tools) == ("unknown",) * 3


def test_a_baseline_can_be_chosen_by_name() -> None:
    assert [row.label for row in model_rows((BASELINE, MINI))] == ["offline/words", "openai/gpt-4.1-mini"]


def test_a_thousand_tokens_are_short() -> None:
    assert [format_tokens(number) for number in (512, 8192, 128_000, 2_000_000, None)] == [
        "512",
        "8.19 k",
        "128 k",
        "2 M",
        "unknown",
    ]


def test_a_model_outside_the_catalogue_may_be_used_and_says_what_is_missing() -> None:
    assert model_summary(None) == "Not in the catalogue: context, price and abilities are unknown."
    assert model_summary(MINI) == (
        "1.05 M tokens of context · $0.40 / $1.60 per million tokens in / out · calls tools natively"
    )
    assert model_summary(UNKNOWN) == "context unknown · price unknown · tool calling unknown"


async def make_it_a_program(desk: Desk) -> None:
    """Have the sample's server be a program that nobody agreed to."""
    server = await desk.session.call(lambda core: core.servers.find("Bike shop"))
    spec = ServerSpec(name="Bike shop", transport=Transport.STDIO, command="serve-bikes", args=("--all",))
    await desk.session.call(lambda core: core.servers.edit(server.id, spec))


async def test_a_program_is_shown_in_full_and_started_only_after_a_yes(desk: Desk) -> None:
    await make_it_a_program(desk)
    desk.session.spawn(desk.page.batch_actions.run_offline())
    await desk.press("Allow and start")
    await desk.until(lambda: desk.said)
    assert desk.said == ["All cases: Correct call 1/4 (25 %), correct tool 2/4 (50 %)."]


async def test_a_no_starts_nothing(desk: Desk) -> None:
    await make_it_a_program(desk)
    wish = desk.session.spawn(desk.page.batch_actions.run_offline())
    await desk.press("Cancel")
    await wish
    assert await desk.session.call(lambda core: core.runs.batches()) == ()


def refuses(_question: Question) -> ModelError:
    return ModelError(ModelFault.QUOTA, "The quota of openai is used up.")


@pytest.mark.parametrize("engine", [partial(FakeEngine, script=refuses)])
async def test_a_retry_without_its_key_asks_for_it(desk: Desk) -> None:
    model = ModelSettings(provider="openai", model="gpt-4.1-mini", max_retries=0)
    request = BatchRequest(models=(model,))
    await desk.session.call(lambda core: core.runs.start(request, {"openai": Secret("sk-first")}))
    await desk.until_ended(1)
    await desk.press("Retry")
    sheet = await opened_dialog(desk.page, ApiKeyDialog)
    sheet.edit.setText("sk-second")
    await desk.press("Use this key")
    await desk.until(lambda: len(desk.said) == 2)
    assert desk.fake.selector.questions[-1].key == Secret("sk-second")
    assert desk.fake.keys.typed("openai") == Secret("sk-second")


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
@pytest.mark.parametrize("engine", [partial(FakeEngine, environment={"OPENAI_API_KEY": "sk-of-the-user"})])
async def test_a_stored_address_gets_a_key_only_after_a_yes(new_desk: Desk, button: str, key: Secret | None) -> None:
    await stored_by_somebody_else(new_desk)
    await new_desk.open(sample=False)
    await new_desk.press("Resume")
    await new_desk.until(lambda: new_desk.page.findChildren(ConsentDialog))
    (sheet,) = new_desk.page.findChildren(ConsentDialog)
    assert sheet.request.target == "https://evil.example/v1"
    assert sheet.request.names == ("OPENAI_API_KEY",)
    assert new_desk.fake.selector.questions == []
    await new_desk.press(button)
    await new_desk.until(lambda: new_desk.said)
    assert {question.key for question in new_desk.fake.selector.questions} == {key}


@pytest.mark.parametrize("engine", [partial(FakeEngine, environment={"OPENAI_API_KEY": "sk-of-the-user"})])
async def test_a_stored_address_gets_nothing_where_the_user_cancels(new_desk: Desk) -> None:
    await stored_by_somebody_else(new_desk)
    await new_desk.open(sample=False)
    await new_desk.press("Resume")
    await new_desk.press("Cancel")
    await new_desk.until(
        lambda: not [sheet for sheet in new_desk.page.findChildren(ConsentDialog) if sheet.isVisible()]
    )
    assert new_desk.fake.selector.questions == []


def _no_server(_: Question) -> ModelError:
    return ModelError(ModelFault.DOWN, "No server answers at this address.")


@pytest.mark.parametrize("engine", [partial(FakeEngine, script=_no_server)])
async def test_after_five_equal_failures_the_batch_pauses_and_asks(desk: Desk) -> None:
    model = ModelSettings(provider="ollama", model="small")
    request = BatchRequest(models=(model,), repeats=5, concurrency=1)
    batch = await desk.page.batch_actions.start_presenter.start(request)
    dialog = await opened_dialog(desk.page, PausedBatchDialog)
    assert "5 runs in a row failed with the same error: No server answers" in drawn(dialog).replace("\n", " ")
    assert (await desk.fake.runs.batch(batch.id)).status is BatchStatus.RUNNING
    stop = next(one for one in dialog.findChildren(Button) if one.text() == "Stop the batch")
    QTest.mouseClick(stop, Qt.MouseButton.LeftButton)
    ended = await desk.session.call(lambda core: core.runs.wait(batch.id))
    assert (ended.status, ended.failed) == (BatchStatus.CANCELLED, 5)
