"""Short functions for scripts and tests: check a server, lint its tools, judge calls and try a patch.

Each function is synchronous and keeps nothing. A server is a command line such as `"python -m shop_server"`, an
address, a tools file, or a list of tool definitions. The program of a command is started, since the caller names it.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from mcp_tef import (
    BatchRequest,
    Engine,
    InputError,
    Json,
    MetricsOverview,
    ModelSettings,
    QualityReport,
    RunFilter,
    RunSummary,
    Secret,
    SourceKind,
    ToolPair,
    ToolSet,
    ToolSource,
    TrialRequest,
    TrialResult,
    batch_to_its_end,
    draft_of_patch,
    parse_model,
    run_failure_text,
    score_lines,
    temporary_workspace,
    trial_of_affected_cases,
)

T = TypeVar("T")
Server: TypeAlias = "str | Path | Sequence[Mapping[str, Any]]"
Cases: TypeAlias = "str | Path | Sequence[Mapping[str, Any]]"
BASELINE = "offline/words"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """Runs of the cases with their metrics; `failures` holds a text for each run that is not a correct call."""

    model: str
    runs: tuple[RunSummary, ...]
    overview: MetricsOverview
    failures: tuple[str, ...]
    cost_usd: float | None

    @property
    def passed(self) -> bool:
        """True if every run is a correct call."""
        return not self.failures and bool(self.runs)

    @property
    def correct_call(self) -> float | None:
        """Share of correct calls; None without any judged run."""
        return self.overview.metrics.correct_call.value

    def __str__(self) -> str:
        good = len(self.runs) - len(self.failures)
        return "\n\n".join([f"{good} of {len(self.runs)} runs are correct calls of {self.model}.", *self.failures])


def model_settings(model: str = BASELINE, base_url: str | None = None, **more: Any) -> ModelSettings:
    """Return settings for `provider/name`; `more` are fields of `ModelSettings`, such as `temperature`."""
    provider, name = parse_model(model)
    return ModelSettings(provider=provider, model=name, base_url=base_url, **more)


class QuickSession:
    """One temporary workspace with an event loop on a thread of its own, for several checks of the same server."""

    def __init__(self, server: Server, cases: Cases = ()) -> None:
        self._opening: AbstractAsyncContextManager[Engine] = temporary_workspace(server, cases)
        self._engine: Engine | None = None

    def __enter__(self) -> QuickSession:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="mcp-tef quick", daemon=True)
        self._thread.start()
        with ExitStack() as on_failure:
            on_failure.callback(self._stop)
            self._engine = self._done(self._opening.__aenter__())
            on_failure.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self._done(self._opening.__aexit__(*error))
        finally:
            self._stop()

    def _done(self, work: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await work

        return asyncio.run_coroutine_threadsafe(awaited(), self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Callable[[Engine], Coroutine[Any, Any, T]]) -> T:
        """Do asynchronous work with the engine of the session."""
        if self._engine is None:
            raise InputError("The session is not open.", hint="Use it in a with statement.")
        return self._done(work(self._engine))

    def case_names(self) -> list[str]:
        """Return the names of the cases."""
        return [case.name for case in self.run(lambda engine: engine.cases.list())]

    def check(
        self,
        settings: ModelSettings,
        *,
        case: str | None = None,
        repeats: int = 1,
        key: str | None = None,
        max_cost_usd: float | None = None,
    ) -> SuiteResult:
        """Run one case or all, and judge the answers."""
        keys = {settings.provider: Secret(key)} if key else {}

        async def checked(engine: Engine) -> SuiteResult:
            if settings.base_url:
                engine.consents.add_typed_address(settings.provider, settings.base_url)
            cases = await engine.cases.named([case]) if case else await engine.cases.list()
            ids = tuple(one.id for one in cases)
            request = BatchRequest(cases=ids, models=(settings,), repeats=repeats, max_cost_usd=max_cost_usd)
            batch = await batch_to_its_end(engine, engine.runs.start(request, keys))
            where = RunFilter(batch_id=batch.id)
            runs = await engine.runs.list(where)
            failed = [await engine.runs.detail(run.id) for run in runs if not run.passes]
            return SuiteResult(
                model=settings.label,
                runs=runs,
                overview=await engine.metrics.overview(where),
                failures=tuple(map(run_failure_text, failed)),
                cost_usd=batch.cost_usd,
            )

        return self.run(checked)

    def try_patch(
        self, patch: Json, settings: ModelSettings, *, rounds: int = 5, key: str | None = None
    ) -> TrialResult:
        """Ask the affected cases with the original tools and with the patched ones, and decide."""
        keys = {settings.provider: Secret(key)} if key else {}

        async def tried(engine: Engine) -> TrialResult:
            if settings.base_url:
                engine.consents.add_typed_address(settings.provider, settings.base_url)
            (server,) = await engine.servers.list()
            draft = await draft_of_patch(engine, "Patch", patch, server=server.name)
            wanted = TrialRequest(draft=draft.id, settings=settings, cases=(), rounds=rounds)
            request = await trial_of_affected_cases(engine, draft, wanted)
            return await engine.trials.result((await batch_to_its_end(engine, engine.trials.start(request, keys))).id)

        return self.run(tried)

    def tools(self, *, at_least: int = 1) -> ToolSet:
        """Return the tools of the server."""
        source = ToolSource(kind=SourceKind.SERVERS)
        return self.run(lambda engine: engine.tools.gather(source, at_least=at_least, broken_too=at_least == 1))

    def lint(self) -> QualityReport:
        """Return the findings of the lint rules, the worst tools first."""
        found = self.tools()
        return self.run(lambda engine: engine.quality.review(found))

    def similar_pairs(self) -> list[tuple[str, str, ToolPair]]:
        """Return the pairs of tools that a model may confuse, by name, the most confusable first."""
        found = self.tools(at_least=2)

        async def compared(engine: Engine) -> list[tuple[str, str, ToolPair]]:
            similarity = await engine.similarity.analyse(found)
            flagged = sorted(similarity.flagged(engine.config.flag_rule), key=lambda pair: -pair.confusability)
            names = [one.tool.name for one in similarity.tools]
            return [(names[pair.a], names[pair.b], pair) for pair in flagged]

        return self.run(compared)


def check(
    server: Server,
    cases: Cases,
    model: str = BASELINE,
    *,
    repeats: int = 1,
    base_url: str | None = None,
    key: str | None = None,
    max_cost_usd: float | None = None,
) -> SuiteResult:
    """Run cases against the tools of a server, and judge the answers. InputError, ReachError, ModelError."""
    settings = model_settings(model, base_url)
    with QuickSession(server, cases) as session:
        return session.check(settings, repeats=repeats, key=key, max_cost_usd=max_cost_usd)


def try_patch(
    server: Server, cases: Cases, patch: Json, model: str = BASELINE, *, rounds: int = 5, base_url: str | None = None
) -> TrialResult:
    """Tell if an RFC 6902 patch of `{"tools": […]}` is better on the cases that it affects."""
    with QuickSession(server, cases) as session:
        return session.try_patch(patch, model_settings(model, base_url), rounds=rounds)


def lint(server: Server) -> QualityReport:
    """Check the texts and schemas of a server's tools by rules."""
    with QuickSession(server) as session:
        return session.lint()


def similar_pairs(server: Server) -> list[tuple[str, str, ToolPair]]:
    """Return the pairs of a server's tools that a model may confuse, the most confusable first."""
    with QuickSession(server) as session:
        return session.similar_pairs()


def judge(expected: Json, calls: Json, tools: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
    """Judge recorded calls by what was expected, as `mcp-tef score` does. InputError for a malformed argument."""
    line = json.dumps({"id": "1", "tools": list(tools), "expected": expected, "calls": calls})
    (scored,) = score_lines([line])
    if scored.verdict is None:
        raise InputError(str(scored.result["error"]))
    return {name: value for name, value in scored.result.items() if name != "id"}
