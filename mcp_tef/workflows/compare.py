"""Comparison of batches, also with the JSON document of an earlier run; results by client; drift since a run."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mcp_tef.errors import ConflictError, InputError
from mcp_tef.events import EventStream, ServersChanged
from mcp_tef.model.clients import PLAIN_API
from mcp_tef.model.comparison import (
    BatchComparison,
    CasePair,
    ClientResult,
    ComparedRuns,
    DefinitionChange,
    Drift,
    PairableRun,
    PairedBy,
    PassCriterion,
    RunComparison,
)
from mcp_tef.model.ids import BatchId, CaseId, RunId, ServerId
from mcp_tef.model.json import Json
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import NOT_OFFERED_CODE, Batch, BatchStatus, RunDetail, RunSummary, is_baseline
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.verdicts import RunMark
from mcp_tef.ports import RunStore, Store
from mcp_tef.scoring.phrases import counted
from mcp_tef.scoring.run_differences import (
    answer_changes,
    changes_since,
    setting_changes,
    tool_changes,
    tool_drift,
    verdict_changes,
)
from mcp_tef.statistics.case_pairing import case_pair, correlation, paired_by, paired_cases, runs_by_case, share_change
from mcp_tef.statistics.claims import for_queries_like_these, held_cases, on_these_cases, size_text
from mcp_tef.statistics.metrics import provider_changes
from mcp_tef.statistics.paired_evidence import evidence
from mcp_tef.workflows.consent import Consents

_NO_TOOL = "no tool"
_TEXTS = ("case", "query", "model")


def earlier_batch(
    document: Json, runs: Mapping[RunId, RunSummary], outcomes: Sequence[PairableRun]
) -> tuple[Batch, tuple[PairableRun, ...]]:
    """Return the batch of a document with its runs, under the case ids of the present batch.

    A case is matched by its name; by name and query where several cases share the name.

    Args:
        document: what `run --json` printed.
        runs: the runs of the present batch.
        outcomes: the same runs, for pairing.

    Raises:
        InputError: the document is not one of a batch.
    """
    rows = _rows(document)
    matched = _MatchedCases([runs[one.id] for one in outcomes])
    posed = {one.case_id: one.posed for one in outcomes}
    shared = {name for name, queries in _queries(rows).items() if len(queries) > 1}
    repeats: Counter[tuple[CaseId, str]] = Counter()
    old = []
    for number, row in enumerate(rows):
        case_id, same = matched.of(row, exact=row["case"] in shared)
        repeats[case_id, row["model"]] += 1
        old.append(
            PairableRun(
                id=RunId(f"earlier-{number}"),
                case_id=case_id,
                model=row["model"],
                repeat=repeats[case_id, row["model"]],
                mark=RunMark(row["mark"]) if row.get("mark") else None,
                posed=posed[case_id] if same else "",
            )
        )
    models = tuple(dict.fromkeys(run.model for run in old))
    batch = Batch(
        id=BatchId(str(document["batch"])),
        name="baseline",
        status=BatchStatus.COMPLETED,
        models=models,
        total=len(old),
        created_at=datetime.now(UTC),
    )
    return batch, tuple(old)


class _MatchedCases:
    """The cases of the present batch, to be found by name, or by name and query."""

    def __init__(self, runs: Sequence[RunSummary]) -> None:
        self._named: defaultdict[str, dict[str, RunSummary]] = defaultdict(dict)
        for run in runs:
            self._named[run.case_name][run.query] = run

    def of(self, row: Mapping[str, Any], *, exact: bool) -> tuple[CaseId, bool]:
        """Return the id of a case, one of its own where there is none now; True if it was posed as it is now."""
        named = self._named.get(row["case"], {})
        found = named.get(row["query"])
        if found is None and len(named) == 1 and not exact:
            (found,) = named.values()
        if found is None:
            return CaseId(f"earlier: {row['case']}\0{row['query']}"), False
        same = (row["query"], row.get("expected") or _NO_TOOL) == (found.query, found.expected or _NO_TOOL)
        return found.case_id, same


def _rows(document: Json) -> list[dict[str, Any]]:
    rows = document.get("runs") if isinstance(document, Mapping) else None
    if not isinstance(rows, list) or "batch" not in document or not all(map(_is_row, rows)):
        raise InputError(
            "The baseline is not a result of a batch.", hint="Take what mcp-tef run --json printed, as it is."
        )
    return rows


def _is_row(row: Json) -> bool:
    marks = (None, *RunMark)
    return (
        isinstance(row, Mapping) and all(isinstance(row.get(key), str) for key in _TEXTS) and row.get("mark") in marks
    )


def _queries(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, set[str]]:
    queries: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        queries[row["case"]].add(row["query"])
    return queries


NO_RUN = RunId("")


class DriftCheck:
    """Definitions that changed. What a server lists now is what its last check found; nothing here connects."""

    def __init__(self, store: Store, consents: Consents, events: EventStream) -> None:
        self._store = store
        self._consents = consents
        self._events = events

    async def of_server(self, server_id: ServerId) -> Drift | None:
        """Return the changes since the user last saw the server's tools; None if there are none."""
        seen = await self._store.servers.accepted_listing(server_id)
        now = await self._store.servers.listing(server_id) if seen else None
        if seen is None or now is None:
            return None
        spec = (await self._store.servers.get(server_id)).spec
        found = await asyncio.to_thread(tool_drift, seen, now)
        tools = tuple(tool for tool in found if tool.after is not None or spec.wants(tool.name))
        return Drift(listing=now, tools=tools, agreed=self._is_allowed_program(spec)) if tools else None

    async def accept(self, server_id: ServerId, drift: Drift, *, by: str = "") -> None:
        """Take it as seen; ConflictError where the server lists something else by now."""
        if not await self._store.servers.accept_listing(server_id, drift.listing):
            raise ConflictError("The tools changed once more.", hint="Look at them again.")
        self._events.publish(ServersChanged((server_id,), by))

    async def since_run(self, run: RunDetail) -> Mapping[str, DefinitionChange]:
        """Return the changes of the tools that a run was offered, by offered name; unchanged tools are left out."""
        if run.snapshot is None:
            return {}
        offered = {item.tool.server for item in run.snapshot.tools}
        found: dict[str, DefinitionChange] = {}
        for server in await self._store.servers.all():  # a run of a crowd was offered tools of other ones, too
            now = await self._store.servers.listing(server.id) if server.name in offered else None
            if now is not None:
                found |= await asyncio.to_thread(changes_since, run.snapshot, now, server.spec.wants)
        return found

    async def outdated(self, run_ids: Sequence[RunId]) -> Mapping[RunId, tuple[str, ...]]:
        """Of some runs those whose expected or selected tool is defined otherwise now, with its name."""
        return await self._store.runs.changed_definitions(run_ids)

    def _is_allowed_program(self, spec: ServerSpec) -> bool:
        return spec.transport is Transport.STDIO and not self._consents.needed(spec)


