"""`runs …`: look at batches and runs, run the failed ones again, go on with interrupted ones, judge again, merge."""

from argparse import Namespace
from collections.abc import Awaitable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import (
    Batch,
    InputError,
    NotFoundError,
    RunDetail,
    RunFilter,
    RunId,
    RunStatus,
    Secret,
    batch_to_json,
    local_time_text,
    rejudge_report_to_json,
    run_detail_to_json,
    run_to_json,
)
from mcp_tef.cli.arguments import Parser, Verbs, add_group, add_list_option, add_verb
from mcp_tef.cli.batches import add_report_options, follow, report
from mcp_tef.cli.formatting import A_BATCH, MARGIN, past_line, routing_text, run_lines
from mcp_tef.cli.model_options import add_key_options, read_keys_of
from mcp_tef.cli.progress import Progress
from mcp_tef.cli.session import agree_to_servers, opened, with_consent
from mcp_tef.cli.terminal import Terminal, table
from mcp_tef.cli.thresholds import has_thresholds

if TYPE_CHECKING:
    from mcp_tef import Engine

MOST_RUNS = 1000


def register(verbs: Verbs) -> None:
    """Add the verbs."""
    group = add_group(verbs, "runs", "list runs, run the failed ones again, go on with interrupted ones")
    _filters(add_verb(group, "list", "list batches, and the runs that pass the filters", list_runs, reads=True))
    one = add_verb(group, "show", "show a run, or a batch with its runs", show, reads=True)
    one.add_argument("id", metavar="ID", help=f"the id of a run, or {A_BATCH}")
    add_report_options(one)
    for name, summary, command in (
        ("retry", "run the failed runs of a batch again", retry),
        ("resume", "go on with a batch that was cancelled or interrupted", resume),
    ):
        parser = add_verb(group, name, summary, command)
        parser.add_argument("batch", nargs="?", metavar="BATCH", help=f"{A_BATCH} (default: latest)")
        parser.add_argument("--max-cost", type=float, metavar="USD", help="another cost cap, for the whole batch")
        add_key_options(parser)
        add_report_options(parser)
    again = add_verb(group, "rejudge", "judge finished runs again by what their cases expect now", rejudge)
    again.add_argument("runs", nargs="*", metavar="RUN_ID", help="runs to judge again")
    again.add_argument("--batch", metavar="BATCH", help="every run of this batch")
    merged = add_verb(group, "merge", "make one batch of those that `run --shard` ran in several workspaces", merge)
    merged.add_argument("parts", nargs="+", type=Path, metavar="WORKSPACE", help="the workspace file of each part")
    merged.add_argument("--batch", default="latest", metavar="BATCH", help=f"in each part, {A_BATCH} (default: latest)")
    merged.add_argument("--name", default="", metavar="NAME", help="a name for the merged batch")
    add_report_options(merged)


def _filters(parser: Parser) -> None:
    parser.add_argument("--batch", metavar="BATCH", help=f"only runs of this batch: {A_BATCH}")
    statuses = [status.value for status in RunStatus]
    parser.add_argument("--status", action="append", default=[], choices=statuses, help="only runs of this status")
    add_list_option(parser, "--model", "PROVIDER/NAME", "only runs of this model")
    parser.add_argument("--limit", type=int, default=MOST_RUNS, metavar="N", help=f"at most N runs ({MOST_RUNS})")


async def list_runs(arguments: Namespace, terminal: Terminal) -> None:
    """List the batches, newest first; with a filter, the runs that pass it."""
    async with opened(arguments, terminal) as engine:
        where = await _filter_of(engine, arguments)
        batches = [await engine.runs.batch(where.batch_id)] if where.batch_id else await engine.runs.batches()
        runs = await engine.runs.list(where, limit=arguments.limit)
    terminal.document(
        {"batches": [batch_to_json(batch) for batch in batches], "runs": [run_to_json(run) for run in runs]}
    )
    if where == RunFilter():
        terminal.say(
            *table(("BATCH", "NAME", "STATUS", "STARTED", "RUNS", "MODELS"), [_row(batch) for batch in batches])
        )
    else:
        terminal.say(*(line for run in runs for line in run_lines(run)))


async def _filter_of(engine: "Engine", arguments: Namespace) -> RunFilter:
    where = RunFilter(
        batch_id=(await engine.runs.named(arguments.batch)).id if arguments.batch else None,
        statuses=tuple(map(RunStatus, arguments.status)),
        models=tuple(arguments.model),
    )
    await engine.metrics.require_known(where)
    return where


def _row(batch: Batch) -> tuple[str, ...]:
    told = {**batch.counts, "failed": batch.failed, "interrupted": batch.interrupted}
    counts = ", ".join(f"{count} {key}" for key, count in told.items() if count)
    started = local_time_text(batch.created_at)
    return batch.id, batch.name, batch.status.value, started, f"{batch.total}: {counts}", ", ".join(batch.models)


