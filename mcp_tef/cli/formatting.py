"""Values as lines for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mcp_tef import RejudgeReason, RunMark, RunStatus, is_baseline, local_time_text, priced_text
from mcp_tef import decimal_text as number
from mcp_tef.cli.terminal import one_line, table

if TYPE_CHECKING:
    from mcp_tef import (
        Batch,
        BatchComparison,
        ClientResult,
        Drift,
        FlagRule,
        JsonObject,
        Metrics,
        MetricsOverview,
        OverlappingPair,
        OverlapWeights,
        PairAdvice,
        PastVerdict,
        Rate,
        Recommendation,
        RepeatStatistics,
        RunSummary,
        Server,
        ShareChange,
        Similarity,
        ToolPair,
    )


MARKS = {RunMark.CORRECT_CALL: "✓", RunMark.WRONG_ARGUMENTS: "~", RunMark.WRONG: "✗"}
STATUS_MARKS = {RunStatus.FAILED: "!", RunStatus.CANCELLED: "–", RunStatus.PENDING: "·", RunStatus.RUNNING: "·"}
WIDTH, LABEL_WIDTH = 90, 23
REASONS = {
    RejudgeReason.EXPECTATION_CHANGED: "its case expects something else now",
    RejudgeReason.RULES_CHANGED: "the rules of judging changed",
}
MOST_FLAKY = 10
A_BATCH = "the id of a batch, a unique beginning of it, its name, latest or latest~1"
LONGEST_DRIFT = 1_000
MARGIN = " " * 13


def routing_text(routing: JsonObject) -> str:
    """Return the model or deployment that answered a run of a router or group, and why it did."""
    score = routing.get("score")
    route = f" by its route ({score:.2f})" if routing.get("route") and score is not None else " as the default"
    asked = f"{routing['asked']}{route}" if routing.get("asked") else ""
    failed = (f"after {one['deployment']} failed: {one['failure']}" for one in routing.get("failed") or ())
    return "; ".join(filter(None, (asked, routing.get("deployment"), *failed)))


def run_lines(run: RunSummary) -> list[str]:
    """Return a line with verdict, name and query; where it did not pass, a second one that says why."""
    word = run.classification.value if run.classification else run.status.value
    marked = " (call read from text)" if run.read_from_text else ""
    name = "" if run.query.startswith(run.case_name) else f"{one_line(run.case_name)}: "
    lines = [f"{_mark(run)} {word:9}  {name}{one_line(run.query, WIDTH)}{marked}"]
    if run.failure:
        lines.append(f"{MARGIN}{run.failure.message} {run.failure.hint}".rstrip())
    elif run.explanation and not run.passes:
        lines += [f"{MARGIN}{run.explanation}", *(f"{MARGIN}{one.sentence}" for one in run.findings)]
    return lines


def past_line(past: PastVerdict) -> str:
    """Return one line with an earlier verdict, its end date and the reason for the change."""
    until = local_time_text(past.replaced_at)
    return f"Was {past.verdict.classification} until {until}; {REASONS[past.reason]}. {past.verdict.explanation}"


def _mark(run: RunSummary) -> str:
    return STATUS_MARKS.get(run.status, "·") if run.mark is None else MARKS[run.mark]


def batch_line(batch: Batch) -> str:
    """Return one line with the id and name of a batch and its models; the baseline is always named as such."""
    names = [f"{name} (a baseline, not a model's answer)" if is_baseline(name) else name for name in batch.models]
    return f"Batch {batch.id}{f' “{batch.name}”' if batch.name else ''} asked {', '.join(names)}"


def overview_lines(overview: MetricsOverview) -> list[str]:
    """Return the metrics of each model, the baseline last, and what repeats show."""
    models = sorted(overview.models, key=lambda one: one.baseline)
    lines: list[str] = []
    for one in models if len(models) > 1 else ():
        lines += [f"{one.model}{' (a baseline, not a model)' if one.baseline else ''}", *metrics_lines(one.metrics), ""]
    return [*(lines or metrics_lines(overview.metrics)), *repeats_lines(overview.repeats)]


def metrics_lines(metrics: Metrics) -> list[str]:
    """Return the metrics, each rate with its interval and the number of its runs."""
    counts = f"{metrics.tp} TP, {metrics.fp} FP, {metrics.tn} TN, {metrics.fn} FN, {metrics.failed} failed"
    rows = [
        ("correct call", rate(metrics.correct_call)),
        ("correct tool", rate(metrics.correct_tool)),
        ("runs", counts),
        *_apart(metrics),
        ("precision", rate(metrics.precision)),
        ("recall", rate(metrics.recall)),
        ("F1", metrics.f1_text),
        ("accuracy", rate(metrics.accuracy)),
        ("parameter accuracy", rate(metrics.parameter_accuracy)),
        ("completeness", rate(metrics.completeness)),
        ("type conformance", rate(metrics.type_conformance)),
        ("hallucinated parameters", rate(metrics.hallucination)),
    ]
    if metrics.latency_p50_ms is not None and metrics.latency_p95_ms is not None:
        rows.append(("time per run", f"{metrics.latency_p50_ms:.0f} ms, 95 % within {metrics.latency_p95_ms:.0f} ms"))
    rows += _cost(metrics)
    ranked = {place: share for place, share in metrics.recall_at.items() if share.n}
    if ranked:
        shares = ", ".join(f"{number(share.value)} within the first {place}" for place, share in ranked.items())
        rows.append(("expected tool ranked", shares))
    return [f"{metrics.sentence}.", *_labelled(rows)]


def _labelled(rows: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{label:{LABEL_WIDTH}} {value}" for label, value in rows]


def _cost(metrics: Metrics) -> list[tuple[str, str]]:
    if not metrics.priced:
        return [("cost", "unknown, since no price is known")] if metrics.unpriced else []
    amount = priced_text(f"${metrics.cost_usd:.4f}", metrics.priced, metrics.unpriced)
    return [("cost", amount)] if metrics.cost_usd or metrics.unpriced else []


def _apart(metrics: Metrics) -> list[tuple[str, str]]:
    """Return a line for each kind of run that was left out of every rate for a reason of its own."""
    kinds = (
        (metrics.not_offered, "not asked, since the expected tool was not offered"),
        (metrics.cut_off, "cut off by the limit of an answer"),
    )
    return [("", f"{number} {reason}") for number, reason in kinds if number]


def repeats_lines(repeats: RepeatStatistics) -> list[str]:
    """Return the lines about repeated runs, if any: pass rate, chance of several passes in a row, flaky cases."""
    if not repeats.groups:
        return []
    worst = repeats.flaky[:MOST_FLAKY]
    powers = ", ".join(f"{number(power.rate.value)} for {power.k}" for power in repeats.pass_power)
    steady = f"{repeats.always} always passed, {repeats.never} never, {repeats.mixed} were flaky"
    rows = [
        ("repeated cases", f"{repeats.groups}: {steady}"),
        ("pass rate", rate(repeats.pass_rate)),
        ("all of k runs pass", powers),
    ]
    return [
        *_labelled(rows),
        *(f"  flaky: {one_line(case.case_name)} on {case.model}, {case.passed} of {case.n}" for case in worst),
    ]


CHANGES = {
    "fixed": "fixed",
    "regressed": "regressed",
    "unchanged_right": "right as before",
    "unchanged_wrong": "wrong as before",
    "new": "new",
    "gone": "gone",
    "not_comparable": "without a verdict",
}
"""By the value of `PairChange`."""


def comparison_lines(found: BatchComparison) -> list[str]:
    """Return the counts, shares and claims of a comparison."""
    counts = ", ".join(f"{number:,} {CHANGES[change]}" for change, number in found.counts.items() if number)
    return [
        f"cases                {counts or 'none'}",
        share_line("correct call", found.correct_call),
        share_line("correct tool", found.correct_tool),
        found.on_these_cases.sentence,
        found.for_queries_like_these.sentence,
    ]


def share_line(name: str, share: ShareChange) -> str:
    """Return a share before and after, with its change."""
    return f"{name:20} {rate(share.before)} before, {rate(share.after)} after{_gain(share)}"


def _gain(share: ShareChange) -> str:
    gain = share.difference
    if gain.value is None:
        return ""
    return f": {gain.value:+.2f} ({gain.low:+.2f} to {gain.high:+.2f})"


def rate(value: Rate) -> str:
    """`0.83 (0.61 to 0.94, n 18)`, or a dash where it is not defined."""
    if value.value is None:
        return "–"
    return f"{number(value.value)} ({number(value.low)} to {number(value.high)}, n {value.n})"


def drift_line(drift: Drift) -> str:
    """Return one line with the tools that changed since last seen and those that are suspicious."""
    told = ", ".join(f"{tool.name} ({tool.change.change})" for tool in drift.tools)
    suspicious = f" There are words aimed at a model, or hidden ones: {', '.join(drift.suspicious)}."
    said = f"Since its tools were last accepted, these differ: {told}.{suspicious if drift.suspicious else ''}"
    return f"{one_line(said, LONGEST_DRIFT)} Accept them with: mcp-tef servers accept."


def counted(count: int, thing: str) -> str:
    """`1 tool`, `1,200 tools`."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def server_line(server: Server) -> str:
    """Return the result of the last check in one sentence."""
    if server.reason:
        return f"{server.name}: {server.status}. {server.reason} {server.hint or ''}".rstrip()
    tools = "no tools known yet" if server.tool_count is None else counted(server.tool_count, "tool")
    aside = f", {server.problem_count} set aside" if server.problem_count else ""
    taken = f", answered in {server.latency_ms} ms" if server.latency_ms is not None else ""
    return f"{server.name}: {server.status}, {tools}{aside}{taken}."


