"""Models that an own server lists, asked of a real server on loopback."""

import asyncio
import json
from typing import Any

import pytest

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.llm.catalogue import served_models
from mcp_tef.model.secrets import Secret
from tests.support.model_replies import Reply
from tests.support.model_stub import ModelStub


def reply(status: int, body: Any, **headers: str) -> Reply:
    return Reply(status=status, body=json.dumps(body), headers=headers)


LISTED = {"data": [{"id": "qwen3:8b"}, {"id": "llama3.1:8b"}, {"id": 7}, "junk", {"id": ""}]}


def serving(given: Reply) -> ModelStub:
    stub = ModelStub()
    stub.listing = given
    return stub


async def test_the_names_come_sorted_and_the_key_goes_along() -> None:
    with serving(reply(200, LISTED)) as stub:
        assert await served_models(stub.url, Secret("sk-own-server")) == ("llama3.1:8b", "qwen3:8b")
    (asked,) = stub.listings
    assert (asked.path, asked.headers["authorization"]) == ("/v1/models", "Bearer sk-own-server")


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (reply(401, {"error": "no key"}), ModelFault.KEY_WRONG),
        (reply(404, {"error": "not here"}), ModelFault.NOT_AN_API),
        (reply(200, {"data": "nothing"}), ModelFault.NOT_AN_API),
        (reply(200, ["a list"]), ModelFault.NOT_AN_API),
        (reply(200, {"data": [{"id": "x" * 2_000_000}]}), ModelFault.NOT_AN_API),
    ],
)
async def test_an_answer_without_a_list_of_models_is_refused(given: Reply, fault: ModelFault) -> None:
    with serving(given) as stub, pytest.raises(ModelError) as caught:
        await served_models(stub.url, None)
    assert caught.value.code == fault
    await asyncio.sleep(0)  # httpx closes the rest of a body that was cut in a task of its own


async def test_a_redirect_is_not_followed() -> None:
    with (
        serving(reply(200, LISTED)) as elsewhere,
        serving(reply(302, {}, Location=f"{elsewhere.url}/models")) as stub,
        pytest.raises(ModelError),
    ):
        await served_models(stub.url, Secret("sk-own-server"))
    assert elsewhere.listings == []


async def test_a_server_that_is_down_says_so() -> None:
    with pytest.raises(ModelError) as caught:
        await served_models("http://127.0.0.1:9/v1", None)
    assert caught.value.code == ModelFault.DOWN
