"""Executions of library tools: six executors with consent, checks and limits, isolated scripts, and the history."""

import asyncio
import json
import os
import socket
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mcp_tef import ConsentError, Engine, ServerSpec, Transport, consent_rows
from mcp_tef.errors import InputError
from mcp_tef.model.ids import ExecutionId
from mcp_tef.model.library import Execution, ExecutionFigures, ExecutionStatus, ExecutorKind, ToolDesign
from mcp_tef.model.web_search import SearchProvider, SearchTool
from tests.support import calling_server
from tests.support.hostile_http_servers import RedirectingServer
from tests.support.library_designs import CITY, answering, commanded, scripted
from tests.support.processes import alive, children
from tests.support.search_services import SearchService

ENVIRONMENT = {"PATH": os.environ["PATH"], "GREETING": "hello", "API_KEY": "sk-very-secret-value"}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine on an empty workspace, which leaves no child behind."""
    before = children()
    async with await Engine.open(tmp_path / "workspace.db", environment={**os.environ, **ENVIRONMENT}) as opened:
        yield opened
    assert children() <= before


async def agreed(engine: Engine, design: ToolDesign) -> None:
    """Add a tool, and allow what it would start or contact."""
    await engine.library.add(design)
    with pytest.raises(ConsentError) as asked:
        await engine.library_runs.run(design.name, {})
    for request in asked.value.requests:
        await engine.consents.allow(request)


async def test_the_consent_names_the_folder_that_a_script_runs_in(engine: Engine) -> None:
    design = scripted("def run(input):\n    return 1\n")
    await engine.library.add(design)
    with pytest.raises(ConsentError) as asked:
        await engine.library_runs.run(design.name, {})
    (request,) = asked.value.requests
    assert "empty folder" in dict(consent_rows(request))["Folder"][0]


async def run(engine: Engine, design: ToolDesign, **arguments: Any) -> Execution:
    """Execute a new tool once that was agreed to."""
    await agreed(engine, design)
    return await engine.library_runs.run(design.name, arguments)


async def test_an_answer_takes_the_inputs_and_needs_no_consent(engine: Engine) -> None:
    await engine.library.add(answering(answer={"said": "Rain in {city}.", "city": "{city}", "none": "{day}"},
        input_schema={"type": "object", "properties": {"city": {}, "day": {"type": "integer"}}}))  # fmt: skip
    done = await engine.library_runs.run("weather", {"city": "Rome"}, caller_id="user")
    assert (done.status, done.output) == (ExecutionStatus.SUCCESS, {"said": "Rain in Rome.", "city": "Rome"})
    assert (done.version, done.caller_id, done.tool) == (1, "user", "weather")
    assert await engine.library_runs.history("weather") == (done,)


async def test_arguments_that_break_the_schema_execute_nothing(engine: Engine) -> None:
    await engine.library.add(answering())
    with pytest.raises(InputError, match="do not fit weather"):
        await engine.library_runs.run("weather", {"city": 5})
    assert await engine.library_runs.history("weather") == ()


async def test_an_output_that_breaks_its_schema_fails(engine: Engine) -> None:
    schema = {"type": "object", "properties": {"rain": {"type": "boolean"}}, "required": ["rain"]}
    await engine.library.add(answering(answer={"rain": "maybe"}, output_schema=schema))
    await engine.library.add(answering("plain", output_schema=schema))
    for name in ("weather", "plain"):
        done = await engine.library_runs.run(name, {"city": "Rome"})
        assert done.status is ExecutionStatus.FAILED
        assert "output" in (done.error_message or "")


async def test_a_script_is_asked_about_again_when_its_text_changes(engine: Engine) -> None:
    design = scripted("def run(input):\n    print('noise')\n    return {'twice': 2 * input['n']}")
    done = await run(engine, design, n=21)
    assert (done.status, done.output) == (ExecutionStatus.SUCCESS, {"twice": 42})
    await engine.library.edit("scripted", scripted("def run(input):\n    return 1"))
    with pytest.raises(ConsentError, match="you have not allowed"):
        await engine.library_runs.run("scripted", {})


async def test_a_script_has_its_own_folder_and_only_the_variables_that_it_names(engine: Engine) -> None:
    script = (
        "import os\ndef run(input):\n"
        "    open('note', 'w').write('x')\n    return {'folder': os.getcwd(), 'variables': dict(os.environ)}"
    )
    done = await run(engine, scripted(script, env=["GREETING"]))
    variables, folder = done.output["variables"], done.output["folder"]
    assert variables.pop("GREETING") == "hello"
    assert variables.keys() <= {"HOME", "TMPDIR", "TEMP", "LC_CTYPE"}
    assert not Path(folder).exists()


async def test_a_script_inherits_no_socket(engine: Engine) -> None:
    script = (
        "import os, socket\ndef run(input):\n    found = []\n    for number in range(3, 256):\n"
        "        try:\n            found.append(socket.socket(fileno=os.dup(number)).getsockname())\n"
        "        except OSError:\n            pass\n    return found"
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        assert (await run(engine, scripted(script))).output == []


async def test_a_time_limit_ends_the_whole_process_group_and_what_left_it(engine: Engine, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = (
        "import os\ndef run(input):\n"
        "    for detached in (False, True):\n        if os.fork() == 0:\n"
        "            detached and os.setsid()\n            break\n"
        f"    with open({str(pids)!r}, 'a') as file:\n        file.write(f'{{os.getpid()}}\\n')\n"
        "    while True:\n        pass"
    )
    done = await run(engine, scripted(script, seconds=1.5))
    assert done.status is ExecutionStatus.TIMEOUT
    assert "1.5 seconds" in (done.error_message or "")
    started = [int(line) for line in pids.read_text().split()]
    assert len(started) == 3
    assert [pid for pid in started if alive(pid)] == []


ESCAPES = {
    "setsid": "os.setsid()",
    "a double fork": "os.fork() and os._exit(0)\n        os.setsid()\n        os.fork() and os._exit(0)",
    "a fork chain": "os.setsid()\n        for _ in range(200):\n            os.fork() and os._exit(0)",
}


@pytest.mark.parametrize("limit", [0.0, 1.5])
@pytest.mark.parametrize("escape", ESCAPES)
async def test_nothing_that_leaves_a_script_without_variables_survives_it(
    engine: Engine, tmp_path: Path, escape: str, limit: float
) -> None:
    pid = tmp_path / "pid"
    rest = f"import os, signal\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\nsignal.pause()"
    script = (
        "import os, select, signal, sys\ndef run(input):\n    if os.fork() == 0:\n"
        f"        {ESCAPES[escape]}\n        os.execve(sys.executable, [sys.executable, '-I', '-c', {rest!r}], {{}})\n"
        f"    while not (os.path.exists({str(pid)!r}) and os.path.getsize({str(pid)!r})):\n"
        "        select.select([], [], [], 0.01)\n"
        f"    {'signal.pause()' if limit else 'pass'}\n    return 'done'"
    )
    done = await run(engine, scripted(script, seconds=limit or 20))
    assert done.status is (ExecutionStatus.TIMEOUT if limit else ExecutionStatus.SUCCESS)
    assert not alive(int(pid.read_text()))


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("def run(input):\n    return 'x' * 2_000_000", "more than 1 MB"),
        ("def run(input):\n    while True: print('x' * 100_000)", "more than 1 MB"),
        ("def run(input):\n    return len(bytearray(3_000_000_000))", "MemoryError"),
        ("def run(input):\n    raise ValueError('no such city')", "no such city"),
        ("def run(input):\n    return {1, 2}", "not JSON serializable"),
    ],
)
async def test_output_and_memory_are_limited_and_errors_are_told(engine: Engine, script: str, said: str) -> None:
    done = await run(engine, scripted(script))
    assert done.status is ExecutionStatus.FAILED
    assert said in (done.error_message or "")


async def test_cancelling_ends_the_process_and_is_kept(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    os.mkfifo(file)
    script = (
        f"import os, signal\ndef run(input):\n    open({str(file)!r}, 'w').write(str(os.getpid()))\n    signal.pause()"
    )
    await agreed(engine, scripted(script))
    running = asyncio.create_task(engine.library_runs.run("scripted", {}))
    pid = int(await asyncio.to_thread(file.read_text))
    (live,) = await engine.library_runs.history("scripted")
    assert live.status is ExecutionStatus.RUNNING
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not alive(pid)
    (kept,) = await engine.library_runs.history("scripted")
    assert kept.status is ExecutionStatus.CANCELLED


async def test_values_of_a_command_are_arguments_and_never_code(engine: Engine) -> None:
    design = commanded("printf", "%s", "--", "{text}")
    await agreed(engine, design)
    for text in ("; rm -rf /", "$(id)", "a b", "`id`"):
        done = await engine.library_runs.run("commanded", {"text": text})
        assert (done.status, done.output) == (ExecutionStatus.SUCCESS, f"--{text}")


async def test_a_value_that_would_be_an_option_is_refused(engine: Engine) -> None:
    await agreed(engine, commanded("printf", "%s", "{text}"))
    await agreed(engine, replace(commanded("printf", "%s", "--", "{text}"), name="guarded"))
    for name in ("commanded", "guarded"):
        done = await engine.library_runs.run(name, {"text": "--version"})
        assert done.status is ExecutionStatus.FAILED
        assert "for an option" in (done.error_message or "")


async def test_a_program_that_is_not_there_is_named(engine: Engine) -> None:
    done = await run(engine, commanded("no-such-program-here"))
    assert "no-such-program-here" in (done.error_message or "")


class _Service(BaseHTTPRequestHandler):
    """Repeats what it is asked, with the key that it got."""

    def do_GET(self) -> None:
        said = {"path": self.path, "key": self.headers.get("X-Api-Key"), "items": [{"name": "pump"}]}
        results = [{"title": "Pump", "url": "http://a.test", "content": "A pump.", "publishedDate": None}, {"junk": 1}]
        body = json.dumps({**said, "results": results}).encode()
        self.send_response(404 if "missing" in self.path else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its parent's name
        """Say nothing."""


@pytest.fixture
def service() -> Iterator[str]:
    """The address of a web service."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def requesting(url: str, **config: Any) -> ToolDesign:
    """A tool that sends a request."""
    return answering("request", executor=ExecutorKind.HTTP, input_schema=CITY | {"required": []},
                     config={"url": url, **config})  # fmt: skip


