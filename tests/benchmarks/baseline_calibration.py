"""Calibration of both baselines on real cases among 0 to 300 other tools, by cross-validation in five folds.

`python -m tests.benchmarks.baseline_calibration [--data FOLDER] [--model FOLDER] [--record]`: the data folder
holds catalogues of tools as JSON lines, and the model folder an embedding model (without: words only). Prints the
constants of `retrieval_baseline.py` as they would be fitted now to all cases, and the figures of cases that were each
decided by a fit to the other folds. `--record` writes the rankings that tests without an embedder read.
"""

import argparse
import asyncio
import csv
import gzip
import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # it ships no types

from mcp_tef.embedding.local_embedder import FastembedEmbedder
from mcp_tef.embedding.tfidf import TfidfLexicon
from mcp_tef.llm.retrieval_baseline import MEANING, WORDS, Calibration, Line, Ranker
from mcp_tef.model.tools import Tool
from tests.benchmarks.retrieval_recall import read
from tests.support.baseline_cases import (
    EXTRA_TOOLS,
    FOLDS,
    RECORDED,
    RankedCase,
    figures,
    fold_of,
    offered,
    ranked,
    tool_of,
    tools_of,
    usable,
)
from tests.support.bfcl_cases import SHARED, bfcl_cases

FITTED_EXTRA = (0, 5, 20, 50, 100, 300)
GIVEN_UP = 0.015
"""Share of the cases with an expected tool whose right pick the fitted threshold gives up."""
CATALOGUES = ("livemcpbench.jsonl", "mcp_zero.jsonl.gz", "stdio_live.jsonl")


