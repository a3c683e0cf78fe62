"""Fits the confusability again, and prints how well it and plain scores tell pairs that a reader judges alike.

`python -m tests.benchmarks.confusability --data FOLDER --model FOLDER [--write]`. The data folder holds
`labelled_pairs.jsonl.gz` (tool_a, tool_b, label 0–3, fold) and the catalogues `stdio_live.jsonl`,
`livemcpbench.jsonl` and `mcp_zero.jsonl.gz`. A pair is positive from label 2 on. Coefficients come from a
ridge-penalised logistic regression with a sign for each. All figures are of scores by fits that saw no tool of the
pair's servers (the folds of the data); intervals resample servers: a pair counts as often as its servers are drawn
(pigeonhole bootstrap, A. Owen, Annals of Applied Statistics 1 (2007), 386-411).

Labelled pairs are no sample of real catalogues. So each is weighted by the share that its stratum has among all pairs
of the catalogues, by one rule for both, before scores are scaled. `--write` stores the coefficients.
"""

import argparse
import asyncio
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # type: ignore[import-untyped]  # it has no types
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]  # it has no types
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # it has no types
from sklearn.metrics import average_precision_score, roc_auc_score  # type: ignore[import-untyped]  # it has no types

from mcp_tef.embedding.local_embedder import FastembedEmbedder
from mcp_tef.embedding.tfidf import TfidfEmbedder, TfidfLexicon
from mcp_tef.model.similarity import HIGH_FROM, MEDIUM_FROM, ComparedTool, MatrixKind, ToolSet
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Embedder
from mcp_tef.scoring.similarity.confusability import COEFFICIENTS, LEVELS, Coefficients, SimilarityLevels, action
from mcp_tef.scoring.similarity.overlap import Overlap
from mcp_tef.scoring.similarity.score_kinds import ScoreKinds
from mcp_tef.scoring.similarity.tool_texts import description_text, name_words
from mcp_tef.workflows.similarity import EmbeddingRequest, EmbeddingService, SimilarityAnalyses
from tests.support.memory_store import MemoryStore
from tests.support.similarity_factories import FakeEmbedders

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]
STORED = Path(__file__).parents[2] / "resources" / "confusability.json"
CATALOGUES = ("stdio_live.jsonl", "livemcpbench.jsonl", "mcp_zero.jsonl.gz")
SINGLE_SERVERS = 3
NO_RUNS = MemoryStore().metrics
NAMES = tuple(field.name for field in fields(Coefficients))[2:]
NEGATIVE = "opposed"
RIDGE, RESAMPLES = 1.0, 400
HIGH_PRECISION, MEDIUM_PRECISION, FEWEST, OFFSET_SHARE = 0.6, 0.3, 20, 0.75


@dataclass(frozen=True, slots=True)
class Labelled:
    """All tools of pairs and catalogues, each once; pairs by place; catalogues as places by name."""

    tools: tuple[Tool, ...]
    a: Places
    b: Places
    label: NDArray[np.intp]
    fold: NDArray[np.intp]
    catalogues: Mapping[str, Places]

    @property
    def servers(self) -> NDArray[np.str_]:
        """The server of each tool."""
        return np.array([tool.server for tool in self.tools])

    @property
    def within(self) -> NDArray[np.bool_]:
        """True for pairs of one server."""
        return np.asarray(self.servers[self.a] == self.servers[self.b])


def read(folder: Path) -> Labelled:
    """Read pairs and catalogues."""
    places: dict[str, int] = {}
    tools: list[Tool] = []

    def place(raw: Mapping[str, Any]) -> int:
        key = json.dumps([raw["server"], raw["name"], raw["description"] or "", raw["input_schema"]], sort_keys=True)
        if places.setdefault(key, len(tools)) == len(tools):
            schema = raw["input_schema"] or {}
            text = raw["description"] or ""
            tools.append(Tool(server=raw["server"], name=raw["name"], description=text, input_schema=schema, raw=raw))
        return places[key]

    rows = list(_rows(folder / "labelled_pairs.jsonl.gz"))
    a, b = (np.array([place(row[side]) for row in rows]) for side in ("tool_a", "tool_b"))
    files = {name.partition(".")[0]: np.unique([place(row) for row in _rows(folder / name)]) for name in CATALOGUES}
    label, fold = (np.array([row[key] for row in rows]) for key in ("label", "fold"))
    servers = Counter((file, tools[at].server) for file, some in files.items() for at in some)
    single = {
        f"{server} alone": np.array([at for at in files[file] if tools[at].server == server])
        for (file, server), _ in servers.most_common(SINGLE_SERVERS)
    }
    return Labelled(tuple(tools), a, b, label, fold, {**files, **single})


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    data = file.read_bytes()
    text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode()
    return map(json.loads, text.splitlines())