MOST_PAIRS = 20
CLOSEST = 5
LONGEST_TEXT = 200
LEFT_STANDING = 60


def similarity_lines(found: Similarity, rule: FlagRule) -> list[str]:
    """Return the lines of a comparison: its method, the flagged pairs, or the closest pairs if none is flagged."""
    count = found.count_flagged(rule)
    verb = "is" if count == 1 else "are"
    head = f"{count:,} of {counted(found.pair_count, 'pair')} {verb} flagged: {rule.text}."
    pairs = found.most_alike(rule, min(count, MOST_PAIRS) or CLOSEST)
    lines = [compared_line(found), head, *_pair_table(found, pairs)]
    if not count and pairs:
        lines.insert(2, f"The closest {'is' if len(pairs) == 1 else 'are'}:")
    if count > MOST_PAIRS:
        lines.append(f"… and {count - MOST_PAIRS:,} more; --out F writes them all.")
    return lines


def compared_line(found: Similarity) -> str:
    """Return `94 tools of 12 servers, compared by tfidf.`."""
    servers = len({one.tool.server for one in found.tools})
    return f"{counted(len(found), 'tool')} of {counted(servers, 'server')}, compared by {found.embedder}."


def _pair_table(found: Similarity, pairs: Sequence[ToolPair]) -> list[str]:
    heads = ("CONFUSABLE", "SIMILARITY", "FULL", "WORDS", "TOOL", "LOOKS LIKE")
    rows = [
        (
            one.level.value,
            _figure(one.similarity),
            _figure(one.full),
            _figure(one.lexical),
            *_ids(found, one),
        )
        for one in pairs
    ]
    return table(heads, rows) if rows else []