class RememberingEmbedder:
    """An embedder that embeds each text once."""

    def __init__(self, folder: Path) -> None:
        self._embedder = FastembedEmbedder(folder=folder)
        self._vectors: dict[str, NDArray[np.float32]] = {}

    @property
    def name(self) -> str:
        """The name of the embedder."""
        return self._embedder.name

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector a text."""
        if new := [text for text in dict.fromkeys(texts) if text not in self._vectors]:
            self._vectors.update(zip(new, await self._embedder.embed(new), strict=True))
        return np.array([self._vectors[text] for text in texts])


Rankings = dict[tuple[str, int], list[RankedCase]]


async def rankings(ranker: Ranker, cases: Sequence[dict[str, Any]], pools: dict[str, Sequence[Tool]]) -> Rankings:
    """Each case among the others of each pool."""
    found: Rankings = {}
    for name, pool in pools.items():
        for extra in FITTED_EXTRA:
            if extra <= len(pool):
                found[name, extra] = [await ranked(ranker, case, offered(case, extra, pool)) for case in cases]
    return found


def fitted(rankings: Rankings) -> Calibration:
    """The threshold that gives up the set share of hits at every size, and the lines of confidence at it."""
    sizes, thresholds = [], []
    for cases in rankings.values():
        hits = sorted(case.top for case in cases if case.hit)
        thresholds.append(hits[int(GIVEN_UP * sum(case.expected for case in cases))])
        sizes.append(np.mean([np.log(case.tools) for case in cases]))
    slope, start = np.polyfit(sizes, thresholds, 1)
    chosen = Calibration((round(float(start), 3), round(float(slope), 4)), (0, 0, 0), (0, 0, 0))
    everything = [case for cases in rankings.values() for case in cases]
    return Calibration(
        chosen.threshold, _line(everything, chosen, picked=True), _line(everything, chosen, picked=False)
    )


def _line(cases: Sequence[RankedCase], chosen: Calibration, *, picked: bool) -> Line:
    rows, right = [], []
    for case in cases:
        decision = chosen.decide(case.top, case.second, case.tools)
        if decision.picked is picked:
            rows.append((decision.margin, np.log(case.tools)))
            right.append(case.hit if picked else not case.expected)
    model = LogisticRegression(C=1e6, max_iter=10_000).fit(np.array(rows), np.array(right))
    slope, by_size = model.coef_[0]
    return round(float(slope), 1), round(float(model.intercept_[0]), 2), round(float(by_size), 2)


def told(measured: Rankings, folds: Sequence[int]) -> bool:
    """Print the figures of cases that nothing was fitted to; True where they keep what is required."""
    others = [fitted(_without(measured, folds, number)) for number in range(FOLDS)]
    print("  others          recall@1  accuracy  overall  best  silent  none says  is right  pick says  is right")
    kept = True
    for (pool, extra), cases in measured.items():
        decided = [
            others[fold].decide(case.top, case.second, case.tools) for case, fold in zip(cases, folds, strict=True)
        ]
        got = figures(cases, decided)
        cells = [got.recall_at_1, got.accuracy, got.overall, _best(cases), got.silence]
        cells += [got.none_confidence, got.none_hits, got.picked_confidence, got.picked_hits]
        print(f"  {extra:3} {pool:11} " + "  ".join(f"{cell:7.3f}" for cell in cells))
        if extra in EXTRA_TOOLS:
            kept &= got.accuracy >= got.recall_at_1 - 0.02 and abs(got.none_confidence - got.none_hits) <= 0.1
    return bool(kept)


def _without(measured: Rankings, folds: Sequence[int], left_out: int) -> Rankings:
    return {
        key: [case for case, fold in zip(cases, folds, strict=True) if fold != left_out]
        for key, cases in measured.items()
    }


def _best(cases: Sequence[RankedCase]) -> float:
    """The accuracy over all cases that the best threshold of hindsight would have."""
    tops: NDArray[np.float64] = np.array([case.top for case in cases])
    hit, expected = np.array([(case.hit, case.expected) for case in cases]).T
    return max(float(np.mean(np.where(tops >= threshold, hit, ~expected))) for threshold in np.unique(tops))


async def measure(name: str, ranker: Ranker, calibration: Calibration, pools: dict[str, Sequence[Tool]]) -> Rankings:
    """Print the constants in force and a new fit, and the figures of cases that nothing was fitted to; the rankings."""
    cases = usable(bfcl_cases())
    measured = await rankings(ranker, cases, pools)
    print(f"{name}: {calibration}\n  fitted now: {fitted(measured)}")
    if not told(measured, [fold_of(case) for case in cases]):
        raise SystemExit(f"{name} misses its limits.")
    return measured


def record(measured: dict[str, Rankings]) -> None:
    """Write rankings for the tests, which have no embedder."""
    with gzip.open(RECORDED, "wt", encoding="utf-8", newline="") as text:
        rows = csv.writer(text)
        rows.writerow(("selector", "extra", *(field.name for field in fields(RankedCase))))
        for selector, found in measured.items():
            for extra in EXTRA_TOOLS:
                for case in found["BFCL", extra]:
                    told = (case.id, case.tools, round(case.top, 4), round(case.second, 4))
                    rows.writerow((selector, extra, *told, int(case.hit), int(case.expected)))


async def main() -> None:
    """Measure both baselines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED.parent)
    parser.add_argument("--model", type=Path, default=os.environ.get("MCP_TEF_EMBEDDING_FOLDER"))
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    pools: dict[str, Sequence[Tool]] = {"BFCL": tools_of(usable(bfcl_cases()))}
    if rows := [row for name in CATALOGUES if (given.data / name).exists() for row in read(given.data / name)]:
        pools["catalogues"] = [tool_of(row) for row in {(row["server"], row["name"]): row for row in rows}.values()]
    measured = {"words": await measure("offline/words", Ranker(TfidfLexicon()), WORDS, pools)}
    if given.model:
        ranker = Ranker(TfidfLexicon(), RememberingEmbedder(given.model))
        measured["meaning"] = await measure("offline/meaning", ranker, MEANING, pools)
        if given.record:
            record(measured)


if __name__ == "__main__":
    asyncio.run(main())