async def kinds(tools: Sequence[Tool], embedder: Embedder) -> ScoreKinds:
    """Return every score of these tools among one another."""
    embedding = EmbeddingService(FakeEmbedders(TfidfEmbedder(), folder=embedder), TfidfLexicon())
    return ScoreKinds(
        tools, await embedding.meaning(tools, EmbeddingRequest(strict=True, full=False), lambda share: None)
    )


def columns(scores: ScoreKinds, a: Places, b: Places) -> Numbers:
    """Return what is fitted, a column per coefficient: the log-odds where that coefficient is 1 and the others 0."""
    units = ({name: float(name == one) for name in ("intercept", "one_server", *NAMES)} for one in NAMES)
    return np.stack([scores.confusability(Coefficients(**unit)).odds(a, b) for unit in units], axis=1).astype(float)


def fit(found: Numbers, positive: NDArray[np.bool_]) -> Numbers:
    """Return the intercept, then a coefficient a column; below 0 only for opposed verbs."""
    spread = found.std(axis=0) + 1e-9
    scaled = found / spread

    def loss(weights: Numbers) -> tuple[float, Numbers]:
        odds = scaled @ weights[1:] + weights[0]
        off = 1 / (1 + np.exp(-odds)) - positive
        slopes = np.concatenate(([off.sum()], scaled.T @ off + RIDGE * weights[1:]))
        return float(np.sum(np.logaddexp(0, odds) - positive * odds) + RIDGE / 2 * np.sum(weights[1:] ** 2)), slopes

    bounds = [(None, None), *((None, 0) if name == NEGATIVE else (0, None) for name in NAMES)]
    weights = minimize(loss, np.zeros(len(bounds)), jac=True, method="L-BFGS-B", bounds=bounds).x
    return np.concatenate((weights[:1], weights[1:] / spread))


def odds(found: Numbers, weights: Numbers) -> Numbers:
    """Return the log-odds of pairs; `weights` are those of all, or a row of them for each pair."""
    return np.asarray(weights[..., 0] + np.sum(found * weights[..., 1:], axis=1))


def plain_logistic(labelled: Labelled, shown: Numbers) -> Numbers:
    """Return the out-of-fold scores of scikit-learn's logistic regression on the four scores that the product shows."""
    score = np.zeros(len(shown))
    for fold in set(labelled.fold):
        seen = labelled.fold != fold
        model = LogisticRegression(max_iter=2_000).fit(shown[seen], labelled.label[seen] >= 2)
        score[~seen] = model.decision_function(shown[~seen])
    return score


def plain_tfidf(labelled: Labelled) -> Numbers:
    """Return scikit-learn's TF-IDF cosines of name and description."""
    rows = TfidfVectorizer(sublinear_tf=True).fit_transform([description_text(tool) for tool in labelled.tools])
    return np.asarray(rows[labelled.a].multiply(rows[labelled.b]).sum(axis=1)).ravel()


def strata(labelled: Labelled, words: ScoreKinds, meaning: ScoreKinds, a: Places, b: Places) -> NDArray[np.str_]:
    """Name the stratum of pairs: one server or two, meaning, wording, and verbs that differ over the same object."""
    verbs = np.array([-1 if (group := action(tool)) is None else group for tool in labelled.tools])
    names = [name_words(tool.name) for tool in labelled.tools]
    near = np.digitize(meaning.of(MatrixKind.SIMILARITY).at(a, b), (0.3, 0.4, 0.5))
    worded = words.of(MatrixKind.LEXICAL).at(a, b) >= np.where(near == 0, 0.13, 0.22)
    differ = (verbs[a] != verbs[b]) & (verbs[a] >= 0) & (verbs[b] >= 0) & worded & (near > 0)
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    objects = np.array([2 * len(names[i] & names[j]) >= min(len(names[i]), len(names[j])) for i, j in pairs])
    sides = np.where(labelled.servers[a] == labelled.servers[b], "within", "across")
    parts = [f"{side} meaning {m} wording {w:d}" for side, m, w in zip(sides, near, worded, strict=True)]
    return np.where(differ & objects, np.char.add(sides, " verb"), parts)


