"""Six retrieval techniques over a small set of documents: the same question, six ways to find what answers it.

Vectors of texts come from outside: a local embedding model, or `TermVectors` from the documents' own words.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcp_tef.scoring.tfidf_weights import stem, words

Vectors: TypeAlias = NDArray[np.float32]
Embed: TypeAlias = Callable[[Sequence[str]], Vectors]
Ranking: TypeAlias = list[tuple[int, float]]

CANDIDATES: Final = 30
_BM25_K, _BM25_B = 1.5, 0.75
_LETTERS = 3
_NAME = re.compile(r"(?P<begins>^|[.!?] )?\b(?P<name>[A-Z][a-z]+(?: [A-Z][a-z]+)*)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_DAYS = frozenset(
    f"{day}{end}" for day in ("Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun") for end in ("day", "days")
) | frozenset(["January", "March", "April", "May", "June", "September", "October", "November"])
_LEAST_COMMUNITY = 3
_EVERYWHERE = 0.2
"""Share of the documents from which on an entity links nothing: the name of the town itself."""
_STOP = frozenset(
    words(
        "a an and are as at be by can do does for from has have how i in is it may me my of on or our than that the"
        " their there they this to until was we were what when where which who why will with you your"
    )
)


class Technique(StrEnum):
    """Way to find documents, by the names of the pipelines."""

    BASIC = "basic"
    RERANK = "basic_rerank"
    CORRECTIVE = "crag"
    GRAPH = "graphrag"
    LATE = "pylate_colbert"
    GLOBAL = "iris_global_graphrag"


class Correction(StrEnum):
    """Treatment of a query whose answer is doubtful."""

    REWRITE = "rewrite"
    EXPAND = "expand"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class RetrievedDocument:
    """One document with its score in an answer."""

    doc_id: str
    title: str
    content: str
    source: str
    score: float = 0.0

    @property
    def text(self) -> str:
        """The title and the content."""
        return f"{self.title}. {self.content}"


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Documents that a technique found, best first, with what it tells of its work."""

    documents: tuple[RetrievedDocument, ...]
    notes: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalOptions:
    """Parameters of the techniques; each reads those of its own."""

    top_k: int = 5
    confidence_threshold: float = 0.35
    correction_strategy: Correction = Correction.REWRITE
    depth: int = 2
    interaction_threshold: float = 0.5


def terms(text: str) -> list[str]:
    """Return the stems of a text without words that stand everywhere."""
    return [stem(word) for word in words(text) if word not in _STOP]


