"""Adapters to models, embedders and servers of one workspace, each loaded when it is first named."""

from collections import ChainMap
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef.events import EventStream, NoticePublished
from mcp_tef.model.config import WORKSPACE, Config, CurrentConfig
from mcp_tef.model.variables import foreign_note
from mcp_tef.storage.workspace_file import may_be_workspace

if TYPE_CHECKING:
    from mcp_tef.embedding.embedder_registry import EmbedderRegistry
    from mcp_tef.llm.catalogue import LitellmCatalogue
    from mcp_tef.llm.client import LitellmWriter
    from mcp_tef.llm.keys import KeyRing
    from mcp_tef.llm.model_selector import ModelSelectors
    from mcp_tef.llm.retrieval_baseline import MeaningSelector, WordsSelector
    from mcp_tef.model.library import ExecutorKind
    from mcp_tef.ports import OpenAddress, ServerGateway
    from mcp_tef.ports.calling import ToolExecutor
    from mcp_tef.servers.credential_store import CredentialStore
    from mcp_tef.servers.tool_caller import McpToolCaller
    from mcp_tef.servers.tool_lister import McpToolLister
    from mcp_tef.storage.store import SqliteStore
    from mcp_tef.workflows.calls import WorkspaceCaller
    from mcp_tef.workflows.clients import Clients
    from mcp_tef.workflows.compare import Compare
    from mcp_tef.workflows.consent import Consents
    from mcp_tef.workflows.file_detection import FileDetection
    from mcp_tef.workflows.model_definitions import ModelDefinitions
    from mcp_tef.workflows.model_targets import ModelChecks, ModelTargets
    from mcp_tef.workflows.models import Models
    from mcp_tef.workflows.name_search import NameSearch
    from mcp_tef.workflows.prompts import Prompts
    from mcp_tef.workflows.route_comparisons import RouteComparisons
    from mcp_tef.workflows.run_parts import RunParts
    from mcp_tef.workflows.search_tools import SearchExecutor, SearchTools
    from mcp_tef.workflows.servers import PlainTextSecrets


class ModelAdapters:
    """All that asks models or embeds texts for an engine; `data` is the folder for downloaded models."""

    def __init__(self, environment: Mapping[str, str], current: CurrentConfig, data: Path) -> None:
        self._environment = environment
        self._current = current
        self._data = data

    @cached_property
    def keys(self) -> "KeyRing":
        """Keys of model providers."""
        from mcp_tef.llm.keys import KeyRing

        return KeyRing(self._environment)

    @cached_property
    def _catalogue(self) -> "LitellmCatalogue":
        from mcp_tef.llm.catalogue import LitellmCatalogue

        return LitellmCatalogue()

    @cached_property
    def selectors(self) -> "ModelSelectors":
        """Selectors of models and baselines, which ask them."""
        from mcp_tef.llm.model_selector import ModelSelectors

        sources = (self._catalogue, self._environment, self._current)
        return ModelSelectors(self._baselines, *sources, lambda: self._current.config.through)

    def _baselines(self) -> "tuple[WordsSelector, MeaningSelector]":
        from mcp_tef.embedding.local_embedder import best_local_embedder
        from mcp_tef.embedding.tfidf import TfidfLexicon
        from mcp_tef.llm.retrieval_baseline import MeaningSelector, WordsSelector

        current = self._current
        words = WordsSelector(TfidfLexicon(), lambda: current.config.words_threshold)
        local = partial(best_local_embedder, self._environment, self._data / "models")
        return words, MeaningSelector(TfidfLexicon(), local, lambda: current.config.meaning_threshold)

    @cached_property
    def _by_words(self) -> "WordsSelector":
        """The baseline by words with its own threshold, which ranks alike on every machine."""
        from mcp_tef.embedding.tfidf import TfidfLexicon
        from mcp_tef.llm.retrieval_baseline import WordsSelector

        return WordsSelector(TfidfLexicon())

    @cached_property
    def embedders(self) -> "EmbedderRegistry":
        """Embedders, which turn texts into vectors."""
        from mcp_tef.embedding.embedder_registry import EmbedderRegistry

        return EmbedderRegistry(self._environment, self._data, limits=self._current)

    @cached_property
    def clients(self) -> "Clients":
        """Client profiles: how programs between a server and a model show tools."""
        from mcp_tef.workflows.clients import Clients

        return Clients(self._data / "clients", self.embedders)

    @cached_property
    def _writer(self) -> "LitellmWriter":
        from mcp_tef.llm.client import LitellmWriter

        return LitellmWriter(self._environment, self._current, lambda: self._current.config.through)


