"""The shapes of `--json` that scripts rely on."""

from collections.abc import Mapping
from datetime import datetime

from mcp_tef import (
    Batch,
    DefinitionChange,
    Drift,
    Json,
    Listing,
    PastVerdict,
    RejudgeReport,
    RunDetail,
    RunSummary,
    Server,
    TefError,
    TestCase,
    ToolCall,
    ToolReply,
    expectation_to_json,
)


def error_shape(error: TefError) -> Json:
    """An error, as every verb gives it."""
    return {"code": error.code, "message": error.message, "hint": error.hint}


def run_shape(run: RunSummary) -> Json:
    """One run as `demo` and `run` give it."""
    from mcp_tef import run_to_json

    return run_to_json(run)


def check_shape(server: Server) -> Json:
    """Serialize the result of `servers check`."""
    return {
        "name": server.name,
        "status": server.status.value,
        "reason": server.reason,
        "latency_ms": server.latency_ms,
        "protocol": server.protocol,
    }


def server_shape(server: Server) -> Json:
    """A server with all that is known of it; a secret is where it is kept."""
    spec = server.spec
    return {
        **check_shape(server),
        "id": server.id,
        "transport": spec.transport.value,
        "url": spec.url and spec.address,
        "command": spec.command,
        "args": list(spec.args),
        "cwd": spec.cwd,
        "env": sorted(spec.env),
        "headers": sorted(spec.headers),
        "auth": spec.auth_type.value.replace("_", "-"),
        "secret": spec.secret,
        "client_id": spec.oauth.client_id,
        "issuer": spec.oauth.issuer,
        "scopes": (spec.oauth.scope or "").split(),
        "private_key_file": spec.oauth.private_key_file,
        "tools_file": spec.path,
        "tools": server.tool_count,
        "problems": server.problem_count,
        "hint": server.hint,
        "exit_code": server.exit_code,
        "stderr": server.stderr_tail,
        "last_connected_at": _time(server.last_connected_at),
    }


def tools_shape(listing: Listing) -> Json:
    """A listing as `servers tools` gives it: raw definitions, and what was set aside."""
    return {
        "server": listing.server,
        "tools": [dict(tool.raw) for tool in listing.tools],
        "problems": [{"tool": problem.tool, "reason": problem.reason} for problem in listing.problems],
    }


def drift_shape(server: str, drift: Drift | None) -> Json:
    """Serialize the definition changes that `servers accept` accepts."""
    return {
        "server": server,
        "tools": [
            {
                "tool": tool.name,
                "change": tool.change.change.value,
                "suspicions": [finding.sentence for finding in tool.findings],
                "diff": tool.change.diff,
            }
            for tool in (drift.tools if drift else ())
        ],
    }


def call_shape(call: ToolCall) -> Json:
    """A call by hand as `servers call` gives it."""
    reply = call.reply or ToolReply()
    return {
        "id": call.id,
        "server": call.server,
        "tool": call.tool,
        "arguments": dict(call.arguments),
        "status": call.status.value,
        "asked_at": _time(call.asked_at),
        "duration_ms": call.duration_ms,
        "execution_time_ms": reply.execution_time_ms,
        "is_error": reply.is_error,
        "content": list(reply.content),
        "structured": reply.structured,
        "cut": reply.cut,
    }


def case_shape(case: TestCase) -> Json:
    """A stored case, as its own file form has it."""
    return {
        "id": case.id,
        "name": case.name,
        "query": case.draft.query,
        "servers": list(case.draft.servers),
        "expected": expectation_to_json(case.draft.expectation),
        "suites": list(case.draft.suites),
        "tags": list(case.draft.tags),
    }


def batch_shape(batch: Batch) -> Json:
    """A batch with its counts."""
    from mcp_tef import batch_to_json

    return batch_to_json(batch)


def detail_shape(detail: RunDetail, since: Mapping[str, DefinitionChange]) -> Json:
    """One run with everything that was kept of it; `since` is what became of its tools afterwards."""
    from mcp_tef import verdict_to_json

    settings, answer, snapshot = detail.settings, detail.answer, detail.snapshot
    return {
        **run_shape(detail.summary),
        "batch": detail.summary.batch_id,
        "expectation": expectation_to_json(detail.expectation),
        "verdict": verdict_to_json(detail.verdict) if detail.verdict else None,
        "calls": _calls(detail),
        "words": answer.words if answer else None,
        "notes": list(answer.notes) if answer else [],
        "settings": {
            "timeout": settings.timeout,
            "temperature": settings.temperature,
            "max_retries": settings.max_retries,
            "base_url": settings.base_url,
            "mode": settings.mode.value,
        },
        "attempts": detail.attempts,
        "tools": [item.offered_name for item in snapshot.tools] if snapshot else [],
        "changed_since": {name: change.value for name, change in since.items()},
        "raw_request": answer.raw_request if answer else None,
        "raw_response": answer.raw_response if answer else None,
        "past_verdicts": [past_shape(past) for past in detail.past_verdicts],
    }


def past_shape(past: PastVerdict) -> Json:
    """A verdict that was replaced, with the expectation that it was given by."""
    from mcp_tef import verdict_to_json

    return {
        "replaced_at": _time(past.replaced_at),
        "reason": past.reason.value,
        "verdict": verdict_to_json(past.verdict),
        "expectation": expectation_to_json(past.expectation),
    }


def rejudge_shape(report: RejudgeReport) -> Json:
    """Serialize a rejudge report; each change holds the run with its new and its earlier verdict."""
    return {
        "judged": report.judged,
        "unchanged": report.unchanged,
        "without_answer": report.without_answer,
        "gone": report.gone,
        "changes": [{"run": run_shape(change.run), "past": past_shape(change.past)} for change in report.changes],
    }


def _calls(detail: RunDetail) -> Json:
    if detail.answer is None or detail.answer.calls is None:
        return None
    return [
        {"tool": call.tool, "server": call.server, "arguments": dict(call.arguments)} for call in detail.answer.calls
    ]


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
