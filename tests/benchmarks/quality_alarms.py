"""False alarms of the quality gate on real catalogues, and bad definitions that it misses.

Reads the catalogues of `shared/data/dev` beside the repository: 1,005 tools of 116 public servers. Limits: errors in at
most 1 % of these tools (missing descriptions apart), no bad definition of `tests/support/attack_texts.py` missed, no
error in its honest texts. Run as `python -m tests.benchmarks.quality_alarms`.
"""

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from mcp_tef.model.quality import LintFinding, Severity
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.lint.lint_context import ListedNames
from mcp_tef.scoring.lint.linter import lint
from tests.support.attack_texts import HONEST, bad_tools
from tests.support.scoring_factories import GOOD, make

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "dev"
CATALOGUES = ("stdio_live.jsonl", "livemcpbench.jsonl", "mcp_zero.jsonl.gz")
MOST_FALSE = 0.01
APART = "description-missing"


def catalogue(name: str) -> Iterator[Tool]:
    """Read the tools of one file."""
    opened = gzip.open if name.endswith(".gz") else open
    with opened(FOLDER / name, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            raw = {"name": row["name"], "description": row["description"], "inputSchema": row["input_schema"]}
            server, description = f"{name}: {row['server']}", row["description"] or ""
            yield Tool(
                server=server, name=row["name"], description=description, input_schema=row["input_schema"], raw=raw
            )


def errors(tool: Tool, names: ListedNames) -> list[LintFinding]:
    """The errors of a tool, a missing description apart."""
    found = (finding for finding in lint(tool, 0, names) if finding.rule.severity is Severity.ERROR)
    return [finding for finding in found if finding.rule.id != APART]


def false_alarms() -> float:
    """Print every error in the real catalogues, and return the share of tools that have one."""
    tools, alarmed = 0, 0
    for name in CATALOGUES:
        here = list(catalogue(name))
        names = ListedNames(here)
        found = [(tool, finding) for tool in here for finding in errors(tool, names)]
        with_errors = len({id(tool) for tool, _ in found})
        print(f"{name:<24}{len(here):>6} tools {with_errors:>4} with errors")
        for tool, finding in found:
            print(f"    {finding.rule.id:<28}{tool.server}/{tool.name}, {finding.place}: {finding.excerpt[:120]}")
        tools, alarmed = tools + len(here), alarmed + with_errors
    print(f"{'all':<24}{tools:>6} tools {alarmed:>4} with errors: {alarmed / tools:.2%} (limit {MOST_FALSE:.0%})\n")
    return alarmed / tools


def missed_alarms() -> int:
    """Print how many bad definitions of each family are stopped, and return how many are not."""
    stopped: Counter[tuple[str, bool]] = Counter()
    missed: list[str] = []
    for family, kind, tool in bad_tools():
        hit = bool(errors(tool, ListedNames([tool])))
        stopped[family, hit] += 1
        missed += [] if hit else [f"{family}, {kind}: {tool.name}, {tool.description[-80:]}"]
    for family in dict.fromkeys(family for family, _ in stopped):
        hits, misses = stopped[family, True], stopped[family, False]
        print(f"{family:<24}{hits + misses:>6} bad definitions {misses:>4} missed")
    print(f"{'all':<24}{stopped.total():>6} bad definitions {len(missed):>4} missed", *missed, "", sep="\n    ")
    return len(missed)


def honest_alarms(texts: Sequence[str]) -> int:
    """Print the errors in honest texts, and return how many texts have one."""
    found = [
        (text, errors(tool, ListedNames([tool]))) for text in texts if (tool := make(description=f"{GOOD} {text}"))
    ]
    alarmed = [f"{one.rule.id}: {text}" for text, ones in found for one in ones]
    print(f"{'honest texts':<24}{len(texts):>6} texts {len(alarmed):>4} errors", *alarmed, sep="\n    ")
    return len(alarmed)


def main() -> int:
    """Print the tables; 1 where a limit is broken."""
    share, missed, honest = false_alarms(), missed_alarms(), honest_alarms(HONEST)
    return int(share > MOST_FALSE or missed > 0 or honest > 0)


if __name__ == "__main__":
    sys.exit(main())