class ServerAdapters(ModelAdapters):
    """All that reaches servers for an engine, beside models; each contact is noted in the workspace.

    `show` opens the address of a sign-in, and where it is missing nobody can sign in.
    """

    workspace: Path

    def __init__(
        self,
        environment: Mapping[str, str],
        current: CurrentConfig,
        data: Path,
        store: "SqliteStore",
        show: "OpenAddress | None",
    ) -> None:
        super().__init__(environment, current, data)
        self._store = store
        self._variables = ChainMap[str, str]({}, dict(environment))
        self._show = show
        self._events = EventStream()

    def _notice(self, text: str) -> None:
        self._events.publish(NoticePublished(text))

    def send_spans(self) -> tuple[str, ...]:
        """Have runs sent as spans where the environment says so; return a notice if OpenTelemetry is not installed."""
        if not self._environment.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
            return ()
        from mcp_tef.run_spans import MISSING, otlp_spans

        self.spans = otlp_spans(self._store.runs.detail)
        if self.spans is None:
            return (MISSING,)
        self._events.subscribe(self.spans.hear)
        return ()

    @cached_property
    def _credentials(self) -> "CredentialStore":
        from mcp_tef.llm.keys import ServerVault
        from mcp_tef.servers.credential_store import CredentialStore

        return CredentialStore(ServerVault(self.keys), self._notice, self._data / "sign-ins")

    @cached_property
    def _lister(self) -> "McpToolLister":
        from mcp_tef.servers.tool_lister import McpToolLister

        return McpToolLister(self._variables, self._current, self._credentials, self.consents.require_start)

    @cached_property
    def _gateway(self) -> "ServerGateway":
        from mcp_tef.workflows.tool_sources import WorkspaceGateway

        return WorkspaceGateway(self._lister, self._store)

    @cached_property
    def _caller(self) -> "McpToolCaller":
        from mcp_tef.servers.tool_caller import McpToolCaller

        start = self.consents.require_start
        return McpToolCaller(self._variables, self._current, self._credentials, self._show, start)

    @cached_property
    def _noted_caller(self) -> "WorkspaceCaller":
        from mcp_tef.workflows.calls import WorkspaceCaller

        return WorkspaceCaller(self._caller, self._store.contacts)

    @cached_property
    def consents(self) -> "Consents":
        """Consents of this user on this machine."""
        from mcp_tef.storage.consent_file import ConsentFile
        from mcp_tef.workflows.consent import Consents
        from mcp_tef.workflows.sample_program import bundled_programs

        return Consents(
            ConsentFile(self._data),
            self._variables,
            self._current,
            workspace=self.workspace,
            bundled=bundled_programs,
            notice=self._notice,
        )

    @cached_property
    def written_secrets(self) -> "PlainTextSecrets":
        """Secrets in definitions of servers that the user types."""
        from mcp_tef.llm.keys import ServerVault
        from mcp_tef.workflows.servers import PlainTextSecrets

        return PlainTextSecrets(self._variables, ServerVault(self.keys))

    def _tool_executors(self, searches: "ToolExecutor") -> "tuple[Mapping[ExecutorKind, ToolExecutor], str]":
        """Return what carries out each kind of library tool, and the Python that runs scripts."""
        from mcp_tef.servers.credential_store import ServerAccess
        from mcp_tef.servers.tool_executors import HttpToolExecutor, ProgramToolExecutor
        from mcp_tef.trust.programs import script_interpreter
        from mcp_tef.workflows.library_runs import executors

        python = script_interpreter(self._variables)
        requests = HttpToolExecutor(ServerAccess(self._variables, self._credentials))
        programs = ProgramToolExecutor(self._variables, python)
        return executors(programs, requests, searches, self._noted_caller), python


