"""Drafts of test cases that wait for a review, and findings about cases whose expectation may be wrong."""

from dataclasses import dataclass
from enum import StrEnum

from mcp_tef.model.cases import CaseDraft, Expectation
from mcp_tef.model.ids import CaseId
from mcp_tef.model.runs import FailureInfo


class DraftKind(StrEnum):
    """Kind of a drafted request: names the action, names the need only, is close to another tool, needs no tool."""

    DIRECT = "direct"
    INDIRECT = "indirect"
    NEAR_MISS = "near_miss"
    NO_TOOL = "no_tool"


@dataclass(frozen=True, slots=True)
class DraftedCase:
    """A draft with its kind. `tool` is the expected one, "" for none; `other` is the look-alike of a near miss."""

    kind: DraftKind
    server: str
    tool: str
    draft: CaseDraft
    other: str = ""


@dataclass(frozen=True, slots=True)
class RefusedDraft:
    """A request that broke a rule, with the reason in one sentence."""

    query: str
    reason: str


@dataclass(frozen=True, slots=True)
class DraftedCases:
    """Drafts by server and tool. `refused` came from a model and broke a rule; `failures` are by tool.

    `left_out` are tools that nothing can be drafted for from their definition, each with the reason.
    """

    drafts: tuple[DraftedCase, ...]
    refused: tuple[RefusedDraft, ...] = ()
    failures: tuple[tuple[str, FailureInfo], ...] = ()
    tokens: int = 0
    cost_usd: float | None = None
    left_out: tuple[tuple[str, str], ...] = ()


class CaseDoubt(StrEnum):
    """Kind of doubt about a case."""

    OTHER_TOOL_CHOSEN = "other_tool_chosen"
    DUPLICATE = "duplicate"
    NAMES_TOOL = "names_tool"
    NOT_OFFERED = "not_offered"


class CaseAction(StrEnum):
    """Change that answers a doubt."""

    ACCEPT_BOTH = "accept_both"
    CHANGE_EXPECTATION = "change_expectation"
    REWRITE_QUERY = "rewrite_query"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFinding:
    """A doubt about a case in one sentence, with the actions that answer it.

    `proposed` is what models chose instead, or the nearest tool that is offered; None without one.
    """

    case: CaseId
    name: str
    doubt: CaseDoubt
    sentence: str
    actions: tuple[CaseAction, ...]
    proposed: Expectation | None = None
