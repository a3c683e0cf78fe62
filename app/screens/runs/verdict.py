"""The verdict tab of a run as plain values: headline, compared calls, confidence, answer text, earlier verdicts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from typing import TypeVar

from app.core_link.links import Link
from app.core_link.targets import ShowCase, ShowPair, ShowTool
from app.screens.runs.call_comparison import (
    ParameterComparison,
    judged_comparison,
    name_difference,
    parameter_count,
    text_difference,
    unexpected_comparison,
    unjudged_comparison,
)
from app.screens.runs.labels import (
    CATEGORY_LABELS,
    CLASSIFICATION_MARKS,
    SOURCE_LABELS,
    TextSpan,
    VerdictMark,
    format_share,
    is_baseline,
    mark_of,
    sentence_spans,
)
from app.screens.runs.run_table import HIGH_CONFIDENCE
from app.text.formatting import OUTCOME_TEXTS
from mcp_tef import (
    ActualCall,
    CallMatch,
    Classification,
    ConfidenceCategory,
    ExpectedCall,
    OfferedTool,
    PastVerdict,
    RejudgeReason,
    RunDetail,
    RunStatus,
    RunSummary,
    ToolLabel,
    Verdict,
)

Call = TypeVar("Call", ExpectedCall, ActualCall)

REASONS: Mapping[RejudgeReason, str] = {
    RejudgeReason.EXPECTATION_CHANGED: "the expectation of the case changed",
    RejudgeReason.RULES_CHANGED: "the judging rules changed",
}
WRONG_VALUES = "correct tool, wrong parameters"


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierVerdict:
    """One earlier verdict: what changed in a line, the judge's sentence then, and what was expected then."""

    mark: VerdictMark
    line: str
    sentence: tuple[TextSpan, ...]
    expected: str


def earlier_verdicts(detail: RunDetail) -> tuple[EarlierVerdict, ...]:
    """Return the earlier verdicts of a run, newest first."""
    later = (detail.verdict, *(past.verdict for past in detail.past_verdicts))
    return tuple(_view(past, verdict) for past, verdict in zip(detail.past_verdicts, later, strict=False))


def _view(past: PastVerdict, later: Verdict | None) -> EarlierVerdict:
    return EarlierVerdict(
        mark=CLASSIFICATION_MARKS[past.verdict.classification],
        line=f"Judged again on {_moment(past.replaced_at)}: {_change(past.verdict, later)}{REASONS[past.reason]}.",
        sentence=sentence_spans(past.verdict.explanation),
        expected=f"Expected then: {past.expectation.label}",
    )


def _moment(at: datetime) -> str:
    local = at.astimezone()
    return f"{local.day} {local:%b %Y, %H:%M}"


def _change(before: Verdict, after: Verdict | None) -> str:
    was, now = verdict_text(before), verdict_text(after) if after else ""
    return f"was “{was}”, is “{now}”, because " if now and was != now else f"“{was}” as before, though "


def verdict_text(verdict: Verdict) -> str:
    """Return the outcome of a verdict, and "wrong parameters" if they were."""
    if verdict.classification is Classification.TP and verdict.parameters_ok is False:
        return WRONG_VALUES
    return OUTCOME_TEXTS[verdict.classification]


MAX_ANSWER_LENGTH = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSide:
    """One half of a comparison: the tool's name, where it is, and its description."""

    name: tuple[TextSpan, ...]
    where: str
    text: tuple[TextSpan, ...]
    link: Link | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedCalls:
    """An expected call beside an actual one; `title` tells pairs apart where there are several."""

    title: str
    expected: CallSide
    selected: CallSide
    parameters: ParameterComparison
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceView:
    """The confidence on its scale from 0 to 1; `value` is None where there is none."""

    value: float | None
    figure: str
    source: str
    sentence: str
    mark: VerdictMark
    threshold: float = HIGH_CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictView:
    """Contents of the verdict tab. `hint` and `retry` are for failed runs."""

    mark: VerdictMark
    headline: tuple[TextSpan, ...]
    query: str
    hint: str = ""
    retry: bool = False
    note: str = ""
    pairs: tuple[ComparedCalls, ...] = ()
    confidence: ConfidenceView | None = None
    answer_title: str = ""
    answer_text: str = ""
    earlier: tuple[EarlierVerdict, ...] = ()
    case_link: Link | None = None


