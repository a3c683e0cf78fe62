"""`crowd` and `steal`: how many tools are too many, and what a new server takes from others."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_tef import (
    GAVE_UP,
    REPEATS,
    CrowdKind,
    CrowdRequest,
    CrowdSource,
    InputError,
    RunField,
    StealRequest,
    crowd_html,
    crowd_to_json,
    percent_text,
    steal_html,
    steal_to_json,
    write_text,
)
from mcp_tef.cli.arguments import DONE, FAILED, UNREACHED, Parser, Verbs, add_list_option, add_verb
from mcp_tef.cli.batches import followed
from mcp_tef.cli.formatting import rate
from mcp_tef.cli.model_options import (
    add_test_options,
    allow_typed_addresses,
    asked_models,
    on_cluster,
    read_keys_of,
    require_not_negative,
    tell_run_estimate,
)
from mcp_tef.cli.output_files import output_name, writable
from mcp_tef.cli.session import opened, with_consent
from mcp_tef.cli.terminal import Terminal, table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp_tef import (
        Batch,
        CrowdPoint,
        CrowdResult,
        Engine,
        ModelSettings,
        Rate,
        RetrievalPoint,
        Secret,
        StealResult,
    )

CROWD_SHAPE = """With --json: {"points": [{"model", "strangers", "kind", "search", "rate": RATE, "difference", "lost",
"tokens", "cost_usd", "runs", "left_out", "equivalents", "not_found", "parts": [repeat of its runs]}], "lost_at":
[{"model", "search", "value", "low", "high", "sentence"}], "order": [{"model", "strangers", "changed": RATE, "fifths":
[RATE]}], "silence": [{"model", "strangers", "search", "called": RATE}], "selected_instead": [{"model", "server",
"tool", "times", "equivalent"}], "retrieval": [{"strangers", "recall": {"1", "5", "10"}, "silent"}], "kind", "crowds",
"cases", "calls", "planned_calls", "cost_usd", "seed", "batch", "status", "sentence"}. RATE is {"value", "low", "high",
"n"}. What is not defined is null.

Exit codes: 0 the test was done; 3 no model could be reached."""
STEAL_SHAPE = """With --json: {"server", "among", "model", "margin", "worse": [tool], "tools": [{"server", "tool",
"cases", "without": RATE, "with_new": RATE, "taken": {"value", "low", "high"}, "p", "worse", "takers": [{"tool",
"times"}], "sentence"}], "matrix": {TOOL: {TAKER: times}}, "unknown": [tool], "left_out", "calls", "planned_calls",
"cost_usd", "seed", "batch", "status", "sentence"}.

