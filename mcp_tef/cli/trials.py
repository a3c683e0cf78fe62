"""`try`: the same cases with the original tools and with a draft, and what that shows."""

from __future__ import annotations

from argparse import Namespace
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import (
    GAVE_UP,
    REPEATS,
    ClaimVerdict,
    InputError,
    RunFilter,
    TrialGoal,
    TrialRequest,
    draft_html,
    draft_of_patch,
    joint_sentence,
    trial_of_affected_cases,
    trial_sentences,
    trial_to_json,
    trials_evidence,
    write_text,
)
from mcp_tef.cli.arguments import CANNOT_TELL, DONE, FAILED, UNREACHED, Parser, Verbs, add_list_option, add_verb
from mcp_tef.cli.batches import followed
from mcp_tef.cli.formatting import counted, share_line
from mcp_tef.cli.model_options import (
    CLIENT,
    add_test_options,
    allow_typed_addresses,
    as_clients_ask,
    asked_models,
    on_cluster,
    read_keys_of,
    require_not_negative,
    tell_run_estimate,
)
from mcp_tef.cli.output_files import output_name, read_json, writable, write_verdict
from mcp_tef.cli.project_file import NamedSource, named_source
from mcp_tef.cli.session import opened, with_consent
from mcp_tef.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence
    from typing import TypeAlias

    from mcp_tef import Batch, Draft, Engine, ModelSettings, Secret, TrialResult

    Trials: TypeAlias = Sequence[tuple[Batch, TrialResult]]

GUARDS = 20
ROUNDS_FIELD = replace(REPEATS, default=5, help="most times per case")
SHAPE = """With --json: {"draft", "model", "on_these_cases": VERDICT, "for_queries_like_these": VERDICT, "wins",
"losses", "pairs", "evidence": {"better", "worse"}, "rates": {"original": RATE, "draft": RATE}, "difference":
{"value", "low", "high"}, "guards": {"n", "broken": [case]}, "icc", "look", "drafts_tried", "left_out", "calls",
"planned_calls", "stopped": "decided"|"futile"|"budget"|"complete"|"cancelled", "cost_usd", "seed", "sentence",
"sentences": [of both claims], "batch", "criterion", "runs"}. VERDICT is better, worse,
no_worthwhile_change or cannot_tell_yet. Several models give {"trials": [of each], "sentence"}. What is not defined is
null.

Exit codes: 0 not worse; 1 a claim is worse, or a case that must not change broke; with --strict, 0 only for better on
these cases, 4 for cannot_tell_yet; 3 no model could be reached."""


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(
        verbs, "try", "ask the same cases with the original tools and with a draft", try_draft, more=SHAPE
    )
    parser.add_argument("draft", nargs="?", metavar="DRAFT", help="name of a draft")
    parser.add_argument("--patch", metavar="FILE", help="an RFC 6902 patch in place of a draft; - is standard input")
    parser.add_argument("--server", metavar="S", help="the patch changes the last listing of this server")
    add_list_option(parser, "--tools-file", "F", "the patch changes this file", type=named_source)
    parser.add_argument("--cases", type=Path, metavar="F", help="a case file; with --tools-file, no workspace is used")
    add_list_option(parser, "--client", "NAME", CLIENT)
    add_guards_option(parser)
    parser.add_argument("--no-early-stop", action="store_true", help="ask all repeats, also once it is decided")
    parser.add_argument("--strict", action="store_true", help="exit with 0 only if it is better")
    add_test_options(parser, "the order and of the guards", ROUNDS_FIELD)
    parser.add_argument("--html", type=writable, metavar="F", help="write the changes and the evidence to F")
    parser.add_argument("--verdict", type=writable, metavar="F", help="write the results as verdict to F")
    parser.set_defaults(server_command=[], url=[], project=None)
    parser.set_defaults(fail_under=[], fail_if_surely_under=[], case_pass_rate=None, baseline=None)


def add_guards_option(parser: Parser) -> None:
    """Add the option for cases that a text must not change."""
    limit = f"most cases that must not change ({GUARDS})"
    parser.add_argument("--guards", type=int, default=GUARDS, metavar="N", help=limit)


async def try_draft(arguments: Namespace, terminal: Terminal) -> int:
    """Try a draft, or a patch; return 1 where it is worse, and what --strict asks for."""
    _require_sound(arguments)
    async with _workspace(arguments, terminal) as engine:
        draft = await _draft(engine, arguments)
        try:
            found = await _trials(engine, draft, arguments, terminal)
        finally:
            if arguments.patch and not terminal.interruption.exit_code:
                await engine.drafts.remove([draft.id])
        await tell_trial(engine, found, terminal)
        if arguments.html:
            write_text(arguments.html, draft_html(draft, trials_evidence(found)))
            terminal.say(f"The report was written to {output_name(arguments.html)}.")
    return trial_code(found, strict=arguments.strict)


async def _trials(engine: Engine, draft: Draft, arguments: Namespace, terminal: Terminal) -> Trials:
    """Try the draft with each model in turn."""
    models = as_clients_ask(engine, asked_models(arguments), arguments.client)
    keys = read_keys_of(models, arguments, terminal)
    allow_typed_addresses(engine, models, arguments)
    request = await _request(engine, draft, models[0], arguments)
    if request.cases:
        terminal.note(await engine.trials.what_it_can_show(request.cases))
    async with on_cluster(engine, arguments, terminal):
        return [await tried(engine, replace(request, settings=one), keys, arguments, terminal) for one in models]


