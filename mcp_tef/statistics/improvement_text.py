"""Sentences about searches for a better text, for the window, the command line and reports; pure."""

from collections.abc import Sequence

from mcp_tef.errors import GAVE_UP
from mcp_tef.model.improvements import HopelessCase, ImprovementEnd, ImprovementResult
from mcp_tef.model.trials import TrialEnd, TrialResult
from mcp_tef.scoring.phrases import counted, cut
from mcp_tef.statistics.candidate_selection import FEWEST_SEALED, smallest_gain
from mcp_tef.statistics.claims import points_text, range_text

MOST_NAMED = 3
_LEADS = {
    ImprovementEnd.BETTER: "Better",
    ImprovementEnd.PROMISING: "Promising, not proven",
    ImprovementEnd.NOT_CONFIRMED: "Not confirmed by the sealed cases",
    ImprovementEnd.WORSE: "Worse on the sealed cases",
    ImprovementEnd.NOTHING_FAILS: "No working case fails, so there is nothing to improve.",
    ImprovementEnd.WORDS_CANNOT_HELP: "Words cannot help any failing case, so no text was tried.",
    ImprovementEnd.NO_CANDIDATE: "No candidate was better on the working cases; change the text by hand in a draft.",
    ImprovementEnd.BUDGET: "The budget ended before a candidate was proven.",
    ImprovementEnd.UNREACHABLE: "The model could not be asked any more.",
    ImprovementEnd.CANCELLED: "The search was cancelled.",
}


def gain_text(cases: int, families: int) -> str:
    """Return one line on the smallest gain that the sealed cases can show, before anything is spent."""
    told = counted(cases, "sealed case", "sealed cases")
    gain = smallest_gain(families)
    if gain is None:
        shown = f"{told} can show no gain for queries like these"
    else:
        shown = f"{told} can show gains of {100 * gain:.0f} points or more for queries like these"
    if cases < FEWEST_SEALED:
        return f"{shown}; below {FEWEST_SEALED} a text is called promising at most."
    return f"{shown}."


def early_end(trial: TrialResult, stopped: str) -> tuple[ImprovementEnd, str] | None:
    """Return the end of a search, and its note, where a trial ended otherwise than planned; else None."""
    if stopped.startswith(GAVE_UP):
        return ImprovementEnd.UNREACHABLE, stopped
    if trial.end in (TrialEnd.BUDGET, TrialEnd.CANCELLED):
        return ImprovementEnd(trial.end.value), stopped
    if trial.left_out - trial.not_offered > trial.pairs:
        return ImprovementEnd.UNREACHABLE, failed_text(trial)
    return None


def failed_text(trial: TrialResult) -> str:
    """Return how many pairs of runs failed, and what to do."""
    failed = trial.left_out - trial.not_offered
    asked = counted(failed + trial.pairs, "pair", "pairs")
    return f"{failed:,} of {asked} of runs failed with {trial.model}. Check the model, and search again."


def improvement_sentences(result: ImprovementResult) -> tuple[str, ...]:
    """Return the result in one sentence with both gains, then both verdicts on the sealed cases, then the rest."""
    lines = [_first(result)]
    if result.sealed:
        claims = result.sealed.claims
        lines += [claims.on_these_cases.sentence, claims.for_queries_like_these.sentence]
    lines += [result.note, _hopeless_text(result.hopeless)]
    lines += [f"Left out, since it earned nothing: “{cut(one, 80)}”" for one in result.pruned]
    refused = [one.refused for each in result.rounds for one in each.candidates if one.refused]
    lines += [f"{counted(len(refused), 'candidate was', 'candidates were')} refused. {refused[0]}"] if refused else []
    return tuple(filter(None, lines))


def _hopeless_text(cases: Sequence[HopelessCase]) -> str:
    if not cases:
        return ""
    shown = " ".join(f"{one.name}: {one.reason}" for one in cases[:MOST_NAMED])
    more = f" And {len(cases) - MOST_NAMED:,} more." if len(cases) > MOST_NAMED else ""
    return f"Words cannot fix {counted(len(cases), 'failing case', 'failing cases')}. {shown}{more}"


def _first(result: ImprovementResult) -> str:
    lead = _LEADS[result.end]
    if not (result.working and result.sealed):
        return lead
    few = len(result.plan.sealed) < FEWEST_SEALED and result.end is ImprovementEnd.PROMISING
    reason = f" (only {counted(len(result.plan.sealed), 'sealed case', 'sealed cases')})" if few else ""
    return f"{lead}{reason}: working {_gain(result.working)}, sealed {_gain(result.sealed)}."


def _gain(trial: TrialResult) -> str:
    gap = trial.shares.difference
    return f"{points_text(gap.value)} points ({range_text(gap)})"