Exit codes: 0 no tool is worse; 1 a tool is; 3 no model could be reached."""


def register_crowd(verbs: Verbs) -> None:
    """Add the verb `crowd`."""
    parser = add_verb(
        verbs,
        "crowd",
        "show among how many other tools the expected ones are still selected",
        crowd,
        more=CROWD_SHAPE,
    )
    parser.add_argument("--sizes", type=_numbers, metavar="N,…", help="other tools (0,10,30,60,120,300)")
    parser.add_argument(
        "--kind",
        choices=[kind.value for kind in CrowdKind],
        default=CrowdKind.NEAR.value,
        help="the most similar tools first, the least similar first, or five crowds of whole servers (near)",
    )
    searched = "also offer only the first K tools of a search"
    parser.add_argument("--search", type=_numbers, default=(), metavar="K,…", help=searched)
    add_list_option(parser, "--among", "S", "a server of the crowd; default: the bundled crowd")
    add_list_option(parser, "--crowd-file", "F", "a tools file of the crowd")
    parser.add_argument("--margin", type=float, default=10.0, metavar="POINTS", help="points that count as lost (10)")
    parser.add_argument("--silence", type=int, default=20, metavar="N", help="queries that no tool can serve (20)")
    parser.add_argument(
        "--accept-equivalents", action="store_true", help="a tool that does the same as the expected one is correct"
    )
    _add_shared(parser)


def register_steal(verbs: Verbs) -> None:
    """Add the verb `steal`."""
    parser = add_verb(verbs, "steal", "show what a new server takes from the tools of others", steal, more=STEAL_SHAPE)
    parser.add_argument("--server", required=True, metavar="NEW", help="the new server")
    parser.add_argument("--among", action="append", required=True, metavar="S", help="a server that is there already")
    parser.add_argument("--margin", type=float, default=5.0, metavar="POINTS", help="points that count as worse (5)")
    _add_shared(parser, replace(REPEATS, default=3, help="times that each case is asked"))


def _add_shared(parser: Parser, *fields: RunField[int]) -> None:
    add_test_options(parser, "crowds and orders", *fields)
    parser.add_argument("--html", type=writable, metavar="F", help="write a report to read to F")


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ArgumentTypeError(f"“{text}” is no list of whole numbers such as 0,10,30") from None


async def crowd(arguments: Namespace, terminal: Terminal) -> int:
    """Run a crowd test, and tell where tools are lost."""
    async with opened(arguments, terminal) as engine:
        require_not_negative(arguments, "seed", "silence")
        models, keys = _models(engine, arguments, terminal)
        cases = await engine.cases.list(suites=arguments.suite)
        source = CrowdSource(servers=tuple(arguments.among), files=tuple(arguments.crowd_file))
        request = CrowdRequest(
            cases=tuple(case.id for case in cases),
            models=models,
            kind=CrowdKind(arguments.kind),
            search=arguments.search,
            source=source,
            margin=arguments.margin / 100,
            silence=arguments.silence,
            accept_equivalents=arguments.accept_equivalents,
            seed=arguments.seed,
            max_cost_usd=arguments.max_cost,
        )
        request = replace(request, sizes=arguments.sizes) if arguments.sizes else request
        line = await engine.crowds.retrieval(request.cases, kind=request.kind, sizes=request.sizes, source=source)
        terminal.note(_retrieval_line(line))
        batch = await _done(engine, request, lambda: engine.crowds.start(request, keys), arguments, terminal)
        result = await engine.crowds.result(batch.id)
        _tell_crowd(result, terminal)
        terminal.document(crowd_to_json(result, line))
        _write(arguments, crowd_html(result, line), terminal)
    return _code(batch)


async def steal(arguments: Namespace, terminal: Terminal) -> int:
    """Run a steal test; return 1 where a tool is worse with the new server."""
    async with opened(arguments, terminal) as engine:
        require_not_negative(arguments, "seed")
        models, keys = _models(engine, arguments, terminal)
        if len(models) > 1:
            raise InputError("A steal test asks one model.", hint="Name one --model.", code="bad_usage")
        cases = await engine.cases.list(suites=arguments.suite) if arguments.suite else ()
        request = StealRequest(
            server=arguments.server,
            among=tuple(arguments.among),
            settings=models[0],
            cases=tuple(case.id for case in cases),
            rounds=arguments.repeats,
            margin=arguments.margin / 100,
            seed=arguments.seed,
            max_cost_usd=arguments.max_cost,
        )
        batch = await _done(engine, request, lambda: engine.crowds.start_steal(request, keys), arguments, terminal)
        result = await engine.crowds.steal_result(batch.id)
        _tell_steal(result, terminal)
        terminal.document(steal_to_json(result))
        _write(arguments, steal_html(result), terminal)
    return _code(batch, worse=result.worse)


async def continue_crowd(engine: Engine, start: Awaitable[Batch], arguments: Namespace, terminal: Terminal) -> int:
    """Follow a crowd test or a steal test that goes on, and tell what it has shown."""
    batch = await followed(engine, terminal, start, arguments)
    if batch.trial and batch.trial.get("stealing"):
        stolen = await engine.crowds.steal_result(batch.id)
        _tell_steal(stolen, terminal)
        terminal.document(steal_to_json(stolen))
        return _code(batch, worse=stolen.worse)
    result = await engine.crowds.result(batch.id)
    _tell_crowd(result, terminal)
    terminal.document(crowd_to_json(result))
    return _code(batch)


def _models(
    engine: Engine, arguments: Namespace, terminal: Terminal
) -> tuple[tuple[ModelSettings, ...], dict[str, Secret]]:
    models = asked_models(arguments)
    keys = read_keys_of(models, arguments, terminal)
    allow_typed_addresses(engine, models, arguments)
    return models, keys


async def _done(
    engine: Engine,
    request: CrowdRequest | StealRequest,
    start: Callable[[], Awaitable[Batch]],
    arguments: Namespace,
    terminal: Terminal,
) -> Batch:
    """Tell the estimate where a model is asked, run the test, and return its batch."""
    models = request.models if isinstance(request, CrowdRequest) else (request.settings,)
    if not all(model.offline for model in models):
        tell_run_estimate(await engine.crowds.estimate(request), terminal)
    async with on_cluster(engine, arguments, terminal):
        return await followed(engine, terminal, with_consent(engine, arguments, terminal, start), arguments)


def _retrieval_line(line: tuple[RetrievalPoint, ...]) -> str:
    first = [f"{100 * dict(one.recall)[5]:.0f} % among {one.strangers:,}" for one in (line[0], line[-1])]
    return f"Found by search, first 5 tools: {' and '.join(first)} other tools; no model asked."


def _tell_crowd(result: CrowdResult, terminal: Terminal) -> None:
    terminal.say(*(one.sentence for one in result.lost_at), "")
    heads = (
        "model",
        "search",
        "other tools",
        "correct tool",
        "called if none fits",
        "lost",
        "tokens",
        "same",
        "not found",
    )
    silence = {(one.model, one.search, one.strangers): one.called for one in result.silence}
    rows = [_point(one, silence.get((one.model, one.search, one.strangers))) for one in result.points]
    terminal.say(*table(heads, rows), "")
    if result.silence:
        terminal.say("“Called” is the share of queries that no tool fits at which one was called all the same.")
    for one in result.order:
        terminal.say(f"{one.model}: choice changes with the order alone {rate(one.changed)}")
    terminal.say(*(f"{one.times:,} × {one.server} / {one.tool} selected instead" for one in result.picks[:5]))


def _point(one: CrowdPoint, called: Rate | None) -> tuple[str, ...]:
    search = "" if one.search is None else f"first {one.search}"
    lost = "lost" if one.lost else ""
    counts = (f"{one.tokens:,}", f"{one.equivalents:,}", f"{one.not_found:,}")
    calls = percent_text(called.value) if called else ""
    return (one.model, search, f"{one.strangers:,}", rate(one.rate), calls, lost, *counts)


def _tell_steal(result: StealResult, terminal: Terminal) -> None:
    terminal.say(result.sentence, "")
    for one in result.tools:
        by = ", ".join(f"{tool} {times:,}" for tool, times in one.takers)
        terminal.say(f"{'worse: ' if one.worse else ''}{one.sentence}{f' Taken by {by}.' if by else ''}")
    if result.unknown:
        terminal.say("", f"Unknown, since they have no case: {', '.join(result.unknown)}")


def _write(arguments: Namespace, text: str, terminal: Terminal) -> None:
    if arguments.html:
        write_text(arguments.html, text)
        terminal.say(f"The report was written to {output_name(arguments.html)}.")


def _code(batch: Batch, *, worse: bool = False) -> int:
    if (batch.stopped or "").startswith(GAVE_UP):
        return UNREACHED
    return FAILED if worse else DONE
