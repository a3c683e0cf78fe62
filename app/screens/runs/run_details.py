"""Details of one run as plain values: tools offered, raw exchange, settings, earlier verdicts and cost."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from app.arguments.parameters import parameters
from app.core_link.model_requests import CoreCall
from app.screens.kit import matches_all_words
from app.screens.runs.call_comparison import parameter_count
from app.screens.runs.labels import (
    DASH,
    RUN_MARKS,
    TextSpan,
    VerdictMark,
    format_milliseconds,
    format_time,
    sentence_spans,
    status_label,
)
from app.text.formatting import count, model_name, money, verdict_outcome_text
from mcp_tef import (
    BatchesChanged,
    CallingMode,
    ConfidenceCategory,
    DefinitionChange,
    Event,
    Json,
    ModelSettings,
    OfferedTool,
    PastVerdict,
    RejudgeReason,
    RunDetail,
    RunEnded,
    RunId,
    RunMark,
    RunsChanged,
    RunSummary,
    Verdict,
    is_baseline,
)

MAX_RAW_LENGTH = 200_000

CHANGE_LABELS: Mapping[DefinitionChange | None, str] = {
    DefinitionChange.CHANGED: "changed since",
    DefinitionChange.REMOVED: "removed since",
}
MODE_LABELS = {
    CallingMode.AUTO: "automatic",
    CallingMode.NATIVE: "native tool calling",
    CallingMode.JSON: "structured JSON",
}


class MisleadingRuns:
    """Runs that show that a description misleads. The core is asked once for each run, until runs change."""

    def __init__(self, ask: CoreCall) -> None:
        self._ask = ask
        self._known: dict[RunId, bool] = {}

    async def shows(self, run: RunSummary) -> bool:
        """Return True if a run, sure and wrong, shows that a description misleads."""
        if run.confidence_category is not ConfidenceCategory.MISLEADING:
            return False
        known = self._known
        if run.id not in known:
            known[run.id] = await self._ask(lambda core: core.metrics.shows_misleading(run))
        return known[run.id]

    def handle(self, event: Event) -> None:
        """Forget the answers when runs end, are judged again or are deleted: they are drawn from all past runs."""
        if isinstance(event, RunEnded | RunsChanged | BatchesChanged):
            self._known = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedToolRow:
    """Tool of the snapshot; `rank` and `score` of a ranking, `role` if it was expected or selected.

    `change` says if its definition changed since the run.
    """

    name: str
    server: str
    description: str
    rank: str
    score: str
    role: str
    definition: str
    schema: Mapping[str, Any]
    change: str = ""

    @property
    def readable(self) -> str:
        """The description, then each parameter with its type, limits and description."""
        lines = [self.description or "No description", ""]
        for one in parameters(self.schema):
            kind = ", ".join(part for part in (one.type, "required" if one.required else "", one.limits) if part)
            lines.append(f"{one.name} ({kind})" + (f": {one.description}" if one.description else ""))
        return "\n".join(lines if len(lines) > 2 else [*lines, "No parameters"])


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetailRow:
    """One line of the settings table."""

    label: str
    value: str
    mono: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RawExchange:
    """Request and response as text; `note` says what was left out."""

    request: str
    response: str
    note: str


def offered_rows(detail: RunDetail, since: Mapping[str, DefinitionChange]) -> tuple[OfferedToolRow, ...]:
    """Return the tools of the snapshot: best ranked first; else expected and selected ones, then as offered."""
    tools = detail.snapshot.tools if detail.snapshot else ()
    ranking = detail.answer.ranking if detail.answer else ()
    places = {item.offered_name: (place, item.score) for place, item in enumerate(ranking, 1)}
    ordered = sorted(tools, key=lambda tool: places.get(tool.offered_name, (len(tools) + 1, 0.0))[0])
    rows = [_offered_row(detail, tool, places.get(tool.offered_name)) for tool in ordered]
    rows.sort(key=lambda row: not (row.role or ranking))
    return tuple(replace(row, change=CHANGE_LABELS.get(since.get(row.name), "")) for row in rows)


def _offered_row(detail: RunDetail, offered: OfferedTool, place: tuple[int, float] | None) -> OfferedToolRow:
    tool = offered.tool
    return OfferedToolRow(
        name=offered.offered_name,
        server=f"{tool.server} · {parameter_count(offered)}",
        description=" ".join(tool.description.split()),
        rank=str(place[0]) if place else "",
        score=f"{place[1]:.2f}" if place else "",
        role=_role(detail, offered),
        definition=as_text(dict(tool.raw)),
        schema=tool.input_schema,
    )


def _role(detail: RunDetail, offered: OfferedTool) -> str:
    calls = (detail.answer.calls if detail.answer else None) or ()
    wanted = {(call.tool, call.server) for answer in detail.expectation.alternatives for call in answer}
    picked = {(call.tool, call.server) for call in calls}
    roles = [word for word, names in (("expected", wanted), ("selected", picked)) if _is_one_of(offered, names)]
    return ", ".join(roles)


def _is_one_of(offered: OfferedTool, names: set[tuple[str, str | None]]) -> bool:
    tool = offered.tool
    return any(name in (tool.name, offered.offered_name) and server in (None, tool.server) for name, server in names)


def search_tools(rows: tuple[OfferedToolRow, ...], text: str) -> tuple[OfferedToolRow, ...]:
    """Return the tools whose name, server or description has every word."""
    return tuple(row for row in rows if matches_all_words(f"{row.name}\n{row.server}\n{row.description}", text))


def raw_exchange(detail: RunDetail) -> RawExchange:
    """Return the request and the response as text, cut if they are very long."""
    answer = detail.answer
    if answer is None:
        return RawExchange(request="", response="", note="Nothing was exchanged.")
    notes = ["Tool definitions are on the tab “Tools”. Keys are never stored."]
    if is_baseline(detail.summary.model):
        notes = ["The offline baseline sends no request. These are its input and its ranking."]
    request, response = as_text(answer.sent_request), as_text(answer.raw_response)
    if len(request) > MAX_RAW_LENGTH or len(response) > MAX_RAW_LENGTH:
        notes.append(f"Cut after {MAX_RAW_LENGTH:,} characters.")
    return RawExchange(request=_cut(request), response=_cut(response), note=" ".join(notes))


def as_text(value: object) -> str:
    """Format a JSON value with indents; text stays as it is, and None is empty."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_RAW_LENGTH else f"{text[:MAX_RAW_LENGTH]}\n…"


