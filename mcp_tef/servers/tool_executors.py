"""Executors of library tools: Python scripts, command lines that no shell reads, and HTTP requests to one origin."""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from mcp_tef.errors import InputError, ReachError
from mcp_tef.model.addresses import origin_of
from mcp_tef.model.json import Json, JsonObject, value_or_text
from mcp_tef.model.json_patch import value_at
from mcp_tef.model.library import (
    ABSENT,
    DEFAULT_MEMORY_MB,
    MOST_OUTPUT_BYTES,
    PLACEHOLDER,
    ToolDesign,
    as_text,
)
from mcp_tef.model.secrets import json_without_keys, without_keys
from mcp_tef.servers.credential_store import ServerAccess
from mcp_tef.servers.http_transport import address, checked_transport
from mcp_tef.servers.programs import add_process_group, remove_process_group, signal_process_group
from mcp_tef.trust.addresses import is_within
from mcp_tef.trust.bounds import fill_template, require_small_filling
from mcp_tef.trust.isolation import SUPERVISOR, end_supervised
from mcp_tef.trust.names import shown, shown_address, shown_host
from mcp_tef.trust.plans import ChangedProgramError, StartPlan, ToolPlan, held_program, request_method

_END_SECONDS = 2.0
_LAST_WORDS = 300
_KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL


class _Outputs(asyncio.SubprocessProtocol):
    """Collects what a program writes, and notes when it ends or has written too much."""

    def __init__(self) -> None:
        self.written = {1: bytearray(), 2: bytearray()}
        self.ended = asyncio.Event()
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self.flooded = False
        self._open = {1, 2}

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        kept = self.written[fd]
        if len(kept) + len(data) > MOST_OUTPUT_BYTES:
            self.flooded = True
            self.ended.set()
        else:
            kept += data if isinstance(data, bytes) else data.encode()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not self._open:
            self.closed.set()

    def process_exited(self) -> None:
        self.exited.set()
        self.ended.set()


class ProgramToolExecutor:
    """Satisfies `ToolExecutor` for Python scripts and programs. `interpreter` is the Python that starts programs."""

    def __init__(self, environment: Mapping[str, str], interpreter: str) -> None:
        self._environment = environment
        self._interpreter = interpreter

    async def execute(self, plan: ToolPlan, arguments: JsonObject) -> Json:
        """Return what the script returns, or what the program writes: JSON where it is, else text."""
        start, design = plan.start, plan.design
        assert start is not None
        task = json.dumps({"script": start.script, "input": dict(arguments)}).encode() if start.script else b""
        words = () if start.script else (start.program, *command_arguments(design.name, start.arguments, arguments))
        with (
            _held(design.name, start) as (program, descriptors),
            tempfile.TemporaryDirectory(prefix="mcp-tef-tool-", ignore_cleanup_errors=True) as folder,
        ):
            python = start.program if start.script else self._interpreter
            argv = [python, "-I", "-X", "utf8", "-c", SUPERVISOR, *_limits(design)]
            argv += [program, *words] if words else []
            outputs, code = await self._ran(argv, folder, self._variables(start, folder), task, descriptors)
        return _output(design, outputs, code)

    def _variables(self, start: StartPlan, folder: str) -> dict[str, str]:
        named = {name: self._environment[name] for name, _ in start.variables if name in self._environment}
        needed = {"SYSTEMROOT": os.environ.get("SYSTEMROOT", "")} if sys.platform == "win32" else {}
        return needed | {"HOME": folder, "TMPDIR": folder, "TEMP": folder} | named

    async def _ran(
        self,
        argv: Sequence[str],
        folder: str,
        variables: Mapping[str, str],
        task: bytes,
        descriptors: tuple[int, ...],
    ) -> tuple[_Outputs, int | None]:
        """Run a program to its end, or to that of the caller; nothing of it is left afterwards."""
        loop = asyncio.get_running_loop()
        starting = asyncio.create_task(
            loop.subprocess_exec(
                _Outputs, *argv, cwd=folder, env=dict(variables), start_new_session=True, pass_fds=descriptors
            )
        )
        try:
            transport, outputs = await asyncio.shield(starting)
            add_process_group(transport.get_pid())
            if pipe := transport.get_pipe_transport(0):
                assert isinstance(pipe, asyncio.WriteTransport)
                pipe.write(task)
                pipe.close()
            await outputs.ended.wait()
        finally:
            await _to_the_end(starting, folder)
        return outputs, transport.get_returncode()