async def show(arguments: Namespace, terminal: Terminal) -> int:
    """Show a batch as `run` told it, or one run with everything that was kept of it."""
    async with opened(arguments, terminal) as engine:
        detail = await _run_or_none(engine, arguments.id)
        if detail is None:
            return await _shown(engine, await engine.runs.named(arguments.id), terminal, arguments)
        since = await engine.drift.since_run(detail)
    shape = run_detail_to_json(detail, since)
    terminal.document(shape)
    told = {key: value for key, value in shape.items() if key != "past_verdicts" and value not in (None, [], {}, "")}
    if detail.answer and detail.answer.routing:
        told["routing"] = routing_text(detail.answer.routing)
    terminal.say(*(f"{key:20} {value}" for key, value in told.items()))
    terminal.say(*(f"{'earlier verdict':20} {past_line(past)}" for past in detail.past_verdicts))
    return 0


async def _run_or_none(engine: "Engine", text: str) -> RunDetail | None:
    try:
        return await engine.runs.detail(RunId(text))
    except NotFoundError:
        return None


async def rejudge(arguments: Namespace, terminal: Terminal) -> None:
    """Judge runs again from their stored answers; what they were judged before is kept."""
    if bool(arguments.runs) == bool(arguments.batch):
        raise InputError("Name runs to judge again, or a batch.", hint="See mcp-tef runs rejudge --help.")
    async with opened(arguments, terminal) as engine:
        batch = (await engine.runs.named(arguments.batch)).id if arguments.batch else None
        for run_id in arguments.runs:
            await engine.runs.detail(RunId(run_id))
        progress = Progress(terminal)
        stop = engine.subscribe(progress.hear)
        report = await engine.runs.rejudge([RunId(run_id) for run_id in arguments.runs], batch_id=batch)
        stop()
        progress.end()
    terminal.document(rejudge_report_to_json(report))
    terminal.say(report.sentence)
    for change in report.changes[:MOST_RUNS]:
        terminal.say(*run_lines(change.run), f"{MARGIN}{past_line(change.past)}")


async def merge(arguments: Namespace, terminal: Terminal) -> int:
    """Merge a batch of each named workspace into one batch of this workspace, and report it as `run` does."""
    from mcp_tef import Engine

    parts = []
    for path in arguments.parts:
        async with await Engine.open(path, reading=True) as other:
            parts.append(await other.run_parts.read(arguments.batch, str(path)))
    async with opened(arguments, terminal) as engine:
        if (before := await engine.run_parts.merged_before(parts)) is not None:
            terminal.note(f"These runs are already merged, in the batch {before.name or before.id}. Nothing was added.")
        batch = await engine.run_parts.merge(parts, arguments.name)
        return await report(engine, batch, terminal, arguments)


async def _shown(engine: "Engine", batch: Batch, terminal: Terminal, arguments: Namespace) -> int:
    """Report a batch; the exit code is 0 unless thresholds were given."""
    code = await report(engine, batch, terminal, arguments)
    return code if has_thresholds(arguments) else 0


async def newest_or(engine: "Engine", batch_id: str | None) -> Batch:
    """Return the batch that is named, or the newest one; an error where there is none."""
    return await engine.runs.named(batch_id or "latest")


async def _again(engine: "Engine", arguments: Namespace, terminal: Terminal) -> tuple[Batch, dict[str, Secret]]:
    batch = await newest_or(engine, arguments.batch)
    keys = read_keys_of(await engine.runs.preparation.recorded(batch.id), arguments, terminal)
    runs = await engine.runs.list(RunFilter(batch_id=batch.id))
    there = {case.id: case for case in await engine.cases.list()}
    cases = [there[case_id] for case_id in {run.case_id for run in runs} if case_id in there]
    if not batch.trial:
        await agree_to_servers(engine, cases, arguments, terminal)
        if changed := await engine.runs.changed_since_planned(batch.id):
            named = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
            terminal.note(f"Changed since the batch began, and asked as planned: {named}.")
            terminal.note("To ask the present texts, start another batch: mcp-tef run")
    return batch, keys


async def retry(arguments: Namespace, terminal: Terminal) -> int:
    """Run the failed runs of a batch again, and no other."""
    async with opened(arguments, terminal) as engine:
        batch, keys = await _again(engine, arguments, terminal)
        retried = partial(engine.runs.retry_failed, batch.id, keys, max_cost_usd=arguments.max_cost)
        again = with_consent(engine, arguments, terminal, retried)
        return await _followed(engine, batch, again, arguments, terminal)


async def resume(arguments: Namespace, terminal: Terminal) -> int:
    """Run what has no verdict yet; what had finished stays as it is."""
    async with opened(arguments, terminal) as engine:
        batch, keys = await _again(engine, arguments, terminal)
        resumed = partial(engine.runs.resume, batch.id, keys, max_cost_usd=arguments.max_cost)
        rest = with_consent(engine, arguments, terminal, resumed)
        return await _followed(engine, batch, rest, arguments, terminal)


async def _followed(
    engine: "Engine", batch: Batch, start: Awaitable[Batch], arguments: Namespace, terminal: Terminal
) -> int:
    if not batch.trial:
        return (await follow(engine, terminal, start, arguments))[1]
    if "stealing" in batch.trial:
        from mcp_tef.cli.crowds import continue_crowd

        return await continue_crowd(engine, start, arguments, terminal)
    from mcp_tef.cli.trials import continue_trial

    return await continue_trial(engine, start, arguments, terminal)
