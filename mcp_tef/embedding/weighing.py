"""What a term of a text weighs: sublinear TF-IDF with smoothing, in the form that scikit-learn gives it.

A term t that a text has n times, and d of N texts have, weighs (1 + ln n) · (1 + ln((1 + N) / (1 + d))); then every
text is brought to length one. https://scikit-learn.org/stable/modules/feature_extraction.html#tfidf-term-weighting
"""

from typing import Any

import numpy as np


class Weigher:
    """How rare each term is among texts, by how often each text has it: a CSR array, shape (texts, terms)."""

    def __init__(self, counts: Any) -> None:
        texts, terms = counts.shape
        having = np.bincount(counts.indices, minlength=terms).astype(np.float32)
        self._rarity = np.log(np.float32(1 + texts) / (1 + having)) + 1

    def weigh(self, counts: Any) -> Any:
        """The counts of these or of other texts made into weights, in place, each text at length one."""
        counts.data = (np.log(counts.data) + 1) * self._rarity[counts.indices]
        return at_length_one(counts)


def at_length_one(rows: Any) -> Any:
    """The rows of a CSR array brought to length one, in place; those of zeros stay."""
    height = rows.shape[0]
    owners = np.repeat(np.arange(height), np.diff(rows.indptr))
    lengths = np.sqrt(np.bincount(owners, weights=rows.data.astype(np.float64) ** 2, minlength=height))
    rows.data = (rows.data / np.where(lengths > 0, lengths, 1)[owners]).astype(np.float32)
    return rows
