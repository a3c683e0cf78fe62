"""The catalogue of models, and the models that an own server lists, asked of a real server on loopback."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.llm.catalogue import LitellmCatalogue, served_models
from mcp_tef.llm.providers import Target, target
from mcp_tef.model.addresses import _ADDRESSES, is_unencrypted, origin_of
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret
from tests.support.model_replies import Reply
from tests.support.model_stub import ModelStub


def chat(provider: str, **more: Any) -> dict[str, Any]:
    return {"mode": "chat", "litellm_provider": provider} | more


def table(folder: Path, **rows: dict[str, Any]) -> Path:
    file = folder / "table.json"
    file.write_text(json.dumps({name.replace("__", "/"): row for name, row in rows.items()}), "utf-8")
    return file


async def test_both_baselines_come_first_and_cost_nothing() -> None:
    first = (await LitellmCatalogue().models())[:2]
    assert [model.label for model in first] == ["offline/words", "offline/meaning"]
    assert {(model.input_price, model.output_price) for model in first} == {(0.0, 0.0)}


async def test_thousands_of_chat_models_are_known_each_once() -> None:
    models = await LitellmCatalogue().models()
    assert len(models) > 2_000
    assert len({model.label for model in models}) == len(models)
    labels = [model.label.lower() for model in models[2:]]
    assert labels == sorted(labels)


async def test_a_well_known_model_has_context_prices_and_abilities() -> None:
    info = await LitellmCatalogue().find(ModelSettings(provider="openai", model="gpt-4.1-mini"))
    assert info is not None
    assert (info.context_tokens, info.input_price, info.output_price) == (1_047_576, 4e-07, 1.6e-06)
    assert (info.tool_calling, info.vision, info.structured_output) == (True, True, True)


async def test_nothing_is_known_of_a_model_that_nobody_lists() -> None:
    assert await LitellmCatalogue().find(ModelSettings(provider="openai", model="my-own")) is None


async def test_what_the_table_does_not_say_is_unknown_rather_than_no(tmp_path: Path) -> None:
    file = table(tmp_path, a=chat("openai"), b=chat("openai", supports_function_calling=False))
    _, _, silent, denied = await LitellmCatalogue(file).models()
    assert (silent.tool_calling, silent.context_tokens, silent.input_price) == (None, None, None)
    assert denied.tool_calling is False


async def test_a_price_of_zero_is_unknown_unless_the_model_runs_at_home(tmp_path: Path) -> None:
    free = {"input_cost_per_token": 0.0, "output_cost_per_token": 0}
    models = await LitellmCatalogue(
        table(tmp_path, gemini__exp=chat("gemini", **free), ollama__llama3=chat("ollama", **free))
    ).models()
    assert [(model.label, model.input_price) for model in models[2:]] == [("gemini/exp", None), ("ollama/llama3", 0.0)]


async def test_rows_of_one_model_are_united_abilities_by_or_and_numbers_by_the_larger(tmp_path: Path) -> None:
    one = chat("bedrock", max_input_tokens=100, supports_vision=True, supports_function_calling=False)
    other = chat("bedrock_converse", max_input_tokens=200, supports_function_calling=True, input_cost_per_token=2e-6)
    file = tmp_path / "table.json"
    file.write_text(json.dumps({"bedrock/x": one, "x": other}), "utf-8")
    _, _, model = await LitellmCatalogue(file).models()
    assert model == ModelInfo(
        provider="bedrock", model="x", context_tokens=200, input_price=2e-6, tool_calling=True, vision=True
    )


async def test_only_chat_models_are_listed(tmp_path: Path) -> None:
    file = table(tmp_path, a=chat("openai") | {"mode": "embedding"}, openai__container=chat("openai"))
    assert len(await LitellmCatalogue(file).models()) == 2


async def test_without_the_table_the_baseline_remains(tmp_path: Path) -> None:
    assert [model.label for model in await LitellmCatalogue(tmp_path / "gone.json").models()] == [
        "offline/words",
        "offline/meaning",
    ]


async def test_ollama_is_one_provider_by_either_of_its_names() -> None:
    catalogue = LitellmCatalogue()
    found = [await catalogue.find(ModelSettings(provider=name, model="llama3")) for name in ("ollama", "ollama_chat")]
    assert found[0] is not None
    assert found[0] is found[1]


def test_who_needs_a_key_is_known_without_asking() -> None:
    catalogue = LitellmCatalogue()
    asks = catalogue.asks_for_key
    assert asks(ModelSettings(provider="openai", model="m"))
    assert not asks(ModelSettings())
    assert not asks(ModelSettings(provider="ollama", model="m"))
    assert not asks(ModelSettings(provider="bedrock", model="m"))
    assert not asks(ModelSettings(provider="openai", model="m", base_url="http://127.0.0.1:1/v1"))
    assert catalogue.key_variable("anthropic") == "ANTHROPIC_API_KEY"
    assert catalogue.key_variable("offline") == ""


def test_the_catalogue_does_not_load_litellm() -> None:
    code = (
        "import asyncio, sys; from mcp_tef.llm.catalogue import LitellmCatalogue; "
        "asyncio.run(LitellmCatalogue().models()); print('litellm' in sys.modules)"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == "False"


KNOWN = frozenset({"openai", "anthropic", "lm_studio", "ollama_chat", "ollama", "vllm", "groq"})


@pytest.mark.parametrize(
    ("provider", "base_url", "told"),
    [
        ("openai", None, Target("openai", "m")),
        ("openai", "http://h/v1", Target("openai", "m", "http://h/v1")),
        ("anthropic", "http://h", Target("anthropic", "m", "http://h")),
        ("ollama", None, Target("ollama_chat", "m", "http://localhost:11434")),
        ("ollama", "http://h:11434", Target("ollama_chat", "m", "http://h:11434")),
        ("ollama", "http://h:11434/v1/", Target("openai", "m", "http://h:11434/v1/")),
        ("lm_studio", None, Target("lm_studio", "m", "http://localhost:1234/v1")),
        ("llama.cpp", None, Target("openai", "m", "http://localhost:8080/v1")),
        ("vllm", None, Target("openai", "m", "http://localhost:8000/v1")),
        ("my-server", "http://h/v1", Target("openai", "m", "http://h/v1")),
        ("my-server", None, Target("my-server", "m")),
        ("groq", None, Target("groq", "m")),
    ],
)
def test_each_provider_is_told_in_litellms_words(provider: str, base_url: str | None, told: Target) -> None:
    aim = target(ModelSettings(provider=provider, model="m", base_url=base_url), KNOWN)
    assert (aim.provider, aim.model, aim.address) == (told.provider, told.model, told.address)


@pytest.mark.parametrize(
    ("provider", "base_url", "origins"),
    [
        ("openai", None, {"https://api.openai.com"}),
        ("openai", "http://H:80/v1", {"http://h"}),
        ("openai", "https://h:8443/v1", {"https://h:8443"}),
        ("cohere_chat", None, {"https://api.cohere.com", "https://api.cohere.ai"}),
        ("ollama", None, {"http://localhost:11434"}),
        ("azure", None, set()),
        ("azure", "https://mine.openai.azure.com", {"https://mine.openai.azure.com"}),
        ("watsonx", "https://eu-de.ml.cloud.ibm.com", {"https://eu-de.ml.cloud.ibm.com", "https://iam.cloud.ibm.com"}),
        ("my-server", None, set()),
        ("bedrock", None, {"*.amazonaws.com", "*.amazonaws.com.cn", "*.api.aws"}),
        ("bedrock", "http://h", {"http://h"}),
    ],
)
def test_a_call_may_reach_the_origin_of_its_address_or_else_the_providers_own(
    provider: str, base_url: str | None, origins: set[str]
) -> None:
    assert target(ModelSettings(provider=provider, model="m", base_url=base_url), KNOWN).origins == origins


@pytest.mark.parametrize(
    ("environment", "base_url", "address"),
    [
        ({}, None, None),
        ({"OPENAI_API_BASE": "http://old/v1"}, None, "http://old/v1"),
        ({"OPENAI_API_BASE": "http://old/v1", "OPENAI_BASE_URL": " http://new/v1 "}, None, "http://new/v1"),
        ({"OPENAI_BASE_URL": "http://new/v1"}, "http://typed/v1", "http://typed/v1"),
        ({"ANTHROPIC_BASE_URL": "http://other"}, None, None),
    ],
)
def test_an_address_in_the_environment_counts_like_one_that_was_typed(
    environment: dict[str, str], base_url: str | None, address: str | None
) -> None:
    aim = target(ModelSettings(provider="openai", model="m", base_url=base_url), KNOWN, environment)
    assert aim.address == address
    assert aim.origins == frozenset({origin_of(address)} if address else {"https://api.openai.com"})


def test_every_origin_in_the_table_is_exact_and_encrypted_unless_it_is_this_machine() -> None:
    origins = [origin for rows, _ in _ADDRESSES.values() for origin in rows]
    assert len(origins) > 90
    assert [origin for origin in origins if origin_of(origin) != origin or is_unencrypted(origin)] == []


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