async def _to_the_end(starting: "asyncio.Task[tuple[asyncio.SubprocessTransport, _Outputs]]", folder: str) -> None:
    """Kill what is left of a program, also one that is only starting; a cancellation is heeded after it."""
    ending = asyncio.create_task(_end(starting, folder))
    while not ending.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({ending})


async def _end(starting: "asyncio.Task[tuple[asyncio.SubprocessTransport, _Outputs]]", folder: str) -> None:
    await asyncio.wait({starting})
    if starting.exception() is not None:
        return
    transport, outputs = starting.result()
    if transport.get_returncode() is None and sys.platform == "linux":
        end_supervised(transport.get_pid())
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await outputs.exited.wait()
    signal_process_group(transport.get_pid(), _KILL)
    await asyncio.to_thread(_kill_detached, folder)
    remove_process_group(transport.get_pid())
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_SECONDS):
            await outputs.exited.wait()
            await outputs.closed.wait()
    transport.close()


def _kill_detached(folder: str) -> None:
    """Kill processes that left the group; on Linux they are told by the folder in the variables they inherited."""
    marker = os.fsencode(f"={folder}\0")
    for variables in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if marker in variables.read_bytes():
                os.kill(int(variables.parent.name), signal.SIGKILL)


def _limits(design: ToolDesign) -> tuple[str, str]:
    memory = design.config.get("memory_mb", DEFAULT_MEMORY_MB) * 1024 * 1024
    return str(memory), str(int(design.seconds) + 1)


