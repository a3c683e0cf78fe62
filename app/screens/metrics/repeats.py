"""What repeats say in words: how often a repeated run passes, and which cases are flaky."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.screens.metrics.curves import Curve, power_curve
from app.screens.metrics.exports import DataTable, rate_columns, rate_values
from app.screens.metrics.figures import Figure
from app.screens.metrics.words import INTERVAL, bounds, model_name, part_of
from app.text.formatting import count, percent
from mcp_tef import Batch, BatchId, CaseId, RepeatedCase, Repeats, RunFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatsView:
    """The repeats for the screen; `message` stands alone where no case was repeated."""

    figure: Figure
    always: int
    flaky_count: int
    never: int
    power: Curve
    flaky: tuple[RepeatedCase, ...]
    batch_names: tuple[str, ...]
    table: DataTable
    message: str = ""

    def runs_of(self, place: int, where: RunFilter) -> RunFilter:
        """The runs of a flaky case."""
        one = self.flaky[place]
        batches = (one.batch_id,) if one.batch_id else ()
        return RunFilter(
            case_ids=(CaseId(one.case_id),), models=(one.model,), batch_ids=batches, statuses=where.statuses
        )


def repeats_view(repeats: Repeats, batches: Mapping[BatchId, Batch]) -> RepeatsView:
    """All that repeats say."""
    names = tuple(_batch_name(one, batches) for one in repeats.flaky)
    message = "" if repeats.groups else _NO_REPEATS
    return RepeatsView(
        figure=_figure(repeats),
        always=repeats.always,
        flaky_count=len(repeats.flaky),
        never=repeats.never,
        power=power_curve(repeats.pass_power),
        flaky=repeats.flaky,
        batch_names=names,
        table=_table(repeats, names),
        message=message,
    )


_NO_REPEATS = (
    "A run can be right by luck. Repeats tell: run each case three times or more in one batch, and cases that pass "
    "only now and then show up here."
)


def _figure(repeats: Repeats) -> Figure:
    rate = repeats.pass_rate
    sentence = f"{part_of(rate, 'repeated run')} passed, {count(repeats.groups, 'repeated case')}"
    return Figure(
        title="Pass rate",
        value=percent(rate.value),
        bounds=bounds(rate),
        rate=rate,
        sentence=sentence,
        help="Pass rate: a run passes when it chose the right tool and no judged parameter is wrong.\n" + INTERVAL,
    )


def _batch_name(one: RepeatedCase, batches: Mapping[BatchId, Batch]) -> str:
    batch = batches.get(one.batch_id) if one.batch_id else None
    return batch.name or "Batch" if batch else ""


def _table(repeats: Repeats, names: tuple[str, ...]) -> DataTable:
    columns = ("Case", "Model", "Batch", "Passed", "Runs", *rate_columns("Pass rate")[:3])
    rows = tuple(
        (one.case_name, model_name(one.model), name, one.passed, one.n, *rate_values(one.rate)[:3])
        for one, name in zip(repeats.flaky, names, strict=True)
    )
    return DataTable(name="Flaky cases", columns=columns, rows=rows)
