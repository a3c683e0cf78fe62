"""Options for models, prompts, cost, keys and workers, what is made of them, and lines that tell the estimate."""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_tef import (
    MAX_TOKENS,
    RETRIES,
    TARGET_PROVIDERS,
    TEMPERATURE,
    TIMEOUT,
    WRITING_TIMEOUT_S,
    Config,
    InputError,
    ModelSettings,
    PromptKind,
    keys_by_name,
    parse_model,
    parse_prices,
)
from mcp_tef.cli.arguments import add_list_option, add_run_fields
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.session import add_consent_options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from mcp_tef import Cluster, Engine, Estimate, RunField, Secret
    from mcp_tef.cli.arguments import Parser
    from mcp_tef.cli.terminal import Terminal


KEY_LINES = "read the provider's key from standard input; of several, a line PROVIDER=KEY or PROVIDER@URL=KEY each"
CLIENT = "show the tools as this client does; see clients"


def add_base_url(parser: Parser) -> None:
    """Add the option for the address of a model."""
    parser.add_argument("--base-url", metavar="U", help="the address of a local or compatible server")


def add_model_options(parser: Parser, *fields: RunField[Any]) -> None:
    """Add the options for the models to ask, and how they are called."""
    add_list_option(parser, "--model", "PROVIDER/NAME", "default: the baseline")
    add_base_url(parser)
    add_run_fields(parser, TIMEOUT, TEMPERATURE, RETRIES, *fields)


def add_one_model_options(parser: Parser, summary: str, *fields: RunField[Any], **more: Any) -> None:
    """Add the options for one model at most, and how it is called."""
    parser.add_argument("--model", metavar="PROVIDER/NAME", help=summary, **more)
    add_base_url(parser)
    add_run_fields(parser, *fields)


def add_writer_options(parser: Parser, summary: str) -> None:
    """Add the options for one model at most that writes or reviews, with its cost."""
    add_one_model_options(parser, summary, replace(TIMEOUT, default=WRITING_TIMEOUT_S), TEMPERATURE, RETRIES)
    add_cost_options(parser)


def add_test_options(parser: Parser, seeded: str, *fields: RunField[Any]) -> None:
    """Add what trials, searches for a text and crowd tests share: cases, models, seed, workers, cost and keys."""
    add_list_option(parser, "--suite", "S", "only cases of this suite")
    add_model_options(parser, *fields)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=f"seed of {seeded} (0)")
    add_cluster_options(parser)
    add_cost_options(parser)
    add_key_options(parser)


def require_not_negative(arguments: Namespace, *names: str) -> None:
    """Raise InputError where one of these numbers is below 0."""
    if min(getattr(arguments, name) for name in names) < 0:
        options = " and ".join(f"--{name}" for name in names)
        raise InputError(f"{options} must be 0 or more.", hint="Correct the number.", code="bad_usage")


def add_cluster_options(parser: Parser) -> None:
    """Add the options for the workers of a Dask cluster."""
    where = "work on N processes (local:N), or those of a Dask scheduler (tls://HOST:PORT)"
    parser.add_argument("--cluster", metavar="C", help=where)
    parser.add_argument("--insecure-cluster", action="store_true", help="allow a scheduler without TLS")


@asynccontextmanager
async def on_cluster(
    engine: Engine, arguments: Namespace, terminal: Terminal, does: str = "ask the models"
) -> AsyncIterator[Cluster | None]:
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


def add_key_option(parser: Parser) -> None:
    """Add the option for the key of one provider."""
    parser.add_argument("--key-stdin", action="store_true", help="read the provider's key from standard input")


def add_cost_options(parser: Parser) -> None:
    """Add the options that bound what models cost."""
    parser.add_argument("--max-cost", type=float, metavar="USD", help="start nothing that could cost more in all")
    add_run_fields(parser, MAX_TOKENS)
    parser.add_argument(
        "--price", type=parse_prices, metavar="IN,OUT", help="$ per million tokens, where the price is not known"
    )


def add_variable_option(parser: Parser, summary: str) -> None:
    """Add the option for variables of prompts."""
    add_list_option(parser, "--var", "NAME=VALUE", summary, type=_pair)


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


def with_models(settings: ModelSettings, texts: Iterable[str]) -> tuple[ModelSettings, ...]:
    """Return the settings once for each model that texts name."""
    parsed = [parse_model(text) for text in dict.fromkeys(texts)]
    return tuple(replace(settings, provider=provider, model=name) for provider, name in parsed)


def asked_models(arguments: Namespace) -> tuple[ModelSettings, ...]:
    """Return the models of the options, else the default one, with the settings that they share."""
    return with_models(model_settings(arguments), default_models(arguments))


def default_models(arguments: Namespace) -> list[str]:
    """Return the names of the models of the options, else the name of the default one."""
    return arguments.model or [Config.from_environment(os.environ).default_model.label]


def as_clients_ask(engine: Engine, given: Sequence[ModelSettings], names: Sequence[str]) -> tuple[ModelSettings, ...]:
    """Return each model once for each client, or as it is where no client is named."""
    labels = list(dict.fromkeys(engine.clients.find(name).label for name in names)) or [""]
    return tuple(replace(model, client=label) for model in given for label in labels)


def writer(arguments: Namespace) -> ModelSettings | None:
    """Return the model of the options with its settings; None where none is named."""
    return with_models(model_settings(arguments), [arguments.model])[0] if arguments.model else None


def read_keys(
    arguments: Namespace, terminal: Terminal, providers: Iterable[str], *, by_name: bool = False
) -> dict[str, Secret]:
    """Read keys from standard input; return nothing where --key-stdin is absent.

    The only provider takes one line. Several, groups and routers take lines `PROVIDER=KEY` or `PROVIDER@ADDRESS=KEY`,
    as does one `by_name`.
    """
    if not arguments.key_stdin:
        return {}
    names = sorted(set(providers))
    if not names:
        raise InputError("--key-stdin brings a key, but no model is to be asked.", hint="Name one with --model.")
    if len(names) == 1 and names[0] not in TARGET_PROVIDERS and not by_name:
        return {names[0]: terminal.read_key(f"Key for {names[0]}: ")}
    return keys_by_name(terminal.read_keys("PROVIDER=KEY, an empty line ends: "))


def read_keys_of(models: Iterable[ModelSettings], arguments: Namespace, terminal: Terminal) -> dict[str, Secret]:
    """Read the keys of models as `read_keys` does, by name where they have several addresses; baselines take none."""
    places = {model.destination for model in models if not model.offline}
    providers = {place.provider for place in places}
    return read_keys(arguments, terminal, providers, by_name=len(places) > len(providers))


def allow_typed_addresses(engine: Engine, typed: Iterable[ModelSettings], arguments: Namespace | None = None) -> None:
    """Note which addresses of models were typed in this command: that allows sending their key there."""
    project = getattr(arguments, "project", None)
    if project and "base_url" in project.options:
        return
    for model in typed:
        if model.base_url:
            engine.consents.add_typed_address(model.provider, model.base_url)


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
