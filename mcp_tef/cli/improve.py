"""`improve`: better texts for tools, made and screened on working cases, then judged once on sealed ones."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mcp_tef import (
    DraftFormat,
    ImprovementEnd,
    ImprovementRequest,
    InputError,
    PromptKind,
    RunFilter,
    improvement_sentences,
    improvement_to_json,
    write_draft,
)
from mcp_tef.cli.arguments import CANNOT_TELL, DONE, FAILED, UNREACHED, Verbs, add_verb
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.model_options import (
    add_prompt_options,
    add_test_options,
    allow_typed_addresses,
    asked_models,
    asked_with_prompt,
    model_settings,
    on_cluster,
    read_keys_of,
    require_not_negative,
    with_models,
)
from mcp_tef.cli.output_files import output_name, writable
from mcp_tef.cli.progress import Progress
from mcp_tef.cli.session import opened, with_consent
from mcp_tef.cli.trials import ROUNDS_FIELD, add_guards_option

if TYPE_CHECKING:
    from mcp_tef import Engine, ImprovementPlan, ImprovementResult
    from mcp_tef.cli.terminal import Terminal

SHAPE = """With --json: the shape of try for the sealed cases, without its fields where they were not opened, and
{"result": END, "working": of the gate, "rounds": [{"candidates": [{"texts": {tool: text}, "author", "reason", "score",
"asked", "refused"}], "gate"}], "cases": {"working", "sealed"}, "failing", "hopeless": [{"case", "reason"}], "pruned",
"patch", "gain_to_show", "budget", "writer"}. END is better, promising, not_confirmed, worse, nothing_fails,
words_cannot_help, no_candidate, budget, unreachable or cancelled.

Exit codes: 0 not worse; 1 worse on the sealed cases; with --strict, 0 only for better, 4 for promising and
not_confirmed; 3 no model could be reached."""


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(
        verbs, "improve", "find a better text for tools, and prove it on sealed cases", improve, more=SHAPE
    )
    parser.add_argument("--server", required=True, metavar="S", help="the server whose tools are described")
    parser.add_argument("--tool", metavar="T", help="only cases that expect or call this tool (default: all)")
    parser.add_argument("--writer", metavar="PROVIDER/NAME", help="a model that writes texts (default: rules)")
    add_prompt_options(parser, PromptKind.REWRITING)
    parser.add_argument("--budget", type=int, required=True, metavar="CALLS", help="the most calls of both models")
    add_guards_option(parser)
    parser.add_argument("--out", type=writable, metavar="PATCH", help="write the better text to PATCH, as RFC 6902")
    parser.add_argument("--strict", action="store_true", help="exit with 0 only if it is better")
    add_test_options(parser, "the split and of the order", ROUNDS_FIELD)
    parser.set_defaults(project=None)


async def improve(arguments: Namespace, terminal: Terminal) -> int:
    """Search for a better text; return 1 where it is worse on the sealed cases, and what --strict asks for."""
    request = _request(arguments)
    asked = [one for one in (request.settings, request.writer) if one and not one.offline]
    keys = read_keys_of(asked, arguments, terminal)
    async with opened(arguments, terminal) as engine:
        allow_typed_addresses(engine, asked, arguments)
        writer = await asked_with_prompt(engine, request.writer, arguments, PromptKind.REWRITING, "--writer")
        request = replace(request, writer=writer)
        plan = await engine.improvements.plan(request)
        _tell_plan(plan, terminal)
        progress = Progress(terminal)
        stop = engine.subscribe(progress.hear)
        try:
            search = partial(engine.improvements.run, plan, keys, tell=lambda step: terminal.note(step.text))
            async with on_cluster(engine, arguments, terminal):
                result = await with_consent(engine, arguments, terminal, search)
        finally:
            stop()
            progress.end()
        await _report(engine, result, arguments, terminal)
    return _code(result, strict=arguments.strict)


def _request(arguments: Namespace) -> ImprovementRequest:
    if len(arguments.model) > 1:
        raise InputError("A text is sought with one model.", hint="Name one with --model.", code="bad_usage")
    require_not_negative(arguments, "guards", "seed")
    return ImprovementRequest(
        server=arguments.server,
        settings=asked_models(arguments)[0],
        budget=arguments.budget,
        tool=arguments.tool,
        suites=tuple(arguments.suite),
        writer=with_models(model_settings(arguments), [arguments.writer])[0] if arguments.writer else None,
        rounds=arguments.repeats,
        guards=arguments.guards,
        seed=arguments.seed,
        max_cost_usd=arguments.max_cost,
    )


def _tell_plan(plan: ImprovementPlan, terminal: Terminal) -> None:
    """Write what the sealed cases can show, and the most that the search takes, before the first call."""
    terminal.note(f"{counted(len(plan.working), 'working case')}, {counted(len(plan.sealed), 'sealed case')}.")
    terminal.note(plan.gain)
    cost = "at an unknown price" if plan.cost_usd is None else f"for about ${plan.cost_usd:.4f}"
    written = f", up to {plan.writer_calls} of them to the writer" if plan.writer_calls else ""
    terminal.note(
        f"At most {counted(plan.calls, 'call')}{written}, {cost if plan.cost_usd != 0 else 'free of charge'}."
    )


async def _report(engine: Engine, result: ImprovementResult, arguments: Namespace, terminal: Terminal) -> None:
    runs = await engine.runs.list(RunFilter(batch_id=result.sealed.batch_id)) if result.sealed else ()
    terminal.document(improvement_to_json(result, runs))
    terminal.say(*improvement_sentences(result))
    terminal.say(f"{counted(result.calls, 'call')} of {result.plan.calls:,}.")
    if result.draft is None:
        return
    for one in result.draft.revisions:
        terminal.say("", one.name, f"  {(one.after or {}).get('description', '')}")
    terminal.say("", f"It is kept as the draft {result.draft.name}; no server was changed.")
    if arguments.out and result.end in (ImprovementEnd.BETTER, ImprovementEnd.PROMISING):
        await asyncio.to_thread(write_draft, result.draft, arguments.out, DraftFormat.PATCH)
        terminal.say(f"The patch was written to {output_name(arguments.out)}.")


def _code(result: ImprovementResult, *, strict: bool) -> int:
    if result.end is ImprovementEnd.UNREACHABLE:
        return UNREACHED
    if result.end is ImprovementEnd.WORSE:
        return FAILED
    if not strict or result.end is ImprovementEnd.BETTER:
        return DONE
    return CANNOT_TELL if result.end in (ImprovementEnd.PROMISING, ImprovementEnd.NOT_CONFIRMED) else FAILED