class TermVectors:
    """Vectors of texts by the weighted words of given documents, of length one."""

    def __init__(self, texts: Sequence[str]) -> None:
        bags = [set(terms(text)) for text in texts]
        self._places = {term: place for place, term in enumerate(sorted(set[str]().union(*bags)))}
        counts = Counter(term for bag in bags for term in bag)
        self._weights = {term: np.log((1 + len(texts)) / (1 + counts[term])) + 1 for term in self._places}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text."""
        found = np.zeros((len(texts), len(self._places)), dtype=np.float32)
        for row, text in enumerate(texts):
            for term, count in Counter(terms(text)).items():
                if term in self._places:
                    found[row, self._places[term]] = (1 + np.log(count)) * self._weights[term]
        return _unit(found)


def letter_vectors(texts: Sequence[str], size: int = 512) -> Vectors:
    """Return vectors of words by their runs of three letters, so that other forms of a word are near it."""
    found = np.zeros((len(texts), size), dtype=np.float32)
    for row, text in enumerate(texts):
        padded = f" {text.casefold()} "
        for start in range(len(padded) - _LETTERS + 1):
            found[row, int.from_bytes(padded[start : start + _LETTERS].encode(), "big") % size] += 1
    return _unit(found)


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), dtype=np.float32)


class DocumentIndex:
    """Documents ready to be searched by every technique; `embed` gives vectors of length one for texts and words."""

    def __init__(self, documents: Sequence[RetrievedDocument], embed: Embed | None = None) -> None:
        self.documents = tuple(documents)
        texts = [document.text for document in documents]
        self._terms = [terms(text) for text in texts]
        self._embed = embed or TermVectors(texts)
        self._embed_words = embed or letter_vectors
        self._vectors = self._embed(texts)

    def search(self, technique: Technique, query: str, options: RetrievalOptions) -> Retrieved:
        """Return what a technique finds for a query."""
        ways: Mapping[Technique, Callable[[str, RetrievalOptions], tuple[Ranking, Mapping[str, object]]]] = {
            Technique.BASIC: lambda query, _: (self._by_vector(query), {}),
            Technique.RERANK: self._reranked,
            Technique.CORRECTIVE: self._corrected,
            Technique.GRAPH: self._walked,
            Technique.LATE: self._interacting,
            Technique.GLOBAL: self._summarised,
        }
        ranking, notes = ways[technique](query, options)
        found = tuple(self._scored(place, score) for place, score in ranking[: options.top_k])
        return Retrieved(found, {"pipeline_name": technique.value, **notes})

    def _scored(self, place: int, score: float) -> RetrievedDocument:
        one = self.documents[place]
        return RetrievedDocument(one.doc_id, one.title, one.content, one.source, round(float(score), 4))

    def _by_vector(self, query: str) -> Ranking:
        return _ranked(self._vectors @ self._embed([query])[0])

    def _reranked(self, query: str, _: RetrievalOptions) -> tuple[Ranking, Mapping[str, object]]:
        """Order the nearest thirty by BM25."""
        candidates = [place for place, _ in self._by_vector(query)[:CANDIDATES]]
        scores = self._bm25(terms(query))
        return sorted(((place, scores[place]) for place in candidates), key=_best_first), {"reranked": len(candidates)}

    def _bm25(self, asked: Sequence[str]) -> NDArray[np.float64]:
        counts = [Counter(found) for found in self._terms]
        mean = sum(map(len, self._terms)) / len(self._terms)
        scores = np.zeros(len(self._terms))
        for term in set(asked):
            holding = sum(term in found for found in counts)
            weight = np.log(1 + (len(counts) - holding + 0.5) / (holding + 0.5))
            for place, found in enumerate(counts):
                length = 1 - _BM25_B + _BM25_B * len(self._terms[place]) / mean
                scores[place] += weight * found[term] * (_BM25_K + 1) / (found[term] + _BM25_K * length)
        return scores

    def _corrected(self, query: str, options: RetrievalOptions) -> tuple[Ranking, Mapping[str, object]]:
        """Ask again in the documents' own words where the best score and its lead are too small."""
        first = self._by_vector(query)
        confidence = _confidence(first)
        if confidence >= options.confidence_threshold or options.correction_strategy is Correction.NONE:
            return first, {"confidence_score": round(confidence, 4), "correction_applied": False}
        asked = self._rewritten(query)
        if options.correction_strategy is Correction.EXPAND:
            asked = f"{asked} {self.documents[self._by_vector(asked)[0][0]].title}"
        second = self._by_vector(asked)
        told = {"confidence_score": round(_confidence(second), 4), "correction_applied": True, "asked": asked}
        return second, told

    def _rewritten(self, query: str) -> str:
        """Return a query in which each unknown word is the nearest one of the documents, by its letters."""
        known, vectors = self._vocabulary
        stems = {stem(word) for word in known}
        rewritten = []
        for word in words(query):
            near = vectors @ letter_vectors([word])[0]
            best = int(np.argmax(near))
            unknown = word not in _STOP and stem(word) not in stems
            rewritten.append(known[best] if unknown and near[best] > 0.3 else word)
        return " ".join(rewritten)

    @cached_property
    def _vocabulary(self) -> tuple[list[str], Vectors]:
        known = sorted({word for document in self.documents for word in words(document.text)} - _STOP)
        return known, letter_vectors(known)

    @cached_property
    def graph(self) -> Mapping[str, frozenset[int]]:
        """The documents of each entity: a name that is written with capitals, and that not too many of them hold."""
        found = defaultdict[str, set[int]](set)
        for place, document in enumerate(self.documents):
            for name in entities(document.text):
                found[name].add(place)
        most = _EVERYWHERE * len(self.documents)
        return {name: frozenset(places) for name, places in found.items() if len(places) <= most}

    def _walked(self, query: str, options: RetrievalOptions) -> tuple[Ranking, Mapping[str, object]]:
        """Start at the entities of the query, else of the best document, and walk to a depth along shared entities."""
        similar = np.asarray(self._vectors @ self._embed([query])[0], dtype=np.float64)
        start = {place for name, places in self.graph.items() if _named(name, query) for place in places}
        reached, depth = dict.fromkeys(start or {int(np.argmax(similar))}, 1.0), 0
        edge = set(reached)
        while edge and depth < options.depth:
            found = self._beyond(edge, reached)
            reached |= found
            edge, depth = set(found), depth + bool(found)
        scores = {place: strength / 2 + similar[place] for place, strength in reached.items()}
        told = {"graph_traversal_depth": depth, "documents_reached": len(reached)}
        return sorted(scores.items(), key=_best_first), told

    def _beyond(self, edge: Iterable[int], reached: Mapping[int, float]) -> dict[int, float]:
        """Return the documents one step beyond an edge that were not reached yet, with the strength of their links."""
        steps = ((other, reached[place] * weight) for place in edge for other, weight in self._links[place].items())
        return {other: strength for other, strength in steps if other not in reached}

    @cached_property
    def _links(self) -> Mapping[int, Mapping[int, float]]:
        """The documents that share an entity with each, by how rare the rarest of these is, from 0 to 1."""
        found = defaultdict[int, dict[int, float]](dict)
        for places in self.graph.values():
            for place in places:
                for other in places - {place}:
                    found[place][other] = max(found[place].get(other, 0.0), 1 / (len(places) - 1))
        return defaultdict(dict, found)

    def _interacting(self, query: str, options: RetrievalOptions) -> tuple[Ranking, Mapping[str, object]]:
        """Add up, for each word of the query, its best match among the words of a document."""
        asked = [word for word in words(query) if word not in _STOP] or words(query)
        rows, owners = self._word_vectors
        near = self._embed_words(asked) @ rows.T
        near = np.where(near >= options.interaction_threshold, near, 0)
        scores = np.zeros(len(self.documents))
        for place in range(len(self.documents)):
            scores[place] = near[:, owners == place].max(axis=1).sum() / len(asked)
        return _ranked(scores), {"token_interactions": int(near.size)}

    @cached_property
    def _word_vectors(self) -> tuple[Vectors, NDArray[np.int64]]:
        bags = [sorted(set(words(document.text)) - _STOP) for document in self.documents]
        owners = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
        known = sorted({word for bag in bags for word in bag})
        places = {word: place for place, word in enumerate(known)}
        vectors = self._embed_words(known)
        return vectors[[places[word] for bag in bags for word in bag]], owners

    @cached_property
    def communities(self) -> tuple[tuple[int, ...], ...]:
        """Groups of documents around the entities that most of them share; each document is in one group at most.

        The largest group is taken first, without those of its documents that a rarer entity ties to another group.
        """
        rarest: dict[int, str] = {}
        for name, places in sorted(self.graph.items(), key=lambda item: (-len(item[1]), item[0])):
            rarest |= dict.fromkeys(places, name) if len(places) >= _LEAST_COMMUNITY else {}
        groups = defaultdict[str, list[int]](list)
        for place, name in sorted(rarest.items()):
            groups[name].append(place)
        return tuple(tuple(group) for _, group in sorted(groups.items()))

    def _summarised(self, query: str, _: RetrievalOptions) -> tuple[Ranking, Mapping[str, object]]:
        """Compare the query with the summary of each community, and take from each a central document.

        It is one from a source that no other community has spoken for, where there is one.
        """
        centres = _unit(np.stack([self._vectors[list(group)].mean(axis=0) for group in self.communities]))
        ranking: Ranking = []
        heard = set[str]()
        for community, score in _ranked(centres @ self._embed([query])[0]):
            group = self.communities[community]
            new = [place for place in group if self.documents[place].source not in heard] or list(group)
            central = new[int(np.argmax(self._vectors[new] @ centres[community]))]
            heard.add(self.documents[central].source)
            ranking.append((central, score))
        return ranking, {"communities": len(self.communities)}


