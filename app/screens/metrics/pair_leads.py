"""Where two runs that are compared lead to: their case, both runs, the tools, and a pair that was confused."""

from dataclasses import dataclass

from app.core_link.links import Lead
from mcp_tef import Kind, RunComparison, RunSummary, ToolLabel


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLeads:
    """What stands over both, what leads to two tools that one of the runs confused, and what stands below each."""

    both: tuple[Lead, ...]
    confused: tuple[Lead, ...]
    before: tuple[Lead, ...]
    after: tuple[Lead, ...]


def pair_leads(found: RunComparison) -> PairLeads:
    """The leads of a pair; the newer run's confusion goes before the older one's."""
    before, after = found.before.summary, found.after.summary
    return PairLeads(
        both=_posed(after),
        confused=_confused(after) or _confused(before),
        before=_side(before),
        after=_side(after),
    )


def half_leads(run: RunSummary) -> tuple[Lead, ...]:
    """The leads of a run without a partner."""
    return (*_posed(run), *_side(run))


def _posed(run: RunSummary) -> tuple[Lead, ...]:
    expected, case = _expected(run), Lead("Test case", "cases", run.case_id)
    return (case, Lead("Expected tool", "servers", expected)) if expected else (case,)


def _side(run: RunSummary) -> tuple[Lead, ...]:
    chosen = _chosen(run)
    leads = [Lead("Run", "runs", ("batch", run.batch_id, run.id))] if run.batch_id else []
    return (*leads, Lead("Chosen tool", "servers", chosen)) if chosen else tuple(leads)


def _confused(run: RunSummary) -> tuple[Lead, ...]:
    expected, chosen = _expected(run), _chosen(run)
    if run.kind is not Kind.WRONG_TOOL or expected is None or chosen is None or _same(expected, chosen):
        return ()
    pair = (expected, chosen)
    return (
        Lead("Compare the two", "similarity", pair),
        Lead("What to write instead", "similarity", (*pair, "advice")),
    )


def _expected(run: RunSummary) -> ToolLabel | None:
    return ToolLabel(tool=run.expected_tool, server=run.expected_server) if run.expected_tool else None


def _chosen(run: RunSummary) -> ToolLabel | None:
    """What was picked; an invented tool is no server's, and leads nowhere."""
    return ToolLabel(tool=run.selected_tool, server=run.selected_server) if run.selected_server else None


def _same(expected: ToolLabel, chosen: ToolLabel) -> bool:
    """Whether what was expected, of any server where the case names none, was chosen."""
    return expected.tool == chosen.tool and expected.server in (None, chosen.server)