async def test_a_request_fills_in_quoted_values_and_keeps_its_key_to_itself(engine: Engine, service: str) -> None:
    design = requesting(f"{service}/v1/{{city}}?q={{city}}", headers={"X-Api-Key": "${API_KEY}"})
    done = await run(engine, design, city="a/../b?c=d é")
    assert done.output["path"] == "/v1/a%2F..%2Fb%3Fc%3Dd%20%C3%A9?q=a%2F..%2Fb%3Fc%3Dd%20%C3%A9"
    assert ENVIRONMENT["API_KEY"] not in str(done)
    refused = await engine.library_runs.run("request", {"city": ".."})
    assert "part of an address" in (refused.error_message or "")


@pytest.mark.parametrize(
    ("path", "result", "output", "said"),
    [
        ("/", "/items/0/name", "pump", None),
        ("/", "/nothing", None, "nothing at /nothing"),
        ("/missing", "", None, "HTTP 404"),
    ],
)
async def test_an_answer_is_mapped_by_a_pointer(
    engine: Engine, service: str, path: str, result: str, output: str | None, said: str | None
) -> None:
    done = await run(engine, requesting(service + path, result=result))
    assert done.output == output
    assert (said or "") in (done.error_message or "")


async def test_a_request_is_not_redirected_to_another_host(engine: Engine) -> None:
    with RedirectingServer() as redirecting:
        done = await run(engine, requesting(redirecting.url))
    assert done.status is ExecutionStatus.FAILED
    assert "another address" in (done.error_message or "")