def settings_rows(detail: RunDetail, repeat: str) -> tuple[RunDetailRow, ...]:
    """Return the settings, repeat, time, tokens and cost of a run; unknown values say so."""
    run = detail.summary
    lines = (*_model_rows(detail), *_cost_rows(detail))
    return (
        *lines,
        RunDetailRow(label="State", value=status_label(run)),
        RunDetailRow(label="Repeat", value=repeat),
        RunDetailRow(label="Queued", value=format_time(run.created_at)),
        RunDetailRow(label="Ended", value=format_time(run.completed_at)),
        RunDetailRow(label="Run", value=run.id, mono=True),
    )


def _model_rows(detail: RunDetail) -> tuple[RunDetailRow, ...]:
    settings = detail.settings
    if settings.offline:
        return (RunDetailRow(label="Selector", value=f"{model_name(detail.settings.label)}, no model"),)
    used = detail.answer.mode if detail.answer else settings.mode
    chosen = " (selected automatically)" if settings.mode is CallingMode.AUTO and detail.answer else ""
    address, limit = _sent(detail)
    return (
        RunDetailRow(label="Model", value=settings.label, mono=True),
        RunDetailRow(label="Answered as", value=_answered_as(detail), mono=True),
        *_routing_rows(detail.answer.routing if detail.answer else None),
        RunDetailRow(label="Address", value=_or_default(address), mono=bool(address)),
        RunDetailRow(label="Calling mode", value=f"{MODE_LABELS[used]}{chosen}"),
        RunDetailRow(label="Temperature", value=f"{settings.temperature:g}"),
        RunDetailRow(label="Timeout", value=f"{settings.timeout} s"),
        RunDetailRow(label="Maximum retries", value=str(settings.max_retries)),
        RunDetailRow(label="Answer limit", value=_or_default(limit and f"{limit:,} tokens")),
        RunDetailRow(label="Seed", value=_or_default(settings.seed)),
        RunDetailRow(label="Prompt", value=_prompt(settings)),
        RunDetailRow(label="System prompt", value=settings.system_prompt or "built-in"),
    )


