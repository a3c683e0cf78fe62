"""Results of crowd tests and steal tests, read from their records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mcp_tef.model.crowds import (
    CrowdLoss,
    CrowdPoint,
    CrowdResult,
    OrderEffect,
    SilencePoint,
    StealResult,
    StolenTool,
    StrangerPick,
)
from mcp_tef.model.runs import NOT_OFFERED_CODE
from mcp_tef.scoring.phrases import counted, listed, ticked
from mcp_tef.statistics.case_pairing import share_change
from mcp_tef.statistics.crowd_loss import NO_RATE, lost_sentence, stolen_tools
from mcp_tef.statistics.intervals import clustered_rate, wilson
from mcp_tef.workflows.crowd_plan import CrowdCell

if TYPE_CHECKING:
    from mcp_tef.model.comparison import RateDifference
    from mcp_tef.model.ids import CaseId
    from mcp_tef.model.metrics import Rate
    from mcp_tef.model.runs import Batch
    from mcp_tef.statistics.crowd_loss import CrowdDecision
    from mcp_tef.workflows.crowd_record import CrowdRecord, CrowdRun, Curve

FIFTHS = 5
MOST_PICKS = 20


def crowd_result(batch: Batch, record: CrowdRecord, families: Sequence[int]) -> CrowdResult:
    """Return the state or the end of a crowd test."""
    plan = record.plan
    curves = list(record.decisions)
    return CrowdResult(
        batch_id=batch.id,
        status=batch.status,
        kind=plan.kind,
        crowds=plan.passes,
        points=tuple(_point(record, curve, size) for curve in curves for size in range(len(plan.sizes))),
        lost_at=tuple(_loss(record, curve) for curve in curves),
        order=tuple(_order(record, model, families) for model in record.models),
        silence=tuple(
            SilencePoint(
                model=model,
                strangers=plan.sizes[size],
                search=plan.searches[search],
                called=_called(record, record.at(model, search, size)),
            )
            for model, search in curves
            for size in range(len(plan.sizes))
            if plan.silence
        ),
        picks=_picks(record),
        cases=len(plan.cases),
        calls=record.calls,
        planned_calls=planned_calls(record),
        cost_usd=batch.cost_usd,
        seed=plan.seed,
    )


def planned_calls(record: CrowdRecord) -> int:
    """Return the most runs that a test takes."""
    return len(record.models) * sum(len(record.plan.cases_of(cell)) for cell in record.plan.cells())


def _point(record: CrowdRecord, curve: Curve, size: int) -> CrowdPoint:
    plan, decision = record.plan, record.decisions[curve]
    runs = [run for run in record.at(*curve, size) if run.case_id in set(plan.cases)]
    cells = [plan.number(CrowdCell(turn, curve[1], size)) for turn in range(plan.passes)]
    costs = [run.cost_usd for run in runs if run.cost_usd is not None]
    return CrowdPoint(
        model=curve[0],
        strangers=plan.sizes[size],
        search=plan.searches[curve[1]],
        rate=decision.rate(size),
        difference=decision.difference(size),
        lost=size in decision.lost,
        tokens=plan.tokens[str(cells[0])],
        cost_usd=sum(costs) / len(costs) if costs else None,
        runs=len(runs),
        left_out=sum(record.passed(run) is None for run in runs),
        equivalents=sum(record.is_equivalent(run) for run in runs),
        not_found=sum(run.failure == NOT_OFFERED_CODE for run in runs),
        parts=tuple(cells),
    )


def _loss(record: CrowdRecord, curve: Curve) -> CrowdLoss:
    plan, decision = record.plan, record.decisions[curve]
    low, high = decision.bracket
    search = plan.searches[curve[1]]
    sentence = lost_sentence(plan.subject, decision, plural=plan.plural)
    names = [curve[0]] if len(record.models) > 1 else []
    if search is not None:
        names.append(f"With the first {search} tools of a search")
    return CrowdLoss(
        model=curve[0],
        search=search,
        low=low,
        high=high,
        sentence=f"{', '.join(names)}: {sentence}" if names else sentence,
    )


def _called(record: CrowdRecord, runs: Sequence[CrowdRun]) -> Rate:
    """Return the share of queries without a fitting tool at which one was called."""
    silent = set(record.plan.silence)
    judged = [run for run in runs if run.case_id in silent and run.mark is not None]
    return wilson(sum(run.picked is not None for run in judged), len(judged))


def _order(record: CrowdRecord, model: str, families: Sequence[int]) -> OrderEffect:
    plan = record.plan
    family = dict(zip(plan.cases, families, strict=True))
    last, again = len(plan.sizes) - 1, record.reordered(model)
    first = {run.case_id: run for run in record.at(model, 0, last) if run.cell.turn == 0}
    both = [one for one in plan.cases if _judged(first.get(one)) and _judged(again.get(one))]
    changed = np.array([first[one].picked != again[one].picked for one in both], dtype=np.float64)
    return OrderEffect(
        model=model,
        strangers=plan.sizes[last],
        changed=clustered_rate(changed, np.array([family[one] for one in both], dtype=np.int64)) if both else NO_RATE,
        fifths=_by_fifth(record, model, family),
    )


def _by_fifth(record: CrowdRecord, model: str, family: Mapping[CaseId, int]) -> tuple[Rate, ...]:
    """Return the share of correct tools among strangers by the fifth of the list in which the expected tool stood."""
    plan = record.plan
    groups: dict[int, list[CrowdRun]] = {place: [] for place in range(-1, FIFTHS)}
    runs = [run for size in range(1, len(plan.sizes)) for run in record.at(model, 0, size)]
    for run in (*runs, *record.reordered(model).values()):
        if run.case_id in family and record.passed(run) is not None:
            groups[_fifth(plan.fifths, plan.number(run.cell), plan.cases.index(run.case_id))].append(run)
    return tuple(_rate(groups[place], record, family) for place in range(FIFTHS))


def _judged(run: CrowdRun | None) -> bool:
    return run is not None and run.mark is not None


def _fifth(fifths: Mapping[str, str], cell: int, case: int) -> int:
    digit = fifths[str(cell)][case]
    return int(digit) if digit.isdigit() else -1


def _rate(runs: Sequence[CrowdRun], record: CrowdRecord, family: Mapping[CaseId, int]) -> Rate:
    if not runs:
        return NO_RATE
    passed = np.array([bool(record.passed(run)) for run in runs])
    return clustered_rate(passed, np.unique([family[run.case_id] for run in runs], return_inverse=True)[1])


def _picks(record: CrowdRecord) -> tuple[StrangerPick, ...]:
    """Return the strangers that were selected in place of expected tools, the most frequent first."""
    cases, own = set(record.plan.cases), set(record.plan.own)
    wrong = Counter(
        (run.model, *run.picked, record.is_equivalent(run))
        for run in record.runs.values()
        if run.picked and run.picked[0] not in own and run.case_id in cases and record.passed(run) is False
    )
    ordered = sorted(wrong.items(), key=lambda one: (-one[1], one[0]))[:MOST_PICKS]
    return tuple(StrangerPick(model, server, tool, times, same) for (model, server, tool, same), times in ordered)


def steal_result(batch: Batch, record: CrowdRecord) -> StealResult:
    """Return the state or the end of a steal test."""
    plan, (model,) = record.plan, record.models
    tools = _stolen(record, record.decisions[model, 0])
    return StealResult(
        batch_id=batch.id,
        status=batch.status,
        server=plan.stealing,
        among=plan.among,
        model=model,
        margin=plan.margin,
        tools=tuple(tools),
        unknown=plan.unknown,
        left_out=record.left_out,
        calls=record.calls,
        planned_calls=planned_calls(record),
        cost_usd=batch.cost_usd,
        seed=plan.seed,
        sentence=_steal_sentence(plan.stealing, tools, plan.margin),
    )


def _stolen(record: CrowdRecord, decision: CrowdDecision) -> list[StolenTool]:
    """Return each tool that has cases, the worst first."""
    plan = record.plan
    groups: dict[tuple[str, str], list[int]] = {}
    for number, key in enumerate(plan.expected):
        groups.setdefault(key, []).append(number)
    pairs = [decision.paired(numbers) for numbers in groups.values()]
    tools = []
    for (key, numbers), pair, found in zip(groups.items(), pairs, stolen_tools(pairs, plan.margin), strict=True):
        shares, taken = share_change(pair), _mirrored(found[0])
        tools.append(
            StolenTool(
                server=key[0],
                tool=key[1],
                cases=len(numbers),
                without=shares.before,
                with_new=shares.after,
                taken=taken,
                p=found[1],
                worse=found[2],
                takers=_takers(record, [plan.cases[number] for number in numbers]),
                sentence=_taken_sentence(plan.stealing, key[1], taken),
            )
        )
    return sorted(tools, key=lambda one: (not one.worse, -(one.taken.value or 0.0), one.server, one.tool))


def _takers(record: CrowdRecord, cases: Sequence[CaseId]) -> tuple[tuple[str, int], ...]:
    wanted = set(cases)
    counts = Counter(
        run.picked[1]
        for run in record.runs.values()
        if run.picked and run.picked[0] == record.plan.stealing and run.case_id in wanted and run.cell.size
    )
    return tuple(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def _mirrored(gap: RateDifference) -> RateDifference:
    """Return a change as a loss."""
    low, high = (None if bound is None else -bound + 0.0 for bound in (gap.high, gap.low))
    return type(gap)(None if gap.value is None else -gap.value + 0.0, low, high)


def _taken_sentence(server: str, tool: str, taken: RateDifference) -> str:
    if taken.value is None or taken.low is None or taken.high is None:
        return f"{server} and {ticked(tool)}: no case was judged yet."
    value, low, high = (f"{100 * one:.0f}".replace("-", "−") for one in (taken.value, taken.low, taken.high))
    return f"{server} takes {value} % of {ticked(tool)} ({low} to {high})."


def _steal_sentence(server: str, tools: Sequence[StolenTool], margin: float) -> str:
    worse = [ticked(one.tool) for one in tools if one.worse]
    if worse:
        return f"{server} takes from {listed(worse)}."
    judged = [one for one in tools if one.taken.high is not None]
    if not judged:
        return "Cannot tell yet: no case was judged with and without it."
    most = max(judged, key=_highest)
    up_to = f"up to {100 * _highest(most):.0f} points of {ticked(most.tool)} cannot be excluded"
    open_ones = sum(_highest(one) > margin for one in judged)
    of = f"of {counted(len(judged), 'tool', 'tools')}"
    if open_ones:
        return f"Cannot tell yet if {server} takes from {open_ones:,} {of}: {up_to}."
    return f"{server} takes from none {of}; {up_to}."


def _highest(one: StolenTool) -> float:
    """Return the largest loss that is not excluded."""
    return one.taken.high or 0.0