@pytest.mark.parametrize("there", ["/other/pumps", "/tenant/../other", "/tenant%2f..%2fother", "/tenantless"])
async def test_no_variable_is_redirected_to_a_path_that_nobody_agreed_to(engine: Engine, there: str) -> None:
    with SearchService({}, 302, {"Location": there}) as service:
        design = requesting(f"{service.url}/tenant/{{city}}", headers={"X-Api-Key": "${API_KEY}"})
        done = await run(engine, design, city="Rome")
    assert "outside of its address" in (done.error_message or "")
    assert [one.path for one in service.asked] == ["/tenant/Rome"]


@pytest.mark.parametrize("url", ["https://a.example/${TENANT}/x", "https://${HOST}/x", "https://a.example/?k=${KEY}"])
async def test_a_variable_in_the_address_of_a_tool_is_refused(engine: Engine, url: str) -> None:
    with pytest.raises(InputError, match="has a variable in its address"):
        await engine.library.add(requesting(url))


async def test_a_stored_search_tool_is_asked_about_by_its_address(engine: Engine, service: str) -> None:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    config: Mapping[str, Any] = {"search": "web"}
    await engine.searches.add(SearchTool(name="web", provider=SearchProvider.SEARXNG, base_url=service))
    await engine.library.add(answering("finder", executor=ExecutorKind.SEARCH, input_schema=schema, config=config))
    with pytest.raises(ConsentError) as asked:
        await engine.library_runs.run("finder", {"query": "pump"})
    tool, address = asked.value.requests
    assert service in "".join(line for _, lines in consent_rows(tool) for line in lines)
    assert address.target == service
    for request in asked.value.requests:
        await engine.consents.allow(request)
    assert (await engine.library_runs.run("finder", {"query": "pump"})).output["results"][0]["title"] == "Pump"
    await engine.searches.add(SearchTool(name="web", provider=SearchProvider.SEARXNG, base_url=f"{service}/changed"))
    with pytest.raises(ConsentError) as again:
        await engine.library_runs.run("finder", {"query": "pump"})
    assert [one.title for one in again.value.requests] == ["Execute the library tool finder?"]


