"""`score`: judges recorded calls; no model, no server, no workspace."""

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mcp_tef import bounded_lines, open_regular_file, write_lines
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.output_files import writable
from mcp_tef.cli.terminal import Terminal, unreachable

NOT_PROMISED = "alternative"


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "score", "judge recorded calls, one JSON object a line, without model or server", score)
    parser.add_argument("file", type=Path, metavar="IN.jsonl")
    parser.add_argument("--out", type=writable, required=True, metavar="OUT.jsonl", help="where the verdicts go")


def score(arguments: Namespace, terminal: Terminal) -> int:
    """Judge every line; a line that cannot be read gets an error in its place, and the exit code 1."""
    counts: Counter[str] = Counter()
    try:
        with open_regular_file(arguments.file) as source:
            write_lines(arguments.out, _verdicts(source, counts))
    except OSError as error:
        raise unreachable(error) from error
    names = ("TP", "FP", "TN", "FN", "bad")
    terminal.document({"lines": counts.total(), **{name: counts[name] for name in names}})
    terminal.say(", ".join(f"{counts[name]} {name}" for name in names) + f" of {counted(counts.total(), 'line')}.")
    return 1 if counts["bad"] else 0


def _verdicts(source: BinaryIO, counts: Counter[str]) -> Iterator[str]:
    from mcp_tef import grade_lines

    for verdict in grade_lines(bounded_lines(source)):
        counts[str(verdict.get("classification", "bad"))] += 1
        verdict.pop(NOT_PROMISED, None)
        yield json.dumps(verdict, ensure_ascii=False) + "\n"
