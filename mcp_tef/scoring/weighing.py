"""What a term of a text weighs: sublinear TF-IDF with smoothing, in the form that scikit-learn gives it.

A term t that a text has n times, and d of N texts have, weighs (1 + ln n) · (1 + ln((1 + N) / (1 + d))); then every
text is brought to length one. https://scikit-learn.org/stable/modules/feature_extraction.html#tfidf-term-weighting
Source: G. Salton and C. Buckley, Term-weighting approaches in automatic text retrieval, Information Processing &
Management 24 (1988), 513-523.
"""

import numpy as np

from mcp_tef.scoring.sparse import Rows


class Weigher:
    """How rare each term (column) is among texts (rows), by how often each text has it."""

    def __init__(self, counts: Rows) -> None:
        having = np.bincount(counts.columns, minlength=counts.width).astype(np.float32)
        self._rarity = np.log(np.float32(1 + counts.height) / (1 + having)) + 1

    def weigh(self, counts: Rows) -> Rows:
        """The counts of these or of other texts made into weights, each text at length one."""
        return at_length_one(counts.holding((np.log(counts.amounts) + 1) * self._rarity[counts.columns]))


def at_length_one(rows: Rows) -> Rows:
    """The rows brought to length one; those of zeros stay."""
    lengths = np.sqrt(rows.sums(rows.amounts**2))
    lengths[lengths == 0] = 1
    return rows.holding(np.asarray(rows.amounts / lengths[rows.owners], dtype=np.float32))
