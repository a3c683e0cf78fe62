"""Which mark stands for which outcome of a run."""

from collections.abc import Mapping
from typing import Final

from app.screens.cases.rows import Last
from app.widgets import Mark

MARKS: Final[Mapping[Last, Mark]] = {
    Last.TP: Mark.CHECK,
    Last.TN: Mark.DASH,
    Last.FN: Mark.CROSS,
    Last.FP: Mark.BANG,
    Last.FAILED: Mark.BROKEN,
    Last.NEVER: Mark.BLANK,
}
