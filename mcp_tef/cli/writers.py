"""Options of `recommend` and `quality` for the model that writes or reviews, and the estimate of its cost."""

from argparse import Namespace

from mcp_tef import Estimate, ModelSettings, parse_model
from mcp_tef.cli.arguments import Parser
from mcp_tef.cli.terminal import Terminal
from mcp_tef.cli.words import counted


def add_writer_options(parser: Parser, summary: str) -> None:
    """One model at most, and how it is called."""
    parser.add_argument("--model", metavar="PROVIDER/NAME", help=summary)
    parser.add_argument("--base-url", metavar="U", help="the address of a local or compatible server")
    parser.add_argument("--timeout", type=int, default=60, metavar="S", help="seconds for one answer (default: 60)")
    parser.add_argument("--temperature", type=float, default=0.4, metavar="T", help="0 to 2 (default: 0.4)")
    parser.add_argument("--retries", type=int, default=3, metavar="N", help="further attempts (default: 3)")


def writer(arguments: Namespace) -> ModelSettings | None:
    """The model that was asked for, with its settings; None where none was."""
    if not arguments.model:
        return None
    provider, name = parse_model(arguments.model)
    return ModelSettings(
        provider=provider,
        model=name,
        timeout=arguments.timeout,
        temperature=arguments.temperature,
        max_retries=arguments.retries,
        base_url=arguments.base_url,
    )


def tell_estimate(estimate: Estimate, model: ModelSettings, terminal: Terminal) -> None:
    """Write the estimated cost of the requests before they are sent."""
    tokens = "" if estimate.tokens is None else f", about {estimate.tokens:,} tokens"
    cost = "at an unknown price" if estimate.cost_usd is None else f"for about ${estimate.cost_usd:.4f}"
    terminal.note(f"Asking {model.label} {counted(estimate.runs, 'time')}{tokens}, {cost}.")