def _prompt(settings: ModelSettings) -> str:
    """Return the prompt with the values of its variables."""
    values = ", ".join(f"{name}: {value}" for name, value in settings.variables)
    return " · ".join(filter(None, (settings.prompt or "built-in", values)))


def _routing_rows(routing: Json) -> tuple[RunDetailRow, ...]:
    """Return which deployment of a group answered, which failed before it, and the route that a router took."""
    if not isinstance(routing, Mapping):
        return ()
    rows = []
    if "asked" in routing:
        taken = f"{routing['route']}, score {routing['score']:.2f}" if routing.get("route") else "none, so the default"
        second = f"; next {routing['runner_up']}, {routing['runner_up_score']:.2f}" if routing.get("runner_up") else ""
        rows.append(RunDetailRow(label="Route", value=f"{taken}{second}"))
    if "deployment" in routing:
        rows.append(RunDetailRow(label="Deployment", value=str(routing["deployment"]), mono=True))
        failed = [f"{one['deployment']}: {one['failure']}" for one in routing.get("failed", ())]
        rows += [RunDetailRow(label="Failed before it", value=text) for text in failed]
    return tuple(rows)


def _answered_as(detail: RunDetail) -> str:
    """Return the model and the system fingerprint that the provider named."""
    answer = detail.answer
    found = (answer.answered_model, answer.answered_fingerprint) if answer else ()
    return ", ".join(filter(None, found)) or "unknown"


def _sent(detail: RunDetail) -> tuple[str | None, int | None]:
    """Return the address and the answer limit that were really sent, before an answer those that were set."""
    if detail.answer is None:
        return detail.settings.base_url, detail.settings.max_tokens
    return detail.answer.base_url or detail.settings.base_url, detail.answer.answer_limit


def _or_default(value: object) -> str:
    return "provider’s default" if value is None else str(value)


def _cost_rows(detail: RunDetail) -> tuple[RunDetailRow, ...]:
    run = detail.summary
    cost = "none" if detail.settings.offline else money(run.cost_usd)
    return (
        RunDetailRow(label="Time", value=format_milliseconds(run.execution_time_ms)),
        RunDetailRow(label="Tokens", value=_tokens(detail)),
        RunDetailRow(label="Cost", value=cost),
        *(RunDetailRow(label="Note", value=note) for note in (detail.answer.notes if detail.answer else ())),
        RunDetailRow(label="Attempts", value=str(detail.attempts)),
    )


def _tokens(detail: RunDetail) -> str:
    answer = detail.answer
    if detail.settings.offline:
        return "none"
    if answer is None or (answer.tokens_in is None and answer.tokens_out is None):
        return "unknown"
    kept = f" ({answer.cached_tokens:,} cached)" if answer.cached_tokens else ""
    return f"{_number(answer.tokens_in)} in{kept}, {_number(answer.tokens_out)} out"


def _number(value: int | None) -> str:
    return DASH if value is None else f"{value:,}"


def tools_caption(rows: tuple[OfferedToolRow, ...], total: int) -> str:
    """Return `18 tools, as they were for this run`, or the number that a search found."""
    if len(rows) != total:
        return f"{len(rows)} of {count(total, 'tool')}"
    since = sum(bool(row.change) for row in rows)
    return f"{count(total, 'tool')}, as they were" + (f"; {since} changed since" if since else " for this run")


REASONS: Mapping[RejudgeReason, str] = {
    RejudgeReason.EXPECTATION_CHANGED: "the expectation of the case changed",
    RejudgeReason.RULES_CHANGED: "the judging rules changed",
}


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
        mark=RUN_MARKS[past.verdict.mark],
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
    """Return the outcome of a verdict."""
    return verdict_outcome_text(verdict.kind, verdict.mark, unreadable=verdict.unreadable)


def client_note(detail: RunDetail) -> str:
    """Return that the client showed the expected tool where it was not selected: no search or limit lost it."""
    client, shown = detail.settings.client, detail.snapshot.tools if detail.snapshot else ()
    wanted = {call.tool for calls in detail.expectation.alternatives for call in calls}
    if not client or detail.summary.mark is not RunMark.WRONG or wanted.isdisjoint(one.tool.name for one in shown):
        return ""
    return f"{client} showed the expected tool among {count(len(shown), 'tool')}, and it was not selected"
