"""Fits the confusability again, and prints how well it and each plain score tell confused pairs from others.

`python -m tests.benchmarks.confusability --pairs pairs.jsonl.gz --model FOLDER [--write]`. The pairs are JSON lines
with tool_a, tool_b, confusable (1 or 0) and tier. Coefficients are fitted by ridge-penalised logistic regression
without negative weights, on scores divided by their spread, then brought to scale by one slope. AUROC is
cross-validated: five folds, twenty times, with no tool in two folds. `--write` stores the coefficients where the
product reads them.

Schemas of some tiers are placeholders that tell nothing; there the parameter overlap counts as unknown: the mean over
the pairs with real ones.
"""

import argparse
import asyncio
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # type: ignore[import-untyped]  # it has no types
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]  # it has no types

from mcp_tef.embedding.local_embedder import FastembedEmbedder
from mcp_tef.embedding.tfidf import TfidfEmbedder, TfidfLexicon
from mcp_tef.model.similarity import ComparedTool, ToolSet
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Embedder
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.confusability import COEFFICIENTS, Coefficients, above
from mcp_tef.workflows.similarity import EmbeddingRequest, EmbeddingService
from tests.support.similarity_factories import FakeEmbedders

Numbers = NDArray[np.float64]
STORED = Path(__file__).parents[2] / "resources" / "confusability.json"
SIGNALS = ("similarity", "lexical", "names", "parameters")
REAL_SCHEMAS = ("llm_confused", "llm_never_confused")
RIDGE, FOLDS, TIMES = 100.0, 5, 20


@dataclass(frozen=True, slots=True)
class Labelled:
    """Pairs with what is known of them; `family` is shared by pairs that have a tool in common, at any remove."""

    tools: tuple[tuple[Tool, Tool], ...]
    confused: Numbers
    tier: NDArray[np.str_]
    family: NDArray[np.intp]


def read(file: Path) -> Labelled:
    """The pairs of a file."""
    rows = [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().splitlines()]
    return Labelled(
        tools=tuple((_tool(row["tool_a"]), _tool(row["tool_b"])) for row in rows),
        confused=np.array([row["confusable"] for row in rows], dtype=np.float64),
        tier=np.array([row["tier"] for row in rows]),
        family=_families([(row["tool_a"]["name"], row["tool_b"]["name"]) for row in rows]),
    )


def _tool(raw: Mapping[str, Any]) -> Tool:
    schema = raw["input_schema"] or {}
    return Tool(server="", name=raw["name"], description=raw["description"] or "", input_schema=schema, raw=raw)


def _families(pairs: Sequence[tuple[str, str]]) -> NDArray[np.intp]:
    above_it: dict[str, str] = {}

    def root(name: str) -> str:
        while above_it.setdefault(name, name) != name:
            name = above_it[name]
        return name

    for a, b in pairs:
        above_it[root(a)] = root(b)
    return np.unique([root(a) for a, _ in pairs], return_inverse=True)[1]


async def scores(labelled: Labelled, embedder: Embedder) -> tuple[Mapping[str, Numbers], float]:
    """Every score of every pair, and the embedder's level of nothing."""
    tools = [tool for pair in labelled.tools for tool in pair]
    embedding = EmbeddingService(FakeEmbedders(TfidfEmbedder(), folder=embedder), TfidfLexicon())
    meaning = await embedding.meaning(tools, EmbeddingRequest(strict=True), lambda share: None)
    compared = ToolSet(tools=tuple(ComparedTool(str(place), tool) for place, tool in enumerate(tools)))
    places = np.arange(0, len(tools), 2, dtype=np.intp)
    found = Similarity(compared, meaning).alone(places, places + 1)
    kinds = (*SIGNALS, "full", "confusability")
    return {kind: np.array([getattr(pair, kind) for pair in found]) for kind in kinds}, meaning.level


def signals(found: Mapping[str, Numbers], level: float, tier: NDArray[np.str_]) -> Numbers:
    """What is fitted: a column a signal, meaning counted from the level of nothing."""
    real = np.isin(tier, REAL_SCHEMAS)
    known = np.where(real, found["parameters"], found["parameters"][real].mean())
    semantic = above(level, found["similarity"].astype(np.float32)).astype(np.float64)
    return np.stack([semantic, found["lexical"], found["names"], known], axis=1)


def fit(columns: Numbers, confused: Numbers) -> Numbers:
    """The intercept, then a coefficient a column."""
    spread = columns.std(axis=0) + 1e-9
    weights = _logistic(columns / spread, confused, RIDGE)[1:] / spread
    intercept, slope = _logistic((columns @ weights)[:, None], confused, 1e-3)
    return np.concatenate(([intercept], slope * weights))