def weights_of(labelled: Labelled, words: ScoreKinds, meaning: ScoreKinds, among: Sequence[str]) -> Numbers:
    """Return how many pairs of these catalogues each labelled pair stands for."""
    counts: Counter[str] = Counter()
    for name in among:
        places = labelled.catalogues[name]
        first, second = np.triu_indices(len(places), 1)
        counts.update(strata(labelled, words, meaning, places[first], places[second]).tolist())
    own = strata(labelled, words, meaning, labelled.a, labelled.b)
    held = Counter(own.tolist())
    for one, count in sorted(counts.items()) if len(among) > 1 else ():
        print(f"  {one:26} {count:7} pairs of the catalogues, {held[one]:4} labelled")
    return np.array([counts[one] / held[one] for one in own.tolist()])


def figures(title: str, score: Numbers, labelled: Labelled) -> None:
    """Print AUC and AP with 95 % intervals: all pairs, those from label 3 on, within one server, across servers."""
    every, within = np.ones_like(labelled.within), labelled.within
    print(f"  {title}")
    for name, least, some in (
        ("label ≥ 2", 2, every),
        ("label ≥ 3", 3, every),
        ("≥ 2 within", 2, within),
        ("≥ 2 across", 2, ~within),
    ):
        positive = (labelled.label >= least)[some]
        told = [
            _with_interval(measure, positive, score[some], labelled, some)
            for measure in (roc_auc_score, average_precision_score)
        ]
        print(f"    {name:10}  AUC {told[0]}   AP {told[1]}   ({positive.sum()} of {len(positive)})")


def _with_interval(
    measure: Any, positive: NDArray[np.bool_], score: Numbers, labelled: Labelled, some: NDArray[np.bool_]
) -> str:
    chance = np.random.default_rng(0)
    names, server = np.unique(labelled.servers, return_inverse=True)
    a, b = server[labelled.a[some]], server[labelled.b[some]]
    found = []
    for _ in range(RESAMPLES):
        drawn = np.bincount(chance.integers(0, len(names), len(names)), minlength=len(names))
        weight = np.where(a == b, drawn[a], drawn[a] * drawn[b])
        if len(set(positive[weight > 0])) == 2:
            found.append(measure(positive, score, sample_weight=weight))
    low, high = np.quantile(found, (0.025, 0.975))
    return f"{measure(positive, score):.3f} [{low:.3f}, {high:.3f}]"


def score_from(score: Numbers, positive: NDArray[np.bool_], weight: Numbers, precision: float) -> float:
    """Return the lowest score from which on every cut with 20 pairs or more has this weighted precision."""
    order = np.argsort(-score)
    reached = np.cumsum((weight * positive)[order]) / np.cumsum(weight[order]) >= precision
    good = np.logical_and.accumulate(reached[FEWEST - 1 :])
    return float(score[order][FEWEST - 1 + max(0, int(good.sum()) - 1)])


@dataclass(frozen=True, slots=True)
class Scale:
    """Log-odds that become 0.5 and 0.25, after `offset` was added for pairs of one server."""

    high: float
    medium: float
    offset: float

    @classmethod
    def of(cls, score: Numbers, positive: NDArray[np.bool_], weight: Numbers, within: NDArray[np.bool_]) -> "Scale":
        """Return the scale at which pairs of one server, and those of two, have the precision of high from 0.5 on.

        One server's may reach it at lower log-odds. They get most of the difference: with all of it they would stand
        before better ones of two servers.
        """
        own, other = (score_from(score[one], positive[one], weight[one], HIGH_PRECISION) for one in (within, ~within))
        offset = max(0.0, OFFSET_SHARE * (other - own))
        medium = score_from(score + offset * within, positive, weight, MEDIUM_PRECISION)
        return cls(max(own, other), medium, offset)

    def coefficients(self, weights: Numbers) -> Coefficients:
        """Return weights brought to this scale, rounded as they are stored."""
        slope = -np.log(MEDIUM_FROM / (1 - MEDIUM_FROM)) / (self.high - self.medium)
        found = slope * np.concatenate(([weights[0] - self.high, self.offset], weights[1:]))
        names = ("intercept", "one_server", *NAMES)
        return Coefficients(**{name: round(float(one), 3) for name, one in zip(names, found, strict=True)})


