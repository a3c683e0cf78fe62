"""The verdict tab of a run as plain values: headline, compared calls, confidence, answer text, earlier verdicts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeVar

from app.core_link.links import Link
from app.core_link.targets import ChangeTool, ShowCase, ShowPair, ShowServerHealth, ShowTool
from app.screens.runs.call_comparison import (
    ParameterComparison,
    are_missing,
    judged_comparison,
    name_difference,
    parameter_count,
    text_difference,
    unexpected_comparison,
    unjudged_comparison,
)
from app.screens.runs.labels import (
    CATEGORY_LABELS,
    CATEGORY_MARKS,
    MISLEADS,
    SOURCE_LABELS,
    SURE_OF_THE_TOOL,
    TextSpan,
    VerdictMark,
    asked_text,
    format_share,
    mark_of,
    sentence_spans,
)
from app.screens.runs.run_details import EarlierVerdict, client_note, earlier_verdicts
from app.screens.runs.run_table import HIGH_CONFIDENCE
from mcp_tef import (
    CUT_OFF_CODE,
    NOT_OFFERED_CODE,
    ActualCall,
    CallMatch,
    ConfidenceCategory,
    ExpectedCall,
    OfferedTool,
    RunDetail,
    RunMark,
    RunStatus,
    RunSummary,
    ServerFault,
    ToolLabel,
    is_baseline,
)

Call = TypeVar("Call", ExpectedCall, ActualCall)

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
    change_link: Link | None = None
    health_link: Link | None = None


def verdict_view(detail: RunDetail, *, misleads: bool = False) -> VerdictView:
    """Return the contents of the verdict tab of a run; `misleads` says that past runs blame the description."""
    run = detail.summary
    if run.status is not RunStatus.COMPLETED or detail.verdict is None:
        return _without_verdict(detail)
    baseline = is_baseline(run.model)
    words = detail.answer.words if detail.answer else ""
    return VerdictView(
        mark=mark_of(run),
        headline=headline(detail),
        query=asked_text(detail),
        note=_note(detail),
        pairs=tuple(_pairs(detail)),
        confidence=_confidence(detail, misleads=misleads),
        answer_title=("Ranking of the baseline" if baseline else "Explanation of the model") if words else "",
        answer_text=_quoted(words, quote=not baseline),
        earlier=earlier_verdicts(detail),
        case_link=_case(run),
        change_link=_change(detail),
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
        query=asked_text(detail),
        hint=hint,
        retry=run.status is RunStatus.FAILED,
        note=_FAILURE_NOTES.get(run.failure_code, "No verdict, so it counts in no share")
        if run.status is RunStatus.FAILED
        else "",
        case_link=_case(run),
        health_link=_health(run),
    )


_FAILURE_NOTES = {
    NOT_OFFERED_CODE: "Failed, because the expected tool was not offered. Counted apart, in no share",
    CUT_OFF_CODE: "Failed, because the answer limit cut it off. Counted apart, in no share",
}


def _health(run: RunSummary) -> Link | None:
    """Return the link to the health of the server that a run could not use."""
    failed = run.failure_code in {one.value for one in ServerFault}
    return Link("Is the server healthy?", ShowServerHealth(run.expected_server or "")) if failed else None


def _case(run: RunSummary) -> Link:
    return Link("Test case", ShowCase(run.case_id))


def _change(detail: RunDetail) -> Link | None:
    """Return the link to change the tool that a wrong run should have selected."""
    wanted = next(iter(_expected_calls(detail)), None)
    selected = {call.tool for call in (detail.answer.calls if detail.answer else None) or ()}
    if wanted is None or (wanted.tool in selected and detail.summary.mark is not RunMark.WRONG_ARGUMENTS):
        return None
    tool = ToolLabel(tool=wanted.tool, server=wanted.server)
    reason = f"not selected for “{detail.summary.case_name}”"
    beside = detail.summary.id if detail.summary.selected_tool not in (None, wanted.tool) else None
    return Link("Change the description", ChangeTool(tool, reason, beside=beside))


_STATUS_TEXTS = {
    RunStatus.PENDING: ("This run is waiting.", ""),
    RunStatus.RUNNING: ("This run is in progress.", ""),
    RunStatus.CANCELLED: ("This run was cancelled before it was judged.", "Resume the batch to run it."),
    RunStatus.FAILED: ("This run failed.", "Try it again."),
}


def headline(detail: RunDetail) -> tuple[TextSpan, ...]:
    """Return the judge's sentence; of a baseline without its missing values, which it has no way to fill in."""
    sentence = detail.verdict.explanation if detail.verdict else ""
    if _is_blamed_for_values(detail):
        sentence = f"{sentence.partition('; ')[0]}. A baseline cannot fill in every value."
    return sentence_spans(sentence)


