"""`similarity --pairs`: the scores of given pairs of tools, one JSON object a line, in and out."""

import json
import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import LARGEST_FILE_BYTES, InputError, Json, bounded_lines, open_regular_file, write_lines
from mcp_tef.cli.outputs import output_name
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal, unreachable
from mcp_tef.cli.tool_sources import KINDS, AskedEmbedder, asked_embedder, keys_for
from mcp_tef.cli.words import counted

if TYPE_CHECKING:
    from mcp_tef import Engine, PairLine, ToolPair


async def score(arguments: Namespace, terminal: Terminal) -> int:
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
    """The lines to their file, or to stdout; with --json the document holds them, or how many were written."""
    bad = sum("error" in row for row in rows)
    counts = {"lines": len(rows), "bad": bad}
    texts = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    if out is None:
        terminal.document({**counts, "pairs": [*rows]})
        if not terminal.json:
            terminal.output.writelines(texts)
        return
    try:
        write_lines(out, texts)
    except OSError as error:
        raise unreachable(error) from error
    terminal.document(counts)
    terminal.say(f"{len(rows) - bad} of {counted(len(rows), 'pair')} scored; {output_name(out)} has a line for each.")
