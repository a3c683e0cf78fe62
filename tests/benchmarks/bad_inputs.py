"""Give every verb that reads a file bad forms of it: no exit code 70, and an error is one sentence.

python3 dev.py bench bad_inputs      # 40 forms of each file; `python -m tests.benchmarks.bad_inputs 400 7` more
"""

import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.mcp_tef.cli.test_standard_input import BATCH, READ, VERDICT, WITHOUT_WORKSPACE, prepare
from tests.support import isolation
from tests.support.bad_inputs import bad_texts
from tests.support.command_line import say


def main(most: int, seed: int, only: str) -> int:
    """Print each command that crashed with its input, and the counts of exit codes."""
    codes: Counter[int] = Counter()
    os.environ |= {one: os.environ.get(one, "") for one in isolation.HOME_VARIABLES}
    with tempfile.TemporaryDirectory() as name, isolation.at_home(Path(name) / "home"):
        folder = Path(name)
        prepare(folder)
        here, copy = folder / "here", folder / "copy.db"
        here.mkdir()
        os.chdir(here)
        for (verb, option), (line, text, _) in READ.items():
            if only and only not in f"{verb} {option}":
                continue
            named = {BATCH: "batch.json", VERDICT: "v.json"}
            given = (folder / named[text]).read_text("utf-8") if text in named else text
            own = () if any(one in line for one in WITHOUT_WORKSPACE) else ("--workspace", copy)
            for bad in bad_texts(given, most, seed):
                copy.write_bytes((folder / "work.db").read_bytes())
                said = say(*line.format(folder=folder).split(), *own, stdin=bad)
                codes[said.code] += 1
                if said.code not in (0, 1, 2, 3, 4) or said.err.count("mcp-tef: ") > 1:
                    sys.stdout.write(f"{said.code} {line}: {bad[:300]!r}\n    {said.err[-300:]}\n")
    sys.stdout.write(f"{dict(codes)}\n")
    return 1 if codes[70] else 0


if __name__ == "__main__":
    most, seed, only = [*sys.argv[1:], *("40", "1", "")[len(sys.argv) - 1 :]]
    sys.exit(main(int(most), int(seed), only))
