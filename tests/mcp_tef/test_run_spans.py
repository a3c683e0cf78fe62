"""Runs as spans: attributes by the conventions for generative AI, no key, and nothing loaded when unused."""

import http.server
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import ClassVar

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from mcp_tef import BatchRequest, ModelSettings, Secret
from mcp_tef.run_spans import ENDPOINT, RunSpans
from tests.support.agent_client import opened_workspace
from tests.support.command_line import ROOT, say
from tests.support.model_replies import tool_calls
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import case, case_file, tools_file

KEY = "sk-a-key-that-no-span-holds"


async def test_a_run_is_a_span_by_the_conventions_and_holds_no_key(tmp_path: Path) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with ModelStub(lambda _: tool_calls(("weather_report", {"city": "Rome"}))) as stub:
        async with opened_workspace(tmp_path) as engine:
            spans = RunSpans(provider, engine.runs.detail)
            engine.subscribe(spans.hear)
            engine.consents.add_typed_address("openai", stub.url)
            settings = ModelSettings(provider="openai", model="gpt-x", base_url=stub.url, temperature=0.2)
            request = BatchRequest(cases=tuple(one.id for one in await engine.cases.list()), models=(settings,))
            await engine.runs.wait((await engine.runs.start(request, {"openai": Secret(KEY)})).id)
            await spans.close()
    (span,) = exporter.get_finished_spans()
    found = dict(span.attributes or {})
    assert (span.name, span.kind.name) == ("chat gpt-x", "CLIENT")
    assert {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-x",
        "gen_ai.request.temperature": 0.2,
        "gen_ai.tool.name": "weather_report",
        "server.address": "127.0.0.1",
        "mcp_tef.verdict": "correct_call",
    }.items() <= found.items()
    assert (span.end_time or 0) >= (span.start_time or 0) > 0
    assert [event.name for event in span.events] == ["gen_ai.evaluation.result"]
    assert KEY not in span.to_json()
    assert "Weather in Rome?" not in span.to_json()


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes in what is sent to a collector."""

    received: ClassVar[list[bytes]] = []

    def do_POST(self) -> None:
        self.received.append(self.path.encode() + self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_command_sends_spans_where_the_environment_says_and_loads_nothing_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ("--tools-file", tools_file(tmp_path), "--cases", case_file(tmp_path, [case("Rain?", [])]))
    program = (
        "import sys\nfrom mcp_tef.cli.main import main\ncode = main(sys.argv[1:])\n"
        "print('LOADED', any(name.startswith('opentelemetry') for name in sys.modules))\n"
    )
    command = [sys.executable, "-c", program, "run", *map(str, files), "--quiet"]
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv(ENDPOINT, raising=False)
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    without = subprocess.run(command, env=own, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert "LOADED False" in without.stdout, without.stderr
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{server.server_address[1]}")
        assert say("run", *files, "--quiet").code in (0, 1)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    (body,) = Collector.received
    assert body.startswith(b"/v1/traces")
    assert b"gen_ai.request.model" in body
    assert KEY.encode() not in body
