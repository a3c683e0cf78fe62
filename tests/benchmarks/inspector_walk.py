"""The command line of the MCP Inspector on the server for agents: list, run, explain and try, over stdio and HTTP.

Each step is a process of the Inspector, as somebody would type it, and a stand-in model is asked over real HTTP. The
Inspector is installed once under `.cache/` (110 MB).

    python -m tests.benchmarks.inspector_walk
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.real_servers import inspector

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-for-the-inspector"
SECONDS = 120
PATCH = [{"op": "replace", "path": "/tools/0/description", "value": "Tell rain, sun and wind of a city today."}]


def serving(workspace: Path, model: str) -> list[str]:
    """The command of the server for agents."""
    words = ["mcp", "--workspace", str(workspace), "--model", "openai/stand-in", "--base-url", model]
    return [sys.executable, "-m", "mcp_tef", *words]


@contextmanager
def over_http(command: Sequence[str], folder: Path, environment: dict[str, str]) -> Iterator[list[str]]:
    """The words by which the Inspector reaches a server over HTTP."""
    token = folder / "token"
    token.write_text(TOKEN)
    words = [*command, "--http", "0", "--token-file", str(token)]
    with subprocess.Popen(words, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            address = next(line.strip() for line in process.stderr if line.startswith("http"))
            yield ["--server-url", address, "--transport", "http", "--header", f"Authorization: Bearer {TOKEN}"]
        finally:
            process.terminate()
            process.communicate()


@contextmanager
def over_stdio(command: Sequence[str], folder: Path, environment: dict[str, str]) -> Iterator[list[str]]:
    """The words by which the Inspector starts a server."""
    passed = {name: environment[name] for name in ("HOME", "XDG_DATA_HOME", "PYTHONPATH")}
    yield [*(word for name, text in passed.items() for word in ("-e", f"{name}={text}")), *command]


def walk(reach: Sequence[str], environment: dict[str, str]) -> Iterator[str]:
    """Walk, and tell each step with its seconds."""
    before = inspector()

    def asked(*words: str) -> Any:
        command = [*before, "--connect-timeout", str(SECONDS * 500), *reach, *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout[-1500:]}{done.stderr[-1500:]}"
        return json.loads(done.stdout)

    def called(tool: str, *arguments: str) -> Any:
        answer = asked("--method", "tools/call", "--tool-name", tool, "--tool-arg", *arguments)
        assert not answer.get("isError"), answer
        return answer["structuredContent"]

    began = time.perf_counter()
    tools = asked("--method", "tools/list")["tools"]
    yield f"list: {len(tools)} tools, {time.perf_counter() - began:.1f} s"
    began = time.perf_counter()
    ran = called("run_cases", "accept_cost=true")
    yield f"run: {ran['summary']} {time.perf_counter() - began:.1f} s"
    began = time.perf_counter()
    explained = called("explain_run", f"run={ran['failed_runs'][0]['run']}")
    yield f"explain: {explained['summary']} {time.perf_counter() - began:.1f} s"
    began = time.perf_counter()
    tried = called("try_change", "server=city", f"patch={json.dumps(PATCH)}", "accept_cost=true")
    yield f"try: {tried['verdict']} after {tried['pairs']} pairs, {time.perf_counter() - began:.1f} s"


def main() -> int:
    """Walk over both transports."""
    from tests.benchmarks.rest_speed import filled
    from tests.support.model_replies import tool_calls
    from tests.support.model_stub import ModelStub

    with tempfile.TemporaryDirectory() as name, ModelStub(lambda _: tool_calls(("train_times", {}))) as stub:
        places = {"HOME": name, "XDG_DATA_HOME": name, "PYTHONPATH": str(ROOT)}
        environment = {**os.environ, **places, "HF_HUB_OFFLINE": "1"}
        command = serving(filled(Path(name), environment, cases=6), stub.url)
        for transport in (over_stdio, over_http):
            print(transport.__name__.replace("_", " "))
            with transport(command, Path(name), environment) as reach:
                for line in walk(reach, environment):
                    print(f"  {line}", flush=True)
        print(f"{len(stub.requests)} requests reached the model")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, os.fspath(ROOT))
    sys.exit(main())
