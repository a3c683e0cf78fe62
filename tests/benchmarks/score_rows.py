"""How many recorded answers are judged a second on one core, beside bare JSON parsing with schema validation.

Limit: at least 3,000 rows a second. Run as `python -m tests.benchmarks.score_rows`.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Sequence

from jsonschema import Draft202012Validator

from mcp_tef.api.score_lines import score_lines
from tests.support.bfcl_cases import bfcl_cases, gold_calls, score_line

WANTED_ROWS_A_SECOND = 3_000
ROUNDS = 5


def bare(lines: Sequence[str]) -> None:
    """The least that any judge must do: read each line, and hold each call against its tool's schema."""
    for line in lines:
        row = json.loads(line)
        schemas = {tool["name"]: tool["inputSchema"] for tool in row["tools"]}
        for call in row["calls"]:
            list(Draft202012Validator(schemas[call["tool"]]).iter_errors(call["arguments"]))


def judged(lines: Sequence[str]) -> None:
    """The whole of `score`, with its output as JSON."""
    for scored in score_lines(lines):
        json.dumps(scored.result, ensure_ascii=False)


def rows_a_second(work: Callable[[Sequence[str]], None], lines: Sequence[str]) -> float:
    """The best of several rounds, in rows for each second of this process's CPU."""
    best = 0.0
    for _ in range(ROUNDS):
        start = time.process_time()
        work(lines)
        best = max(best, len(lines) / (time.process_time() - start))
    return best


def main() -> int:
    """Print the table; 1 where the limit is missed."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {next(iter(os.sched_getaffinity(0)))})
    lines = [json.dumps(score_line(case, gold_calls(case))) for case in bfcl_cases()]
    floor, ours = rows_a_second(bare, lines), rows_a_second(judged, lines)
    print(f"{len(lines)} rows of {sum(map(len, lines)) // len(lines)} characters, one core, best of {ROUNDS}")
    print(f"{'json.loads + jsonschema':28} {floor:8,.0f} rows/s")
    print(f"{'score':28} {ours:8,.0f} rows/s   {floor / ours:.2f} × the bare time (wanted: ≥ {WANTED_ROWS_A_SECOND:,})")
    return 0 if ours >= WANTED_ROWS_A_SECOND else 1


if __name__ == "__main__":
    sys.exit(main())