def told(part: NDArray[np.bool_], flagged: NDArray[np.bool_], positive: NDArray[np.bool_], weight: Numbers) -> str:
    """Return weighted precision and recall of flags among some pairs."""
    right, wholes = np.sum(weight[part & flagged & positive]), (part & flagged, part & positive)
    precision, recall = (right / np.sum(weight[whole]) if whole.any() else np.nan for whole in wholes)
    counts = [int(np.sum(whole)) for whole in wholes]
    return f"precision {precision:4.2f} ({counts[0]:3} flagged)  recall {recall:4.2f} ({counts[1]:3} alike)"


@dataclass(frozen=True, slots=True)
class Fitted:
    """Scaled coefficients by all pairs, those that each pair is judged by out of fold, and its out-of-fold log-odds."""

    final: Coefficients
    by_fold: Mapping[int, Coefficients]
    odds: Numbers


def fitted(labelled: Labelled, found: Numbers, weight: Numbers) -> Fitted:
    """Fit, then scale by the out-of-fold scores; print what flags are worth, with a scale of the other folds too."""
    positive, within = labelled.label >= 2, labelled.within
    others = {int(fold): labelled.fold != fold for fold in set(labelled.fold)}
    by_fold = {fold: fit(found[seen], positive[seen]) for fold, seen in others.items()}
    score = odds(found, np.array([by_fold[int(fold)] for fold in labelled.fold]))
    scale = Scale.of(score, positive, weight, within)
    scales = {fold: Scale.of(score[seen], positive[seen], weight[seen], within[seen]) for fold, seen in others.items()}
    held_out = np.zeros_like(positive)
    for fold, one in scales.items():
        held_out |= ~others[fold] & (score + one.offset * within >= one.high)
    score = score + scale.offset * within
    high, every = score >= scale.high, np.ones_like(positive)
    print(f"  high, scale of all folds:   {told(every, high, positive, weight)}")
    print(f"  high, scale of other folds: {told(every, held_out, positive, weight)}")
    print(f"  medium or high:             {told(every, score >= scale.medium, positive, weight)}")
    for name, part in (("within", within), ("across", ~within)):
        unweighted = np.mean(positive[part & high])
        print(f"  high, {name}: {told(part, high, positive, weight)}; unweighted precision {unweighted:.2f}")
    final = scale.coefficients(fit(found, positive))
    return Fitted(final, {fold: scale.coefficients(one) for fold, one in by_fold.items()}, score)


async def catalogue_table(
    labelled: Labelled, embedder: Embedder, result: Fitted, sides: tuple[ScoreKinds, ScoreKinds]
) -> None:
    """Print flags by catalogue, compared alone: their number by the final fit; precision and recall out of fold."""
    positive = labelled.label >= 2
    for name, places in labelled.catalogues.items():
        scores = await kinds([labelled.tools[place] for place in places], embedder)
        first, second = np.triu_indices(len(places), 1)
        within = labelled.servers[places][first] == labelled.servers[places][second]
        flagged = scores.confusability(result.final).at(first, second) >= HIGH_FROM
        new = np.full(len(labelled.tools), -1)
        new[places] = np.arange(len(places))
        here = (new[labelled.a] >= 0) & (new[labelled.b] >= 0)
        a, b, weight = new[labelled.a[here]], new[labelled.b[here]], weights_of(labelled, *sides, [name])[here]
        by_fold = {fold: scores.confusability(one).at(a, b) for fold, one in result.by_fold.items()}
        flags = np.array([by_fold[int(fold)][at] for at, fold in enumerate(labelled.fold[here])]) >= HIGH_FROM
        for title, some, part in (("within", within, labelled.within), ("across", ~within, ~labelled.within)):
            if some.any():
                per_100 = 100 * np.sum(flagged & some) / len(places)
                text = told(part[here], flags, positive[here], weight)
                print(f"    {name:18} {len(places):4} tools  {title}  {per_100:6.1f} flags per 100 tools  {text}")


