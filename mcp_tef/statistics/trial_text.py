"""Sentences about trials and the explanation of their verdicts, for the window, the command line and reports; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_tef.model.comparison import MARGIN, Claim, ClaimVerdict, PassCriterion
from mcp_tef.model.rates import percent_text
from mcp_tef.model.trials import GuardOutcome, TrialClaims, TrialEnd, TrialResult
from mcp_tef.scoring.phrases import LONGEST_NAME, counted, cut, listed
from mcp_tef.statistics.paired_evidence import ALPHA, DECISIVE, holm

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
    return tuple(filter(None, (result.sentence, second, left_out_text(result), drafts_tried_text(result))))


def left_out_text(result: TrialResult) -> str:
    """Return how many pairs were left out since runs failed, or which cases were not asked, and what to do."""
    failed = result.left_out - result.not_offered
    told = f"{counted(failed, 'pair was', 'pairs were')} left out, since a run failed twice." if failed else ""
    advice = "Check the model, and try again." if failed > result.pairs else ""
    return " ".join(filter(None, (told, advice, _not_offered_text(result))))


def _not_offered_text(result: TrialResult) -> str:
    """Return a sentence on the cases that were not asked since their tool is not offered; "" where there is none."""
    cases, tools = list(result.missing_tools), [one for one in dict.fromkeys(result.missing_tools.values()) if one]
    if not cases:
        return ""
    names, were = listed([f"“{cut(name, LONGEST_NAME)}”" for name in cases]), "was" if len(cases) == 1 else "were"
    missing, offered = listed(tools) or "the expected tool", "are" if len(tools) > 1 else "is"
    return f"{names} {were} not asked, since {missing} {offered} not offered: correct the case, or add the tool."


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


ENDS = {
    TrialEnd.DECIDED: "it ended as soon as the claim was decided",
    TrialEnd.FUTILE: "it ended early, since more rounds were unlikely to decide it",
    TrialEnd.BUDGET: "it ended at the cost cap",
    TrialEnd.COMPLETE: "all planned rounds were asked",
    TrialEnd.CANCELLED: "it was stopped",
}


def trial_explanation(result: TrialResult, held_back: int = 0) -> tuple[tuple[str, str], ...]:
    """Return titles and sentences about the way a trial was decided; `held_back` counts its held-back cases."""
    return tuple((title, " ".join(sentences)) for title, sentences in _parts(result, held_back) if sentences)


def _parts(result: TrialResult, held_back: int) -> Iterator[tuple[str, list[str]]]:
    yield "Pairs", _pairs(result)
    yield "Evidence on these cases", _evidence(result)
    yield "Queries like these", _second_claim(result)
    yield "Repeats", _repeats(result)
    points = 100 * MARGIN
    yield "Margin", [f"A change of at most {points:.0f} points in either direction is not worthwhile."]
    yield "Cases that must not change", _guards(result)
    yield "Other outcome", [_other_outcome(result)]
    yield "Drafts and cases", _writer(result, held_back)
    yield "Calls", _calls(result)


def _pairs(result: TrialResult) -> list[str]:
    ties = result.pairs - result.wins - result.losses
    wins, losses = counted(result.wins, "win", "wins"), counted(result.losses, "loss", "losses")
    judged = result.criterion.value.replace("_", " ")
    told = [
        f"{counted(result.pairs, 'pair', 'pairs')}: {wins}, {losses}, {ties:,} without a difference.",
        f"A pair is one case in one round, asked with the original and with the draft, and judged by {judged}.",
    ]
    return [*told, *filter(None, [left_out_text(result)])]


def _evidence(result: TrialResult) -> list[str]:
    if result.evidence is None:
        return [
            "The baseline answers the same every time, so each case is asked once and the count itself decides.",
        ]
    better, worse = (_number(value) for value in result.evidence)
    return [
        f"Evidence for better {better}, for worse {worse}; {DECISIVE:.0f} decides.",
        "It may be read after every pair, from the end of the first round on.",
    ]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _second_claim(result: TrialResult) -> list[str]:
    claim = result.claims.for_queries_like_these
    told = [claim.sentence]
    if claim.p is not None:
        told.append(f"The sign-flip test over families of cases gives p = {claim.p:.2g}.")
    return told


def _repeats(result: TrialResult) -> list[str]:
    asked = [one.pairs for one in result.outcomes if one.pairs]
    if result.icc is None or not asked or result.pairs <= len(asked):
        return []
    repeats = result.pairs / len(asked)
    worth = repeats / (1 + (repeats - 1) * max(0.0, result.icc))
    return [
        f"Runs of one case agree with each other at {result.icc:.2f} (intraclass correlation).",
        f"{repeats:.1f} repeats of a case here are worth {worth:.1f}.",
    ]


def _guards(result: TrialResult) -> list[str]:
    if not result.guards:
        return ["None was asked."]
    asked = result.claims.guards
    if not asked:
        return [f"{counted(result.guards, 'case was', 'cases were')} asked, and none broke."]
    if result.evidence is None:
        return [f"{counted(result.guards, 'case was', 'cases were')} asked once; a case that is lost is broken."]
    broken = sum(one.broken for one in asked)
    return [
        f"{len(asked):,} of {result.guards:,} broke once, so both arms were asked 6 times again.",
        f"{broken or 'None'} of them broke by Fisher’s one-sided test at 5 %, corrected by Holm.",
    ]


def _other_outcome(result: TrialResult) -> str:
    other = next(one for one in PassCriterion if one is not result.criterion).value.replace("_", " ").capitalize()
    shares = [percent_text(rate.value) for rate in (result.other_shares.before, result.other_shares.after)]
    return f"{other}: {' → '.join(shares)}, without a verdict."


def _writer(result: TrialResult, held_back: int) -> list[str]:
    tried = drafts_tried_text(result) or "First draft tried on these cases."
    if held_back:
        return [tried, f"{counted(held_back, 'case was', 'cases were')} held back from the editor of drafts."]
    return [tried, "No case was held back: the writer of the draft could read all of them."]


def _calls(result: TrialResult) -> list[str]:
    end = f"; {ENDS[result.end]}" if result.end else ""
    planned = counted(result.planned_calls, "planned call", "planned calls")
    return [f"{result.calls:,} of {planned}{end}. Seed {result.seed}."]
