"""Questions before a contact: how many a user is asked, what decides them, and that no contact goes without them."""

import ast
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

from mcp_tef import ConsentError, Engine, ServerSpec, Transport, consent_rows
from mcp_tef.model.addresses import Destination
from mcp_tef.model.model_groups import Deployment
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import INPUTS, AuthType, OAuthClient
from mcp_tef.model.similarity import EmbedderChoice, EmbedderKind
from mcp_tef.model.web_search import SearchProvider, SearchTool
from mcp_tef.trust.consents import ConsentRequest
from tests.support import calling_server
from tests.support.library_designs import scripted

ROOT = Path(__file__).parents[3]
KEYS = {f"{name}_API_KEY": f"sk-of-{name}-0123456789" for name in ("OPENAI", "MISTRAL", "TAVILY")}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine of a user with keys in the environment."""
    async with await Engine.open(tmp_path / "w.db", environment={**os.environ, **KEYS}) as opened:
        await opened.load_clients()
        yield opened


async def asked(work: Callable[[], object]) -> Sequence[ConsentRequest]:
    """The questions that a piece of work raises."""
    try:
        done = work()
        if isinstance(done, Awaitable):
            await done
    except ConsentError as error:
        return error.requests
    return ()


# ------------------------------------------------------------------ how many questions


async def sample(engine: Engine) -> Sequence[ConsentRequest]:
    await engine.open_sample()
    servers = await engine.servers.list()
    assert servers
    return await asked(lambda: engine.consents.require(*[one.spec for one in servers]))


async def own_program(engine: Engine) -> Sequence[ConsentRequest]:
    program, *args = calling_server.command()
    spec = ServerSpec(name="own", transport=Transport.STDIO, command=program, args=tuple(args))
    await engine.consents.add_typed_server(spec)
    return await asked(lambda: engine.consents.require(spec))


async def own_address(engine: Engine) -> Sequence[ConsentRequest]:
    spec = ServerSpec(name="own", transport=Transport.STREAMABLE_HTTP, url="https://mcp.example/mcp")
    await engine.consents.add_typed_server(spec)
    return await asked(lambda: engine.consents.require(spec))


async def model(engine: Engine, place: Destination, given: Mapping[str, Secret]) -> Sequence[ConsentRequest]:
    if place.base_url:
        engine.consents.add_typed_address(place.provider, place.base_url)
    keys = await asked(lambda: engine.models.keys_at([place], given))
    return (*keys, *engine.models.contacts([place], given))


async def cloud_model(engine: Engine) -> Sequence[ConsentRequest]:
    typed = {"anthropic": Secret("sk-typed-0123456789")}
    by_environment = await model(engine, Destination("openai", None), {})
    assert engine.models.keys_at([Destination("openai", None)], {})
    assert engine.models.keys_at([Destination("anthropic", None)], typed)
    return (*by_environment, *await model(engine, Destination("anthropic", None), typed))


async def local_model(engine: Engine) -> Sequence[ConsentRequest]:
    typed = await model(engine, Destination("openai", "http://127.0.0.1:8080/v1"), {})
    return (*typed, *await model(engine, Destination("ollama", None), {}))


async def own_tool(engine: Engine) -> Sequence[ConsentRequest]:
    tool = await engine.library.add(scripted("def run(input):\n    return 1"))
    return await asked(lambda: engine.library_runs.require_consent(tool.design))


COUNTED = ((sample, 0), (own_program, 1), (cloud_model, 0), (local_model, 0), (own_address, 0), (own_tool, 1))


@pytest.mark.parametrize(("kind", "number"), COUNTED, ids=[kind.__name__ for kind, _ in COUNTED])
async def test_a_user_is_asked_as_little_as_can_be(
    engine: Engine, kind: Callable[[Engine], Awaitable[Sequence[ConsentRequest]]], number: int
) -> None:
    """What is typed or usual is not asked about; one's own program or tool once, and never again."""
    requests = await kind(engine)
    assert len(requests) == number, [one.problem for one in requests]
    for request in requests:
        await engine.consents.allow(request)
    assert not engine.consents.open_ones(requests)


