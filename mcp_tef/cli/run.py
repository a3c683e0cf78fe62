"""`run`: cases × models × repeats, started, followed and told."""

import os
from argparse import Namespace
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import (
    CONCURRENCY,
    REPEATS,
    RETRIES,
    SEED,
    TARGET_PROVIDERS,
    TEMPERATURE,
    TIMEOUT,
    BatchRequest,
    CallingMode,
    Config,
    InputError,
    ModelSettings,
    Secret,
    ToolChoiceMode,
    is_baseline,
    keys_by_name,
    parse_model,
)
from mcp_tef.cli.arguments import Parser, Verbs, add_run_fields, add_verb
from mcp_tef.cli.batches import add_report_options, follow
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.model_options import add_cost_options, add_variable_option, model_settings, tell_run_estimate
from mcp_tef.cli.project_file import SOURCES, named_source
from mcp_tef.cli.session import add_consent_options, agree, opened, with_consent
from mcp_tef.cli.terminal import Terminal

if TYPE_CHECKING:
    from mcp_tef import Batch, Cluster, Engine, PromptTemplate, TestCase

KEY_LINES = "read the provider's key from standard input; of several, a line PROVIDER=KEY or PROVIDER@URL=KEY each"


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
    parser.add_argument(
        "--shard",
        type=shard,
        metavar="I/N",
        help="only every N-th of these cases, from the I-th; `runs merge` makes one batch of the parts",
    )
    add_model_options(parser)
    add_run_fields(parser, REPEATS, CONCURRENCY)
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
    parser.add_argument("--suite", action="append", default=[], metavar="S", help="cases of this suite")
    parser.add_argument("--case", action="append", default=[], metavar="ID", help="one case, by id or name")
    parser.add_argument("--tag", action="append", default=[], metavar="T", help="cases with this tag")


def add_model_options(parser: Parser) -> None:
    """Add the options that select models and set how they are called."""
    parser.add_argument("--model", action="append", default=[], metavar="PROVIDER/NAME", help="default: the baseline")
    parser.add_argument("--base-url", metavar="U", help="the address of a local or compatible server")
    parser.add_argument(
        "--client", action="append", default=[], metavar="NAME", help="show the tools as this client does; see clients"
    )
    add_run_fields(parser, TIMEOUT, TEMPERATURE, RETRIES, SEED)
    modes, choices = ([one.value for one in kind] for kind in (CallingMode, ToolChoiceMode))
    parser.add_argument("--mode", choices=modes, default=modes[0], help="call tools natively or by JSON text")
    parser.add_argument("--tool-choice", choices=choices, default=choices[0], help="if a tool must be called")
    parser.add_argument("--prompt", action="append", default=[], metavar="NAME[@N]", help="ask with this; see prompts")
    add_variable_option(parser, "a value of a variable of the prompt")
    parser.add_argument("--system-prompt", metavar="TEXT|@FILE", help="put this before the instructions")
    parser.add_argument("--through", choices=["litellm"], help="ask every model through it, and none directly")


def add_cluster_options(parser: Parser) -> None:
    """Add the options for the workers of a Dask cluster."""
    parser.add_argument(
        "--cluster",
        metavar="C",
        help="work on N processes (local:N), or those of a Dask scheduler (tls://HOST:PORT)",
    )
    parser.add_argument("--insecure-cluster", action="store_true", help="allow a scheduler elsewhere without TLS")


@asynccontextmanager
async def on_cluster(
    engine: "Engine", arguments: Namespace, terminal: Terminal, does: str = "ask the models"
) -> AsyncIterator["Cluster | None"]:
    """Use the cluster of the options while the context is open, if there is one."""
    if not arguments.cluster:
        yield None
        return
    from mcp_tef import cluster_for

    async with cluster_for(engine, arguments.cluster, insecure=arguments.insecure_cluster) as cluster:
        terminal.note(f"{counted(cluster.workers, 'worker')} of {arguments.cluster} {does}.")
        yield cluster


def add_key_options(parser: Parser) -> None:
    """Add the options for keys and consent; a key itself is never an argument."""
    parser.add_argument("--key-stdin", action="store_true", help=KEY_LINES)
    add_consent_options(parser, asks_models=True)


