"""Similarity of all pairs of some tools: flagged pairs, histogram, and the reasons for one pair in plain text."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from mcp_tef.errors import InputError
from mcp_tef.model.similarity import (
    ComparedTool,
    ConfusabilityLevel,
    FlagRule,
    MatrixKind,
    PairExplanation,
    ScoreExplanation,
    SharedParameter,
    ToolPair,
    ToolSet,
)
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.score_kinds import (
    KEPT_UP_TO,
    MOST_IN_SQUARE,
    FlaggedPairs,
    PairScan,
    ScoreKinds,
    best_pairs,
)
from mcp_tef.scoring.similarity.signals import (
    Matrix,
    Meaning,
    Places,
)
from mcp_tef.scoring.similarity.tool_texts import (
    name_words,
    parameters,
    side_by_side,
    stems_of,
    without_boilerplate,
)

_WRITTEN = re.compile(r"[^\W_]+(?:[_\-./:][^\W_]+)*")
_MOST, _MANY, _SOME = 0.5, 0.25, 0.0
_DEGREES = {level: f"{level} confusability" for level in ConfusabilityLevel}


def explain(a: Tool, b: Tool, pair: ToolPair) -> PairExplanation:
    """One sentence a score, the words in both descriptions as they are written there, and the parameters aligned."""
    aligned = side_by_side(parameters(a), parameters(b))
    scores = [
        ScoreExplanation(MatrixKind.SIMILARITY, "Similarity", pair.similarity, _rank(pair)),
        ScoreExplanation(MatrixKind.LEXICAL, "Wording", pair.lexical, _wording(a, b)),
        ScoreExplanation(MatrixKind.NAMES, "Names", pair.names, _naming(a, b)),
        ScoreExplanation(MatrixKind.PARAMETERS, "Parameters", pair.parameters, _parameters(aligned)),
    ]
    if pair.full is not None:
        words = "Name, description and parameters taken together"
        scores.insert(1, ScoreExplanation(MatrixKind.FULL, "With parameters", pair.full, words))
    scores.append(ScoreExplanation(MatrixKind.CONFUSABILITY, "Confusability", pair.confusability, _judged(pair)))
    return PairExplanation(
        summary=_summary(a, b, pair),
        scores=tuple(scores),
        shared_words=shared_words(a.description, b.description),
        parameters=aligned,
    )


def shared_words(a: str, b: str) -> tuple[str, ...]:
    """Return the content words of one text that are, up to their endings, in the other too; as written, each once."""
    common = set(stems_of(a)) & set(stems_of(b))
    written = [word for text in (a, b) for word in _WRITTEN.findall(text)]
    return tuple(dict.fromkeys(word for word in written if common.intersection(stems_of(word))))


def _rank(pair: ToolPair) -> str:
    return f"closer than {percent(pair.percentile)} of all pairs"


def percent(share: float) -> str:
    """Never 100 % of what is not all of it."""
    return f"{min(share * 100, 99.9):.1f} %" if share < 1 else "100 %"


def _summary(a: Tool, b: Tool, pair: ToolPair) -> str:
    if a.name == b.name and a.description == b.description and dict(a.input_schema) == dict(b.input_schema):
        where = "is there twice" if a.server == b.server else "is the same on both servers"
        return f"{a.name} {where}: nothing else tells them apart."
    return f"{a.name} and {b.name}: {_DEGREES[pair.level]}, and {_rank(pair)}."


def _wording(a: Tool, b: Tool) -> str:
    of_a, of_b = set(stems_of(a.description)), set(stems_of(b.description))
    if not of_a or not of_b:
        return "One description has no content words"
    share = len(of_a & of_b) / min(len(of_a), len(of_b))
    return f"{_amount(share)} content words occur in both"


def _amount(share: float) -> str:
    if share >= 1:
        return "All"
    return "Most" if share > _MOST else "Many" if share > _MANY else "Few" if share > _SOME else "No"


def _naming(a: Tool, b: Tool) -> str:
    of_a, of_b = name_words(a.name), name_words(b.name)
    if of_a == of_b:
        return "The names have the same words"
    return f"{_of(len(of_a & of_b), len(of_a | of_b), 'word')} of the names {_is_are(len(of_a & of_b))} the same"


def _parameters(aligned: Sequence[SharedParameter]) -> str:
    if not aligned:
        return "Neither has parameters"
    same = sum(one.same_type for one in aligned)
    if same == len(aligned):
        return (
            "The only parameter has the same name and type"
            if same == 1
            else "All parameters have the same names and types"
        )
    return f"{_of(same, len(aligned), 'parameter name')} and types are the same"


def _of(part: int, whole: int, what: str) -> str:
    return f"{part} of {whole} {what}{'s' * (whole != 1)}"


def _is_are(count: int) -> str:
    return "is" if count == 1 else "are"


def _judged(pair: ToolPair) -> str:
    return f"{_DEGREES[pair.level].capitalize()}: estimated from such pairs that a reader judged, not measured in runs"


SAMPLED_ROWS = 64


class Similarity:
    """Every score of every pair. Safe between threads; a square that was not asked for before takes a while."""

    def __init__(self, tool_set: ToolSet, meaning: Meaning, most_in_square: int = MOST_IN_SQUARE) -> None:
        self.tools: tuple[ComparedTool, ...] = tool_set.tools
        self.unreachable = tool_set.unreachable
        self.problems = tool_set.problems
        self.embedder = meaning.embedder
        self.level = meaning.level
        self.notice = meaning.notice
        tools = without_boilerplate([each.tool for each in tool_set.tools])
        self._kinds = ScoreKinds(tools, meaning, most_in_square)
        self._flagged: dict[FlagRule, FlaggedPairs] = {}

    def __len__(self) -> int:
        return len(self.tools)

    @property
    def pair_count(self) -> int:
        """Number of pairs, n (n − 1) / 2."""
        return len(self) * (len(self) - 1) // 2

    @property
    def has_full(self) -> bool:
        """True if the score with parameters was asked for."""
        return MatrixKind.FULL in self._kinds.all

    def matrix(self, kind: MatrixKind) -> Matrix:
        """Return all pairs, shape (n, n), read-only: symmetric, in 0–1, diagonal 1.

        KeyError for `full` without it, InputError for more than 20,000 tools.
        """
        if not self.has_squares:
            hint = f"Compare at most {MOST_IN_SQUARE:,} tools, or write the flagged pairs as .csv or .json."
            raise InputError(f"{len(self):,} tools are too many to show every pair of them.", hint=hint)
        return self._kinds.of(kind).matrix

    def scores(self, kind: MatrixKind) -> Matrix:
        """Return the scores of each pair once, shape (pair_count,), in the order (0, 1), (0, 2) … (1, 2) and so on."""
        matrix = self.matrix(kind)
        found, start = np.empty(self.pair_count, dtype=np.float32), 0
        for place, row in enumerate(matrix, start=1):
            found[start : start + len(row) - place] = row[place:]
            start += len(row) - place
        return found

    def rows(self, kind: MatrixKind, start: int, stop: int) -> Matrix:
        """Return the read-only scores of some tools against all from the first on, shape (stop − start, n − start)."""
        return self._kinds.of(kind).kept_rows(start, stop)

    @property
    def has_squares(self) -> bool:
        """True if there are few enough tools to hold all pairs; of more, only the flagged ones are found."""
        return self._kinds.has_squares

    def scan(self, rule: FlagRule, *, block: int | None = None) -> PairScan:
        """Return what finds the flagged pairs in blocks of so many rows."""
        return PairScan(self._kinds, rule, block=block)

    def hold(self, rule: FlagRule, found: FlaggedPairs) -> None:
        """Keep what a scan has found."""
        self._flagged[rule] = found

    def _is_scanned(self, rule: FlagRule) -> bool:
        return rule in self._flagged or len(self) > KEPT_UP_TO or not self.has_squares

    def _scanned(self, rule: FlagRule) -> FlaggedPairs:
        if rule not in self._flagged:
            if self.has_squares:
                self.matrix(MatrixKind.SIMILARITY)
            self.hold(rule, self.scan(rule).all())
        return self._flagged[rule]

    def count_flagged(self, rule: FlagRule) -> int:
        """Count the pairs that a rule flags."""
        if self._is_scanned(rule):
            return self._scanned(rule).count
        scores = self._sorted if rule.kind is MatrixKind.SIMILARITY else self._sorted_confusability
        return self.pair_count - int(np.searchsorted(scores, np.float32(rule.threshold)))

    def histogram(self, bins: int = 50) -> NDArray[np.intp]:
        """Count the pairs by confusability: equal steps over 0–1, the last one including 1."""
        edges = np.linspace(0, 1, bins + 1, dtype=np.float32)[:-1]
        return np.diff(np.searchsorted(self._sorted_confusability, edges), append=self.pair_count)

    def flagged(self, rule: FlagRule, limit: int | None = None) -> tuple[ToolPair, ...]:
        """Return the pairs that a rule flags, highest score first; at most `limit`, of many tools at most 200,000."""
        if self._is_scanned(rule):
            found = self._scanned(rule)
            return self.pairs(found.a[:limit], found.b[:limit])
        return self.above(rule.kind, rule.threshold, limit)

    def above(self, kind: MatrixKind, threshold: float, limit: int | None = None) -> tuple[ToolPair, ...]:
        """Return the pairs with a score of at least `threshold`, most alike first; at most `limit`."""
        most = self.pair_count if limit is None else limit
        return self.pairs(*best_pairs(partial(self.rows, kind), len(self), threshold, most))

    def pairs_by(self, kind: MatrixKind, limit: int) -> tuple[ToolPair, ...]:
        """Return the pairs most alike by one score, best first."""
        return self.above(kind, 0.0, limit)

    def most_alike(self, rule: FlagRule, limit: int) -> tuple[ToolPair, ...]:
        """Return the pairs most alike by the score of a rule; without squares, only those that it flags."""
        few = self.has_squares and limit > self.count_flagged(rule)
        return self.pairs_by(rule.kind, limit) if few else self.flagged(rule, limit)

    def pair(self, a: int, b: int) -> ToolPair:
        """Return one pair, whichever way round it is named."""
        places = np.array([min(a, b)], dtype=np.intp), np.array([max(a, b)], dtype=np.intp)
        return self.pairs(*places)[0]

    def pairs(self, a: Places, b: Places) -> tuple[ToolPair, ...]:
        """Return the pairs (a[i], b[i]) with all their scores."""
        ranks = self.percentiles(self._kinds.of(MatrixKind.SIMILARITY).at(a, b))
        return self._scored(a, b, ranks, a, b)

    def alone(self, a: Places, b: Places) -> tuple[ToolPair, ...]:
        """Return pairs as if there were no others: named 0 and 1, without a percentile, nothing else computed."""
        return self._scored(a, b, np.zeros(len(a)), np.zeros_like(a), np.ones_like(b))

    def nearest(self, place: int, most: int) -> tuple[tuple[int, float, float], ...]:
        """Return the tools that share most with one, the nearest first: place, similarity and confusability.

        Tools that share nothing with it are left out. No square is worked out.
        """
        others = np.delete(np.arange(len(self)), place)
        one = np.full_like(others, place)
        scores = self._kinds.of(MatrixKind.SIMILARITY).at(np.minimum(one, others), np.maximum(one, others))
        order = np.argsort(-scores, kind="stable")[:most]
        order = order[scores[order] > 0]
        kinds = self._kinds.among(np.concatenate(([place], others[order])))
        few = np.arange(1, len(order) + 1)
        found = kinds.of(MatrixKind.CONFUSABILITY).at(np.zeros_like(few), few)
        return tuple(zip(others[order].tolist(), scores[order].tolist(), found.tolist(), strict=True))

    def _scored(self, a: Places, b: Places, ranks: NDArray[np.float64], *names: Places) -> tuple[ToolPair, ...]:
        kinds = {kind: self._kinds.of(kind).at(a, b).tolist() for kind in self._kinds.all}
        rows = zip(*(name.tolist() for name in names), ranks.tolist(), *kinds.values(), strict=True)
        return tuple(
            _pair(one, other, rank, dict(zip(kinds, scores, strict=True))) for one, other, rank, *scores in rows
        )

    def percentiles(self, scores: Matrix) -> NDArray[np.float64]:
        """Return the share of all pairs that are less similar than each score; without squares, of a sample."""
        return np.searchsorted(self._sorted, scores) / max(len(self._sorted), 1)

    def explain(self, a: int, b: int) -> PairExplanation:
        """Why a pair looks alike, in words."""
        return explain(self.tools[a].tool, self.tools[b].tool, self.pair(a, b))

    @property
    def without_parameters(self) -> NDArray[np.bool_]:
        """Mask of the tools without parameters, shape (n,)."""
        return self._kinds.without_parameters

    @cached_property
    def _sorted(self) -> Matrix:
        if self.has_squares:
            return np.sort(self.scores(MatrixKind.SIMILARITY))
        sampled = range(0, len(self), len(self) // SAMPLED_ROWS)
        rows = [self.rows(MatrixKind.SIMILARITY, place, place + 1)[0, 1:] for place in sampled]
        return np.sort(np.concatenate(rows))

    @cached_property
    def _sorted_confusability(self) -> Matrix:
        return np.sort(self.scores(MatrixKind.CONFUSABILITY))


def _pair(a: int, b: int, percentile: float, scores: Mapping[MatrixKind, float]) -> ToolPair:
    return ToolPair(
        a=a,
        b=b,
        similarity=scores[MatrixKind.SIMILARITY],
        full=scores.get(MatrixKind.FULL),
        lexical=scores[MatrixKind.LEXICAL],
        names=scores[MatrixKind.NAMES],
        parameters=scores[MatrixKind.PARAMETERS],
        percentile=percentile,
        confusability=scores[MatrixKind.CONFUSABILITY],
    )
