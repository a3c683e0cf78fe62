"""`overlap`: what tools share, by meaning, parameters and words, weighed as asked."""

import asyncio
from argparse import Namespace

from mcp_tef import InputError, OverlapWeights
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.outputs import output_name, writable
from mcp_tef.cli.session import opened
from mcp_tef.cli.similarity_words import overlap_lines
from mcp_tef.cli.terminal import Terminal
from mcp_tef.cli.tool_sources import add_embedder_options, add_source_options, analyse, code_of, gather, keys_for


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "overlap", "what tools share, by meaning, parameters and words, and why", overlap)
    add_source_options(parser)
    add_embedder_options(parser, "--base-url")
    parser.add_argument(
        "--weights",
        type=weights,
        default=OverlapWeights(),
        metavar="S,P,D",
        help="how much meaning, parameters and words count (default: 0.5,0.3,0.2)",
    )
    parser.add_argument("--limit", type=count, default=20, metavar="N", help="pairs to explain (default: 20)")
    parser.add_argument("--out", type=writable, metavar="F", help="write everything to F: .csv, .html, else as JSON")


def weights(text: str) -> OverlapWeights:
    """Three numbers that are not negative and not all 0."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) != 3 or not all(0 <= value < float("inf") for value in values) or not any(values):
        raise InputError(f"{text} are not three weights.", hint="Write for example 0.5,0.3,0.2.", code="bad_usage")
    return OverlapWeights(*values)


def count(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"{text} is not a number of pairs.", hint="Write for example 20.", code="bad_usage")
    return int(text)


async def overlap(arguments: Namespace, terminal: Terminal) -> int:
    """Tell the pairs that share most, each with the reason; 3 where a server could not be read."""
    from mcp_tef import AnalysisReports, overlap_json

    keys = keys_for(arguments, terminal)
    async with opened(arguments, terminal) as engine:
        tool_set = await gather(engine, arguments, terminal)
        found = await analyse(engine, tool_set, arguments, terminal, keys, full=False)
        shared = await engine.similarity.overlap(found, arguments.weights)
        if arguments.out:
            await AnalysisReports().write_overlap(found, shared, arguments.out, limit=arguments.limit)
    if terminal.json:
        terminal.document_text(await asyncio.to_thread(overlap_json, found, shared, arguments.limit))
    else:
        pairs = await asyncio.to_thread(lambda: list(shared.most_overlapping(arguments.limit)))
        terminal.say(*overlap_lines(found, arguments.weights, pairs))
    if arguments.out:
        terminal.say("", f"Everything was written to {output_name(arguments.out)}.")
    return code_of(tool_set)
