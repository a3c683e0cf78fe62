"""Wires the workflows to a real store and to stand-ins for servers and selectors, for tests of batches."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcp_tef.errors import TefError
from mcp_tef.events import Event, EventStream
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall, TestCase
from mcp_tef.model.config import Config
from mcp_tef.model.runs import BatchRequest
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Store
from mcp_tef.workflows.cases import Cases
from mcp_tef.workflows.consent import Consents
from mcp_tef.workflows.models import Models
from mcp_tef.workflows.runs import Runs
from mcp_tef.workflows.servers import Servers
from mcp_tef.workflows.transfer import CaseTransfer
from tests.support.fake_ports import (
    FakeCatalogue,
    FakeGateway,
    FakeKeys,
    FakeSelector,
    FakeSelectors,
    Script,
    http_server,
    loopback_consents,
)

ServersSaid = Mapping[str, Sequence[Tool] | TefError]


@dataclass
class Bench:
    """The workflows of one workspace, with all that they said and slept."""

    store: Store
    gateway: FakeGateway
    selector: FakeSelector
    consents: Consents
    events: EventStream
    servers: Servers
    cases: Cases
    case_files: CaseTransfer
    runs: Runs
    said: list[Event] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    def of(self, *kinds: type[Event]) -> list[Event]:
        """What was said of these kinds."""
        return [event for event in self.said if isinstance(event, kinds)]

    async def register(self, *names: str) -> None:
        """Register servers that need no consent."""
        for name in names:
            await self.store.servers.add(http_server(name))


def bench(
    store: Store,
    servers: ServersSaid,
    script: Script,
    *,
    catalogue: FakeCatalogue | None = None,
    keys: FakeKeys | None = None,
) -> Bench:
    """Workflows over a store; nothing sleeps, sleeps are only noted."""
    consents = loopback_consents()
    gateway, selector, events = FakeGateway(servers), FakeSelector(script), EventStream()
    slept: list[float] = []

    async def note(seconds: float) -> None:
        slept.append(seconds)

    registered = Servers(store.servers, gateway, consents, events, Config())
    models = Models(catalogue or FakeCatalogue(), keys or FakeKeys(), consents, Config())
    made = Bench(
        store,
        gateway,
        selector,
        consents,
        events,
        registered,
        Cases(store, events),
        CaseTransfer(store, registered, events, Path("tools")),
        Runs(store, gateway, FakeSelectors(selector), models, consents, events, Config(), note),
        slept=slept,
    )
    events.subscribe(made.said.append)
    return made


def draft(query: str, expects: str | None = "find", servers: Sequence[str] = ("desk",)) -> CaseDraft:
    """A case that expects one tool, or none."""
    expectation = Expectation(((ExpectedCall(tool=expects),),)) if expects else Expectation()
    return CaseDraft(name=query, query=query, expectation=expectation, servers=tuple(servers))


async def write(bench_: Bench, *drafts: CaseDraft) -> tuple[TestCase, ...]:
    """Store cases."""
    return await bench_.cases.add(drafts)


def request(**changes: object) -> BatchRequest:
    """A request for all cases."""
    build: Callable[..., BatchRequest] = BatchRequest
    return build(**changes)