def _is_blamed_for_values(detail: RunDetail) -> bool:
    findings = [finding for match in detail.verdict.matches for finding in match.findings] if detail.verdict else []
    return (
        are_missing(findings) and is_baseline(detail.summary.model) and detail.summary.mark is RunMark.WRONG_ARGUMENTS
    )


def _note(detail: RunDetail) -> str:
    how = "Call read from text" if detail.summary.read_from_text else _of_baseline(detail)
    lines = [_also_accepted(detail), client_note(detail), how]
    return "\n".join(filter(None, lines))


def _also_accepted(detail: RunDetail) -> str:
    """Return the accepted calls that the run was not compared with."""
    chosen = detail.verdict.alternative if detail.verdict else 0
    others = tuple(calls for place, calls in enumerate(detail.expectation.alternatives) if place != chosen)
    return f"Also accepted: {replace(detail.expectation, alternatives=others).label}" if others else ""


def _of_baseline(detail: RunDetail) -> str:
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
        parameters=_parameters(match, want, wanted, got, picked, baseline=is_baseline(detail.summary.model)),
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
        Link("Compare", ShowPair(*pair)),
        Link("Suggest better descriptions", ShowPair(*pair, advice=True)),
    )


def _parameters(
    match: CallMatch | None,
    want: ExpectedCall | None,
    wanted: OfferedTool | None,
    got: ActualCall | None,
    picked: OfferedTool | None,
    *,
    baseline: bool,
) -> ParameterComparison:
    if got is None:
        return ParameterComparison(rows=())
    if want is None:
        return unexpected_comparison(got)
    if match is None or got.tool != want.tool:
        return unjudged_comparison(want, wanted, got, picked)
    return judged_comparison(match, want, got, baseline=baseline)


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
        return expected, (_side(got.label, picked) if got else _no_tool(silence))
    if wanted is not None and _is_same_tool(wanted, picked):
        return _side(want.tool, wanted), _same(got.tool, wanted)
    names = name_difference(want.tool, got.label)
    texts = text_difference(_description(wanted), _description(picked))
    return _side(want.tool, wanted, names[0], texts[0]), _side(got.label, picked, names[1], texts[1])


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


def _confidence(detail: RunDetail, *, misleads: bool) -> ConfidenceView:
    run = detail.summary
    if run.confidence is None:
        sentence = "The answer has no confidence"
        return ConfidenceView(value=None, figure="–", source="", sentence=sentence, mark=VerdictMark.NEUTRAL)
    sentence, mark = _category(run, misleads=misleads)
    if _is_blamed_for_values(detail):
        sentence, mark = SURE_OF_THE_TOOL, VerdictMark.NEUTRAL
    figure, source = format_share(run.confidence), _source(run.confidence_source)
    return ConfidenceView(value=run.confidence, figure=figure, source=source, sentence=sentence, mark=mark)


def _category(run: RunSummary, *, misleads: bool) -> tuple[str, VerdictMark]:
    category = run.confidence_category
    if category is None:
        return "The answer could not be read" if run.unreadable else "Unsure and wrong", VerdictMark.NEUTRAL
    if category is ConfidenceCategory.MISLEADING and misleads:
        return MISLEADS, VerdictMark.WRONG
    return CATEGORY_LABELS[category], CATEGORY_MARKS[category]


def _source(source: str | None) -> str:
    return next((words for known, words in SOURCE_LABELS.items() if known == source), source or "")
