"""Stand-ins at the ports of the core: servers, selectors, writers, sign-ins, consents and keychains."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from keyring.errors import KeyringLocked

from mcp_tef.errors import ModelError, ModelFault, ServerError, ServerFault, TefError
from mcp_tef.model.answers import ActualCall, Answer
from mcp_tef.model.config import Config
from mcp_tef.model.json import Json
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import AuthType, ServerSpec, Transport
from mcp_tef.model.tools import Listing, Tool
from mcp_tef.ports import ConsentStore, Question, Selector, StoredKey, WritingTask, Written
from mcp_tef.servers.definitions import read_catalogue, sort_catalogue
from mcp_tef.trust.consents import Consent
from mcp_tef.workflows.consent import Consents


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

    async def resolve(self, settings: ModelSettings) -> ModelSettings:
        """The settings as they are."""
        return settings

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

    def providers(self) -> frozenset[str]:
        """The clouds, those of the models, and some others."""
        return self.clouds | {"other", "ollama", "local", "vertex_ai", *(info.provider for info in self.infos.values())}

    def asks_for_key(self, settings: ModelSettings) -> bool:
        """Whether its provider is a cloud."""
        return settings.provider in self.clouds and not settings.base_url

    async def served(self, address: str, key: Secret | None) -> tuple[str, ...]:
        """Those of `infos` at that provider, or nothing answers."""
        if not self.infos:
            raise ModelError(ModelFault.DOWN, "No model server answers.")
        return tuple(info.model for info in self.infos.values())

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

    def is_at_hand(self, provider: str) -> bool:
        """Whether it has one."""
        return provider in self._keys

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


Writes = Callable[[WritingTask], Written | str | TefError]


class FakeWriter:
    """Writes as its script says, after `gate` opens; knows how many texts were being written at once."""

    def __init__(self, script: Writes) -> None:
        self.script = script
        self.tasks: list[WritingTask] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.under_way = 0
        self.most_under_way = 0
        self.closed = False
        self._begun = asyncio.Condition()

    async def until_under_way(self, count: int) -> None:
        """Wait until so many texts are being written at once."""
        async with self._begun:
            await self._begun.wait_for(lambda: self.under_way >= count)

    async def write(self, task: WritingTask) -> Written:
        """The scripted text."""
        self.tasks.append(task)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            async with self._begun:
                self._begun.notify_all()
            await self.gate.wait()
            reply = self.script(task)
        finally:
            self.under_way -= 1
        if isinstance(reply, TefError):
            raise reply
        return reply if isinstance(reply, Written) else Written(reply)

    async def close(self) -> None:
        """Nothing is held."""
        self.closed = True


class FakeSignIns:
    """Whoever asks is signed in at once."""

    def __init__(self) -> None:
        self.signed_in: list[str] = []

    async def needed(self, spec: ServerSpec) -> bool:
        """Whether nobody has signed in yet."""
        return spec.auth_type is AuthType.OAUTH2 and spec.name not in self.signed_in

    async def sign_in(self, spec: ServerSpec) -> None:
        """Sign in."""
        self.signed_in.append(spec.name)

    async def sign_out(self, spec: ServerSpec) -> None:
        """Forget it."""
        self.signed_in.remove(spec.name)


class FourCharactersEach:
    """Four characters are one token."""

    name = "four characters each"

    def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        """A quarter of each length."""
        return tuple(len(text) // 4 for text in texts)


class MemoryConsents:
    """Satisfies `ConsentStore`."""

    def __init__(self) -> None:
        self._consents: dict[str, Consent] = {}

    def all(self) -> Mapping[str, Consent]:
        """All of them, oldest first."""
        return dict(self._consents)

    def add(self, consent: Consent) -> None:
        """Keep it, stamped."""
        self._consents[consent.fingerprint] = replace(consent, allowed_at=consent.allowed_at or datetime.now(UTC))

    def remove(self, fingerprint: str) -> None:
        """Forget it."""
        self._consents.pop(fingerprint, None)


def no_consents(
    store: ConsentStore | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    config: Config | None = None,
    workspace: Path | None = None,
) -> Consents:
    """The rules, for a user who has allowed nothing yet."""
    return Consents(store or MemoryConsents(), environment or {}, config or Config(), workspace=workspace)


def loopback_consents(environment: Mapping[str, str] | None = None) -> Consents:
    """The rules, for a user who named the address http://127.0.0.1 in the command and allowed nothing else."""
    consents = no_consents(environment=environment)
    consents.allow_named((), ["=http://127.0.0.1"])
    return consents


class MemoryKeychain:
    """A keychain that keeps its texts in a dict, and refuses while it is locked."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        self._unlocked()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._unlocked()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._unlocked()
        del self.kept[service, username]

    def _unlocked(self) -> None:
        if self.locked:
            raise KeyringLocked("sk-should-not-show")
