"""Tokens and stems of texts, and their smoothed sublinear TF-IDF weights as scikit-learn defines them.

A term t that occurs n times in a text, and in d of N texts, has the weight (1 + ln n) · (1 + ln((1 + N) / (1 + d)));
then every row is scaled to length 1.
https://scikit-learn.org/stable/modules/feature_extraction.html#tfidf-term-weighting
Source: G. Salton and C. Buckley, Term-weighting approaches in automatic text retrieval, Information Processing &
Management 24 (1988), 513-523.

scikit-learn itself would take 3 times as long for 2,000 texts and 40 MB more, mostly for its import (4.2 s and 146 MB
instead of 1.4 s and 106 MB, under load).
"""

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Amounts = NDArray[np.float32]
Places = NDArray[np.intp]
RARE = 30
MOST_DENSE = 4_096
PAIRS_AT_ONCE = 2**20


@dataclass(frozen=True)
class SparseRows:
    """Sparse matrix by rows (CSR): row r has `columns` in ascending order and their `amounts` from `starts[r]` on."""

    columns: Places
    amounts: Amounts
    starts: Places
    width: int

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self.starts) - 1

    @cached_property
    def owners(self) -> Places:
        """The row of each column that is had."""
        return np.repeat(np.arange(self.height), np.diff(self.starts))

    def holding(self, amounts: Amounts) -> "SparseRows":
        """Return the same columns with other amounts."""
        return replace(self, amounts=amounts)

    def sums(self, amounts: Amounts) -> Amounts:
        """For each row the sum of what is given for its columns."""
        return np.bincount(self.owners, weights=amounts, minlength=self.height).astype(np.float32)

    def pairs(self, a: Places, b: Places) -> Amounts:
        """Return the products of rows a[i] and b[i], shape (len(a),)."""
        (one, mine), (other, theirs) = self._of(a), self._of(b)
        if not len(other):
            return np.zeros(len(a), dtype=np.float32)
        found = np.minimum(np.searchsorted(other, one), len(other) - 1)
        both = np.flatnonzero(other[found] == one)
        products = self.amounts[mine[both]] * self.amounts[theirs[found[both]]]
        return np.bincount(one[both] // self.width, weights=products, minlength=len(a)).astype(np.float32)

    def _of(self, rows: Places) -> tuple[Places, Places]:
        """Return all that some rows have: by a number for which of them and which column, ascending, and by place."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        places = ranges(self.starts[rows], lengths)
        return np.repeat(np.arange(len(rows)), lengths) * self.width + self.columns[places], places


def ranges(starts: Places, lengths: Places) -> Places:
    """Return numbers from each start on, so many each, one after the other."""
    ends = np.cumsum(lengths)
    return np.asarray(np.repeat(starts - ends + lengths, lengths) + np.arange(lengths.sum()), dtype=np.intp)


def tally(owners: Places, columns: Places, shape: tuple[int, int]) -> SparseRows:
    """Return the counts of each pair of row and column."""
    height, width = shape
    keys, counts = np.unique(owners * width + columns, return_counts=True)
    starts = np.searchsorted(keys, np.arange(height + 1) * width)
    return SparseRows(keys % width, counts.astype(np.float32), starts, width)


def counted(bags: Sequence[Collection[Hashable]]) -> SparseRows:
    """Return the counts of each item (column) in each bag (row)."""
    numbers = {thing: number for number, thing in enumerate(dict.fromkeys(chain.from_iterable(bags)))}
    columns = np.fromiter(map(numbers.__getitem__, chain.from_iterable(bags)), dtype=np.intp)
    owners = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
    return tally(owners, columns, (len(bags), max(len(numbers), 1)))


def beside(left: SparseRows, right: SparseRows) -> SparseRows:
    """Return two sets of rows as one, the columns of the right after those of the left."""
    starts = left.starts + right.starts
    order = np.argsort(np.concatenate((left.owners, right.owners)), kind="stable")
    columns = np.concatenate((left.columns, right.columns + left.width))[order]
    return SparseRows(columns, np.concatenate((left.amounts, right.amounts))[order], starts, left.width + right.width)


class Products:
    """Products of rows with one another.

    Columns that more than one row in 30 fills are multiplied dense, which is quicker for them; of the others every
    two rows that share one are looked up.
    """

    def __init__(self, rows: SparseRows) -> None:
        filled = np.bincount(rows.columns, minlength=rows.width)
        least = np.partition(filled, -MOST_DENSE)[-MOST_DENSE] if rows.width > MOST_DENSE else 0
        frequent = filled > max(rows.height / RARE, least)
        self._dense = _dense(rows, frequent)
        rare = np.flatnonzero(~frequent[rows.columns])
        by_column = rare[np.argsort(rows.columns[rare], kind="stable")]
        self._owners, self._amounts = rows.owners[by_column], rows.amounts[by_column]
        self._by_owner = np.argsort(self._owners, kind="stable")
        self._of_owner = np.searchsorted(self._owners[self._by_owner], np.arange(rows.height + 1))
        self._ends = np.cumsum(np.where(frequent, 0, filled))[rows.columns[by_column]]

    def of(self, start: int, stop: int) -> Amounts:
        """Return some rows with all from the first of them on, shape (stop − start, height − start)."""
        answer = np.asarray(self._dense[start:stop] @ self._dense[start:].T, dtype=np.float32)
        flat, width = answer.reshape(-1), answer.shape[1]
        for one, other in self._sharing(start, stop):
            cells = (self._owners[one] - start) * width + self._owners[other] - start
            np.add.at(flat, cells, self._amounts[one] * self._amounts[other])
        corner = answer[:, : len(answer)]
        np.copyto(corner, corner.T, where=np.tri(len(corner), k=-1, dtype=np.bool_))
        return answer

    def _sharing(self, start: int, stop: int) -> Iterator[tuple[Places, Places]]:
        """Every two rare entries of one column, the first of them in these rows, the other in the same or a later."""
        these = self._by_owner[self._of_owner[start] : self._of_owner[stop]]
        lengths = self._ends[these] - these
        parts = np.flatnonzero(np.diff(np.cumsum(lengths) // PAIRS_AT_ONCE)) + 1
        for some, long in zip(np.split(these, parts), np.split(lengths, parts), strict=True):
            yield np.repeat(some, long), ranges(some, long)


def _dense(rows: SparseRows, wanted: NDArray[np.bool_]) -> Amounts:
    """Return some of the columns, empty places and all."""
    numbers = np.cumsum(wanted) - 1
    dense = np.zeros((rows.height, np.count_nonzero(wanted)), dtype=np.float32)
    had = wanted[rows.columns]
    dense[rows.owners[had], numbers[rows.columns[had]]] = rows.amounts[had]
    return dense


class Weigher:
    """Return the rarity of each term (column) among texts (rows), from the counts of each text."""

    def __init__(self, counts: SparseRows) -> None:
        having = np.bincount(counts.columns, minlength=counts.width).astype(np.float32)
        self._rarity = np.log(np.float32(1 + counts.height) / (1 + having)) + 1

    def weigh(self, counts: SparseRows) -> SparseRows:
        """Return the counts of these or of other texts made into weights, each text at length one."""
        return at_length_one(counts.holding((np.log(counts.amounts) + 1) * self._rarity[counts.columns]))


def at_length_one(rows: SparseRows) -> SparseRows:
    """Return the rows brought to length one; those of zeros stay."""
    lengths = np.sqrt(rows.sums(rows.amounts**2))
    lengths[lengths == 0] = 1
    return rows.holding(np.asarray(rows.amounts / lengths[rows.owners], dtype=np.float32))


_NEW_WORD = re.compile(r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))")
_JOINTS = re.compile(r"[_\-./:]+")
_WORD = re.compile(r"[^\W_]+")
_ENDINGS = ("ingly", "edly", "ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "es", "ed", "s")
_SHORTEST_STEM = 3
_SAY_NOTHING = """a about after all also am an and any are as at be because been before being both but by can cannot
    could did do does doing down each few for from further get give had has have having he her here hers
    him his how i if in into is it its just let like made make many may me might more most much must my
    need no nor not now of off on once one only or other our out over own per please same see she should
    show so some such tell than that the their them then there these they this those through to too
    under until up upon us very via want was we well were what when where which while who whom whose why
    will with within without would you your yours"""
STOP_WORDS = frozenset(_SAY_NOTHING.split())


def spaced(text: str) -> str:
    """Return `text` with spaces where names are joined: `getUserById` and `get_user-by.id` alike."""
    return _JOINTS.sub(" ", _parted(text))


@lru_cache(maxsize=2**13)
def spaced_name(name: str) -> str:
    """Return the same for a name, which many texts are made of again and again."""
    return spaced(name)


def _parted(text: str) -> str:
    return _NEW_WORD.sub(r" \g<0>", text)


def stems(text: str) -> list[str]:
    """Return the words of a text in lower case, without endings and without words that say nothing."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def words(text: str) -> list[str]:
    """Return the single words of a text in lower case, endings and all."""
    return _WORD.findall(_parted(text).lower())


@lru_cache(maxsize=2**16)
def stem(word: str) -> str:
    """Return a word in lower case without its ending."""
    if not word.endswith(_ENDINGS):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


_WORD_OR_END = re.compile(r"[^\W_]+|\n")
_END = "\n"


@dataclass(frozen=True, slots=True)
class TokenizedTexts:
    """Texts as rows of words that say something: word `sequence[k]` of `words` stands in text `owners[k]`."""

    words: tuple[str, ...]
    sequence: Places
    owners: Places
    texts: int

    def by_text(self) -> list[list[str]]:
        """Return the words of each text."""
        said = [self.words[place] for place in self.sequence.tolist()]
        ends = np.cumsum(np.bincount(self.owners, minlength=self.texts)).tolist()
        return [said[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def read(texts: Sequence[str]) -> TokenizedTexts:
    """Return the words of texts, alike for camelCase, snake_case and kebab-case, without words that say nothing."""
    written = [text.split() for text in texts]
    tokens = {token: place for place, token in enumerate(dict.fromkeys(chain.from_iterable(written)))}
    words, by_token, lengths = _words(tokens)
    row = np.fromiter(map(tokens.__getitem__, chain.from_iterable(written)), np.intp)
    owners = np.repeat(np.arange(len(texts)), [len(one) for one in written])
    sequence = by_token[ranges((np.cumsum(lengths) - lengths)[row], lengths[row])]
    return TokenizedTexts(words, sequence, np.repeat(owners, lengths[row]), len(texts))


def _words(tokens: Iterable[str]) -> tuple[tuple[str, ...], Places, Places]:
    """Return the distinct words of tokens, which of them each token holds one after the other, and how many."""
    known: dict[str, int] = {}
    held: list[int] = []
    ends: list[int] = []
    for word in _WORD_OR_END.findall(spaced(_END.join([*tokens, ""])).lower()):
        if word == _END:
            ends.append(len(held))
        elif word not in STOP_WORDS:
            held.append(known.setdefault(word, len(known)))
    bounds = np.asarray([0, *ends], dtype=np.intp)
    return tuple(known), np.asarray(held, dtype=np.intp), bounds[1:] - bounds[:-1]