def _ids(found: Similarity, pair: ToolPair) -> tuple[str, str]:
    return found.tools[pair.a].id, found.tools[pair.b].id


def _figure(score: float | None) -> str:
    return "–" if score is None else f"{score:.2f}"


def overlap_lines(found: Similarity, weights: OverlapWeights, pairs: Sequence[OverlappingPair]) -> list[str]:
    """Return the lines of the pairs that overlap most, each with its reason below it."""
    parts = f"{weights.semantic:g} meaning, {weights.parameters:g} parameters, {weights.description:g} words"
    lines = [compared_line(found), f"Overlap is weighed as {parts}."]
    for one in pairs:
        lines += ["", f"{one.overlap:.2f}  {found.tools[one.a].id} and {found.tools[one.b].id}", f"      {one.why}"]
    return lines


def advice_lines(advice: PairAdvice) -> list[str]:
    """Return the lines of one recommendation: the issues of a pair and the suggested changes."""
    lines = ["", f"{advice.a} and {advice.b}: {advice.similarity:.2f} similar"]
    lines += [f"  {issue.priority}: {issue.sentence}" for issue in advice.issues]
    if advice.failure:
        lines.append(f"  ! {advice.failure.message} {advice.failure.hint}".rstrip())
    for one in advice.recommendations:
        lines += _recommendation_lines(one)
    if not advice.recommendations:
        lines.append("  No draft. Ask a model with --model, or write in each description when to use the other tool.")
    return lines


def _recommendation_lines(one: Recommendation) -> list[str]:
    source = "a draft from the definitions" if one.author == "draft" else f"by {one.author}"
    before, after = _beside(one.before or "–", one.revised)
    lines = [f"  → {one.tool_id}: {one.action}", f"    {one.rationale}"]
    lines += [f"    before: {before}", f"    after:  {after} ({source})"]
    if one.cases:
        right = f"{one.cases.correct_before} → {one.cases.correct_after} of {counted(one.cases.cases, 'case')}"
        lines.append(f"    built-in baseline: {right} correct")
    return lines


def _beside(before: str, after: str) -> tuple[str, str]:
    """Both texts on a line each, from a little before where they begin to differ."""
    flat = [" ".join(text.split()) for text in (before, after)]
    pairs = enumerate(zip(*flat, strict=False))
    same = next((place for place, (one, other) in pairs if one != other), min(map(len, flat)))
    start = flat[0].rfind(" ", 0, max(same - LEFT_STANDING, 0)) + 1
    mark = "…" if start else ""
    shown = [one_line(f"{mark}{text[start:]}", LONGEST_TEXT) for text in flat]
    return shown[0], shown[1]


def client_lines(clients: Sequence[ClientResult]) -> list[str]:
    """Return how the clients of a batch did beside each other: a table, then each claim against the plain API."""
    right = clients[0].criterion.value.replace("_", " ").upper()
    rows = [(one.client, one.model, f"{one.right} of {one.runs}", str(one.not_shown)) for one in clients]
    claims = [f"{one.client}, {one.model}: {one.claim.sentence}" for one in clients if one.claim]
    against = ["", "Against the plain API:", *claims] if claims else []
    return [*table(("CLIENT", "MODEL", right, "NOT SHOWN"), rows), *against]
