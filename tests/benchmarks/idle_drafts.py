"""Verdicts of trials of an idle, a helpful and a harmful patch against a stand-in model over HTTP that reads words.

`python -m tests.benchmarks.idle_drafts [SEEDS]`. The idle patch differs in white space only. Each seed is one
`mcp-tef try --patch` with 40 cases, without a workspace, in this process; the stand-in adds noise to its choice. Limit:
of 20 seeds, at most one calls the idle patch better on these cases.
"""

import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.support.command_line import say
from tests.support.model_stub import ModelStub
from tests.support.stand_in_models import WordSensitiveModel
from tests.support.workspace_files import case, case_file, written_tools

FAIR, CLEAR = "Return the weather of a town.", "Return the weather of a town: will there be rain, wind or snow."
PATCHES = {"idle": f"{FAIR}  \n", "helpful": CLEAR, "harmful": "Departures of buses."}
OTHERS = {"departures": "Return departures of trains between two towns.", "rent": "Rent a bicycle in a city."}
QUERIES = [
    f"Will there be {what} in town {number}?" for number in range(10) for what in ("rain", "wind", "heat", "snow")
]
ALL_SEEDS = ("idle",)
FEW = 3


def tried(description: str, seed: int) -> Any:
    """Return the document of one trial; the current folder holds tools and cases."""
    patch = [{"op": "replace", "path": "/tools/0/description", "value": description}]
    Path("fix.json").write_text(json.dumps(patch), "utf-8")
    with ModelStub(WordSensitiveModel(seed)) as stub:
        stub.keep_requests = False
        given = ("--patch", "fix.json", "--tools-file", "written_tools.json", "--cases", "cases.json")
        model = ("--model", "openai/stand-in", "--base-url", stub.url)
        return say("try", *given, *model, "--seed", str(seed), "--json").document


def main(seeds: int) -> bool:
    """Print one row a patch; whether the limit is kept."""
    kept = True
    for name, text in PATCHES.items():
        often = seeds if name in ALL_SEEDS else min(seeds, FEW)
        found = [tried(text, seed) for seed in range(often)]
        verdicts = Counter(one["on_these_cases"] for one in found)
        kept &= name != "idle" or verdicts["better"] <= seeds / 20
        calls, planned = sum(one["calls"] for one in found), sum(one["planned_calls"] for one in found)
        told = ", ".join(f"{verdict} {count}" for verdict, count in verdicts.items())
        print(f"{name:8} {often:3} seeds: {told}; {calls:,} of {planned:,} calls", flush=True)
    return kept


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        written_tools(Path(), {"forecast": FAIR} | OTHERS)
        case_file(Path(), [case(query, [{"tool": "forecast"}]) for query in QUERIES])
        within = main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
        os.chdir("/")
    sys.exit(not within)
