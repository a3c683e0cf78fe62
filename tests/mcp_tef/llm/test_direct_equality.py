"""Equality of both paths to a model: the same requests, rows, errors and costs, directly and through litellm."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import pytest

from mcp_tef.errors import ModelError
from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.model_selector import LitellmSelector
from mcp_tef.llm.model_table import FILE, answer_cost, bundled_table
from mcp_tef.llm.providers import DIRECT_PROVIDERS, Target, directly
from mcp_tef.model.addresses import origin_of, own_origins
from mcp_tef.model.answers import CallingMode, ToolChoiceMode
from mcp_tef.model.secrets import Secret
from mcp_tef.provider_http.exchange import Exchange, ModelCall
from mcp_tef.provider_http.litellm_loader import new_client
from tests.support.model_questions import question
from tests.support.model_replies import Reply, completion
from tests.support.model_stub import ModelStub
from tests.support.model_table import request_rules, rows
from tests.support.recorded_answers import ANSWERS, SOUND

OF_THE_USER = ("openai-organization", "openai-project", "x-team", "x-purpose")
RIGHTLY_DIFFERENT = {
    "content in parts": "Mistral and proxies answer so; litellm reads it for some providers only.",
    "no usage": "litellm makes zeros up; the counts are unknown.",
    "null usage": "litellm makes zeros up; the counts are unknown.",
    "usage of the prompt only": "litellm makes a zero up; the count is unknown.",
    "null choices": "litellm's sentence lists the fields of its own object.",
}


@pytest.fixture
async def both() -> AsyncIterator[tuple[LitellmSelector, LitellmSelector]]:
    mine, litellms = LitellmSelector(LitellmCatalogue()), LitellmSelector(LitellmCatalogue(), through=lambda: "litellm")
    yield mine, litellms
    await mine.close()
    await litellms.close()


async def row(selector: LitellmSelector, stub: ModelStub, **settings: Any) -> tuple[Any, ...]:
    """Kept parts of an answer, or the shown parts of a failure, and the requests that the server received."""
    stub.requests.clear()
    try:
        kept: Any = await selector.select(question(stub.url, **settings))
    except ModelError as error:
        wait = error.retry_after and round(error.retry_after, -1 if error.retry_after > 100 else 3)
        kept = (error.fault, error.message, error.hint, wait, error.context["status"])
    sent = [
        (
            request.path,
            request.body,
            request.key,
            request.headers["content-type"],
            [request.headers.get(name) for name in OF_THE_USER],
        )
        for request in stub.requests
    ]
    return kept, sent


@pytest.mark.parametrize("mode", [CallingMode.NATIVE, CallingMode.JSON])
async def test_every_recorded_answer_makes_the_same_row(
    both: tuple[LitellmSelector, LitellmSelector], mode: CallingMode
) -> None:
    different, replies = {}, list[Reply]()
    with ModelStub(lambda _: replies[-1]) as stub:
        for name, reply in ANSWERS.items():
            replies.append(reply)
            mine, litellms = [await row(selector, stub, mode=mode) for selector in both]
            if mine != litellms:
                different[name] = (mine, litellms)
    print(f"{mode}: {len(ANSWERS) - len(different)} of {len(ANSWERS)} equal; otherwise: {RIGHTLY_DIFFERENT}")
    assert {name: pair for name, pair in different.items() if name not in RIGHTLY_DIFFERENT} == {}
    assert len(ANSWERS) > 130


SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"temperature": 1.0, "seed": 0},
    {"temperature": 0.0, "seed": 7, "max_tokens": 50, "tool_choice": ToolChoiceMode.REQUIRED},
    {"system_prompt": "You are “Ann” 😀.", "key": None},
    {"mode": CallingMode.JSON, "max_tokens": 9},
)
FEW = (SETTINGS[2], SETTINGS[4])
OF_OPENAI = (
    *(("openai", model) for model in ("gpt-4.1", "gpt-4", "gpt-5", "gpt-5.1", "o1", "o3-mini", "gpt-5-pro", "gpt-7")),
    *(("openai", model) for model in ("gpt-5-next", "ft:o4-mini-2025-04-16", "gpt-5-search-api", "org/gpt-oss-20b")),
)
OF_OTHERS = (
    *((provider, "m") for provider, known in DIRECT_PROVIDERS.items() if known.address),
    ("groq", "openai/gpt-oss-20b"), ("my-server", "m"), ("xai", "grok-4"), ("deepseek", "deepseek-reasoner"),
)  # fmt: skip


async def test_every_provider_and_model_gets_the_same_request(both: tuple[LitellmSelector, LitellmSelector]) -> None:
    different = []
    with ModelStub() as stub:
        asked = (*itertools.product(OF_OPENAI, SETTINGS), *itertools.product(OF_OTHERS, FEW))
        for (provider, model), settings in asked:
            mine, litellms = [
                await row(selector, stub, provider=provider, model=model, **settings) for selector in both
            ]
            if mine[1] != litellms[1]:
                different.append((provider, model, settings, mine[1], litellms[1]))
    assert different == []


async def test_headers_that_the_user_sets_for_openai_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: tools\nno header\nX-Purpose: a: b")
    sent = []
    with ModelStub() as stub:
        for path in ("", "litellm"):
            selector = LitellmSelector(LitellmCatalogue(), dict(os.environ), through=partial(str, path))
            sent += (await row(selector, stub))[1]
            await selector.close()
    assert sent[0] == sent[1]
    assert sent[0][-1] == ["org-1", "proj-1", "tools", "a: b"]


@pytest.mark.parametrize(
    ("model", "address", "is_direct"),
    [
        ("gpt-4.1", None, True),
        ("gpt-5.4", None, False),
        ("gpt-5.4", "https://eu.api.openai.com/v1", False),
        ("gpt-5.4", "http://localhost:1/v1", True),
        ("gpt-5-pro", "http://localhost:1/v1", False),
        ("gpt-5-unheard-of", None, False),
        ("m", "https://mine.openai.azure.com/openai/v1", True),
        ("m", "https://mine.example/v1?api-version=2", False),
    ],
)
def test_a_model_that_needs_another_interface_is_left_to_litellm(
    model: str, address: str | None, is_direct: bool
) -> None:
    assert bool(directly(Target("openai", model, address), bundled_table()).chat_url) is is_direct


def test_every_default_address_belongs_to_its_provider() -> None:
    addresses = {name: known.address for name, known in DIRECT_PROVIDERS.items() if known.address}
    assert [name for name, address in addresses.items() if origin_of(address) not in own_origins(name)] == []
    assert all(known.source for known in DIRECT_PROVIDERS.values())


USAGES = {name: json.loads(SOUND[name].body)["usage"] for name in (
    "cached and reasoning tokens", "cache hits of DeepSeek", "null details", "usage without a total", "one call",
)}  # fmt: skip
TIERED = ("one call", "a long prompt, cached")
USAGES["a long prompt"] = {"prompt_tokens": 300_000, "completion_tokens": 30, "total_tokens": 300_030}
USAGES["a long prompt, cached"] = USAGES["a long prompt"] | {"prompt_tokens_details": {"cached_tokens": 250_000}}
PRICED = (
    "openai/gpt-4.1", "openai/gpt-5", "openai/o3", "openai/gpt-3.5-turbo", "xai/grok-4", "xai/grok-4-fast-reasoning",
    "mistral/mistral-large-latest", "groq/openai/gpt-oss-20b", "together_ai/MiniMaxAI/MiniMax-M3", "openai/unheard-of",
    "cerebras/gpt-oss-120b", "openai/gpt-5.5", "hyperbolic/m", "nebius/m",
)  # fmt: skip


def _answers() -> Iterator[tuple[str, str | None, Reply]]:
    for name, usage in USAGES.items():
        for tier in (None, "default", "flex", "priority") if name in TIERED else (None,):
            body = json.loads(completion({"content": "Hello."}).body) | {"usage": usage, "service_tier": tier}
            yield name, tier, Reply(body=json.dumps(body))


async def test_every_price_is_that_of_litellm() -> None:
    client, different, known = await new_client(), [], 0
    answers = list(_answers())
    with ModelStub(itertools.cycle(reply for _, _, reply in answers)) as stub:
        for label, (name, tier, reply) in itertools.product(PRICED, answers):
            provider, _, model = label.partition("/")
            call = ModelCall(provider, model, stub.url, Secret("sk-k"), 10)
            reached = Exchange(origins=frozenset({origin_of(stub.url)}))
            asked = {"messages": [{"role": "user", "content": "Hello."}]}
            theirs: Any = await client.complete(call, reached, lambda _answer, cost: cost, asked)
            ours = answer_cost(bundled_table(), provider, model, json.loads(reply.body))
            known += bool(ours)
            if (theirs or 0) != pytest.approx(ours or 0, rel=1e-9):
                different.append((label, name, tier, ours, theirs))
    await client.close()
    assert different == []
    assert known > 80


async def test_the_table_of_models_is_that_of_the_locked_litellm() -> None:
    stored = json.loads(FILE.read_text("utf-8"))
    about = stored.pop("about")
    assert stored == rows()
    client = await new_client()
    assert about["providers"] == sorted(client.providers)
    with ModelStub() as stub:
        for model in ("gpt-4", "gpt-4.1", "gpt-5", "gpt-5.1", "o3", "o1-pro"):
            assert about["openai_rules"].get(model, "") == await request_rules(client, model, stub)
    await client.close()


def test_a_run_with_a_compatible_server_loads_no_litellm() -> None:
    code = (
        "import asyncio, sys; from tests.support.model_questions import question; from tests.support.model_stub import "
        "ModelStub; from mcp_tef.llm.model_selector import LitellmSelector; from mcp_tef.llm.catalogue import "
        "LitellmCatalogue\n"
        "async def ask():\n"
        "    selector = LitellmSelector(LitellmCatalogue())\n"
        "    with ModelStub() as stub:\n"
        "        await selector.prepare(question(stub.url)); answer = await selector.select(question(stub.url))\n"
        "    await selector.close(); return answer.calls\n"
        "calls = asyncio.run(ask()); heavy = sorted({'litellm', 'openai', 'httpx', 'httpx2'} & set(sys.modules))\n"
        "print(heavy, len(calls))"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == "[] 1"
