"""Verdicts that a later one has replaced."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mcp_tef.model.cases import Expectation
from mcp_tef.model.verdicts import Verdict


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
