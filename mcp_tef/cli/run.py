"""`run`: cases × models × repeats, started, followed and told."""

from argparse import Namespace
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import (
    CONCURRENCY,
    REPEATS,
    SEED,
    BatchRequest,
    CallingMode,
    InputError,
    ModelSettings,
    Secret,
    ToolChoiceMode,
    is_baseline,
)
from mcp_tef.cli.arguments import Parser, Verbs, add_list_option, add_suite_options, add_verb
from mcp_tef.cli.batches import add_report_options, follow
from mcp_tef.cli.model_options import (
    CLIENT,
    add_cluster_options,
    add_cost_options,
    add_key_options,
    add_model_options,
    add_variable_option,
    allow_typed_addresses,
    as_clients_ask,
    default_models,
    model_settings,
    on_cluster,
    read_keys_of,
    tell_run_estimate,
    with_models,
)
from mcp_tef.cli.output_files import project_results
from mcp_tef.cli.project_consent import ProjectAgreement, agree_to_project, within_agreed_cost
from mcp_tef.cli.project_file import SOURCES, named_source
from mcp_tef.cli.session import agree, opened, wanted_cases, with_consent
from mcp_tef.cli.terminal import Terminal

if TYPE_CHECKING:
    from mcp_tef import Batch, Engine, PromptTemplate, TestCase


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "run", "run test cases against models, and judge what they select", run_asked)
    parser.takes_project_file = True
    parser.set_defaults(own_parser=parser, typed=frozenset())
    parser.add_argument("--all", action="store_true", help="run every target of the project file, see [[targets]]")
    parser.add_argument("--changed-from", metavar="REF", help="with --all: only targets that changed since this commit")
    add_stateless_options(parser)
    add_choice_options(parser)
    parser.add_argument("--name", default="", metavar="NAME", help="a name for the batch")
    part = "only every N-th of these cases, from the I-th; `runs merge` makes one batch of the parts"
    parser.add_argument("--shard", type=shard, metavar="I/N", help=part)
    add_model_options(parser, SEED, REPEATS, CONCURRENCY)
    _add_asking_options(parser)
    add_cluster_options(parser)
    add_cost_options(parser)
    add_key_options(parser)
    add_report_options(parser)


def shard(text: str) -> tuple[int, int]:
    """Parse `I/N`, the I-th of N parts; InputError."""
    number, slash, whole = text.partition("/")
    if not (slash and number.isdecimal() and whole.isdecimal()):
        raise InputError(f"--shard {text} is not a part such as 2/4.", hint="Write the part, a slash, and how many.")
    from mcp_tef import part_of

    part_of((), int(number), int(whole))
    return int(number), int(whole)


def add_stateless_options(parser: Parser) -> None:
    """Add the options that take the place of a workspace."""
    group = parser.add_argument_group(
        "without a workspace", "Name a source of tools and a case file; nothing is kept. Several sources need names."
    )
    for option, metavar, text in (
        ("--server-command", "[NAME=]C", "a stdio server, as you would type its command"),
        ("--url", "[NAME=]U", "the address of an HTTP server"),
        ("--tools-file", "[NAME=]F", "a saved tools/list answer, or an array of tools"),
    ):
        group.add_argument(option, action="append", default=[], type=named_source, metavar=metavar, help=text)
    group.add_argument("--cases", type=Path, metavar="F", help="the case file")


def is_stateless(arguments: Namespace) -> bool:
    """Return True if the options take the place of a workspace; InputError where they are incomplete."""
    has_source = any(getattr(arguments, name) for name in SOURCES)
    if has_source is not bool(arguments.cases):
        missing = "--cases F is" if has_source else "--server-command, --url or --tools-file is"
        raise InputError(f"A run without a workspace needs both, and {missing} missing.", code="bad_usage")
    if has_source and (arguments.workspace or arguments.recover):
        raise InputError("A run with --cases keeps no workspace.", hint="Leave out --workspace.", code="bad_usage")
    return has_source


def add_choice_options(parser: Parser) -> None:
    """Add the options that select cases; the default is every case."""
    add_suite_options(parser)
    add_list_option(parser, "--case", "ID", "this case, by id or name, beside those of --suite and --tag")


def _add_asking_options(parser: Parser) -> None:
    """Add the options for how models are asked."""
    add_list_option(parser, "--client", "NAME", CLIENT)
    modes, choices = ([one.value for one in kind] for kind in (CallingMode, ToolChoiceMode))
    parser.add_argument("--mode", choices=modes, default=modes[0], help="call tools natively or by JSON text")
    parser.add_argument("--tool-choice", choices=choices, default=choices[0], help="if a tool must be called")
    add_list_option(parser, "--prompt", "NAME[@N]", "ask with this; see prompts")
    add_variable_option(parser, "a value of a variable of the prompt")
    parser.add_argument("--system-prompt", metavar="TEXT|@FILE", help="put this before the instructions")
    parser.add_argument("--through", choices=["litellm"], help="ask every model through it, and none directly")


async def run_asked(arguments: Namespace, terminal: Terminal) -> int:
    """Run what the options name, or every target of the project file."""
    arguments.agreement = ProjectAgreement()
    if not arguments.all:
        return await run(arguments, terminal)
    from mcp_tef.cli.targets import run_all

    return await run_all(arguments, terminal, run, models)


async def run(arguments: Namespace, terminal: Terminal) -> int:
    """Start a batch, follow it, and tell its verdicts and figures."""
    with project_results(arguments, terminal):
        return await _run(arguments, terminal)