# ------------------------------------------------------------------ what decides a question

SERVER = ServerSpec(
    name="own", transport=Transport.STREAMABLE_HTTP, url="https://a.example/mcp", headers={"X-Key": "${A_KEY}"},
    secret="${B_KEY}", auth_type=AuthType.BEARER,
)  # fmt: skip
OF_SERVERS: Mapping[str, Any] = {
    "url": "https://a.example/changed",
    "headers": {"X-Key": "${CHANGED}"},
    "secret": "${CHANGED}",
    "oauth": OAuthClient(issuer="https://changed.example"),
    "extra": {INPUTS: [{"id": "mode", "default": "changed-answer"}]},
}
NEITHER_SENT_NOR_ASKED = frozenset(
    "name transport command args cwd env path auth_type alias allowed_tools disallowed_tools env_file project origin".split()  # noqa: E501, SIM905
)


@dataclass(frozen=True)
class Kind:
    """A kind of stored address: a value of it, and each field with a change of it; `free` fields decide nothing."""

    value: Any
    changes: Mapping[str, Any]
    free: frozenset[str]
    ask: Callable[[Engine, Any], Awaitable[Sequence[ConsentRequest]]]


async def of_servers(engine: Engine, spec: ServerSpec) -> Sequence[ConsentRequest]:
    return engine.consents.missing([spec])


async def of_clients(engine: Engine, client: OAuthClient) -> Sequence[ConsentRequest]:
    return engine.consents.missing([replace(SERVER, oauth=client)])


async def of_models(engine: Engine, one: Deployment) -> Sequence[ConsentRequest]:
    place = Destination(one.provider, one.base_url)
    return (*await asked(lambda: engine.models.keys_at([place], {})), *engine.models.contacts([place], {}))


async def of_embedders(engine: Engine, choice: EmbedderChoice) -> Sequence[ConsentRequest]:
    return await asked(lambda: engine.models.stored_embedder_key(choice))


async def of_searches(engine: Engine, tool: SearchTool) -> Sequence[ConsentRequest]:
    return engine.searches.questions(tool)


KINDS: Mapping[str, Kind] = {
    "server over HTTP": Kind(SERVER, OF_SERVERS, NEITHER_SENT_NOR_ASKED, of_servers),
    "server over SSE": Kind(replace(SERVER, transport=Transport.SSE), OF_SERVERS, NEITHER_SENT_NOR_ASKED, of_servers),
    "sign-in": Kind(
        OAuthClient(issuer="https://i.example", private_key_file="/k.pem"),
        {"issuer": "https://changed.example", "private_key_file": "/changed.pem"},
        frozenset({"client_id", "remember", "scope", "signing_algorithm"}),
        of_clients,
    ),
    "model with a key": Kind(
        Deployment(provider="openai", model="m", base_url="https://a.example/v1"),
        {"provider": "mistral", "base_url": "https://a.example/changed"},
        frozenset({"model", "rpm", "tpm"}),
        of_models,
    ),
    "model without a key": Kind(
        Deployment(provider="xinference", model="m", base_url="https://a.example/v1"),
        {"base_url": "https://changed.example"},
        frozenset({"provider", "model", "rpm", "tpm"}),  # queries go to the address only
        of_models,
    ),
    "embedder of a provider": Kind(
        EmbedderChoice(EmbedderKind.LITELLM, "openai/e", "https://a.example/v1"),
        {"base_url": "https://a.example/changed", "target": "mistral/e"},
        frozenset({"kind"}),
        of_embedders,
    ),
    "embedder at an address": Kind(
        EmbedderChoice(EmbedderKind.HTTP, "https://a.example/embed"),
        {"target": "https://changed.example"},
        frozenset({"kind", "base_url"}),
        of_embedders,
    ),
    "search tool with a key": Kind(
        SearchTool(name="web", provider=SearchProvider.TAVILY, base_url="https://a.example"),
        {"base_url": "https://changed.example"},
        frozenset({"name", "provider", "engine", "description"}),
        of_searches,
    ),
    "search tool without a key": Kind(
        SearchTool(name="web", provider=SearchProvider.SEARXNG, base_url="https://a.example"),
        {"base_url": "https://changed.example"},
        frozenset({"name", "provider", "engine", "description"}),
        of_searches,
    ),
}
"""Kinds of stored addresses; those of programs and of library tools are in test_plans.py."""
CHANGED = [(kind, name) for kind, one in KINDS.items() for name in one.changes]


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_a_stored_address_decides_or_is_known_not_to(kind: str) -> None:
    one = KINDS[kind]
    assert {field.name for field in fields(one.value)} == one.changes.keys() | one.free