class ModelWorkflows(ServerAdapters):
    """Parts of an engine about models, and about finished runs."""

    @cached_property
    def run_parts(self) -> "RunParts":
        """Batches that were run in parts, on several machines."""
        from mcp_tef.workflows.run_parts import RunParts

        return RunParts(self._store, self._events)

    @cached_property
    def compare(self) -> "Compare":
        """Comparison of two batches, or of two runs."""
        from mcp_tef.workflows.compare import Compare

        return Compare(self._store.runs)

    @cached_property
    def models(self) -> "Models":
        """Models that can be asked, and the keys that they need."""
        from mcp_tef.workflows.models import Models

        return Models(self._catalogue, self.keys, self.consents, self._current)

    @cached_property
    def targets(self) -> "ModelTargets":
        """Groups of models and routers, which run like models."""
        from mcp_tef.workflows.model_targets import ModelTargets

        return ModelTargets(self._store.definitions, self.models, self.embedders, self._events)

    @cached_property
    def model_checks(self) -> "ModelChecks":
        """Checks of models by one call, and model servers on this machine."""
        from mcp_tef.workflows.model_targets import ModelChecks

        return ModelChecks(self.selectors, self.models, self.targets)

    @cached_property
    def prompts(self) -> "Prompts":
        """Prompt templates."""
        from mcp_tef.workflows.prompts import Prompts

        return Prompts(self._store.definitions, self._events)

    @cached_property
    def route_comparisons(self) -> "RouteComparisons":
        """Comparisons of routers with always asking one model."""
        from mcp_tef.workflows.route_comparisons import RouteComparisons

        return RouteComparisons(self.targets, self._store.runs)

    @cached_property
    def searches(self) -> "SearchTools":
        """Search tools by name."""
        from mcp_tef.servers.web_search import HttpWebSearcher
        from mcp_tef.workflows.search_tools import SearchTools

        return SearchTools(self._store.definitions, self.models, HttpWebSearcher(), self._events)

    @cached_property
    def _search_executor(self) -> "SearchExecutor":
        from mcp_tef.workflows.search_tools import SearchExecutor

        return SearchExecutor(lambda: self.searches)

    @cached_property
    def model_definitions(self) -> "ModelDefinitions":
        """Groups, routers, search tools, prompts and clients in and out of one file."""
        from mcp_tef.workflows.model_definitions import ModelDefinitions

        return ModelDefinitions(self.targets, self.searches, self._store, self.prompts, self.clients)

    @cached_property
    def finding(self) -> "NameSearch":
        """Search for servers, tools, cases and batches by name."""
        from mcp_tef.workflows.name_search import NameSearch

        return NameSearch(self._store, self._events)

    @cached_property
    def arrivals(self) -> "FileDetection":
        """Detection of dropped files and pasted texts."""
        from mcp_tef.workflows.file_detection import FileDetection

        return FileDetection()


def chosen_config(
    environment: dict[str, str], settings: Mapping[str, str] | None, *, named: bool
) -> tuple[Config, tuple[str, ...]]:
    """Return settings and notes; a database of another program in DATABASE_URL is taken out of the environment."""
    config, notes = Config.chosen(environment, settings)
    if named or config.workspace is None or WORKSPACE.own_name in environment or may_be_workspace(config.workspace):
        return config, notes
    environment[WORKSPACE.name] = ""
    config, notes = Config.chosen(environment, settings)
    return config, (*notes, *foreign_note([WORKSPACE]))
