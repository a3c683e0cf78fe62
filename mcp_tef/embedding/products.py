"""Products of sparse rows that never hold the rows dense: all with all, and with a few fixed directions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1024
RARE = 30


def products(rows: Any, *, block: int = BLOCK) -> NDArray[np.float32]:
    """`rows @ rows.T` of a scipy CSR matrix, dense, symmetric to the last bit.

    Columns that more than one row in 30 fills are multiplied dense, which is quicker for them; the others sparse.
    Beside the answer this takes one block of rows and one of columns.
    """
    height = rows.shape[0]
    answer = np.zeros((height, height), dtype=np.float32)
    columns = rows.tocsc()
    frequent = np.diff(columns.indptr) * RARE > height
    _add_sparse(answer, columns[:, ~frequent].tocsr(), block)
    _add_dense(answer, columns[:, frequent], block)
    _mirror(answer, block)
    return answer


def directions(rows: Any, width: int) -> NDArray[np.float32]:
    """Rows of a scipy CSR matrix turned into so many numbers each, which keeps their products about as they are.

    Every column goes to one place with a sign of its own, both drawn once and for all (feature hashing, Weinberger
    et al. 2009).
    """
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped]  # it has no types

    count = rows.shape[1]
    draw = np.random.default_rng(0)
    places, signs = draw.integers(0, width, count), draw.choice(np.asarray((-1, 1), dtype=np.float32), count)
    turned = rows @ csr_matrix((signs, (np.arange(count), places)), shape=(count, width))
    return np.asarray(turned.toarray(), dtype=np.float32)


def _add_sparse(answer: NDArray[np.float32], rows: Any, block: int) -> None:
    for start in range(0, len(answer), block):
        answer[start : start + block, start:] += (rows[start : start + block] @ rows[start:].T).toarray()


def _add_dense(answer: NDArray[np.float32], columns: Any, block: int) -> None:
    for first in range(0, columns.shape[1], block):
        dense = columns[:, first : first + block].toarray(order="C")
        for start in range(0, len(answer), block):
            answer[start : start + block, start:] += dense[start : start + block] @ dense[start:].T


def _mirror(answer: NDArray[np.float32], block: int) -> None:
    """Make the lower half equal to the upper."""
    for start in range(0, len(answer), block):
        stop = start + block
        square = np.triu(answer[start:stop, start:stop])
        answer[start:stop, start:stop] = square + np.triu(square, 1).T
        answer[stop:, start:stop] = answer[start:stop, stop:].T
