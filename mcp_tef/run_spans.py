"""Runs as OpenTelemetry spans by the conventions for generative AI, sent where the user's environment says.

A span holds model, settings, tokens, selected tool and verdict; no query, no answer and never a key. Nothing of
OpenTelemetry is loaded unless `OTEL_EXPORTER_OTLP_ENDPOINT` is set.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlsplit

from mcp_tef.events import RunEnded
from mcp_tef.model.installation import VERSION, how_to_install

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from opentelemetry.sdk.trace import TracerProvider

    from mcp_tef.events import Event
    from mcp_tef.model.ids import RunId
    from mcp_tef.model.runs import RunDetail

    ReadRun: TypeAlias = Callable[[RunId], Awaitable[RunDetail]]

ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
MISSING: Final = f"{ENDPOINT} is set, but no spans are sent: OpenTelemetry is not installed. " + how_to_install(
    "opentelemetry"
)


def otlp_spans(read: ReadRun) -> RunSpans | None:
    """Return spans that are sent in the background, as the standard variables say; None without the extra `otel`."""
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter") is None:
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": "mcp-tef", "service.version": VERSION}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return RunSpans(provider, read)


class RunSpans:
    """Makes a span of each run that ends; `read` returns a run with its answer."""

    def __init__(self, provider: TracerProvider, read: ReadRun) -> None:
        self._provider = provider
        self._read = read
        self._tracer = provider.get_tracer("mcp_tef", VERSION)
        self._tasks = set[asyncio.Task[None]]()

    def hear(self, event: Event) -> None:
        """Take in one event."""
        if isinstance(event, RunEnded):
            task = asyncio.get_running_loop().create_task(self._trace(event.run.id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Send what is left, and end."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self._provider.shutdown)

    async def _trace(self, run_id: RunId) -> None:
        detail = await self._read(run_id)
        run, ended = detail.summary, detail.summary.completed_at
        if ended is None:
            return
        from opentelemetry.trace import SpanKind, Status, StatusCode

        began = ended - timedelta(milliseconds=run.execution_time_ms or 0)
        span = self._tracer.start_span(
            f"chat {detail.settings.model}",
            kind=SpanKind.CLIENT,
            start_time=int(began.timestamp() * 1e9),
            attributes=span_attributes(detail),
        )
        if run.mark is not None:
            result: dict[str, str | float] = {
                "gen_ai.evaluation.name": "tool_selection",
                "gen_ai.evaluation.score.label": run.mark.value,
                "gen_ai.evaluation.score.value": float(run.passes),
            }
            span.add_event("gen_ai.evaluation.result", result, timestamp=int(ended.timestamp() * 1e9))
        if run.failure:
            span.set_status(Status(StatusCode.ERROR, run.failure_code))
        span.end(int(ended.timestamp() * 1e9))


def span_attributes(detail: RunDetail) -> dict[str, str | int | float]:
    """Return the attributes of a run; those that are not known are absent."""
    run, settings, answer = detail.summary, detail.settings, detail.answer
    address = urlsplit(settings.base_url or "")
    found: dict[str, str | int | float | None] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": settings.provider,
        "gen_ai.request.model": settings.model,
        "gen_ai.request.temperature": settings.temperature,
        "gen_ai.request.seed": settings.seed,
        "gen_ai.request.max_tokens": settings.max_tokens,
        "gen_ai.response.model": getattr(answer, "answered_model", None),
        "gen_ai.usage.input_tokens": getattr(answer, "tokens_in", None),
        "gen_ai.usage.output_tokens": getattr(answer, "tokens_out", None),
        "gen_ai.tool.name": run.selected_tool,
        "server.address": address.hostname,
        "server.port": address.port,
        "error.type": run.failure_code or None,
        "mcp_tef.run.id": str(run.id),
        "mcp_tef.batch.id": run.batch_id,
        "mcp_tef.case.name": run.case_name,
        "mcp_tef.tool.expected": run.expected_tool,
        "mcp_tef.verdict": run.mark.value if run.mark else None,
        "mcp_tef.cost_usd": run.cost_usd,
    }
    return {name: value for name, value in found.items() if value is not None}