async def run_asked(arguments: Namespace, terminal: Terminal) -> int:
    """Run what the options name, or every target of the project file."""
    if not arguments.all:
        return await run(arguments, terminal)
    from mcp_tef.cli.targets import run_all

    return await run_all(arguments, terminal, run)


async def run(arguments: Namespace, terminal: Terminal) -> int:
    """Start a batch, follow it, and tell its verdicts and figures."""
    given = models(arguments)
    keys = read_keys(arguments, terminal, (model.provider for model in given if not model.offline))
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
        await agree_to_servers(engine, cases, arguments, terminal)
        if arguments.stateless:
            await _warn(engine, cases, terminal)
        allow_typed_addresses(engine, given, arguments)
        if not all(model.offline for model in given):
            tell_run_estimate(await engine.runs.estimate(request), terminal)
        async with on_cluster(engine, arguments, terminal):
            start = with_consent(engine, arguments, terminal, lambda: _started(engine, request, keys))
            return (await follow(engine, terminal, start, arguments))[1]


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
    named = default_models(arguments)
    settings = replace(
        model_settings(arguments),
        seed=arguments.seed,
        mode=CallingMode(arguments.mode),
        tool_choice=ToolChoiceMode(arguments.tool_choice),
        system_prompt=_text(arguments.system_prompt),
    )
    parsed = [parse_model(text) for text in dict.fromkeys(named)]
    return tuple(replace(settings, provider=provider, model=name) for provider, name in parsed)


def as_clients_ask(engine: "Engine", given: Sequence[ModelSettings], names: Sequence[str]) -> tuple[ModelSettings, ...]:
    """Return each model once for each client, or as it is where no client is named."""
    labels = list(dict.fromkeys(engine.clients.find(name).label for name in names)) or [""]
    return tuple(replace(model, client=label) for model in given for label in labels)


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


def default_models(arguments: Namespace) -> list[str]:
    """Return the names of the models of the options, else the name of the default one."""
    return arguments.model or [Config.from_environment(os.environ).default_model.label]


def _text(given: str | None) -> str | None:
    """Return a text as it was typed, or that of the file after `@`."""
    if given is None or not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"The system prompt {given[1:]} cannot be read.", hint="Name a UTF-8 text file.") from None


def read_keys(arguments: Namespace, terminal: Terminal, providers: Iterable[str]) -> dict[str, Secret]:
    """Read keys from standard input; return nothing where --key-stdin is absent.

    The only provider takes one line. Several, groups and routers take lines `PROVIDER=KEY` or `PROVIDER@ADDRESS=KEY`.
    """
    if not arguments.key_stdin:
        return {}
    names = sorted(set(providers))
    if not names:
        raise InputError("--key-stdin brings a key, but no model is to be asked.", hint="Name one with --model.")
    if len(names) == 1 and names[0] not in TARGET_PROVIDERS:
        return {names[0]: terminal.read_key(f"Key for {names[0]}: ")}
    return keys_by_name(terminal.read_keys("PROVIDER=KEY, an empty line ends: "))


async def wanted_cases(engine: "Engine", arguments: Namespace) -> list["TestCase"]:
    """Return the cases of the named suites, tags and ids; InputError where there is none."""
    named = await engine.cases.named(arguments.case)
    groups = bool(arguments.suite or arguments.tag) or not named
    grouped = await engine.cases.in_groups(arguments.suite, arguments.tag) if groups else ()
    cases = {case.id: case for case in (*named, *grouped)}
    if not cases:
        raise InputError("There is no test case to run.", hint="Import some with: mcp-tef cases import FILE")
    return list(cases.values())


def allow_typed_addresses(engine: "Engine", typed: Iterable[ModelSettings], arguments: Namespace | None = None) -> None:
    """Note which addresses of models were typed in this command: that allows sending their key there."""
    project = getattr(arguments, "project", None)
    if project and "base_url" in project.options:
        return
    for model in typed:
        if model.base_url:
            engine.consents.add_typed_address(model.provider, model.base_url)


async def agree_to_servers(
    engine: "Engine", cases: Iterable["TestCase"], arguments: Namespace, terminal: Terminal
) -> None:
    """Get consent for the servers of these cases."""
    names = sorted({name for case in cases for name in case.draft.servers})
    specs = [(await engine.servers.find(name)).spec for name in names]
    await agree(engine, specs, arguments, terminal)
