"""Options shared by several verbs: the tools to analyse and the embedder that compares them."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_tef import (
    Config,
    EmbedderKind,
    FlagRule,
    InputError,
    MatrixKind,
    ReachError,
    SourceKind,
    ToolSource,
    open_regular_file,
    parse_embedder,
)
from mcp_tef.cli.arguments import UNREACHED, share
from mcp_tef.cli.model_options import add_key_option, read_keys
from mcp_tef.cli.output_files import require_other
from mcp_tef.cli.session import add_consent_options, agree, with_consent
from mcp_tef.cli.terminal import unreachable

if TYPE_CHECKING:
    from mcp_tef import EmbedderChoice, Engine, Secret, ServerSpec, Similarity, ToolSet
    from mcp_tef.cli.arguments import Parser
    from mcp_tef.cli.terminal import Terminal

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
    kinds = "tfidf, fastembed[:MODEL], folder:DIR, litellm:PROVIDER/MODEL or http:URL"
    usual = "(default: fastembed where its model is on this machine, else tfidf)"
    parser.add_argument("--embedder", type=parse_embedder, metavar="E", help=f"{kinds} {usual}")
    parser.add_argument("--embedder-url", metavar="U", help="address of the provider's embedder")
    add_key_option(parser)


def add_threshold_option(parser: Parser) -> None:
    """From which similarity on a pair is flagged."""
    flagged = "flag pairs whose descriptions are this similar, 0 to 1 (default: pairs of high confusability)"
    parser.add_argument("--threshold", type=share, metavar="X", help=flagged)


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
    return UNREACHED if tool_set.unreachable else 0


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