async def continue_trial(engine: Engine, start: Awaitable[Batch], arguments: Namespace, terminal: Terminal) -> int:
    """Follow a trial that goes on, and tell what it has shown."""
    batch = await followed(engine, terminal, start, arguments)
    found = [(batch, await engine.trials.result(batch.id))]
    await tell_trial(engine, found, terminal)
    return trial_code(found)


def _require_sound(arguments: Namespace) -> None:
    sources = len(arguments.tools_file) + (arguments.server is not None)
    for wrong, message, hint in (
        (bool(arguments.draft) == bool(arguments.patch), "Name a draft, or a patch with --patch FILE.", "Not both."),
        (arguments.draft and sources, "A draft has its own tools.", "Leave out --server and --tools-file."),
        (
            arguments.patch and sources != 1,
            "A patch changes the tools of one server or file.",
            "Add --server S or --tools-file F.",
        ),
        (
            arguments.cases and not arguments.tools_file,
            "--cases is for a trial without a workspace.",
            "Add --tools-file F.",
        ),
        (arguments.verdict and len(arguments.model) > 1, "A verdict file holds one trial.", "Name one model."),
    ):
        if wrong:
            raise InputError(message, hint=hint, code="bad_usage")
    require_not_negative(arguments, "guards", "seed")


def _workspace(arguments: Namespace, terminal: Terminal) -> AbstractAsyncContextManager[Engine]:
    """Open the workspace, or one that ends with the command."""
    arguments.stateless = bool(arguments.cases)
    if not arguments.stateless:
        return opened(arguments, terminal)
    if arguments.workspace or arguments.recover:
        raise InputError("A trial with --cases keeps no workspace.", hint="Leave out --workspace.", code="bad_usage")
    from mcp_tef.cli.stateless import stateless

    return stateless(arguments, terminal)


async def _draft(engine: Engine, arguments: Namespace) -> Draft:
    """Return the draft that is named, or one that the patch makes."""
    if arguments.draft:
        return await engine.drafts.find(arguments.draft)
    server, file = arguments.server, arguments.tools_file[0] if arguments.tools_file else None
    if arguments.stateless:
        (registered,) = await engine.servers.list()
        server, file = registered.name, None
    name, operations = Path(arguments.patch).name, read_json(arguments.patch)
    return await draft_of_patch(engine, name, operations, server=server, tools_file=_place(file))


def _place(file: NamedSource | None) -> str | None:
    return file.place if file else None


async def _request(engine: Engine, draft: Draft, model: ModelSettings, arguments: Namespace) -> TrialRequest:
    request = TrialRequest(
        draft=draft.id,
        settings=model,
        cases=(),
        rounds=arguments.repeats,
        goal=TrialGoal.FULL if arguments.no_early_stop else TrialGoal.QUICK,
        seed=arguments.seed,
        max_cost_usd=arguments.max_cost,
    )
    return await trial_of_affected_cases(engine, draft, request, suites=arguments.suite, guards=arguments.guards)


async def tried(
    engine: Engine, request: TrialRequest, keys: dict[str, Secret], arguments: Namespace, terminal: Terminal
) -> tuple[Batch, TrialResult]:
    """Start a trial, follow it, and return what it has shown."""
    if not request.settings.offline and request.cases:
        tell_run_estimate(await engine.trials.estimate(request), terminal)
    start = with_consent(engine, arguments, terminal, lambda: engine.trials.start(request, keys))
    batch = await followed(engine, terminal, start, arguments)
    await write_verdict(engine, batch, arguments, terminal)
    return batch, await engine.trials.result(batch.id)


async def tell_trial(engine: Engine, found: Trials, terminal: Terminal) -> None:
    """Print what trials have shown."""
    shapes = []
    for batch, result in found:
        runs = await engine.runs.list(RunFilter(batch_id=batch.id))
        shapes.append(trial_to_json(result, runs))
        terminal.say(*_lines(batch, result))
    joint = joint_sentence([result for _, result in found])
    if len(found) > 1:
        terminal.say(joint)
    terminal.document(shapes[0] if len(found) == 1 else {"trials": shapes, "sentence": joint})


def _lines(batch: Batch, result: TrialResult) -> list[str]:
    what = f"{counted(len(result.outcomes), 'case')}, and {result.guards:,} that must not change"
    lines = [
        f"{result.draft_name} with {result.model}: {what}",
        *trial_sentences(result),
        share_line(result.criterion.value.replace("_", " "), result.shares),
    ]
    return [*lines, f"Stopped early: {batch.stopped}"] if batch.stopped else lines


def trial_code(found: Trials, *, strict: bool = False) -> int:
    """Return the exit code of trials."""
    if any(_is_unreached(*one) for one in found):
        return UNREACHED
    if any(result.claims.worse for _, result in found):
        return FAILED
    return _strict_code([result.claims.on_these_cases.verdict for _, result in found]) if strict else DONE


def _is_unreached(batch: Batch, result: TrialResult) -> bool:
    """Return True if the model did not answer; a tool that is not offered is no fault of the model."""
    failed = result.left_out > result.not_offered
    return (batch.stopped or "").startswith(GAVE_UP) or (failed and not result.pairs)


def _strict_code(verdicts: Sequence[ClaimVerdict]) -> int:
    if set(verdicts) == {ClaimVerdict.BETTER}:
        return DONE
    return CANNOT_TELL if ClaimVerdict.CANNOT_TELL_YET in verdicts else FAILED
