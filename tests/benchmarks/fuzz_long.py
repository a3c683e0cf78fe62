"""What 10,000 random files, answers and lines do to each reader: how many came in, and the slowest of them.

Limits: nothing but a sentence for what cannot be read, and 5 seconds for any one of them.
Run as `python -m tests.benchmarks.fuzz_long [EXAMPLES [READER…]]`.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_tef.model.transfer import CaseFileFormat, ServerFileFormat
from tests.support import fuzzing, fuzzing_configs

EXAMPLES = 10_000
SLOWEST_SECONDS = 5.0
Reader = tuple[str, st.SearchStrategy[Any], Callable[[Any], int]]


class Watch:
    """Counts what a reader was given and took, and keeps the longest time it needed."""

    def __init__(self, read: Callable[[Any], int]) -> None:
        self._read = read
        self.given = self.taken = 0
        self.slowest = 0.0

    def __call__(self, value: Any) -> None:
        start = time.process_time()
        self.taken += self._read(value) > 0
        self.given += 1
        self.slowest = max(self.slowest, time.process_time() - start)


def readers(folder: Path) -> Iterator[Reader]:
    """Everything that reads what strangers wrote, with what to give it."""
    for form in CaseFileFormat:
        yield form.value, fuzzing.case_files(form), partial(_import, form, folder)
    for config in ServerFileFormat:
        yield f"servers: {config.value}", fuzzing_configs.config_files(config), partial(_config, folder)
    yield "answer of a model", fuzzing.answers(), fuzzing.check_answer
    yield "review or rewrite", fuzzing_configs.advice(), fuzzing_configs.check_advice
    yield "line of score", fuzzing.score_lines(), fuzzing.check_line


def _import(form: CaseFileFormat, folder: Path, file: tuple[str, bytes]) -> int:
    return fuzzing.check_import(form, *file, folder)


def _config(folder: Path, file: tuple[str, bytes]) -> int:
    return fuzzing_configs.check_config(*file, folder)


def main() -> int:
    """Print the table; 1 where a reader failed or was too slow."""
    examples = int(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES
    often = settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    missed = False
    print(f"{'reader':24} {'given':>7} {'taken':>7} {'slowest':>9}")
    with tempfile.TemporaryDirectory() as folder:
        chosen = [one for one in readers(Path(folder)) if one[0] in sys.argv[2:] or not sys.argv[2:]]
        for name, strategy, read in chosen:
            watch = Watch(read)
            try:
                often(given(strategy)(watch.__call__))()
            except Exception as error:  # noqa: BLE001  # any failure of a reader is a finding
                print(f"{name}: {type(error).__name__}: {str(error)[:200]}")
                missed = True
            missed |= watch.slowest > SLOWEST_SECONDS
            print(f"{name:24} {watch.given:7,} {watch.taken:7,} {watch.slowest * 1000:6,.0f} ms", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
