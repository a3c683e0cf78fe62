"""Options for what models cost, and for the one that writes or reviews; the estimate of its cost."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_tef import (
    MAX_TOKENS,
    RETRIES,
    TEMPERATURE,
    TIMEOUT,
    WRITING_TIMEOUT_S,
    InputError,
    ModelSettings,
    PromptKind,
    parse_model,
    parse_prices,
)
from mcp_tef.cli.arguments import add_run_fields
from mcp_tef.cli.formatting import counted

if TYPE_CHECKING:
    from mcp_tef import Engine, Estimate
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