class Compare:
    """Reads two of a kind and tells them apart; nothing is written."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    async def batches(self, before: BatchId, after: BatchId, must_hold: Sequence[CaseId] = ()) -> BatchComparison:
        """Compare two batches case by case; `must_hold` names cases that may not get worse.

        Raises InputError and NotFoundError.
        """
        if before == after:
            raise InputError("A batch cannot be compared with itself.", hint="Select two batches.")
        first, second = await self._store.batch(before), await self._store.batch(after)
        old, new = await self._store.outcomes(before), await self._store.outcomes(after)
        if not set(must_hold) <= {run.case_id for run in old if run.mark is not None}:
            raise InputError(
                "A case that must hold was not judged in the earlier batch.",
                hint="Select a case of that batch, or compare with a batch that ran it.",
            )
        answered = [await self._store.answering_models(batch_id) for batch_id in (before, after)]
        found = await asyncio.to_thread(_comparison, (first, second), old, new, tuple(dict.fromkeys(must_hold)))
        return replace(found, notes=(*found.notes, *provider_changes(*answered)))

    async def with_document(self, document: Json, after: BatchId) -> BatchComparison:
        """Compare a batch with the JSON document of an earlier one; cases are matched by name. InputError."""
        runs = await self._store.runs(RunFilter(batch_id=after))
        new = await self._store.outcomes(after)
        before, old = earlier_batch(document, {run.id: run for run in runs}, new)
        return await asyncio.to_thread(_comparison, (before, await self._store.batch(after)), old, new, ())

    async def clients(self, batch: BatchId) -> tuple[ClientResult, ...]:
        """Return how the clients of a batch did beside each other; nothing for a batch without clients."""
        runs, outcomes = await self._store.runs(RunFilter(batch_id=batch)), await self._store.outcomes(batch)
        return await asyncio.to_thread(client_results, runs, outcomes)

    async def pairs(self, wanted: Sequence[CasePair]) -> tuple[ComparedRuns, ...]:
        """Return the runs to look at of some pairs, such as a page of a table; a run that is gone is None."""
        found = await self._store.summaries([run_id for pair in wanted for run_id in pair.shown if run_id])
        return tuple(
            ComparedRuns(pair=pair, before=found.get(first or NO_RUN), after=found.get(second or NO_RUN))
            for pair in wanted
            for first, second in (pair.shown,)
        )

    async def runs(self, before: RunId, after: RunId) -> RunComparison:
        """Return two runs side by side, down to settings and definitions. NotFoundError."""
        first, second = await self._store.detail(before), await self._store.detail(after)
        changes, alike = await asyncio.to_thread(tool_changes, first.snapshot, second.snapshot)
        return RunComparison(
            before=first,
            after=second,
            settings=setting_changes(first.settings, second.settings),
            verdict=verdict_changes(first, second),
            answer=answer_changes(first.answer, second.answer),
            tools=changes,
            tools_alike=alike,
        )


_VIA = " via "


def client_results(runs: Sequence[RunSummary], outcomes: Sequence[PairableRun]) -> tuple[ClientResult, ...]:
    """Return a result for each model and client of a batch; a tool that a client does not show is a wrong answer."""
    not_shown = {run.id for run in runs if run.failure and run.failure.code == NOT_OFFERED_CODE}
    asked = defaultdict[tuple[str, str], list[PairableRun]](list)
    for run in outcomes:
        model, via, client = run.model.partition(_VIA)
        if via:
            asked[model, client].append(replace(run, mark=RunMark.WRONG) if run.id in not_shown else run)
    plain = {model: runs for (model, client), runs in asked.items() if client.startswith(f"{PLAIN_API}@")}
    return tuple(
        _client_result(model, client, found, plain.get(model, ()), not_shown)
        for (model, client), found in asked.items()
    )


def _client_result(
    model: str, client: str, runs: Sequence[PairableRun], plain: Sequence[PairableRun], not_shown: Set[RunId]
) -> ClientResult:
    baseline = is_baseline(model)
    criterion = PassCriterion.CORRECT_TOOL if baseline else PassCriterion.CORRECT_CALL
    paired = paired_cases(runs_by_case(plain, runs, PairedBy.CASE), criterion, deterministic=baseline)
    return ClientResult(
        client=client,
        model=model,
        runs=sum(run.mark is not None for run in runs),
        right=sum(run.passed(criterion) for run in runs),
        not_shown=sum(run.id in not_shown for run in runs),
        criterion=criterion,
        claim=for_queries_like_these(paired) if plain and plain is not runs else None,
    )


def _comparison(
    batches: tuple[Batch, Batch], old: Sequence[PairableRun], new: Sequence[PairableRun], must_hold: Sequence[CaseId]
) -> BatchComparison:
    by = paired_by(old, new)
    baseline = all(is_baseline(run.model) for run in (*old, *new))
    criterion = PassCriterion.CORRECT_TOOL if baseline else PassCriterion.CORRECT_CALL
    runs = runs_by_case(old, new, by)
    found = tuple(case_pair(one, criterion) for one in runs)
    judged = {one: paired_cases(runs, one, deterministic=baseline) for one in PassCriterion}
    cases = judged[criterion]
    wins, losses = int(cases.wins.sum()), int(cases.losses.sum())
    left_out = sum(one.left_out for one in runs)
    otherwise = sum(not pair.posed_alike for pair in found)
    return BatchComparison(
        before=batches[0],
        after=batches[1],
        paired_by=by,
        criterion=criterion,
        pairs=found,
        correct_call=share_change(judged[PassCriterion.CORRECT_CALL]),
        correct_tool=share_change(judged[PassCriterion.CORRECT_TOOL]),
        on_these_cases=on_these_cases(cases),
        for_queries_like_these=for_queries_like_these(cases),
        size=size_text(cases),
        cases=len(cases),
        families=cases.families,
        run_pairs=cases.pairs,
        wins=wins,
        losses=losses,
        evidence=(evidence(wins, losses), evidence(losses, wins)),
        icc=correlation(cases),
        left_out=left_out,
        posed_otherwise=otherwise,
        must_hold=held_cases(must_hold, runs, criterion, deterministic=baseline),
        notes=tuple(_notes(by, criterion, otherwise, left_out)),
    )


def _notes(by: PairedBy, criterion: PassCriterion, otherwise: int, left_out: int) -> Iterator[str]:
    if criterion is PassCriterion.CORRECT_TOOL:
        yield "Both claims are about correct tools, since a baseline cannot fill in every value."
    if by is PairedBy.CASE:
        yield "The batches asked different models, so runs are paired by case."
    if otherwise:
        yield (
            f"{counted(otherwise, 'case was', 'cases were')} edited between the batches. "
            "Judge both batches again to compare them by the same expectation."
        )
    if left_out:
        yield f"{counted(left_out, 'run has', 'runs have')} no verdict and {'is' if left_out == 1 else 'are'} left out."