@contextmanager
def _held(name: str, start: StartPlan) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Hold the program of a tool; ReachError where it is not there, or not the one that was allowed."""
    if not os.path.isabs(start.program) or shutil.which(start.program) is None:
        hint = "Install it, or write its path."
        raise ReachError(f"{name}: there is no program “{shown(start.program)}”.", hint=hint)
    try:
        with held_program(start) as held:
            yield held
    except ChangedProgramError as error:
        raise ReachError(f"{name} was not started: {error.strerror}.", hint="Run it again to review it.") from error


def command_arguments(name: str, template: Sequence[str], arguments: JsonObject) -> list[str]:
    """Return the arguments of a command line. InputError for a value that a program could take for an option.

    A text that begins with a dash is refused; a number may, behind `--`.
    """
    guarded = template.index("--") if "--" in template else len(template)
    require_small_filling(list(template), arguments)
    filled: list[str] = []
    for place, word in enumerate(template):
        values = fill_template([word], arguments)
        if PLACEHOLDER.search(word):
            _require_no_option(name, values, guarded=place > guarded)
        filled += map(as_text, values)
    if "\0" in "".join(filled):
        raise InputError(f"A value for {name} holds a null character.", hint="Give another value.")
    return filled


def _require_no_option(name: str, values: Sequence[Json], *, guarded: bool) -> None:
    for value in values:
        if as_text(value).startswith("-") and not (guarded and isinstance(value, int | float)):
            said = f"{name} would take “{as_text(value)[:80]}” for an option of its program."
            raise InputError(said, hint="Give a value that does not begin with a dash.")


def _output(design: ToolDesign, outputs: _Outputs, code: int | None) -> Json:
    if outputs.flooded:
        raise ReachError(f"{design.name} wrote more than 1 MB and was stopped.", hint="Let it write less.")
    written = bytes(outputs.written[1]).decode("utf-8", "replace")
    if code:
        said = bytes(outputs.written[2]).decode("utf-8", "replace").strip().splitlines()
        words = f": {said[-1][:_LAST_WORDS]}" if said else ""
        raise ReachError(f"{design.name} ended with {_ending(code)}{words}.", hint="Correct its script or command.")
    return value_or_text(written)


def _ending(code: int) -> str:
    return f"the signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


_MOST_REDIRECTS = 5


class HttpToolExecutor:
    """Satisfies `ToolExecutor` for requests."""

    def __init__(self, access: ServerAccess) -> None:
        self._access = access

    async def execute(self, plan: ToolPlan, arguments: JsonObject) -> Json:
        """Return the answer: JSON where it is, of that the part that `result` points at, else text."""
        design = plan.design
        resolved = await self._access.resolved(design.request)
        origin = address(resolved)
        if plan.origin != (origin_of(resolved.url()) or resolved.url()):
            raise ReachError(f"{design.name} leads elsewhere since you allowed it.", hint="Run it again to review it.")
        require_small_filling(resolved.headers(), arguments)
        headers = {name: str(fill_template(text, arguments)) for name, text in resolved.headers().items()}
        request = _plain(design, arguments)
        transport = await checked_transport(origin, signs_in=False)
        try:
            async with httpx2.AsyncClient(transport=transport, headers=headers, timeout=None) as client:
                text = await _answer(design, client, origin, sends_secrets=bool(resolved.secrets), **request)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            place = f"{origin.scheme}://{origin.netloc.decode('ascii', 'replace')}"
            hint = "Look at its address, and at whether the service runs."
            raise ReachError(f"{design.name} could not reach {place}.", hint=hint) from error
        except ReachError as error:
            raise ReachError(without_keys(error.message, resolved.secrets), hint=error.hint) from None
        found = json_without_keys(value_or_text(text), resolved.secrets)
        return _part(design, found)


def _part(design: ToolDesign, found: Json) -> Json:
    pointer = design.config.get("result", "")
    try:
        return value_at(found, pointer)
    except LookupError as error:
        said = f"The answer to {design.name} has nothing at {pointer}."
        raise ReachError(said, hint="Correct the JSON Pointer in its config.") from error


def _plain(design: ToolDesign, arguments: JsonObject) -> dict[str, Any]:
    body = fill_template(design.config.get("body"), arguments)
    sent: dict[str, Any] = {} if body is None or body is ABSENT else {"json": body}
    return {"method": request_method(design), "url": _filled_url(design, arguments), **sent}


def _filled_url(design: ToolDesign, arguments: JsonObject) -> str:
    """Return the address with the inputs in it, each quoted, so that none of them changes the path around it."""
    require_small_filling(str(design.config["url"]), arguments)

    def value(name: str) -> str:
        text = as_text(arguments.get(name, ""))
        if text in (".", ".."):
            raise InputError(f"“{text}” cannot be a part of an address.", hint="Give another value.")
        return quote(text, safe="")

    return PLACEHOLDER.sub(lambda found: value(found[1]), str(design.config["url"]))


def _fixed_part(design: ToolDesign) -> str:
    """Return the address up to the first segment that an input decides."""
    fixed = str(design.config["url"]).partition("{")
    return fixed[0].rpartition("/")[0] if fixed[1] else fixed[0]


async def _answer(
    design: ToolDesign, client: httpx2.AsyncClient, origin: httpx2.URL, *, sends_secrets: bool, **request: Any
) -> str:
    """Send a request, follow redirects within its origin, with variables below its path only; return the answer."""
    for _ in range(_MOST_REDIRECTS + 1):
        async with client.stream(**request) as response:
            there = response.headers.get("location") if 300 <= response.status_code < 400 else None
            if there is None:
                body = await _bounded(design, response)
                if response.status_code >= 400:
                    said = f"{design.name} was answered with HTTP {response.status_code}"
                    raise ReachError(f"{said}: {body[:200]}" if body else f"{said}.", hint="Look at its request.")
                return body
            url = response.url.join(there)
        _require_within(design, url, origin, sends_secrets=sends_secrets)
        request = {"method": "GET", "url": str(url)}
    raise ReachError(f"{design.name} was redirected too often.", hint="Look at its address.")


def _require_within(design: ToolDesign, url: httpx2.URL, origin: httpx2.URL, *, sends_secrets: bool) -> None:
    if (url.scheme, url.netloc) != (origin.scheme, origin.netloc):
        said = f"{design.name} was redirected to {url.scheme}://{shown_host(url.host)}, which is another address"
        raise ReachError(f"{said}.", hint="Nothing was sent there. Write that address if you trust it.")
    if sends_secrets and not is_within(str(url), _fixed_part(design)):
        said = f"{design.name} was redirected to {shown_address(str(url))}, which is outside of its address"
        raise ReachError(f"{said}.", hint="Its variables were not sent there. Write that address if you trust it.")


async def _bounded(design: ToolDesign, response: httpx2.Response) -> str:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MOST_OUTPUT_BYTES:
            raise ReachError(f"{design.name} was answered with more than 1 MB.", hint="Ask for less.")
    return body.decode("utf-8", "replace")