def _ranked(scores: Sequence[float] | NDArray[np.float32] | NDArray[np.float64]) -> Ranking:
    return sorted(((place, float(score)) for place, score in enumerate(scores)), key=_best_first)


def _best_first(item: tuple[int, float]) -> tuple[float, int]:
    return -item[1], item[0]


def _confidence(ranking: Ranking) -> float:
    """Return how sure a ranking is, from 0 to 1: its best score, and as much of its lead over the second."""
    best, second = ranking[0][1], ranking[1][1]
    return max(0.0, min(1.0, best * (1 + (best - second) / 2)))


def _named(name: str, query: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", query) is not None


def entities(text: str) -> frozenset[str]:
    """Return the names in a text; a single word that only begins a sentence is none."""
    found = set[str]()
    for match in _NAME.finditer(text.replace("\n", " ")):
        parts = match["name"].split()
        named = parts[1:] if parts[0].casefold() in _STOP else parts
        if len(named) > (match["begins"] is not None and named == parts):
            found.add(" ".join(named))
    return frozenset(found) - _DAYS


def extracted_answer(query: str, documents: Sequence[RetrievedDocument], sentences: int = 2) -> str:
    """Return the sentences that share most words with a query, in the order of the documents; empty where none does."""
    asked = set(terms(query))
    found = list(_sentences(documents))
    shares = {place: len(asked & set(terms(text))) for place, text in enumerate(found)}
    best = sorted(sorted(shares, key=lambda place: (-shares[place], place))[:sentences])
    return " ".join(found[place] for place in best if shares[place])


def _sentences(documents: Sequence[RetrievedDocument]) -> Iterator[str]:
    for document in documents:
        yield from _SENTENCE.split(document.content)


def read_documents(source: str, text: str) -> list[RetrievedDocument]:
    """Return the documents of a Markdown file: one for each heading of the second level."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)[1:]
    topic = source.partition(".")[0]
    return [
        RetrievedDocument(f"{topic}-{number:02}", title.strip(), content.strip(), source)
        for number, (title, content) in enumerate(zip(parts[::2], parts[1::2], strict=True), 1)
    ]