async def levels(labelled: Labelled, embedders: Mapping[str, Embedder]) -> dict[str, SimilarityLevels]:
    """Print and return the levels: the model's as they are, by words those that as many pairs of catalogues reach."""
    found: dict[str, list[list[Numbers]]] = {name: [[], [], []] for name in embedders}
    for places in [places for name, places in labelled.catalogues.items() if not name.endswith(" alone")]:
        tools = tuple(ComparedTool(str(place), labelled.tools[place]) for place in places)
        first, second = np.triu_indices(len(tools), 1)
        across = labelled.servers[places][first] != labelled.servers[places][second]
        for name, embedder in embedders.items():
            analyses = SimilarityAnalyses(FakeEmbedders(TfidfEmbedder(), folder=embedder), TfidfLexicon(), NO_RUNS)
            similarity = await analyses.analyse(ToolSet(tools=tools), full=False)
            cosines = similarity.matrix(MatrixKind.SIMILARITY)[first, second]
            risen = (cosines - similarity.level) / (1 - similarity.level)
            overlap = Overlap(similarity, None).matrix[first, second]
            for column, values in zip(found[name], (risen, cosines[across], overlap), strict=True):
                column.append(values)
    by_words = {}
    columns = zip(asdict(LEVELS["model"]).items(), *found.values(), strict=True)
    for (kind, least), words, meaning in ((told, np.concatenate(a), np.concatenate(b)) for told, a, b in columns):
        share = np.mean(meaning >= least)
        by_words[kind] = min(least, round(float(np.quantile(words, 1 - share)), 2))
        counts = [np.sum(meaning >= least), np.sum(words >= by_words[kind]), len(words)]
        print("  {}: {} by a model, {} by words ({}, {} of {} pairs)".format(kind, least, by_words[kind], *counts))
    return {"tfidf": SimilarityLevels(**by_words), "model": LEVELS["model"]}


async def main() -> None:
    """Fit by both embedders, print the tables, and store the coefficients where that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    labelled = read(given.data)
    print(f"{len(labelled.a)} pairs of {len(labelled.tools)} tools, {np.sum(labelled.label >= 2)} alike (label ≥ 2)")
    figures("plain TF-IDF (scikit-learn)", plain_tfidf(labelled), labelled)
    embedders: dict[str, Embedder] = {"tfidf": TfidfEmbedder(), "model": FastembedEmbedder(folder=given.model)}
    scores = {name: await kinds(labelled.tools, embedder) for name, embedder in embedders.items()}
    sides = scores["tfidf"], scores["model"]
    weight = weights_of(labelled, *sides, [name.partition(".")[0] for name in CATALOGUES])
    stored: dict[str, Any] = {}
    found_levels = await levels(labelled, embedders)
    for name, embedder in embedders.items():
        print(f"\nby {name}")
        shown = (MatrixKind.SIMILARITY, MatrixKind.LEXICAL, MatrixKind.NAMES, MatrixKind.PARAMETERS)
        simple = np.stack([scores[name].of(kind).at(labelled.a, labelled.b) for kind in shown], axis=1).astype(float)
        found = columns(scores[name], labelled.a, labelled.b)
        figures("similarity alone", simple[:, 0], labelled)
        figures("plain logistic regression on the four scores", plain_logistic(labelled, simple), labelled)
        result = fitted(labelled, found, weight)
        figures("confusability", result.odds, labelled)
        await catalogue_table(labelled, embedder, result, sides)
        print(f"  fitted {asdict(result.final)}\n  stored {asdict(COEFFICIENTS[name])}")
        stored[name] = {"coefficients": asdict(result.final), "levels": asdict(found_levels[name])}
    if given.write:
        STORED.write_text(json.dumps(_document(stored), indent=2, ensure_ascii=False) + "\n", "utf-8")


def _document(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "what": "Coefficients of the confusability of two tools: 0.5 and more is high, 0.25 and more medium",
        "fitted_by": "python -m tests.benchmarks.confusability --write",
        "fitted_on": datetime.now(UTC).date().isoformat(),
        "data": "900 labelled pairs of MCP-Zero (MIT), LiveMCPBench, mcp-tef and public servers (Apache-2.0)",
        "model": "sentence-transformers/all-MiniLM-L6-v2 for “model”, which every other embedding model uses too",
        **found,
    }


if __name__ == "__main__":
    asyncio.run(main())