def _logistic(columns: Numbers, confused: Numbers, ridge: float) -> Numbers:
    def loss(weights: Numbers) -> tuple[float, Numbers]:
        odds = columns @ weights[1:] + weights[0]
        off = 1 / (1 + np.exp(-odds)) - confused
        slopes = np.concatenate(([off.sum()], columns.T @ off + ridge * weights[1:]))
        return float(np.sum(np.logaddexp(0, odds) - confused * odds) + ridge / 2 * np.sum(weights[1:] ** 2)), slopes

    bounds = [(None, None), *[(0, None)] * columns.shape[1]]
    return np.asarray(minimize(loss, np.zeros(columns.shape[1] + 1), jac=True, method="L-BFGS-B", bounds=bounds).x)


def cross_validated(columns: Numbers, judged: Numbers, labelled: Labelled) -> Numbers:
    """The mean score of each pair by fits that never saw its tools."""
    families = np.unique(labelled.family)
    positive = np.array([labelled.confused[labelled.family == one].any() for one in families])
    total = np.zeros(len(columns))
    for time in range(TIMES):
        fold = _folds(positive, np.random.default_rng(time))[labelled.family]
        for number in range(FOLDS):
            weights = fit(columns[fold != number], labelled.confused[fold != number])[1:]
            total[fold == number] += judged[fold == number] @ weights / np.linalg.norm(weights)
    return total / TIMES


def _folds(positive: NDArray[np.bool_], chance: np.random.Generator) -> NDArray[np.intp]:
    folds = np.empty(len(positive), dtype=np.intp)
    for kind in (True, False):
        places = np.flatnonzero(positive == kind)
        folds[chance.permutation(places)] = np.arange(len(places)) % FOLDS
    return folds


def auroc(score: Numbers, labelled: Labelled) -> dict[str, float]:
    """Over all pairs, and for each tier of confused pairs against each tier of others."""
    found = {"all": float(roc_auc_score(labelled.confused, score))}
    for yes in sorted(set(labelled.tier[labelled.confused == 1])):
        for no in sorted(set(labelled.tier[labelled.confused == 0])):
            both = np.isin(labelled.tier, (yes, no))
            found[f"{yes} / {no}"] = float(roc_auc_score(labelled.confused[both], score[both]))
    return found


async def measure(name: str, embedder: Embedder, labelled: Labelled) -> dict[str, Any]:
    """Print the figures by one embedder; what is to be stored of them."""
    found, level = await scores(labelled, embedder)
    columns = signals(found, level, labelled.tier)
    judged = columns.copy()
    judged[:, -1] = found["parameters"]
    validated = auroc(cross_validated(columns, judged, labelled), labelled)
    fitted = dict(
        zip(("intercept", "semantic", "lexical", "names", "parameters"), fit(columns, labelled.confused), strict=True)
    )
    fitted = {key: round(float(value), 3) for key, value in fitted.items()}
    print(f"\n{name}: unrelated tools have a cosine of {level:.3f}")
    lines = {"fitted, cross-validated": validated, "as stored": auroc(found["confusability"], labelled)}
    lines |= {f"{kind} alone": auroc(found[kind], labelled) for kind in (*SIGNALS, "full")}
    for tiers in validated:
        print(f"  AUROC, {tiers}: " + ", ".join(f"{title} {values[tiers]:.3f}" for title, values in lines.items()))
    print(f"  fitted now {fitted}\n  stored     {_as_dict(COEFFICIENTS[name])}")
    return {"coefficients": fitted, "cross_validated_auroc": {key: round(value, 3) for key, value in validated.items()}}


def _as_dict(coefficients: Coefficients) -> dict[str, float]:
    return {key: getattr(coefficients, key) for key in ("intercept", "semantic", "lexical", "names", "parameters")}


async def main() -> None:
    """Fit by both embedders, and store the outcome where that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    labelled = read(given.pairs)
    print(f"{len(labelled.confused)} pairs, {int(labelled.confused.sum())} of them confused")
    embedders: dict[str, Embedder] = {"tfidf": TfidfEmbedder(), "model": FastembedEmbedder(folder=given.model)}
    found = {name: await measure(name, embedder, labelled) for name, embedder in embedders.items()}
    if given.write:
        STORED.write_text(json.dumps(_document(labelled, found), indent=2, ensure_ascii=False) + "\n", "utf-8")


def _document(labelled: Labelled, found: Mapping[str, Any]) -> dict[str, Any]:
    tiers = {str(tier): int(np.sum(labelled.tier == tier)) for tier in np.unique(labelled.tier)}
    return {
        "what": "Coefficients of the chance that two tools are confused",
        "fitted_by": "python -m tests.benchmarks.confusability --write",
        "fitted_on": datetime.now(UTC).date().isoformat(),
        "data": "Pairs of MetaTool (MIT) and of Berkeley Function Calling Leaderboard tools (Apache-2.0)",
        "pairs": tiers,
        "model": "sentence-transformers/all-MiniLM-L6-v2 for “model”, which every other embedding model uses too",
        **found,
    }


if __name__ == "__main__":
    asyncio.run(main())
