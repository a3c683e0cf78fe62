"""`score`: judges recorded calls; no model, no server, no workspace."""

import json
from argparse import Namespace
from collections import Counter
from pathlib import Path

from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.outputs import writable
from mcp_tef.cli.terminal import Terminal, unreachable
from mcp_tef.cli.words import counted

NOT_PROMISED = "alternative"


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "score", "judge recorded calls, one JSON object a line, without model or server", score)
    parser.add_argument("file", type=Path, metavar="IN.jsonl")
    parser.add_argument("--out", type=writable, required=True, metavar="OUT.jsonl", help="where the verdicts go")


def score(arguments: Namespace, terminal: Terminal) -> int:
    """Judge every line; a line that cannot be read gets an error in its place, and the exit code 1."""
    from mcp_tef import grade_lines

    counts: Counter[str] = Counter()
    try:
        # A lone surrogate cannot be UTF-8: it goes out as the \ud800 that it came in as.
        with (
            arguments.file.open("rb") as source,
            arguments.out.open("w", encoding="utf-8", errors="backslashreplace") as target,
        ):
            for verdict in grade_lines(source):
                counts[str(verdict.get("classification", "bad"))] += 1
                verdict.pop(NOT_PROMISED, None)
                target.write(json.dumps(verdict, ensure_ascii=False) + "\n")
    except OSError as error:
        raise unreachable(error) from error
    names = ("TP", "FP", "TN", "FN", "bad")
    terminal.document({"lines": counts.total(), **{name: counts[name] for name in names}})
    terminal.say(", ".join(f"{counts[name]} {name}" for name in names) + f" of {counted(counts.total(), 'line')}.")
    return 1 if counts["bad"] else 0
