"""Verdicts on one run, and the earlier verdicts that they replaced."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mcp_tef.model.cases import Expectation
from mcp_tef.model.json import Json


class Classification(StrEnum):
    """The four outcomes of a judged run."""

    TP = "TP"
    FP = "FP"
    TN = "TN"
    FN = "FN"


class VerdictKind(StrEnum):
    """Exact outcome of a run, one step finer than the classification."""

    MATCH = "match"
    WRONG_TOOL = "wrong_tool"
    NO_TOOL = "no_tool"
    INVENTED_TOOL = "invented_tool"
    EXTRA_CALL = "extra_call"
    UNEXPECTED_CALL = "unexpected_call"
    NO_CALL_EXPECTED = "no_call_expected"


class RunMark(StrEnum):
    """The one meaning of "correct", which every list, share, report and threshold uses.

    A correct call chose the right tools with every judged argument right. An answer that could not be read is wrong,
    also where no tool was expected. Source: PRODUCT.md §5.
    """

    CORRECT_CALL = "correct_call"
    WRONG_ARGUMENTS = "wrong_arguments"
    WRONG = "wrong"

    @classmethod
    def of(
        cls, classification: Classification | None, parameters_ok: bool | None, unreadable: bool
    ) -> "RunMark | None":
        """Return the mark of a judged run; None where there is no verdict."""
        if classification is None:
            return None
        if unreadable or classification not in (Classification.TP, Classification.TN):
            return cls.WRONG
        return cls.WRONG_ARGUMENTS if parameters_ok is False else cls.CORRECT_CALL

    @property
    def correct_tool(self) -> bool:
        """True if the choice of tools was right, whatever the arguments."""
        return self is not RunMark.WRONG


class ConfidenceCategory(StrEnum):
    """Category of a confidence together with the outcome."""

    ROBUST = "robust"
    NEEDS_CLARITY = "needs_clarity"
    MISLEADING = "misleading"


class FindingReason(StrEnum):
    """Why a parameter is not right."""

    MISSING = "missing"
    WRONG_VALUE = "wrong_value"
    WRONG_TYPE = "wrong_type"
    HALLUCINATED = "hallucinated"
    NOT_EXPECTED = "not_expected"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterFinding:
    """One parameter that is not right. `parameter` is a dotted path; `sentence` is for people."""

    parameter: str
    reason: FindingReason
    sentence: str
    expected: Json = None
    actual: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMatch:
    """An expected call beside the actual one (indices; None: no partner). Scores are 0–1, None: not judged."""

    expected: int | None
    actual: int | None
    completeness: float | None = None
    correctness: float | None = None
    type_conformance: bool | None = None
    hallucinated: tuple[str, ...] = ()
    findings: tuple[ParameterFinding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The judgement of one run; parameter scores are means over matched calls, None where none was judged."""

    classification: Classification
    kind: VerdictKind
    explanation: str
    matches: tuple[CallMatch, ...] = ()
    alternative: int = 0
    completeness: float | None = None
    correctness: float | None = None
    type_conformance: bool | None = None
    hallucinated: tuple[str, ...] = ()
    parameters_ok: bool | None = None
    confidence_category: ConfidenceCategory | None = None
    unreadable: bool = False

    @property
    def findings(self) -> tuple[ParameterFinding, ...]:
        """Everything that is not right about the parameters of its calls."""
        return tuple(finding for match in self.matches for finding in match.findings)

    @property
    def mark(self) -> RunMark:
        """The mark of the run."""
        mark = RunMark.of(self.classification, self.parameters_ok, self.unreadable)
        assert mark is not None, "a verdict has a classification"
        return mark


class RejudgeReason(StrEnum):
    """Why a run is judged otherwise than before."""

    EXPECTATION_CHANGED = "expectation_changed"
    RULES_CHANGED = "rules_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastVerdict:
    """A verdict that was replaced, with the expectation it was given by, and why it was."""

    verdict: Verdict
    expectation: Expectation
    replaced_at: datetime
    reason: RejudgeReason