@pytest.mark.parametrize(("kind", "name"), CHANGED)
async def test_a_change_of_a_stored_address_asks_anew_and_is_shown(engine: Engine, kind: str, name: str) -> None:
    one = KINDS[kind]
    before = await one.ask(engine, one.value)
    assert before
    for request in before:
        await engine.consents.allow(request)
    assert await one.ask(engine, one.value) == ()
    requests = await one.ask(engine, replace(one.value, **{name: one.changes[name]}))
    text = "\n".join(line for request in requests for line in lines_of(request))
    leaf = list(leaves(one.changes[name]))[-1]
    assert leaf.removeprefix("${").removesuffix("}").removesuffix("/e") in text


def lines_of(request: ConsentRequest) -> Iterator[str]:
    yield request.title
    for _, lines in consent_rows(request):
        yield from lines


def leaves(value: Any) -> Iterator[str]:
    """The texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, OAuthClient):
        yield str(value.issuer)
    else:
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from leaves(one)


# ------------------------------------------------------------------ no contact without a question

CONTACTS = {"prepare", "select", "embed", "served", "list_tools", "call_tool"}
"""Methods of the ports that contact another machine or start a program."""
NO_PORTS = (".cases.select", "._cases.select", "._baseline.select", "select.select")
KEYS_OF_ESTIMATES = "workflows/estimate.py: servers, stored models and keys of a batch, all at once"
OF_EMBEDDERS = "typed ones by Models.embedder_key, stored ones by Models.stored_embedder_key"
SERVERS = "Consents.require of the server"
ASKED_BY: Mapping[str, str] = {
    "api/cluster_worker.py": KEYS_OF_ESTIMATES,
    "api/samples.py": OF_EMBEDDERS,
    "workflows/batch_plans.py": SERVERS,
    "workflows/calls.py": SERVERS,
    "workflows/case_checks.py": OF_EMBEDDERS,
    "workflows/clients.py": OF_EMBEDDERS,
    "workflows/evaluate.py": KEYS_OF_ESTIMATES,
    "workflows/improve.py": OF_EMBEDDERS,
    "workflows/library_runs.py": "LibraryRuns.require_consent, before each execution",
    "workflows/model_targets.py": "Models.contacts of what a group or router names, and Models.stored_embedder_key",
    "workflows/models.py": "typed addresses, and this machine's usual ports",
    "workflows/search_tools.py": "Models.contacts and keys_at",
    "workflows/servers.py": SERVERS,
    "workflows/similarity.py": OF_EMBEDDERS,
    "workflows/target_selectors.py": KEYS_OF_ESTIMATES,
    "workflows/tool_sources.py": SERVERS,
}


def test_every_contact_of_a_workflow_is_in_the_table_with_what_asks_before_it() -> None:
    found = set()
    for folder in ("workflows", "api", "agents", "rest", "cli", "reports"):
        for path in (ROOT / "mcp_tef" / folder).rglob("*.py"):
            nodes = ast.walk(ast.parse(path.read_text("utf-8")))
            calls = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
            ports = {call for call in calls if call.rpartition(".")[2] in CONTACTS and not call.endswith(NO_PORTS)}
            if ports or "self._searcher.search" in calls:
                found.add(path.relative_to(ROOT / "mcp_tef").as_posix())
    assert found == set(ASKED_BY)
