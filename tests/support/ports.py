"""Stand-ins at the ports: servers and selectors that do as a test says."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mcp_tef.errors import ServerError, ServerFault, TefError
from mcp_tef.model.answers import ActualCall, Answer
from mcp_tef.model.json import Json
from mcp_tef.model.runs import ModelInfo, ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Listing, Tool
from mcp_tef.ports import Question, Selector, StoredKey
from mcp_tef.servers.tools_files import read_catalogue, sort_catalogue


def tool(name: str, server: str = "desk", **properties: Mapping[str, object]) -> Tool:
    """A small tool; `properties` become its input schema, all of them required."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    raw = {"name": name, "description": f"What {name} does", "inputSchema": schema}
    return Tool(server=server, name=name, description=f"What {name} does", input_schema=schema, raw=raw)


def http_server(name: str = "desk") -> ServerSpec:
    """A server at an address that `loopback_consents` allows."""
    return ServerSpec(name=name, transport=Transport.STREAMABLE_HTTP, url=f"http://127.0.0.1/{name}")


def command_server(name: str = "files") -> ServerSpec:
    """A server that needs consent."""
    return ServerSpec(name=name, transport=Transport.STDIO, command="serve", args=("--all",))


@dataclass
class Gate:
    """Where a question waits until it is `opened`, even one that nobody waits for any more."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def passed(self) -> None:
        """Wait; a cancel comes through once the gate is open."""
        self.reached.set()
        try:
            await self.opened.wait()
        finally:
            await self.opened.wait()


class FakeGateway:
    """Servers by name: each lists its tools, or fails with its error; `asked` counts."""

    def __init__(self, servers: Mapping[str, Sequence[Tool] | TefError]) -> None:
        self.servers = dict(servers)
        self.asked: list[str] = []
        self.gates: list[Gate] = []

    async def list_tools(self, spec: ServerSpec, *, timeout: float) -> Listing:  # noqa: ASYNC109
        """What the test said of the server; each of the first questions waits at a gate of its own, if there is one."""
        self.asked.append(spec.name)
        if len(self.asked) <= len(self.gates):
            await self.gates[len(self.asked) - 1].passed()
        found = self.servers[spec.name]
        if isinstance(found, TefError):
            raise found
        return Listing(server=spec.name, tools=tuple(found), protocol="2025-11-25", latency_ms=3)

    async def read_catalogue(self, path: str) -> tuple[Listing, ...]:
        """As the real one does."""
        return read_catalogue(path)

    async def sort_catalogue(self, name: str, definitions: Sequence[Json]) -> tuple[Listing, ...]:
        """As the real one does."""
        return sort_catalogue(name, definitions)

    async def close(self) -> None:
        """Nothing is held."""


def silent(name: str) -> ServerError:
    """The error of a server that never answers."""
    return ServerError(ServerFault.SILENT, f"{name} did not answer within 30 s.", hint="Look at its log.")


Reply = Answer | TefError
Script = Callable[[Question], Reply]


def picks(name: str, **arguments: object) -> Answer:
    """An answer with one call."""
    return Answer(calls=(ActualCall(tool=name, arguments=arguments),))


class FakeSelector:
    """Answers as its script says, after `gate` opens; knows how many questions were under way at once."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.questions: list[Question] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.under_way = 0
        self.most_under_way = 0

    async def prepare(self, question: Question) -> None:
        """Nothing is loaded."""

    async def select(self, question: Question) -> Answer:
        """The scripted reply."""
        self.questions.append(question)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(0)
            await self.gate.wait()
            reply = self._script(question)
        finally:
            self.under_way -= 1
        if isinstance(reply, TefError):
            raise reply
        return reply

    async def close(self) -> None:
        """Nothing is held."""


class FakeSelectors:
    """The same selector for every model."""

    def __init__(self, selector: Selector) -> None:
        self._selector = selector

    def selector_for(self, settings: ModelSettings) -> Selector:
        """The one selector."""
        return self._selector

    async def close(self) -> None:
        """Close it."""
        await self._selector.close()


@dataclass
class FakeCatalogue:
    """Models by label; every provider in `clouds` asks for a key."""

    infos: dict[str, ModelInfo] = field(default_factory=dict)
    clouds: frozenset[str] = frozenset({"cloud"})

    async def models(self) -> tuple[ModelInfo, ...]:
        """All of them."""
        return tuple(self.infos.values())

    async def find(self, settings: ModelSettings) -> ModelInfo | None:
        """One of them."""
        return self.infos.get(settings.label)

    def asks_for_key(self, settings: ModelSettings) -> bool:
        """Whether its provider is a cloud."""
        return settings.provider in self.clouds and not settings.base_url

    def own_origins(self, provider: str) -> frozenset[str]:
        """`https://PROVIDER.example`, and this machine for `ollama`."""
        return frozenset({"http://localhost:11434" if provider == "ollama" else f"https://{provider}.example"})

    def key_variable(self, provider: str) -> str:
        """PROVIDER_API_KEY."""
        return f"{provider.upper()}_API_KEY"


class FakeKeys:
    """Keys by provider, from `PROVIDER_API_KEY`; typed ones and addresses as a test sets them."""

    def __init__(self, **keys: str) -> None:
        self._keys = {provider: Secret(text) for provider, text in keys.items()}
        self.typed_keys: dict[tuple[str, str], Secret] = {}
        self.addresses: dict[str, str] = {}

    def typed(self, provider: str, origin: str) -> Secret | None:
        """The key typed for it there."""
        return self.typed_keys.get((provider, origin))

    def stored(self, provider: str) -> StoredKey | None:
        """The key, if there is one."""
        key = self._keys.get(provider)
        return StoredKey(key, f"{provider.upper()}_API_KEY") if key else None

    def address(self, provider: str) -> str:
        """The address that the environment sets."""
        return self.addresses.get(provider, "")
