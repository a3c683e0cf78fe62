"""Sparse rows of term counts, their products, and smoothed sublinear TF-IDF as scikit-learn defines it.

A term t that occurs n times in a text, and in d of N texts, has the weight (1 + ln n) · (1 + ln((1 + N) / (1 + d)));
then every row is scaled to length 1.
https://scikit-learn.org/stable/modules/feature_extraction.html#tfidf-term-weighting
Source: G. Salton and C. Buckley, Term-weighting approaches in automatic text retrieval, Information Processing &
Management 24 (1988), 513-523.
"""

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
        these = np.flatnonzero((self._owners >= start) & (self._owners < stop))
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
