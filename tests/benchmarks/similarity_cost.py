"""What comparing tools costs beside embedding them: seconds, and the largest memory of a process of its own.

`python -m tests.benchmarks.similarity_cost [TOOLS …]` (default: 1000 10000 100000). Each count is measured in a fresh
process, vectors of 384 numbers given. The bare product is V @ V.T of the same vectors, in the same process. At 10,000
the pairs that blocks find are compared with those of all pairs. Above 20,000 tools only flagged pairs are found, by
vectors and by words, in processes of their own, within 120 seconds and 3 GB.
"""

import argparse
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from mcp_tef.model.similarity import FlagRule, MatrixKind, ToolSet
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.clusters import clusters
from mcp_tef.scoring.similarity.overlap import Overlap
from mcp_tef.scoring.similarity.score_kinds import MOST_IN_SQUARE
from mcp_tef.scoring.similarity.signals import Matrix, Meaning, Vectors, WeighedWords
from mcp_tef.scoring.similarity.tool_texts import description_text, without_boilerplate
from tests.support.similarity_factories import a_tool, tool_set

DIMENSIONS = 384
VERBS = ("list", "get", "create", "update", "delete", "search", "export", "import", "move", "share")


def made(count: int) -> ToolSet:
    """Tools as catalogues have them: words of which few are frequent, and none to eight parameters."""
    chance = random.Random(7)
    words = [f"word{number}" for number in range(4_000)]
    frequent = [1 / (rank + 1) for rank in range(len(words))]
    tools = []
    for number in range(count):
        text = " ".join(chance.choices(words, frequent, k=chance.randint(4, 60)))
        names = chance.sample(words[:400], chance.randint(0, 8))
        name = f"{chance.choice(VERBS)}_{chance.choice(words[:200])}_{number % 97}"
        tools.append(a_tool(name, text, f"server {number % 40}", **dict.fromkeys(names, "string")))
    return tool_set(*tools)


def vectors(count: int, seed: int) -> Matrix:
    """Unit vectors in loose bunches."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(max(2, count // 8), DIMENSIONS))
    rows = centres[chance.integers(0, len(centres), count)] + 0.7 * chance.normal(size=(count, DIMENSIONS))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def timed(title: str, work: Callable[[], object]) -> float:
    """Do it, and print seconds, those of the processor, and the peak of memory until then."""
    started, working = time.perf_counter(), time.process_time()
    work()
    seconds, busy = time.perf_counter() - started, time.process_time() - working
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  {title:58} {seconds:8.3f} s   processor {busy:7.3f} s   peak {peak:5.2f} GB")
    return seconds


def bare(rows: Matrix) -> float:
    """The quickest of five bare products, seconds."""
    found = []
    for _ in range(5):
        started = time.perf_counter()
        rows @ rows.T
        found.append(time.perf_counter() - started)
    return min(found)


def _load_libraries(rows: Matrix) -> None:
    small = Similarity(tool_set(a_tool("a"), a_tool("b")), Meaning(embedder="given", described=Vectors(rows[:2])))
    small.pair(0, 1)
    clusters(small)


MOST_SECONDS, MOST_GB = 120, 3


def measure_large(count: int, by: str) -> int:
    """A size without squares: the flagged pairs, with all their scores."""
    tools = made(count)
    print(f"{count} tools, by {by}")

    def meaning() -> Meaning:
        if by == "vectors":
            return Meaning(embedder="given", described=given)
        telling = without_boilerplate([each.tool for each in tools.tools])
        return Meaning(embedder="tfidf", described=WeighedWords(list(map(description_text, telling))))

    given = Vectors(vectors(count, 1)) if by == "vectors" else Vectors(vectors(1, 1))
    started = time.perf_counter()
    similarity = Similarity(tools, meaning())
    timed("counting the flagged pairs", lambda: print(f"  {similarity.count_flagged(FlagRule()):,} flagged"))
    timed("the flagged pairs with all their scores", lambda: similarity.flagged(FlagRule()))
    seconds, peak = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  {'all of it':58} {seconds:8.3f} s (limit {MOST_SECONDS} s)   peak {peak:5.2f} GB (limit {MOST_GB} GB)")
    return 0 if seconds <= MOST_SECONDS and peak <= MOST_GB else 1


def compare_blocks(similarity: Similarity) -> None:
    """Raise AssertionError where blocks find other pairs than the whole square has."""
    square = np.triu(similarity.matrix(MatrixKind.CONFUSABILITY), 1)
    found, rule = similarity.scan(FlagRule(), block=512).all(), FlagRule()
    expected = np.nonzero(square >= np.float32(rule.threshold))
    assert found.count == len(expected[0]), "another number of pairs"
    assert set(zip(*map(np.ndarray.tolist, expected), strict=True)) == set(
        zip(found.a.tolist(), found.b.tolist(), strict=True)
    ), "other pairs"
    print(f"  {found.count:,} flagged pairs of blocks are those of all pairs")


def measure(count: int) -> None:
    """One size, everything."""
    tools, rows, other = made(count), vectors(count, 1), vectors(count, 2)
    product = bare(rows)
    print(f"{count} tools, bare product {product:.4f} s")
    _load_libraries(rows)
    similarity = Similarity(tools, Meaning(embedder="given", described=Vectors(rows), full=Vectors(other)))
    first = timed("the similarity square", lambda: similarity.matrix(MatrixKind.SIMILARITY))
    first += timed(
        "histogram and how many pairs from 0.85 on",
        lambda: (similarity.histogram(), similarity.count_flagged(FlagRule(0.85))),
    )
    first += timed("the 200 most alike pairs with all their scores", lambda: similarity.flagged(FlagRule(0.5), 200))
    print(f"  {'what the screen asks for first':58} {first:8.3f} s   {first / product:5.1f} × bare")
    rest = sum(timed(f"the {kind} square", partial(similarity.matrix, kind)) for kind in list(MatrixKind)[1:])
    print(f"  {'every square':58} {first + rest:8.3f} s   {(first + rest) / product:5.1f} × bare")
    compare_blocks(similarity)
    groups = timed("order, tree, groups and near-duplicates", lambda: clusters(similarity))
    overlap = timed("the overlap square", lambda: Overlap(similarity).matrix)
    print(f"  {'all of it':58} {first + rest + groups + overlap:8.3f} s")


def main() -> None:
    """Measure every size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--by", choices=["vectors", "words"], help="for one count above 20,000")
    asked = parser.parse_args()
    if len(asked.tools) == 1 and (asked.by or asked.tools[0] <= MOST_IN_SQUARE):
        if asked.by:
            sys.exit(measure_large(asked.tools[0], asked.by))
        measure(asked.tools[0])
        return
    for count in asked.tools:
        for by in ([],) if count <= MOST_IN_SQUARE else (["--by", "vectors"], ["--by", "words"]):
            words = [sys.executable, "-m", "tests.benchmarks.similarity_cost", str(count), *by]
            subprocess.run(words, check=True)


if __name__ == "__main__":
    main()