def verdict_view(detail: RunDetail) -> VerdictView:
    """Return the contents of the verdict tab of a run."""
    run = detail.summary
    if run.status is not RunStatus.COMPLETED or detail.verdict is None:
        return _without_verdict(detail)
    baseline = is_baseline(run.model)
    words = detail.answer.words if detail.answer else ""
    return VerdictView(
        mark=mark_of(run),
        headline=headline(detail),
        query=f"“{run.query}”",
        note=_note(detail),
        pairs=tuple(_pairs(detail)),
        confidence=_confidence(run),
        answer_title=("Ranking of the baseline" if baseline else "Explanation of the model") if words else "",
        answer_text=_quoted(words, quote=not baseline),
        earlier=earlier_verdicts(detail),
        case_link=_case(run),
    )


def _quoted(words: str, *, quote: bool) -> str:
    text = words if len(words) <= MAX_ANSWER_LENGTH else f"{words[:MAX_ANSWER_LENGTH]}…"
    return f"“{text}”" if text and quote else text


def _without_verdict(detail: RunDetail) -> VerdictView:
    run = detail.summary
    sentence, hint = _STATUS_TEXTS.get(run.status, ("This run has no verdict.", ""))
    if run.failure is not None:
        sentence, hint = run.failure.message, run.failure.hint
    return VerdictView(
        mark=mark_of(run),
        headline=(TextSpan(sentence),),
        query=f"“{run.query}”",
        hint=hint,
        retry=run.status is RunStatus.FAILED,
        note="No verdict, so it is not counted" if run.status is RunStatus.FAILED else "",
        case_link=_case(run),
    )


def _case(run: RunSummary) -> Link:
    return Link("Test case", ShowCase(run.case_id))


_STATUS_TEXTS = {
    RunStatus.PENDING: ("This run is waiting.", ""),
    RunStatus.RUNNING: ("This run is in progress.", ""),
    RunStatus.CANCELLED: ("This run was cancelled before it was judged.", "Resume the batch to run it."),
    RunStatus.FAILED: ("This run failed.", "Try it again."),
}


def headline(detail: RunDetail) -> tuple[TextSpan, ...]:
    """Return the judge's sentence."""
    return sentence_spans(detail.verdict.explanation) if detail.verdict else ()


def _note(detail: RunDetail) -> str:
    parts = ["Selected by the offline baseline, not by a model"] if is_baseline(detail.summary.model) else []
    if detail.summary.expected_rank is not None:
        parts.append(f"it ranked the expected tool {_place(detail.summary.expected_rank)}")
    return ": ".join(parts)


