"""`similarity`: which tools look alike; and the scores of given pairs."""

import asyncio
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import InputError
from mcp_tef.cli import pairs
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.outputs import is_standard_output, output_name, writable
from mcp_tef.cli.session import opened
from mcp_tef.cli.similarity_words import similarity_lines
from mcp_tef.cli.terminal import Terminal
from mcp_tef.cli.tool_sources import (
    add_embedder_options,
    add_source_options,
    add_threshold_option,
    analyse,
    code_of,
    gather,
    keys_for,
    threshold,
)

if TYPE_CHECKING:
    from mcp_tef import Engine, Similarity


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "similarity", "which tools look alike, so that a model may confuse them", similarity)
    add_source_options(parser)
    parser.add_argument("--pairs", type=Path, metavar="PAIRS.jsonl", help="only score these pairs of tools")
    add_embedder_options(parser, "--base-url")
    add_threshold_option(parser)
    parser.add_argument("--full", action="store_true", help="compare with parameters, too")
    parser.add_argument("--out", type=writable, metavar="F", help="write everything to F: .csv, .html, else as JSON")


async def similarity(arguments: Namespace, terminal: Terminal) -> int:
    """Tell which tools look alike: 0 whatever is flagged, 3 where a server could not be read."""
    if arguments.pairs:
        return await pairs.score(arguments, terminal)
    keys = keys_for(arguments, terminal)
    async with opened(arguments, terminal) as engine:
        tool_set = await gather(engine, arguments, terminal)
        found = await analyse(engine, tool_set, arguments, terminal, keys, full=arguments.full)
        at = threshold(engine, arguments)
        if arguments.out:
            await _write(engine, found, at, arguments)
        if terminal.json:
            terminal.document_text(await asyncio.to_thread(_document, found, at, arguments))
        else:
            terminal.say(*await asyncio.to_thread(similarity_lines, found, at))
    if arguments.out:
        terminal.say(f"Everything was written to {output_name(arguments.out)}.")
    return code_of(tool_set)


def _document(found: "Similarity", at: float, arguments: Namespace) -> str:
    from mcp_tef import matrix_file, similarity_json

    held = matrix_file(found, arguments.out) if arguments.out else None
    return similarity_json(found, at, full=arguments.full, matrices_in=held)


async def _write(engine: "Engine", found: "Similarity", at: float, arguments: Namespace) -> None:
    from mcp_tef import AnalysisReports, SimilarityResults, matrix_file

    if is_standard_output(arguments.out) and matrix_file(found, arguments.out):
        raise InputError(
            f"The matrices of {len(found):,} tools go to a file of their own beside the result.",
            hint="Name a file instead of -.",
        )
    results = SimilarityResults(similarity=found, threshold=at)
    if arguments.out.suffix.lower() == ".html":
        clusters = await engine.similarity.clusters(found)
        results = replace(results, clusters=clusters, work=await engine.similarity.observed(found, at))
    await AnalysisReports().write_similarity(results, arguments.out, full=arguments.full)
