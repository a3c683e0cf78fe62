"""Options of several verbs: prices of models, the writing model, its estimate, tools to analyse, and the embedder."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_tef import (
    MAX_TOKENS,
    RETRIES,
    TEMPERATURE,
    TIMEOUT,
    WRITING_TIMEOUT_S,
    Config,
    EmbedderKind,
    FlagRule,
    InputError,
    MatrixKind,
    ModelSettings,
    PromptKind,
    ReachError,
    SourceKind,
    ToolSource,
    open_regular_file,
    parse_embedder,
    parse_model,
    parse_prices,
)
from mcp_tef.cli.arguments import add_run_fields, share
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.output_files import require_other
from mcp_tef.cli.session import add_consent_options, agree, with_consent
from mcp_tef.cli.terminal import unreachable

if TYPE_CHECKING:
    from mcp_tef import EmbedderChoice, Engine, Estimate, Secret, ServerSpec, Similarity, ToolSet
    from mcp_tef.cli.arguments import Parser
    from mcp_tef.cli.terminal import Terminal


def add_writer_options(parser: Parser, summary: str) -> None:
    """One model at most, and how it is called."""
    parser.add_argument("--model", metavar="PROVIDER/NAME", help=summary)
    parser.add_argument("--base-url", metavar="U", help="the address of a local or compatible server")
    add_run_fields(parser, replace(TIMEOUT, default=WRITING_TIMEOUT_S), TEMPERATURE, RETRIES)
    add_cost_options(parser)


def add_cost_options(parser: Parser) -> None:
    """Add the options that bound what models cost."""
    parser.add_argument("--max-cost", type=float, metavar="USD", help="start nothing that could cost more in all")
    add_run_fields(parser, MAX_TOKENS)
    parser.add_argument(
        "--price", type=parse_prices, metavar="IN,OUT", help="$ per million tokens, where the price is not known"
    )


def add_variable_option(parser: Parser, summary: str) -> None:
    """Add the option for variables of prompts."""
    parser.add_argument("--var", action="append", default=[], type=_pair, metavar="NAME=VALUE", help=summary)


def add_prompt_options(parser: Parser, kind: PromptKind) -> None:
    """Add the options for the prompt that a model writes or reviews with."""
    parser.add_argument("--prompt", metavar="NAME[@N]", help=f"ask it with this prompt of the kind {kind}; see prompts")
    add_variable_option(parser, "a value of a variable of the prompt")


async def asked_with_prompt(
    engine: Engine, model: ModelSettings | None, arguments: Namespace, kind: PromptKind, option: str = "--model"
) -> ModelSettings | None:
    """Return the model with the prompt of the options, or as it is. InputError where the prompt is for no model."""
    values = dict(arguments.var)
    if values and not arguments.prompt:
        raise InputError("--var sets a variable of a prompt.", hint="Add --prompt NAME.", code="bad_usage")
    if model is None and arguments.prompt:
        raise InputError("--prompt is for a model, and none is named.", hint=f"Add {option} NAME.", code="bad_usage")
    if model is None or not arguments.prompt:
        return model
    return await engine.prompts.applied(model, arguments.prompt, values, (kind,))


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"“{text}” sets no variable.", hint="Write NAME=VALUE.", code="bad_usage")
    return name.strip(), value


def model_settings(arguments: Namespace) -> ModelSettings:
    """Return the settings that all models of the options share."""
    input_price, output_price = arguments.price or (None, None)
    return ModelSettings(
        timeout=arguments.timeout,
        temperature=arguments.temperature,
        max_retries=arguments.retries,
        base_url=arguments.base_url,
        max_tokens=arguments.max_tokens,
        input_price=input_price,
        output_price=output_price,
    )


def writer(arguments: Namespace) -> ModelSettings | None:
    """Return the model of the options with its settings; None where none is named."""
    if not arguments.model:
        return None
    provider, name = parse_model(arguments.model)
    return replace(model_settings(arguments), provider=provider, model=name)


def tell_run_estimate(estimate: Estimate, terminal: Terminal) -> None:
    """Write the estimated number of runs, tokens and cost before the first call."""
    terminal.note(f"{counted(estimate.runs, 'run')}{_size_and_cost(estimate)}.")


def tell_estimate(estimate: Estimate, model: ModelSettings, terminal: Terminal) -> None:
    """Write the estimated cost of the requests before they are sent."""
    terminal.note(f"Asking {model.label} {counted(estimate.runs, 'time')}{_size_and_cost(estimate)}.")


def _size_and_cost(estimate: Estimate) -> str:
    tokens = "" if estimate.tokens is None else f", about {estimate.tokens:,} tokens"
    cost = "at an unknown price" if estimate.cost_usd is None else f"for about ${estimate.cost_usd:.4f}"
    return f"{tokens}, {cost}"


DONE, UNREACHED = 0, 3
SOURCES = (
    ("--server", "N", "registered servers, by name"),
    ("--url", "U", "addresses of servers"),
    ("--tools-file", "F", "saved tools/list answers, or arrays of tools"),
)
KINDS = {"server": SourceKind.SERVERS, "url": SourceKind.URLS, "tools_file": SourceKind.FILES}


def add_source_options(parser: Parser) -> None:
    """Add the options for the source of the tools; exactly one kind is allowed."""
    for option, metavar, text in SOURCES:
        parser.add_argument(option, action="extend", nargs="+", default=[], metavar=metavar, help=text)
    add_consent_options(parser, asks_models=True)


def add_embedder_options(parser: Parser) -> None:
    """Add the options that select an embedder."""
    parser.add_argument(
        "--embedder",
        type=parse_embedder,
        metavar="E",
        help="tfidf, fastembed[:MODEL], folder:DIR, litellm:PROVIDER/MODEL or http:URL "
        "(default: fastembed where its model is on this machine, else tfidf)",
    )
    parser.add_argument("--embedder-url", metavar="U", help="address of the provider's embedder")
    parser.add_argument("--key-stdin", action="store_true", help="read the provider's key from standard input")


def add_threshold_option(parser: Parser) -> None:
    """From which similarity on a pair is flagged."""
    parser.add_argument(
        "--threshold",
        type=share,
        metavar="X",
        help="flag pairs whose descriptions are this similar, 0 to 1 (default: pairs of high confusability)",
    )


def flag_rule(engine: Engine, arguments: Namespace) -> FlagRule:
    """Return the rule of the options, else that of the configuration."""
    if arguments.threshold is None:
        return engine.config.flag_rule
    return FlagRule(arguments.threshold, MatrixKind.SIMILARITY)


def source(arguments: Namespace) -> ToolSource:
    """Return the source of the tools; InputError for none, and for several kinds."""
    given = [name for name in KINDS if getattr(arguments, name)]
    if len(given) != 1:
        options = " and ".join(_option(name) for name in given)
        what = f"{options} cannot be mixed" if given else "Nothing says which tools are meant"
        raise InputError(f"{what}.", hint="Give one of --server, --url and --tools-file.", code="bad_usage")
    return ToolSource(kind=KINDS[given[0]], names=tuple(map(str, getattr(arguments, given[0]))))


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


async def gather(
    engine: Engine, arguments: Namespace, terminal: Terminal, *, at_least: int = 2, broken_too: bool = False
) -> ToolSet:
    """Read the tools after consent for programs; note those that could not be read.

    Definitions that were set aside are noted too, unless `broken_too`: the caller shows them.
    """
    wanted = source(arguments)
    if wanted.kind is SourceKind.FILES:
        _require_files(wanted.names)
    if wanted.kind is SourceKind.SERVERS:
        specs = [(await engine.servers.find(name)).spec for name in wanted.names]
        _require_other_files(arguments, specs)
        await agree(engine, specs, arguments, terminal)
    tool_set = await engine.tools.gather(wanted, fresh=True, at_least=at_least, broken_too=broken_too)
    for one in tool_set.unreachable:
        terminal.note(f"Not read: {one.server}: {one.reason} {one.hint}".rstrip())
    for sentence in _set_aside(tool_set, broken_too):
        terminal.note(sentence)
    return tool_set


def _set_aside(tool_set: ToolSet, broken_too: bool) -> Iterator[str]:
    for server, problem in tool_set.problems:
        if problem.place is None:
            yield f"Not read to the end: {server}: {problem.reason}"
        elif not broken_too:
            yield f"Set aside: {server}: {problem.tool or 'a tool without a name'}: {problem.reason}"


def _require_other_files(arguments: Namespace, specs: Sequence[ServerSpec]) -> None:
    if result := getattr(arguments, "out", None):
        require_other(result, *(Path(spec.path) for spec in specs if spec.path))


def _require_files(names: Sequence[str]) -> None:
    for name in names:
        try:
            open_regular_file(Path(name)).close()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise ReachError(f"There is no file {name}.", hint="Check the path.", code="file_unreachable") from None
        except OSError as error:
            raise unreachable(error) from error


def code_of(tool_set: ToolSet) -> int:
    """Done, or 3 where something could not be read: the result is told all the same."""
    return UNREACHED if tool_set.unreachable else DONE


@dataclass(frozen=True, slots=True)
class AskedEmbedder:
    """The embedder that was asked for, None for the best at hand, with the key that it needs."""

    choice: EmbedderChoice | None
    key: Secret | None

    @property
    def options(self) -> dict[str, Any]:
        """As the analyses take it: who names an embedder gets that one or an error."""
        return {"embedder": self.choice, "key": self.key, "strict": self.choice is not None}


async def asked_embedder(
    engine: Engine, arguments: Namespace, terminal: Terminal, keys: Mapping[str, Secret]
) -> AskedEmbedder:
    """Return the embedder that the options select; a missing key is read from the environment or the keychain."""
    choice = named_embedder(arguments)
    if arguments.embedder_url:
        if choice is None or choice.kind is not EmbedderKind.LITELLM:
            raise InputError("--embedder-url is for an embedder of a provider.", hint="Add --embedder litellm:….")
        choice = replace(choice, base_url=arguments.embedder_url)
    provider = provider_of(arguments)
    typed = keys.get(provider)
    engine.consents.add_typed_embedder(choice)

    async def key() -> Secret | None:
        return engine.models.embedder_key(choice, typed)

    return AskedEmbedder(choice, await with_consent(engine, arguments, terminal, key))


def named_embedder(arguments: Namespace) -> EmbedderChoice | None:
    """Return the embedder of the option, else that of the environment; None for the best available."""
    given: EmbedderChoice | None = arguments.embedder
    return given or Config.from_environment(os.environ).embedder


def provider_of(arguments: Namespace) -> str:
    """Return the provider or address that the embedder contacts, or "" for a local one."""
    choice = named_embedder(arguments)
    if choice is None or choice.kind not in (EmbedderKind.LITELLM, EmbedderKind.HTTP):
        return ""
    return choice.target.partition("/")[0] if choice.kind is EmbedderKind.LITELLM else choice.target


def keys_for(arguments: Namespace, terminal: Terminal, others: Iterable[str] = ()) -> dict[str, Secret]:
    """Read the key from standard input, if --key-stdin is given, for the provider that is used."""
    from mcp_tef.cli.run import read_keys

    return read_keys(arguments, terminal, [name for name in (provider_of(arguments), *others) if name])


async def analyse(
    engine: Engine,
    tool_set: ToolSet,
    arguments: Namespace,
    terminal: Terminal,
    keys: Mapping[str, Secret],
    full: bool,
) -> Similarity:
    """Compare the tools; says on stderr what stood in for a missing model."""
    from mcp_tef.cli.progress import Progress

    progress = Progress(terminal)
    similarity = await engine.similarity.analyse(
        tool_set,
        full=full,
        progress=progress.heard,
        **(await asked_embedder(engine, arguments, terminal, keys)).options,
    )
    if similarity.notice:
        terminal.note(similarity.notice)
    return similarity
