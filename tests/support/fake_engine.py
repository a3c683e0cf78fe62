"""An engine over memory: the real workflows, with servers and a selector that do as a test says."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mcp_tef.embedding.tfidf import TfidfEmbedder, TfidfLexicon
from mcp_tef.errors import TefError
from mcp_tef.events import Event, EventStream
from mcp_tef.llm.keys import KeyRing, ServerVault
from mcp_tef.llm.retrieval_baseline import WordsSelector
from mcp_tef.model.answers import ActualCall, Answer, ConfidenceSource
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall, TestCase
from mcp_tef.model.config import Config, CurrentConfig
from mcp_tef.model.draft_edits import ToolEdit
from mcp_tef.model.drafts import Draft
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.secrets import SessionSecrets
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Listing, Tool, ToolProblem
from mcp_tef.ports import Question
from mcp_tef.servers.web_search import HttpWebSearcher
from mcp_tef.workflows.calls import ToolCalls
from mcp_tef.workflows.case_checks import CaseChecks
from mcp_tef.workflows.case_drafting import CaseDrafting
from mcp_tef.workflows.cases import Cases
from mcp_tef.workflows.clients import Clients
from mcp_tef.workflows.compare import Compare, DriftCheck
from mcp_tef.workflows.crowd import Crowds
from mcp_tef.workflows.drafts import Drafts
from mcp_tef.workflows.file_detection import FileDetection
from mcp_tef.workflows.health import HealthReports
from mcp_tef.workflows.improve import Improvements
from mcp_tef.workflows.library import Library
from mcp_tef.workflows.library_runs import AnswerExecutor, LibraryRuns, ServedLibrary, executors
from mcp_tef.workflows.metrics import MetricsService
from mcp_tef.workflows.model_targets import ModelChecks, ModelTargets
from mcp_tef.workflows.models import Models
from mcp_tef.workflows.name_search import NameSearch
from mcp_tef.workflows.prediction import Predictions, StoredInputs
from mcp_tef.workflows.prediction_arms import PredictionArms
from mcp_tef.workflows.prompts import Prompts
from mcp_tef.workflows.quality import Quality
from mcp_tef.workflows.recommend import Recommendations
from mcp_tef.workflows.route_comparisons import RouteComparisons
from mcp_tef.workflows.runs import Runs
from mcp_tef.workflows.sample_program import SAMPLE_SERVER
from mcp_tef.workflows.search_tools import SearchTools
from mcp_tef.workflows.server_import import ServerFiles
from mcp_tef.workflows.servers import PlainTextSecrets, Servers
from mcp_tef.workflows.similarity import SimilarityAnalyses
from mcp_tef.workflows.tool_sources import ToolSources, WorkspaceGateway
from mcp_tef.workflows.transfer import CaseTransfer
from mcp_tef.workflows.trials import Trials
from tests.support.fake_ports import (
    FakeCatalogue,
    FakeGateway,
    FakeSelector,
    FakeSelectors,
    FakeSignIns,
    FakeWriter,
    FourCharactersEach,
    MemoryKeychain,
    Script,
    loopback_consents,
)
from tests.support.memory_servers import FakeCaller
from tests.support.memory_store import MemoryStore
from tests.support.similarity_factories import FakeEmbedders

if TYPE_CHECKING:
    from mcp_tef import Engine

NEVER = 600.0

_MODELS = {
    "offline/words": ModelInfo(provider="offline", model="words", tool_calling=True),
    "openai/gpt-4.1-mini": ModelInfo(
        provider="openai",
        model="gpt-4.1-mini",
        context_tokens=1_047_576,
        input_price=4e-7,
        output_price=1.6e-6,
        tool_calling=True,
        vision=True,
        structured_output=True,
    ),
    "ollama/qwen3:8b": ModelInfo(provider="ollama", model="qwen3:8b", context_tokens=40_960, tool_calling=True),
}


def made_tool(name: str, description: str, server: str, required: Sequence[str] = (), **properties: object) -> Tool:
    """A tool with a JSON Schema for each parameter."""
    schema = {"type": "object", "properties": properties, "required": list(required)}
    raw = {"name": name, "description": description, "inputSchema": schema}
    return Tool(server=server, name=name, description=description, input_schema=schema, raw=raw)


def _text(description: str, **limits: object) -> dict[str, object]:
    return {"type": "string", "description": description, **limits}


SAMPLE_TOOLS = (
    made_tool(
        "search_bikes",
        "Find bikes for sale by type, size or price.",
        "Bike shop",
        ("text",),
        text=_text("What to look for", minLength=1),
        size=_text("Frame size", enum=["S", "M", "L"]),
        limit={"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
    ),
    made_tool(
        "search_parts",
        "Find spare parts by name or by the bike that they fit.",
        "Bike shop",
        ("text",),
        text=_text("What to look for"),
    ),
    made_tool(
        "book_repair",
        "Book a repair in the workshop on a day.",
        "Bike shop",
        ("bike", "day"),
        bike=_text("Which bike"),
        day=_text("The day", format="date"),
    ),
)
SAMPLE_CASES = (
    ("Do you have a city bike in size M?", "search_bikes"),
    ("I need a new chain for a mountain bike", "search_parts"),
    ("My brakes squeak, can somebody look at them on Friday?", "book_repair"),
    ("Thanks, that is all", None),
)


def picks_first_word(question: Question) -> Answer:
    """The first tool whose name shares a word with the query, else none; sure of it by half."""
    words = set(question.query.lower().replace("?", "").split())
    for offered in question.tools:
        if words & set(offered.tool.name.split("_")) or words & set(offered.tool.description.lower().split()):
            call = ActualCall(tool=offered.tool.name, server=offered.tool.server, arguments={"text": question.query})
            return Answer(calls=(call,), confidence=0.8, confidence_source=ConfidenceSource.SELF_REPORTED)
    return Answer(calls=(), confidence=0.5, confidence_source=ConfidenceSource.SELF_REPORTED)


class FakeEngine:
    """What `Engine` offers. `gateway.servers` says what each server (by name) lists, or which error it gives."""

    def __init__(
        self,
        servers: Mapping[str, Sequence[Tool] | TefError] | None = None,
        *,
        script: Script = picks_first_word,
        environment: Mapping[str, str] | None = None,
        pace: float = 0.0,
    ) -> None:
        self.workspace = Path("memory.db")
        self.opened: tuple[str, ...] = ()
        self.closed = False
        self.samples: list[str] = []
        self.store = MemoryStore()
        self.gateway = ListingGateway({"Bike shop": SAMPLE_TOOLS, **(servers or {})})
        self.selector = PacedSelector(script, pace)
        self.keys = KeyRing(dict(environment or {}))
        self._events = EventStream()
        self._current = CurrentConfig(Config())
        self.consents = loopback_consents(environment)
        catalogue = self.catalogue = FakeCatalogue(dict(_MODELS), frozenset({"openai"}))
        self.models = Models(catalogue, self.keys, self.consents, self._current)
        listing = WorkspaceGateway(self.gateway, self.store)
        self.servers = Servers(self.store.servers, listing, self.consents, self._events, self._current)
        self.caller = FakeCaller()
        self.calls = ToolCalls(
            *(self.store.servers, self.store.calls, self.servers, self.caller, self.consents, self._events)
        )
        self.sign_ins = FakeSignIns()
        self.drafts = Drafts(self.store.drafts, self.servers, self.gateway, self._events)
        self.drift = DriftCheck(self.store, self.consents, self._events)
        self.cases = Cases(self.store, self._events)
        self.finding = NameSearch(self.store, self._events)
        self.keychain = MemoryKeychain()
        self.written_secrets = PlainTextSecrets(dict(environment or {}), ServerVault(KeyRing({}, self.keychain)))
        self.server_files = ServerFiles(self.store.servers, self._events, dict(environment or {}), "linux")
        self.arrivals = FileDetection()
        self.case_files = CaseTransfer(self.store, self.servers, self._events, Path("memory-tools"))
        self.metrics = MetricsService(self.store.metrics)
        self.compare = Compare(self.store.runs)
        self.writer = FakeWriter(lambda _task: "")
        self.quality = Quality(self.writer, FourCharactersEach(), self.models)
        self.embedders = FakeEmbedders(TfidfEmbedder())
        self.tools = ToolSources(self.servers, self.gateway, self._current)
        self.similarity = SimilarityAnalyses(self.embedders, TfidfLexicon(), self.store.metrics)
        self.case_drafting = CaseDrafting(self.similarity, lambda: self.writer, self.models, self._current)
        self.case_checks = CaseChecks(self.store)
        baseline = WordsSelector(TfidfLexicon())
        self.recommend = Recommendations(self.writer, self.models, self.store.cases, baseline, self.similarity.confused)
        self._add_library()
        self._connect_trials(baseline)

    def _add_library(self) -> None:
        store = self.store
        self.prompts = Prompts(store.definitions, self._events)
        self.clients = Clients(Path("memory-clients"), self.embedders)
        self.library = Library(store, self.servers, self._events)
        kinds = executors(AnswerExecutor(), AnswerExecutor(), AnswerExecutor(), self.caller)
        parts = (self.library, store.library, self.servers, kinds, self.consents, self._events)
        self.library_runs = LibraryRuns(*parts, ({}, "python3"), lambda: self.searches)
        self.served_library = ServedLibrary(self.library, self.library_runs)
        self.health = HealthReports(store.contacts, self.servers, self.consents)
        self._add_models()

    def _add_models(self) -> None:
        definitions, self.other_processes = self.store.definitions, NobodyElse()
        self.targets = ModelTargets(definitions, self.models, self.embedders, self._events)
        self.model_checks = ModelChecks(FakeSelectors(self.selector), self.models, self.targets)
        self.route_comparisons = RouteComparisons(self.targets, self.store.runs)
        self.searches = SearchTools(definitions, self.models, HttpWebSearcher(), self._events)

    def _connect_trials(self, baseline: WordsSelector) -> None:
        selectors = FakeSelectors(self.selector)
        self.runs = Runs(
            *(self.store, self.gateway, selectors, self.models, self.consents, self._events, self._current)
        )
        self.runs.clients_of = lambda: self.clients
        self._add_trials(baseline)

    def _add_trials(self, baseline: WordsSelector) -> None:
        store, counter = self.store, FourCharactersEach()
        inputs = StoredInputs(store.servers, store.cases, self._events)
        arms = PredictionArms(baseline, counter, self.similarity)
        self.predictions = Predictions(self.drafts, inputs, store.runs, arms)
        self.trials = Trials(self.store, self.drafts, self.runs, self._current)
        self.runs.steering_of = self.trials.steering
        self.crowds = Crowds(store, self.cases, self.runs, self.models, self.gateway, baseline, self._current)
        parts = (self.store, self.drafts, self.trials, self.runs, self.predictions, self.embedders)
        self.improvements = Improvements(*parts, counter, lambda: self.writer, self.models)

    @property
    def engine(self) -> "Engine":
        """Itself, typed as what it stands in for."""
        return cast("Engine", self)

    async def open_sample_draft(self) -> Draft:
        """Return a draft of one tool of the sample."""
        draft = await self.drafts.new("A better text", server=SAMPLE_SERVER)
        return await self.drafts.edit(draft.id, "book_repair", ToolEdit(description="Book a repair on a day."))

    async def open(self) -> "Engine":
        """For whoever wants a function that opens an engine."""
        return self.engine

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Hear every event."""
        return self._events.subscribe(listener)

    def publish(self, event: Event) -> None:
        """Say something as if the core had."""
        self._events.publish(event)

    async def open_sample(self, name: str = "bike-shop") -> tuple[TestCase, ...]:
        """A small server and its suite, whatever the name; doing it twice changes nothing."""
        self.samples.append(name)
        if not await self.servers.list():
            spec = ServerSpec(name="Bike shop", transport=Transport.STREAMABLE_HTTP, url="http://127.0.0.1/bikes")
            await self.servers.add(spec)
            await self.cases.add([_case(query, tool) for query, tool in SAMPLE_CASES])
        return await self.cases.list()

    @property
    def config(self) -> Config:
        """The configuration in force."""
        return self._current.config

    def configure(self, settings: Mapping[str, str]) -> None:
        """Hold to what somebody set."""
        self._current.config, _ = Config.lenient({}, settings)

    def held(self) -> SessionSecrets:
        """Return no secrets: none are held in memory."""
        return SessionSecrets(keys={}, grants={})

    async def close(self) -> None:
        """Interrupt what runs."""
        await self.library_runs.close()
        await self.runs.close()
        await self.servers.close()
        self.closed = True


class NobodyElse:
    """No other process works on a workspace in memory."""

    async def look(self) -> None:
        """Find nothing."""


class ListingGateway(FakeGateway):
    """Also sets definitions aside, as `problems` says."""

    problems: tuple[ToolProblem, ...] = ()

    async def list_tools(self, spec: ServerSpec, *, timeout: float) -> Listing:  # noqa: ASYNC109
        """What the test said, and what was set aside."""
        return replace(await super().list_tools(spec, timeout=timeout), problems=self.problems)


class PacedSelector(FakeSelector):
    """Takes `pace` seconds an answer; a test may change it on the way."""

    def __init__(self, script: Script, pace: float) -> None:
        super().__init__(script)
        self.pace = pace

    async def select(self, question: Question) -> Answer:
        """The scripted reply, after a while."""
        await asyncio.sleep(self.pace)
        return await super().select(question)


def _case(query: str, tool: str | None) -> CaseDraft:
    expectation = Expectation(((ExpectedCall(tool=tool, server="Bike shop"),),)) if tool else Expectation()
    return CaseDraft(
        name=query[:40],
        query=query,
        expectation=expectation,
        servers=("Bike shop",),
        suites=("Sample",),
        tags=("shop",),
    )
