"""Terms of texts with their TF-IDF weights, and sums of products that are exact, so that a few can be replaced.

Weights are those of `scoring.tfidf_weights`. Each product of two weights is rounded to a multiple of 2⁻²⁸: sums of
such numbers are exact in 64 bits up to 2²⁵, whatever their order. So sums of which a part was replaced are the very
numbers that adding up everything anew would give.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mcp_tef.scoring.tfidf_weights import Amounts, Places, SparseRows, Weigher, ranges, tally

Keys = NDArray[np.uint64]
Sums = NDArray[np.float64]
SCALE = 2.0**28
PRODUCTS_AT_ONCE = 2**19
SELDOM = 64
_NOWHERE = np.uint64(0)


@dataclass(frozen=True, slots=True)
class Terms:
    """Text `owners[i]` has the term `keys[which[i]]`; equal terms have equal 64-bit keys."""

    owners: Places
    which: Places
    keys: Keys


@dataclass(frozen=True)
class TermCounts:
    """Terms of each text and how often it has them: text r has `keys`, ascending, from `starts[r]` on."""

    keys: Keys
    amounts: Amounts
    starts: Places

    @classmethod
    def of(cls, terms: Terms, texts: int) -> "TermCounts":
        """Count the terms of some texts."""
        if texts == 1:
            keys, amounts = np.unique(terms.keys[terms.which], return_counts=True)
            return cls(keys, amounts.astype(np.float32), np.array([0, len(keys)]))
        keys, columns = np.unique(np.append(terms.keys, _NOWHERE), return_inverse=True)
        rows = tally(terms.owners, columns[terms.which], (texts, len(keys)))
        return cls(keys[rows.columns], rows.amounts, rows.starts)

    @property
    def height(self) -> int:
        """Number of texts."""
        return len(self.starts) - 1

    @cached_property
    def owners(self) -> Places:
        """The text of each key."""
        return np.repeat(np.arange(self.height), np.diff(self.starts))

    @cached_property
    def weights(self) -> Sums:
        """Sublinear frequency of each key in its text: 1 + ln n."""
        counts = self.amounts.astype(np.intp)
        return (1 + np.log(np.arange(1, counts.max(initial=1) + 1)))[counts - 1]

    def keys_of(self, rows: Places) -> Keys:
        """Return the keys of some texts."""
        return self.keys[ranges(self.starts[rows], self.starts[rows + 1] - self.starts[rows])]

    def replaced(self, rows: Places, others: "TermCounts") -> "TermCounts":
        """Return these counts with other texts in some rows, which ascend."""
        lengths = np.diff(self.starts)
        lengths[rows] = np.diff(others.starts)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        bounds = [*zip([0, *(rows + 1).tolist()], [*rows.tolist(), self.height], strict=True)]
        keys, amounts = [], []
        for number, (start, stop) in enumerate(bounds):
            mine, theirs = slice(*self.starts[[start, stop]]), slice(*others.starts[number : number + 2])
            keys += [self.keys[mine], others.keys[theirs]] if number < len(rows) else [self.keys[mine]]
            amounts += [self.amounts[mine], others.amounts[theirs]] if number < len(rows) else [self.amounts[mine]]
        return TermCounts(np.concatenate(keys), np.concatenate(amounts), starts)


@dataclass(frozen=True, slots=True)
class _Entries:
    """Weights of texts (`owners`) by column."""

    owners: Places
    columns: Places
    weights: Sums

    def where(self, wanted: NDArray[np.bool_]) -> "_Entries":
        return _Entries(self.owners[wanted], self.columns[wanted], self.weights[wanted])

    def by_column(self) -> "_Entries":
        order = np.argsort(self.columns, kind="stable")
        return _Entries(self.owners[order], self.columns[order], self.weights[order])


class TermSpace:
    """Terms of one kind in some texts, and how rare each is among them."""

    def __init__(self, counts: TermCounts) -> None:
        self.counts = counts
        self._keys, columns = np.unique(np.append(counts.keys, _NOWHERE), return_inverse=True)
        self.having = np.bincount(columns[:-1], minlength=len(self._keys))
        rarity = np.log((1 + counts.height) / (1 + np.arange(counts.height + 1))) + 1
        self.rarity: Sums = (rarity * rarity * SCALE)[self.having]
        self._entries = _Entries(counts.owners, columns[:-1], counts.weights)
        self.lengths = self._lengths(self._entries, counts.height)
        self._asked: tuple[TermCounts, _Entries] | None = None

    @property
    def weighed(self) -> SparseRows:
        """The weights of each text, at length one."""
        counts = self.counts
        rows = SparseRows(self._entries.columns, counts.amounts, counts.starts, len(self._keys))
        return Weigher(rows).weigh(rows)

    def lengths_of(self, asked: TermCounts) -> Sums:
        """Return the lengths of other texts, by those of their terms that are known here."""
        return self._lengths(self._known(asked), asked.height)

    def sums(self, asked: TermCounts) -> Sums:
        """Return the products of other texts with those here, summed up: shape (texts asked, texts)."""
        return _sums(self._known(asked), self._by_column, self.rarity, (asked.height, self.counts.height))

    def sums_after(self, old: "TermSpace", asked: TermCounts, sums: Sums, differing: Places) -> Sums:
        """Return the same from the sums of an older space, whose texts are other ones at some places only."""
        left, known = self._known(asked), self._entries
        replaced = np.zeros(self.counts.height, dtype=np.bool_)
        replaced[differing] = True
        new = replaced[known.owners]
        places = np.cumsum(replaced) - 1
        columns, was = self._changed(old, differing)
        wanted = np.zeros(len(self._keys), dtype=np.bool_)
        wanted[columns] = True
        shape = (asked.height, self.counts.height)
        kept = known.where(wanted[known.columns] & ~new).by_column()
        found = _sums(left.where(wanted[left.columns]), kept, self.rarity, shape, was)
        found += sums
        fresh = known.where(new).by_column()
        fresh = _Entries(places[fresh.owners], fresh.columns, fresh.weights)
        found[:, differing] = _sums(left, fresh, self.rarity, (asked.height, len(differing)))
        return found

    def _changed(self, old: "TermSpace", differing: Places) -> tuple[Places, Sums]:
        """Return the columns whose rarity is another than in an older space, and the old rarity of all columns."""
        keys = np.unique(np.concatenate((old.counts.keys_of(differing), self.counts.keys_of(differing))))
        (mine, known), (theirs, before) = self.columns_of(keys), old.columns_of(keys)
        both = known & before
        mine, theirs = mine[both], theirs[both]
        others = self.having[mine] != old.having[theirs]
        was = np.zeros(len(self._keys))
        was[mine[others]] = old.rarity[theirs[others]]
        return mine[others], was

    def columns_of(self, keys: Keys) -> tuple[Places, NDArray[np.bool_]]:
        """Return the column of each key, and whether it is known here at all."""
        columns = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return columns, self._keys[columns] == keys

    def _known(self, asked: TermCounts) -> _Entries:
        """Return the terms of other texts that are known here; those of the last ones are kept, for their lengths."""
        if self._asked is None or self._asked[0] is not asked:
            columns, known = self.columns_of(asked.keys)
            self._asked = asked, _Entries(asked.owners, columns, asked.weights).where(known)
        return self._asked[1]

    def _lengths(self, entries: _Entries, texts: int) -> Sums:
        squares = np.rint(entries.weights * entries.weights * self.rarity[entries.columns])
        return np.sqrt(np.bincount(entries.owners, weights=squares, minlength=texts))

    @cached_property
    def _by_column(self) -> _Entries:
        return self._entries.by_column()


@dataclass(frozen=True, slots=True)
class _Weighing:
    """Products of weights, less those by an older rarity if there is one; whole numbers."""

    rarity: Sums
    older: Sums | None

    def products(self, weights: Sums, columns: Places) -> Sums:
        found = np.rint(weights * self.rarity[columns])
        return found if self.older is None else found - np.rint(weights * self.older[columns])


def _sums(left: _Entries, right: _Entries, rarity: Sums, shape: tuple[int, int], older: Sums | None = None) -> Sums:
    """Sum up the products of texts in rows (`left`) and columns (`right`, by column), less those by an older rarity.

    Columns that many have are multiplied dense; of the others, and for one row, every two entries of one column are
    looked up.
    """
    weighing = _Weighing(rarity, older)
    if shape[0] == 1:
        found: Sums = np.zeros(shape)
    else:
        filled = (np.bincount(each.columns, minlength=len(rarity)) for each in (left, right))
        dense = np.prod(list(filled), axis=0) > shape[0] * shape[1] / SELDOM
        found = _dense_sums(left.where(dense[left.columns]), right, weighing, shape)
        left = left.where(~dense[left.columns])
    starts = np.searchsorted(right.columns, left.columns)
    lengths = np.searchsorted(right.columns, left.columns, "right") - starts
    for part in _parts(left.owners, lengths):
        many = lengths[part]
        places = ranges(starts[part], many)
        columns = np.repeat(left.columns[part], many)
        products = weighing.products(np.repeat(left.weights[part], many) * right.weights[places], columns)
        first, last = left.owners[part.start], left.owners[part.stop - 1] + 1
        cells = np.repeat((left.owners[part] - first) * shape[1], many) + right.owners[places]
        block = np.bincount(cells, weights=products, minlength=(last - first) * shape[1])
        found[first:last] += block.reshape(last - first, shape[1])
    return found


def _dense_sums(left: _Entries, right: _Entries, weighing: _Weighing, shape: tuple[int, int]) -> Sums:
    """Return the same as a product of matrices: entries of one column and weight on the left have the same products."""
    weights, which = np.unique(left.weights, return_inverse=True)
    kinds, kind = np.unique(left.columns * max(len(weights), 1) + which, return_inverse=True)
    columns = kinds // max(len(weights), 1)
    has = np.zeros((shape[0], len(kinds)))
    has[left.owners, kind] = 1
    starts = np.searchsorted(right.columns, columns)
    lengths = np.searchsorted(right.columns, columns, "right") - starts
    places, rows = ranges(starts, lengths), np.repeat(np.arange(len(kinds)), lengths)
    products = np.zeros((len(kinds), shape[1]))
    own = np.repeat(weights[kinds % max(len(weights), 1)], lengths)
    products[rows, right.owners[places]] = weighing.products(own * right.weights[places], np.repeat(columns, lengths))
    found: Sums = has @ products
    return found


def _parts(owners: Places, lengths: Places) -> Iterator[slice]:
    """Yield runs of entries of whole texts, with a bounded number of products each where a text allows it."""
    if not len(owners):
        return
    if owners[0] == owners[-1]:
        yield slice(0, len(owners))
        return
    firsts = np.flatnonzero(np.diff(owners, prepend=-1))
    totals = np.cumsum(lengths)
    before = np.concatenate(([0], totals))[firsts] // PRODUCTS_AT_ONCE
    cuts = [*firsts[np.flatnonzero(np.diff(before, prepend=-1))].tolist(), len(owners)]
    yield from (slice(start, stop) for start, stop in pairwise(cuts))