async def test_a_search_answers_in_one_form(engine: Engine, service: str) -> None:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    design = answering("web_search", executor=ExecutorKind.SEARCH, input_schema=schema, config={"base_url": service})
    done = await run(engine, design, query="pump")
    assert done.output == {
        "object": "search",
        "results": [
            {"title": "Pump", "url": "http://a.test", "snippet": "A pump.", "date": None, "last_updated": None}
        ],
    }


async def test_a_tool_of_a_server_is_asked_about_though_its_server_is_allowed(engine: Engine) -> None:
    program, *args = calling_server.command()
    await engine.servers.add(ServerSpec(name="calls", transport=Transport.STDIO, command=program, args=tuple(args)))
    config: Mapping[str, Any] = {"server": "calls", "tool": "echo", "arguments": {"town": "{city}"}}
    await agreed(engine, answering(executor=ExecutorKind.MCP, input_schema=CITY | {"required": []}, config=config))
    done = await engine.library_runs.run("weather", {"city": "Rome"})
    assert done.output == {"town": "Rome"}
    await engine.library.edit("weather", answering(executor=ExecutorKind.MCP, config={**config, "tool": "broken"}))
    with pytest.raises(ConsentError, match="broken") as asked:
        await engine.library_runs.run("weather", {"city": "Rome"})
    (request,) = asked.value.requests
    await engine.consents.allow(request)
    failed = await engine.library_runs.run("weather", {"city": "Rome"})
    assert "No such part" in (failed.error_message or "")


async def test_a_call_by_hand_of_the_library_executes_the_tool(engine: Engine) -> None:
    await engine.library.add(answering())
    server = await engine.library.server()
    made = await engine.calls.call(server.id, "weather", {"city": "Rome"})
    assert made.reply is not None
    assert made.reply.text == "It rains in Rome."


async def test_the_history_is_filtered_searched_and_repeated(engine: Engine) -> None:
    await engine.library.add(answering())
    for city in ("Rome", "Oslo", "Rome"):
        await engine.library_runs.run("weather", {"city": city})
    assert len(await engine.library_runs.history("weather", text="oslo")) == 1
    assert await engine.library_runs.history("weather", statuses=[ExecutionStatus.FAILED]) == ()
    newest, *_ = await engine.library_runs.history()
    again = await engine.library_runs.again(newest.id)
    assert (again.input, again.id != newest.id) == (newest.input, True)
    figures = ExecutionFigures.of(await engine.library_runs.history("weather"))
    assert (figures.count, figures.error_rate) == (4, 0.0)
    with pytest.raises(InputError):
        await engine.library_runs.again(ExecutionId("gone"))


async def test_twenty_executions_at_once_are_all_kept_and_five_run(engine: Engine) -> None:
    design = commanded("printf", "%s", "{text}")
    await agreed(engine, design)
    done = await asyncio.gather(*(engine.library_runs.run("commanded", {"text": str(n)}) for n in range(20)))
    assert [one.output for one in done] == list(range(20))
    assert len(await engine.library_runs.history("commanded")) == 20