async def _run(arguments: Namespace, terminal: Terminal) -> int:
    given = models(arguments)
    keys = read_keys_of(given, arguments, terminal)
    async with run_workspace(arguments, terminal) as engine:
        cases = await wanted_cases(engine, arguments)
        name = arguments.name or ", ".join((*arguments.suite, *arguments.tag))
        if arguments.shard:
            from mcp_tef import part_name, part_of

            cases, name = part_of(cases, *arguments.shard), part_name(name, *arguments.shard)
        given = as_clients_ask(engine, given, arguments.client)
        given = await with_prompts(engine, given, arguments, terminal)
        request = BatchRequest(
            cases=tuple(case.id for case in cases),
            models=given,
            repeats=arguments.repeats,
            concurrency=arguments.concurrency,
            max_cost_usd=arguments.max_cost,
            name=name,
        )
        _tell_sources(given, arguments, terminal)
        allow_typed_addresses(engine, given, arguments)
        await _agree(engine, cases, request, keys, arguments, terminal)
        if arguments.stateless:
            await _warn(engine, cases, terminal)
        request = await within_agreed_cost(engine, request, arguments, terminal)
        if not all(model.offline for model in given):
            tell_run_estimate(await engine.runs.estimate(request), terminal)
        async with on_cluster(engine, arguments, terminal):
            start = with_consent(engine, arguments, terminal, lambda: _started(engine, request, keys))
            return (await follow(engine, terminal, start, arguments))[1]


async def _agree(
    engine: "Engine",
    cases: Sequence["TestCase"],
    request: BatchRequest,
    keys: dict[str, Secret],
    arguments: Namespace,
    terminal: Terminal,
) -> None:
    """Get consent for what a project file names, in one question, then for servers, and let the user sign in."""
    engine.consents.allow_named(arguments.allow_program, arguments.allow_origin)
    specs = [(await engine.servers.find(name)).spec for name in sorted({s for c in cases for s in c.draft.servers})]
    await agree_to_project(engine, specs, request, keys, arguments, terminal)
    await agree(engine, specs, arguments, terminal)


async def _started(engine: "Engine", request: BatchRequest, keys: dict[str, Secret]) -> "Batch":
    """Start a batch; InputError for a key that none of its models takes."""
    if keys:
        engine.models.require_meant(await engine.targets.expand(request.models), keys)
    return await engine.runs.start(request, keys)


def run_workspace(arguments: Namespace, terminal: Terminal) -> AbstractAsyncContextManager["Engine"]:
    """Open the workspace, or one that ends with the command."""
    arguments.stateless = is_stateless(arguments)
    if not arguments.stateless:
        return opened(arguments, terminal)
    from mcp_tef.cli.stateless import stateless

    return stateless(arguments, terminal)


def _tell_sources(given: Sequence[ModelSettings], arguments: Namespace, terminal: Terminal) -> None:
    if arguments.project:
        terminal.note(f"Options of {arguments.project.path} apply.")
    if not arguments.model and is_baseline(given[0].label):
        terminal.note(f"No --model was given, so {given[0].label} selects the tools: a baseline, not a model.")


async def _warn(engine: "Engine", cases: list["TestCase"], terminal: Terminal) -> None:
    from mcp_tef.cli.stateless import warn_of_cases

    await warn_of_cases(engine, cases, terminal)


def models(arguments: Namespace) -> tuple[ModelSettings, ...]:
    """Return the models of the options, else the default one, with the settings of this run."""
    settings = replace(
        model_settings(arguments),
        seed=arguments.seed,
        mode=CallingMode(arguments.mode),
        tool_choice=ToolChoiceMode(arguments.tool_choice),
        system_prompt=_system_prompt(arguments),
    )
    return with_models(settings, default_models(arguments))


async def with_prompts(
    engine: "Engine", given: Sequence[ModelSettings], arguments: Namespace, terminal: Terminal
) -> tuple[ModelSettings, ...]:
    """Return each model once for each prompt, or as it is where no prompt is named; a baseline reads none."""
    values, labels = dict(arguments.var), list(dict.fromkeys(arguments.prompt))
    _require_fitting(values, arguments)
    if not labels:
        return tuple(given)
    models = {model.label for model in given}
    for label in labels:
        _tell_purpose(await engine.prompts.find(label), models, terminal)
    asked = [await engine.prompts.applied(model, label, values) for model in given for label in labels]
    return tuple(dict.fromkeys(asked))


def _tell_purpose(template: "PromptTemplate", models: Collection[str], terminal: Terminal) -> None:
    if template.model and template.model not in models:
        terminal.note(f"{template.label} is meant for {template.model}.")


def _require_fitting(values: Mapping[str, str], arguments: Namespace) -> None:
    if arguments.prompt and arguments.system_prompt:
        message = "--system-prompt and --prompt both set the instructions."
        raise InputError(message, hint="Leave one of them out.", code="bad_usage")
    if values and not arguments.prompt:
        raise InputError("--var sets a variable of a prompt.", hint="Add --prompt NAME.", code="bad_usage")


def _system_prompt(arguments: Namespace) -> str | None:
    """Return a text as it was typed, or that of the file after `@`; that of a project file is read already."""
    given: str | None = arguments.system_prompt
    if given is None or not given.startswith("@") or (arguments.project and arguments.project.sets("system_prompt")):
        return given
    try:
        return Path(given[1:]).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"The system prompt {given[1:]} cannot be read.", hint="Name a UTF-8 text file.") from None
