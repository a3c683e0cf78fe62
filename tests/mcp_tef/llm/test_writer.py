"""Writing by a model: the real litellm over real HTTP to a scripted server."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.llm.client import LitellmWriter
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.ports import WritingTask
from tests.support.model_questions import KEY
from tests.support.model_replies import Received, Reply, empty, error, words
from tests.support.model_stub import ModelStub, Step

OTHER_KEY = "sk-another-secret-key-9876543210"


@pytest.fixture
async def writer() -> AsyncIterator[LitellmWriter]:
    """The real writer over the real litellm."""
    writer = LitellmWriter()
    yield writer
    await writer.close()


def task(base_url: str | None, key: str | None = KEY, *, model: str = "gpt-test", timeout: int = 30) -> WritingTask:
    settings = ModelSettings(provider="openai", model=model, base_url=base_url, temperature=1.3, timeout=timeout)
    return WritingTask(settings, "You write.", "Write “this”.", Secret(key) if key else None)


async def test_a_text_comes_back_as_it_was_written_with_what_it_took(writer: LitellmWriter) -> None:
    with ModelStub([words('{"description": "Finds “it” — ünïcode\\n"}')]) as stub:
        written = await writer.write(task(stub.url))
    assert written.text == '{"description": "Finds “it” — ünïcode\\n"}'
    assert (written.tokens_in, written.tokens_out) == (120, 30)
    assert written.cost_usd is None, "the price of an unknown model is unknown, not 0"


async def test_a_text_has_its_cost_by_the_price_that_was_given(writer: LitellmWriter) -> None:
    with ModelStub([words("{}"), words("{}")]) as stub:
        asked = task(stub.url)
        priced = replace(asked.settings, input_price=2.0, output_price=10.0)
        given = await writer.write(replace(asked, settings=priced))
        unknown = await writer.write(task(stub.url, model="gpt-4.1-mini"))
    assert given.cost_usd == pytest.approx((120 * 2 + 30 * 10) / 1e6)
    assert unknown.cost_usd is None


async def test_both_texts_the_settings_the_key_and_the_wish_for_json_really_arrive(writer: LitellmWriter) -> None:
    with ModelStub([words("{}")]) as stub:
        await writer.write(task(stub.url))
    (request,) = stub.requests
    assert (request.system, request.query) == ("You write.", "Write “this”.")
    assert (request.model, request.body["temperature"], request.key) == ("gpt-test", 1.3, KEY)
    assert request.body["response_format"] == {"type": "json_object"}
    assert "tools" not in request.body


async def test_each_call_goes_with_its_own_key(writer: LitellmWriter) -> None:
    with ModelStub(lambda _: words("{}")) as stub:
        for key in (KEY, OTHER_KEY, KEY):
            await writer.write(task(stub.url, key))
    assert [request.key for request in stub.requests] == [KEY, OTHER_KEY, KEY]


async def test_a_server_without_a_json_mode_is_asked_again_without_it_and_so_from_then_on(
    writer: LitellmWriter,
) -> None:
    def refuses_json(request: Received) -> Reply:
        return error(400, "response_format is not supported") if "response_format" in request.body else words("Plain.")

    with ModelStub(refuses_json) as stub:
        texts = [(await writer.write(task(stub.url))).text for _ in range(2)]
    assert texts == ["Plain.", "Plain."]
    assert ["response_format" in request.body for request in stub.requests] == [True, False, False]


async def test_a_server_that_refuses_json_whatever_it_is_asked_is_an_error(writer: LitellmWriter) -> None:
    refusal = error(400, "response_format is not supported")
    with ModelStub([refusal] * 3) as stub:
        for _ in range(2):
            with pytest.raises(ModelError, match="rejected the request"):
                await writer.write(task(stub.url))
    assert len(stub.requests) == 3


async def test_an_answer_with_nothing_in_it_is_an_empty_text(writer: LitellmWriter) -> None:
    with ModelStub([empty()]) as stub:
        assert (await writer.write(task(stub.url))).text == ""


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("401", ModelFault.KEY_WRONG),
        ("404", ModelFault.NOT_FOUND),
        ("429", ModelFault.RATE),
        ("400", ModelFault.REJECTED),
        ("drop", ModelFault.PROVIDER),
        ("html", ModelFault.NOT_AN_API),
    ],
)
async def test_failures_are_told_apart_in_one_sentence_without_the_key(
    writer: LitellmWriter, step: Step, fault: ModelFault
) -> None:
    with ModelStub([step]) as stub, pytest.raises(ModelError) as raised:
        await writer.write(task(stub.url))
    assert raised.value.fault is fault
    assert raised.value.message.endswith(".")
    assert KEY not in f"{raised.value.message}{raised.value.hint}{raised.value.context}"
    assert len(stub.requests) == 1


async def test_a_model_that_never_answers_costs_its_timeout(writer: LitellmWriter) -> None:
    with ModelStub(["hang"]) as stub, pytest.raises(ModelError, match="did not answer within 1 seconds"):
        await writer.write(task(stub.url, timeout=1))


async def test_a_cloud_provider_without_a_key_is_not_even_asked(writer: LitellmWriter) -> None:
    with pytest.raises(ModelError) as raised:
        await writer.write(task(None, None))
    assert raised.value.fault is ModelFault.KEY_MISSING


async def test_an_address_that_is_none_is_said_to_be(writer: LitellmWriter) -> None:
    with pytest.raises(ModelError, match="no web address"):
        await writer.write(task("nonsense"))
