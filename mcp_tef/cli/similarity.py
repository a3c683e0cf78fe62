"""`similarity` and `overlap`: tools that look alike, what they share, and the scores of given pairs."""

import asyncio
import json
import os
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import (
    LARGEST_FILE_BYTES,
    FlagRule,
    InputError,
    Json,
    OverlapWeights,
    bounded_lines,
    json_text,
    open_regular_file,
    write_failed,
    write_lines,
)
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.formatting import counted, overlap_lines, similarity_lines
from mcp_tef.cli.model_options import add_cluster_options, on_cluster
from mcp_tef.cli.output_files import analysis_file, is_standard_output, output_name, writable
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal, unreachable
from mcp_tef.cli.tool_options import (
    KINDS,
    AskedEmbedder,
    add_embedder_options,
    add_source_options,
    add_threshold_option,
    analyse,
    asked_embedder,
    code_of,
    flag_rule,
    gather,
    keys_for,
)

if TYPE_CHECKING:
    from mcp_tef import Engine, PairLine, Similarity, ToolPair


async def score_pairs(arguments: Namespace, terminal: Terminal) -> int:
    """Score every line; one that cannot be read gets an error in its place, and the exit code 1."""
    from mcp_tef import pair_results

    if any(getattr(arguments, name) for name in KINDS):
        raise InputError("--pairs brings its own tools.", hint="Leave the other source out.", code="bad_usage")
    keys = keys_for(arguments, terminal)
    lines = _read(arguments.pairs)
    async with opened(arguments, terminal) as engine:
        scores = await _scores(engine, lines, await asked_embedder(engine, arguments, terminal, keys), terminal)
    rows = list(pair_results(lines, scores))
    _tell(rows, arguments.out, terminal)
    return 1 if any("error" in row for row in rows) else 0


def _read(path: Path) -> list["PairLine"]:
    from mcp_tef import read_pair_lines

    try:
        with open_regular_file(path) as file:
            if os.fstat(file.fileno()).st_size > LARGEST_FILE_BYTES:
                raise InputError(f"{path} is larger than 50 MB.", hint="Split it into smaller files.")
            return list(read_pair_lines(bounded_lines(file)))
    except OSError as error:
        raise unreachable(error) from error


async def _scores(
    engine: "Engine", lines: Sequence["PairLine"], asked: AskedEmbedder, terminal: Terminal
) -> Sequence["ToolPair"]:
    sound = [line.tools for line in lines if line.tools]
    if not sound:
        return ()
    scores = await engine.similarity.score_pairs(sound, **asked.options)
    if scores.notice:
        terminal.note(scores.notice)
    return scores.pairs


def _tell(rows: Sequence[dict[str, Json]], out: Path | None, terminal: Terminal) -> None:
    """Write the lines to their file, or to stdout; with --json the document holds them or their count."""
    bad = sum("error" in row for row in rows)
    counts = {"lines": len(rows), "bad": bad}
    texts = [json_text(json.dumps(row, ensure_ascii=False)) + "\n" for row in rows]
    if out is None:
        terminal.document({**counts, "pairs": [*rows]})
        terminal.write("".join(texts))
        return
    try:
        write_lines(out, texts)
    except OSError as error:
        raise write_failed(out, error) from error
    terminal.document(counts)
    terminal.say(f"{len(rows) - bad} of {counted(len(rows), 'pair')} scored; {output_name(out)} has a line for each.")


def register_similarity(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "similarity", "which tools look alike, so that a model may confuse them", similarity)
    add_source_options(parser)
    parser.add_argument("--pairs", type=Path, metavar="PAIRS.jsonl", help="only score these pairs of tools")
    add_embedder_options(parser)
    add_threshold_option(parser)
    parser.add_argument("--full", action="store_true", help="compare with parameters, too")
    parser.add_argument("--out", type=writable, metavar="F", help="write everything to F: .json, .csv or .html")
    add_cluster_options(parser)


async def similarity(arguments: Namespace, terminal: Terminal) -> int:
    """Tell which tools look alike: 0 whatever is flagged, 3 where a server could not be read."""
    if arguments.pairs:
        return await score_pairs(arguments, terminal)
    if arguments.out:
        analysis_file(str(arguments.out))
    keys = keys_for(arguments, terminal)
    async with opened(arguments, terminal) as engine:
        tool_set = await gather(engine, arguments, terminal)
        found = await analyse(engine, tool_set, arguments, terminal, keys, full=arguments.full)
        rule = flag_rule(engine, arguments)
        async with on_cluster(engine, arguments, terminal, "compare the tools") as cluster:
            if cluster:
                await cluster.find_flagged(found, rule)
        if arguments.out:
            await _write(engine, found, rule, arguments)
        if terminal.json:
            terminal.document_text(await asyncio.to_thread(_document, found, rule, arguments))
        else:
            terminal.say(*await asyncio.to_thread(similarity_lines, found, rule))
    if arguments.out:
        terminal.say(f"Everything was written to {output_name(arguments.out)}.")
    return code_of(tool_set)


def _document(found: "Similarity", rule: FlagRule, arguments: Namespace) -> str:
    from mcp_tef import matrix_file, similarity_json

    held = matrix_file(found, arguments.out) if arguments.out else None
    return similarity_json(found, rule, full=arguments.full, matrices_in=held)


async def _write(engine: "Engine", found: "Similarity", rule: FlagRule, arguments: Namespace) -> None:
    from mcp_tef import AnalysisReports, SimilarityResults, matrix_file

    if is_standard_output(arguments.out) and matrix_file(found, arguments.out):
        raise InputError(
            f"The matrices of {len(found):,} tools go to a file of their own beside the result.",
            hint="Name a file instead of -.",
        )
    results = SimilarityResults(similarity=found, rule=rule)
    if arguments.out.suffix.lower() == ".html":
        clusters = await engine.similarity.clusters(found)
        results = replace(results, clusters=clusters, work=await engine.similarity.observed(found, rule))
    await AnalysisReports().write_similarity(results, arguments.out, full=arguments.full)


def register_overlap(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "overlap", "what tools share, by meaning, parameters and words, and why", overlap)
    add_source_options(parser)
    add_embedder_options(parser)
    parser.add_argument(
        "--weights",
        type=weights,
        default=OverlapWeights(),
        metavar="S,P,D",
        help="how much meaning, parameters and words count (default: 0.5,0.3,0.2)",
    )
    parser.add_argument("--limit", type=count, default=20, metavar="N", help="pairs to explain (default: 20)")
    parser.add_argument("--out", type=analysis_file, metavar="F", help="write everything to F: .json, .csv or .html")


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
    """Parse a whole number from 1 on."""
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
