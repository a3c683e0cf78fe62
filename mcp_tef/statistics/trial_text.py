"""Sentences about trials, for the window, the command line and reports; pure."""

from collections.abc import Sequence
from dataclasses import replace

from mcp_tef.model.comparison import Claim, ClaimVerdict
from mcp_tef.model.trials import GuardOutcome, TrialClaims, TrialResult
from mcp_tef.scoring.phrases import LONGEST_NAME, counted, cut, listed
from mcp_tef.statistics.paired_evidence import ALPHA, holm

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def until_guards_are_asked(claim: Claim) -> Claim:
    """Return a claim for a trial whose guards were not all asked: better is not said yet."""
    if claim.verdict is not ClaimVerdict.BETTER:
        return claim
    _, _, numbers = claim.sentence.partition(": ")
    told = f"Cannot tell yet on these cases: {numbers} The cases that must not change are still being asked."
    return replace(claim, verdict=ClaimVerdict.CANNOT_TELL_YET, sentence=told)


def guards_text(guards: int, outcomes: Sequence[GuardOutcome], names: Sequence[str]) -> str:
    """Return one sentence on the cases that must not change; `names` are those of the broken ones."""
    if not guards:
        return ""
    if names:
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
        return f"{len(names):,} of {counted(guards, 'case', 'cases')} that must not change broke: {shown}."
    again = f"; {counted(len(outcomes), 'was', 'were')} asked again" if outcomes else ""
    return f"None of {counted(guards, 'case', 'cases')} that must not change broke{again}."


def drafts_tried_text(result: TrialResult) -> str:
    """Return one sentence on how many drafts were tried on these cases; "" for the first.

    Fresh runs of the baseline would be the same again.
    """
    number = result.drafts_tried
    if number < 2:
        return ""
    nth = ORDINALS[number - 1].capitalize() if number <= len(ORDINALS) else f"{number:,}th"
    confirm = "" if result.evidence is None else ": confirm it with fresh runs"
    what = "prompt" if result.of_prompts else "draft"
    return f"{nth} {what} tried on these cases{confirm}."


def verdict_sentence(claims: TrialClaims, guards: str) -> str:
    """Return the verdict in one line: on these cases, then the cases that must not change."""
    return " ".join(filter(None, (claims.on_these_cases.sentence, guards)))


def plan_text(claims: TrialClaims) -> str:
    """Return what would settle the second claim; "" where nothing is open."""
    if claims.for_queries_like_these.verdict is not ClaimVerdict.CANNOT_TELL_YET:
        return ""
    _, found, rest = claims.for_queries_like_these.sentence.partition("About ")
    return found + rest.partition(" Read after")[0]


def trial_sentences(result: TrialResult) -> tuple[str, ...]:
    """Return what a trial shows: the verdict, queries like these, pairs left out, and how many drafts were tried."""
    second = result.claims.for_queries_like_these.sentence
    advice = "Check the model, and try again." if result.left_out - result.not_offered > result.pairs else ""
    found = (result.sentence, second, failed_pairs_text(result, advice), not_offered_text(result))
    return tuple(filter(None, (*found, drafts_tried_text(result))))


def failed_pairs_text(result: TrialResult, advice: str = "") -> str:
    """Return a sentence on the pairs that were left out since a run failed, with advice; "" where there is none."""
    failed = result.left_out - result.not_offered
    if not failed:
        return ""
    return f"{counted(failed, 'pair was', 'pairs were')} left out, since a run failed twice. {advice}".strip()


def not_offered_text(result: TrialResult) -> str:
    """Return a sentence on the cases that were not asked since their tool is not offered; "" where there is none."""
    cases, tools = list(result.missing_tools), [one for one in dict.fromkeys(result.missing_tools.values()) if one]
    if not cases:
        return ""
    names, were = listed([f"“{cut(name, LONGEST_NAME)}”" for name in cases]), "was" if len(cases) == 1 else "were"
    missing = listed(tools) or "the expected tool"
    is_ = "are" if len(tools) > 1 else "is"
    return f"{names} {were} not asked, since {missing} {is_} not offered: correct the case, or add the tool."


def unasked_reason(result: TrialResult, case: str) -> str:
    """Return why a case was not asked, as a sentence; "" where it was, or may have failed."""
    if case not in result.missing_tools:
        return ""
    return f"{result.missing_tools[case] or 'An expected tool'} is not offered: correct the case, or add the tool."


def joint_sentence(results: Sequence[TrialResult]) -> str:
    """Return one line on several models: their verdicts on these cases, and what remains by Holm over the models.

    The chance behind each is 2 / E, by Markov's inequality for either side; a counted verdict is certain.
    """
    chances = [0.0 if one.evidence is None else min(1.0, 2 / max(one.evidence)) for one in results]
    verdicts = [one.claims.on_these_cases.verdict for one in results]
    held = [verdict for verdict, p in zip(verdicts, holm(chances), strict=True) if p <= ALPHA]
    told, corrected = _better_and_worse(verdicts), _better_and_worse(held)
    models = counted(len(results), "model", "models")
    sentence = f"{told[0].capitalize()} of {models}, {told[1]}"
    return f"{sentence}." if told == corrected else f"{sentence}; corrected for {models}: {', '.join(corrected)}."


def joint_verdict(results: Sequence[TrialResult]) -> ClaimVerdict:
    """Return the verdict of several models on these cases: worse where any is, else better where any is."""
    found = {one.claims.on_these_cases.verdict for one in results}
    order = (ClaimVerdict.WORSE, ClaimVerdict.BETTER, ClaimVerdict.CANNOT_TELL_YET)
    return next((one for one in order if one in found), ClaimVerdict.NO_WORTHWHILE_CHANGE)


def _better_and_worse(verdicts: Sequence[ClaimVerdict]) -> tuple[str, str]:
    better, worse = verdicts.count(ClaimVerdict.BETTER), verdicts.count(ClaimVerdict.WORSE)
    return f"better on {better or 'none'}", f"worse on {worse or 'none'}"