def _place(rank: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(rank, f"at place {rank}")


def _pairs(detail: RunDetail) -> Iterator[ComparedCalls]:
    expected = _expected_calls(detail)
    actual = tuple((detail.answer.calls if detail.answer else None) or ())
    matches = detail.verdict.matches if detail.verdict else ()
    partners = _partners(matches, expected, actual) or [(None, None, None)]
    for number, (match, want, got) in enumerate(partners, 1):
        title = f"Call {number} of {len(partners)}" if len(partners) > 1 else ""
        yield _pair(detail, title, match, want, got)


def _expected_calls(detail: RunDetail) -> tuple[ExpectedCall, ...]:
    alternatives = detail.expectation.alternatives
    chosen = detail.verdict.alternative if detail.verdict else 0
    return alternatives[chosen] if chosen < len(alternatives) else ()


Partner = tuple[CallMatch | None, ExpectedCall | None, ActualCall | None]


def _partners(
    matches: Sequence[CallMatch], expected: Sequence[ExpectedCall], actual: Sequence[ActualCall]
) -> list[Partner]:
    """Return the pairs of the judge, then the remaining calls of both sides next to each other."""
    paired = {
        (match.expected, match.actual): match
        for match in matches
        if match.expected is not None and match.actual is not None
    }
    others = zip_longest(_without(expected, {want for want, _ in paired}), _without(actual, {got for _, got in paired}))
    pairs: list[Partner] = [(match, expected[want], actual[got]) for (want, got), match in paired.items()]
    return [*pairs, *((None, want, got) for want, got in others)]


def _without(calls: Sequence[Call], places: set[int]) -> list[Call]:
    return [call for place, call in enumerate(calls) if place not in places]


def _pair(
    detail: RunDetail,
    title: str,
    match: CallMatch | None,
    want: ExpectedCall | None,
    got: ActualCall | None,
) -> ComparedCalls:
    wanted = _offered(detail, want.tool, want.server) if want else None
    picked = _offered(detail, got.tool, got.server) if got else None
    unreadable = detail.answer is not None and detail.answer.calls is None
    expected, selected = _sides(want, wanted, got, picked, unreadable=unreadable)
    return ComparedCalls(
        title=title,
        expected=expected,
        selected=selected,
        parameters=_parameters(match, want, wanted, got, picked),
        links=_pair_leads(wanted, picked),
    )


def _label(offered: OfferedTool) -> ToolLabel:
    return ToolLabel(tool=offered.tool.name, server=offered.tool.server)


def _pair_leads(wanted: OfferedTool | None, picked: OfferedTool | None) -> tuple[Link, ...]:
    """Return links that compare two confused tools and suggest better descriptions."""
    if wanted is None or picked is None or _label(wanted) == _label(picked):
        return ()
    pair = (_label(wanted), _label(picked))
    return (
        Link("Compare the two", ShowPair(*pair)),
        Link("Suggest better descriptions", ShowPair(*pair, advice=True)),
    )


def _parameters(
    match: CallMatch | None,
    want: ExpectedCall | None,
    wanted: OfferedTool | None,
    got: ActualCall | None,
    picked: OfferedTool | None,
) -> ParameterComparison:
    if got is None:
        return ParameterComparison(rows=())
    if want is None:
        return unexpected_comparison(got)
    if match is None or got.tool != want.tool:
        return unjudged_comparison(want, wanted, got, picked)
    return judged_comparison(match, want, got)


def _offered(detail: RunDetail, name: str, server: str | None) -> OfferedTool | None:
    tools = detail.snapshot.tools if detail.snapshot else ()
    named = [tool for tool in tools if name in (tool.tool.name, tool.offered_name)]
    return next((tool for tool in named if server is None or tool.tool.server == server), None)


def _sides(
    want: ExpectedCall | None,
    wanted: OfferedTool | None,
    got: ActualCall | None,
    picked: OfferedTool | None,
    *,
    unreadable: bool,
) -> tuple[CallSide, CallSide]:
    if want is None or got is None:
        silence = "The answer could not be read." if unreadable else "No tool was called."
        expected = _side(want.tool, wanted) if want else _no_tool("No tool should be called.")
        return expected, (_side(got.tool, picked) if got else _no_tool(silence))
    if wanted is not None and _is_same_tool(wanted, picked):
        return _side(want.tool, wanted), _same(got.tool, wanted)
    names = name_difference(want.tool, got.tool)
    texts = text_difference(_description(wanted), _description(picked))
    return _side(want.tool, wanted, names[0], texts[0]), _side(got.tool, picked, names[1], texts[1])


def _is_same_tool(wanted: OfferedTool, picked: OfferedTool | None) -> bool:
    return picked is not None and wanted.tool.fingerprint == picked.tool.fingerprint


def _description(offered: OfferedTool | None) -> str:
    return " ".join(offered.tool.description.split()) if offered else ""


def _side(
    name: str, offered: OfferedTool | None, names: tuple[TextSpan, ...] = (), text: tuple[TextSpan, ...] = ()
) -> CallSide:
    shown = names or (TextSpan(name, mono=True),)
    if offered is None:
        return CallSide(name=shown, where="not offered in this run", text=())
    words = text or (TextSpan(_description(offered)),)
    return CallSide(
        name=shown,
        where=f"{offered.tool.server} · {parameter_count(offered)}",
        text=words if _description(offered) else (TextSpan("No description.", dim=True),),
        link=Link("Show tool", ShowTool(_label(offered))),
    )


def _same(name: str, offered: OfferedTool) -> CallSide:
    side = _side(name, offered)
    return replace(side, text=(TextSpan("The same tool.", dim=True),))


def _no_tool(text: str) -> CallSide:
    return CallSide(name=(TextSpan("no tool", dim=True),), where="", text=(TextSpan(text, dim=True),))


def _confidence(run: RunSummary) -> ConfidenceView:
    if run.confidence is None:
        sentence = "The answer has no confidence"
        return ConfidenceView(value=None, figure="–", source="", sentence=sentence, mark=VerdictMark.NEUTRAL)
    sentence, mark = _category(run)
    return ConfidenceView(
        value=run.confidence,
        figure=format_share(run.confidence),
        source=_source(run.confidence_source),
        sentence=sentence,
        mark=mark,
    )


def _category(run: RunSummary) -> tuple[str, VerdictMark]:
    category = run.confidence_category
    if category is None:
        return "Low and wrong: the model was unsure", VerdictMark.NEUTRAL
    mark = mark_of(run) if category is not ConfidenceCategory.NEEDS_CLARITY else VerdictMark.EXTRA
    return CATEGORY_LABELS[category], mark


def _source(source: str | None) -> str:
    return next((words for known, words in SOURCE_LABELS.items() if known == source), source or "")
