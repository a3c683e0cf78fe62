"""The facade: opens a workspace, puts the adapters behind the ports, and closes everything in order."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef.engine_adapters import ModelWorkflows, chosen_config
from mcp_tef.events import Event
from mcp_tef.model.config import Config, CurrentConfig
from mcp_tef.model.installation import data_folder
from mcp_tef.model.secrets import SessionSecrets
from mcp_tef.storage.store import SqliteStore, open_store, open_store_for_reading
from mcp_tef.storage.workspace_file import default_workspace, require_folder
from mcp_tef.trust.connections import NAMES
from mcp_tef.trust.files import tighten
from mcp_tef.trust.open_files import is_open_here
from mcp_tef.trust.own_workspaces import tools_folder
from mcp_tef.workflows.cases import Cases

if TYPE_CHECKING:
    from mcp_tef.model.cases import TestCase
    from mcp_tef.model.clients import ClientProfile
    from mcp_tef.model.drafts import Draft
    from mcp_tef.model.runs import Batch
    from mcp_tef.ports import OpenAddress
    from mcp_tef.ports.execution import RunSteering
    from mcp_tef.servers.client import McpSignIns
    from mcp_tef.workflows.calls import ToolCalls
    from mcp_tef.workflows.case_checks import CaseChecks, Families
    from mcp_tef.workflows.case_drafting import CaseDrafting
    from mcp_tef.workflows.compare import DriftCheck
    from mcp_tef.workflows.crowd import Crowds
    from mcp_tef.workflows.drafts import Drafts
    from mcp_tef.workflows.health import HealthReports
    from mcp_tef.workflows.improve import Improvements
    from mcp_tef.workflows.library import Library
    from mcp_tef.workflows.library_runs import LibraryRuns, ServedLibrary
    from mcp_tef.workflows.metrics import MetricsService
    from mcp_tef.workflows.other_processes import OtherProcesses
    from mcp_tef.workflows.prediction import Predictions
    from mcp_tef.workflows.quality import Quality
    from mcp_tef.workflows.recommend import Recommendations
    from mcp_tef.workflows.runs import Runs
    from mcp_tef.workflows.server_import import ServerFiles
    from mcp_tef.workflows.servers import Servers
    from mcp_tef.workflows.similarity import SimilarityAnalyses
    from mcp_tef.workflows.tool_sources import ToolSources
    from mcp_tef.workflows.transfer import CaseTransfer
    from mcp_tef.workflows.trials import Trials


class Engine(ModelWorkflows, AbstractAsyncContextManager["Engine", None]):
    """One open workspace, for the loop that opened it. Many parts are loaded when they are first named."""

    def __init__(
        self,
        workspace: Path,
        store: SqliteStore,
        config: Config,
        environment: Mapping[str, str],
        show: "OpenAddress | None" = None,
    ) -> None:
        self.workspace = workspace
        NAMES.trusted = config.trusted_networks
        super().__init__(environment, CurrentConfig(config), data_folder(), store, show)
        self.opened: tuple[str, ...] = store.notices
        self.interrupted = 0
        self.cases = Cases(store, self._events)

    @property
    def config(self) -> Config:
        """The configuration in force."""
        return self._current.config

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @classmethod
    async def open(
        cls,
        workspace: Path | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        show: "OpenAddress | None" = None,
        settings: Mapping[str, str] | None = None,
        held: SessionSecrets | None = None,
        recover: bool = False,
        reading: bool = False,
    ) -> "Engine":
        """Open or create a workspace; runs that a crash cut off are marked as interrupted and can be resumed.

        `show` opens the address of a sign-in; without it, sign-ins are not possible. `settings` holds the user's
        settings by variable name; with them, an invalid variable is named in `opened` in place of an InputError. `held`
        is the memory of an earlier engine on this workspace, for what can still be restored. `recover` renames a
        damaged workspace and starts a new one, in place of a StoreError. `reading` takes a read-only or missing one.
        """
        surroundings = dict(os.environ if environment is None else environment)
        config, problems = chosen_config(surroundings, settings, named=workspace is not None)
        path = require_folder(named) if (named := workspace or config.workspace) else default_workspace()
        if reading:
            store = await open_store_for_reading(path, may_be_missing=named is None, recover=recover)
        else:
            tighten(data_folder())
            store = await open_store(path, keep_removed=held is not None, recover=recover)
        async with AsyncExitStack() as on_failure:
            on_failure.push_async_callback(store.close)
            engine = cls(path, store, config, surroundings, show)
            engine.opened += problems
            if held is not None:
                engine.keys.hold(held.keys)
                engine._credentials.hold(held.grants)
                engine.written_secrets.hold(held.variables)
            if not store.read_only:
                engine.interrupted = await store.interrupt_leftovers()
            engine.opened += engine.send_spans()
            on_failure.pop_all()
        return engine

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Hear every event, in order, on the engine's loop; call what comes back to stop."""
        return self._events.subscribe(listener)

    async def save_copy(self, target: Path) -> None:
        """Write all of this workspace to another file, complete and consistent, whatever is under way; StoreError."""
        from mcp_tef.storage.workspace_copies import save_copy

        if self._store.read_only or is_open_here(self.workspace):
            await asyncio.to_thread(save_copy, self.workspace, target)
        else:
            await self._store.save_known(target)

    def held(self) -> SessionSecrets:
        """Return the secrets that are only in memory, for the engine that continues with this workspace."""
        variables = self.written_secrets.held()
        return SessionSecrets(keys=self.keys.held(), grants=self._credentials.held(), variables=variables)

    def configure(self, settings: Mapping[str, str]) -> None:
        """Put other settings in force; work in progress continues as it began."""
        self._current.config = Config.lenient(self._environment, settings)[0]
        NAMES.trusted = self._current.config.trusted_networks

    async def open_sample(self, name: str = "bike-shop") -> "tuple[TestCase, ...]":
        """Put a bundled server and its suite into this workspace; returns the suite's cases."""
        from mcp_tef.workflows.sample import open_sample
        from mcp_tef.workflows.sample_program import SampleName

        return await open_sample(self.servers, self.cases, self.case_files, SampleName(name))

    async def open_sample_draft(self) -> "Draft":
        """Return the prepared draft of the sample."""
        from mcp_tef.workflows.sample import open_sample_draft

        return await open_sample_draft(self.drafts, self.case_files)

    @cached_property
    def servers(self) -> "Servers":
        """Servers of this workspace."""
        from mcp_tef.workflows.servers import Servers

        return Servers(self._store.servers, self._gateway, self.consents, self._events, self._current)

    @cached_property
    def metrics(self) -> "MetricsService":
        """Metrics of runs."""
        from mcp_tef.workflows.metrics import MetricsService

        return MetricsService(self._store.metrics)

    @cached_property
    def runs(self) -> "Runs":
        """Batches and runs."""
        from mcp_tef.workflows.evaluate import TargetSelectors
        from mcp_tef.workflows.runs import Runs

        selectors = TargetSelectors(self.selectors, lambda: self.targets)
        asking = (selectors, self.models, self.consents, self._events, self._current)
        runs = Runs(self._store, self._gateway, *asking)
        runs.clients_of = lambda: self.clients
        runs.steering_of = self._steering
        return runs

    async def _steering(self, batch: "Batch") -> "RunSteering":
        from mcp_tef.workflows.crowd_plan import is_crowd_plan

        return await (self.crowds if is_crowd_plan(batch.trial) else self.trials).steering(batch)

    @cached_property
    def sign_ins(self) -> "McpSignIns":
        """Sign-ins to servers with OAuth."""
        from mcp_tef.servers.client import McpSignIns

        return McpSignIns(self._credentials, self._show, self._variables, self._current, self.consents.require)

    @cached_property
    def calls(self) -> "ToolCalls":
        """Tools called by hand."""
        from mcp_tef.workflows.calls import ToolCalls
        from mcp_tef.workflows.library_runs import LibraryCaller

        store, caller = self._store, LibraryCaller(self._noted_caller, self.library_runs)
        return ToolCalls(store.servers, store.calls, self.servers, caller, self.consents, self._events)

    @cached_property
    def health(self) -> "HealthReports":
        """Health of servers."""
        from mcp_tef.workflows.health import HealthReports

        return HealthReports(self._store.contacts, self.servers, self.consents)

    @cached_property
    def library(self) -> "Library":
        """Tools of one's own."""
        from mcp_tef.workflows.library import Library

        return Library(self._store, self.servers, self._events)

    @cached_property
    def served_library(self) -> "ServedLibrary":
        """Tools of the library that are served."""
        from mcp_tef.workflows.library_runs import ServedLibrary

        return ServedLibrary(self.library, self.library_runs)

    async def load_clients(self) -> None:
        """Load the libraries that speak to servers, which takes seconds, ahead of the first request."""
        from importlib import import_module

        for name in ("session", "tool_list_request"):
            await asyncio.to_thread(import_module, f"mcp_tef.servers.{name}")

    async def serve_library(self, tell: Callable[[str], object], *, http: tuple[int, str] | None = None) -> None:
        """Serve the library over stdio, or at a port of loopback with a token; `tell` hears the address then."""
        from mcp_tef.servers.library_server import serve_over_http, serve_over_stdio

        served = self.served_library
        await (serve_over_http(served, *http, tell) if http else serve_over_stdio(served))

    @cached_property
    def library_runs(self) -> "LibraryRuns":
        """Executions of library tools."""
        from mcp_tef.workflows.library_runs import LibraryRuns

        store, (kinds, python) = self._store.library, self._tool_executors(self._search_executor)
        parts = (self.library, store, self.servers, kinds, self.consents, self._events)
        return LibraryRuns(*parts, (self._variables, python), lambda: self.searches)

    @cached_property
    def drafts(self) -> "Drafts":
        """Drafts of changed tools."""
        from mcp_tef.workflows.drafts import Drafts

        return Drafts(self._store.drafts, self.servers, self._gateway, self._events)

    @cached_property
    def trials(self) -> "Trials":
        """Trials of drafts."""
        from mcp_tef.workflows.trials import Trials

        trials = Trials(self._store, self.drafts, self.runs, self._current)
        trials.direction_of = lambda draft, cases: self.predictions.direction(draft, cases)
        trials.shows_instructions = lambda settings: not settings.offline and self.clients.shown_by(settings.client)
        return trials

    @cached_property
    def improvements(self) -> "Improvements":
        """Searches for better texts of tools."""
        from mcp_tef.llm.token_count import BundledTokenCounter
        from mcp_tef.workflows.improve import Improvements

        parts = (self._store, self.drafts, self.trials, self.runs, self.predictions, self.embedders)
        return Improvements(*parts, BundledTokenCounter(), lambda: self._writer, self.models)

    @cached_property
    def crowds(self) -> "Crowds":
        """Crowd tests and steal tests."""
        from mcp_tef.workflows.crowd import Crowds

        return Crowds(self._store, self.cases, self.runs, self.models, self._gateway, self._by_words, self._current)

    @cached_property
    def predictions(self) -> "Predictions":
        """Predictions for drafts, and the cases that a trial is about."""
        from mcp_tef.llm.token_count import BundledTokenCounter
        from mcp_tef.workflows.prediction import Predictions, StoredInputs
        from mcp_tef.workflows.prediction_arms import PredictionArms

        arms = PredictionArms(self.selectors, BundledTokenCounter(), self.similarity)
        inputs = StoredInputs(self._store.servers, self._store.cases, self._events)
        inputs.directions = lambda: self.trials.directions()
        return Predictions(self.drafts, inputs, self._store.runs, arms)

    @cached_property
    def drift(self) -> "DriftCheck":
        """Tools that are defined otherwise than they were seen."""
        from mcp_tef.workflows.compare import DriftCheck

        return DriftCheck(self._store, self.consents, self._events)

    @cached_property
    def other_processes(self) -> "OtherProcesses":
        """Work of other processes on this workspace."""
        from mcp_tef.workflows.other_processes import OtherProcesses

        return OtherProcesses(self._store.foreign_changes, self._store.runs, self.runs, self._events)

    @cached_property
    def server_files(self) -> "ServerFiles":
        """Servers from the configs of other programs."""
        from mcp_tef.workflows.server_import import ServerFiles

        return ServerFiles(self._store.servers, self._events, self._variables)

    @cached_property
    def case_files(self) -> "CaseTransfer":
        """Cases in and out of files."""
        from mcp_tef.workflows.transfer import CaseTransfer

        return CaseTransfer(self._store, self.servers, self._events, tools_folder(self.workspace))

    @property
    def families(self) -> "Families":
        """Proposed families of test cases."""
        from mcp_tef.workflows.case_checks import Families

        return Families(self._store, self.embedders)

    @cached_property
    def case_drafting(self) -> "CaseDrafting":
        """Drafts of test cases."""
        from mcp_tef.workflows.case_drafting import CaseDrafting

        return CaseDrafting(self.similarity, lambda: self._writer, self.models, self._current)

    @cached_property
    def case_checks(self) -> "CaseChecks":
        """Checks of test cases whose expectation may be wrong."""
        from mcp_tef.workflows.case_checks import CaseChecks

        return CaseChecks(self._store)

    @cached_property
    def tools(self) -> "ToolSources":
        """Tools gathered from servers, addresses, files or pasted text."""
        from mcp_tef.workflows.tool_sources import ToolSources

        return ToolSources(self.servers, self._gateway, self._current)

    @cached_property
    def similarity(self) -> "SimilarityAnalyses":
        """Similarity analyses of tools."""
        from mcp_tef.embedding.tfidf import TfidfLexicon
        from mcp_tef.workflows.similarity import SimilarityAnalyses

        return SimilarityAnalyses(self.embedders, TfidfLexicon(), self._store.metrics)

    @cached_property
    def recommend(self) -> "Recommendations":
        """Recommendations for confused tools."""
        from mcp_tef.workflows.recommend import Recommendations

        return Recommendations(self._writer, self.models, self._store.cases, self._by_words, self.similarity.confused)

    @cached_property
    def quality(self) -> "Quality":
        """Quality of tool definitions."""
        from mcp_tef.llm.token_count import BundledTokenCounter
        from mcp_tef.workflows.quality import Quality

        ignored = self.workspace.with_name(f"{self.workspace.stem}.ignored.json")
        return Quality(self._writer, BundledTokenCounter(), self.models, ignored, self._client_profiles)

    def _client_profiles(self) -> "Sequence[ClientProfile]":
        return self.clients.profiles()

    async def close(self) -> None:
        """Interrupt what runs, then give back connections, child processes and the file."""
        parts = vars(self)
        for work in [parts[name] for name in ("library_runs", "runs", "servers") if name in parts]:
            await work.close()
        adapters = ("selectors", "_lister", "_caller", "sign_ins", "_writer", "embedders", "spans")
        await asyncio.gather(*(parts[name].close() for name in adapters if parts.get(name)))
        await self._store.close()
