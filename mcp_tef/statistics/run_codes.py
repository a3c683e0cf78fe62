"""Numbers that stand for the states of a run in a history; without numpy, since storing runs needs none."""

from mcp_tef.model.answers import ConfidenceSource
from mcp_tef.model.runs import CUT_OFF_CODE, NOT_OFFERED_CODE
from mcp_tef.model.verdicts import Classification, ConfidenceCategory, RunMark

COMPLETED, FAILED = 1, 2
TP, FP, TN, FN = 1, 2, 3, 4
CLASSIFICATIONS = (None, Classification.TP, Classification.FP, Classification.TN, Classification.FN)
CATEGORIES = (None, ConfidenceCategory.ROBUST, ConfidenceCategory.NEEDS_CLARITY, ConfidenceCategory.MISLEADING)
MARKS = (None, RunMark.CORRECT_CALL, RunMark.WRONG_ARGUMENTS, RunMark.WRONG)
CORRECT_CALL, WRONG_ARGUMENTS = 1, 2
OTHER_FAILURE, NOT_OFFERED, CUT_OFF = 1, 2, 3
FAILURES = {NOT_OFFERED_CODE: NOT_OFFERED, CUT_OFF_CODE: CUT_OFF}
SOURCES = (
    None,
    ConfidenceSource.SELF_REPORTED,
    ConfidenceSource.AGREEMENT,
    ConfidenceSource.LOGPROB,
    ConfidenceSource.MARGIN,
)


def outcome_codes(mark: str | None, unreadable: int, failure_code: str | None) -> tuple[int, int, int]:
    """Return `mark`, `unreadable` and `failure` of a run as a history holds them."""
    return MARKS.index(mark), unreadable, 0 if failure_code is None else FAILURES.get(failure_code, OTHER_FAILURE)
