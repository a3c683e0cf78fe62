"""Transport over a stdio server: its message streams, last output, exit code and process group, and its end.

The SDK's own stdio transport keeps the exit code to itself, lends its children our stderr, reads lines of any
length in quadratic time and blocks while a child refuses to leave; the session above the streams is the SDK's.
"""

import asyncio
import contextlib
import math
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator
from types import TracebackType
from typing import Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.shared.message import SessionMessage

from mcp_tef.servers.launch import Launch
from mcp_tef.servers.message_parsing import message_in
from mcp_tef.servers.observations import FloodError, Observations
from mcp_tef.servers.programs import add_process_group, remove_process_group, signal_process_group
from mcp_tef.trust.isolation import descendants, kill_remaining
from mcp_tef.trust.plans import held_program

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_POLL_SECONDS = 0.01


class Lines:
    """Cuts a stream of chunks into lines, in time linear in their length."""

    def __init__(self, observations: Observations) -> None:
        self._observations = observations
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that `data` completes; FloodError where a line or the whole grows beyond its limit."""
        self._observations.take(data)
        first, *rest = data.split(b"\n")
        self._add(first)
        for part in rest:
            line, self._parts, self._size = b"".join(self._parts), [], 0
            yield line
            self._add(part)

    def _add(self, part: bytes) -> None:
        self._parts.append(part)
        self._size += len(part)
        self._observations.require(self._size <= self._observations.limits.message_bytes)


class TooMuchJunkError(Exception):
    """A program wrote more lines that are not messages than the limit allows."""


class _Listener(asyncio.SubprocessProtocol):
    """Hears a program: turns its output into messages and notes its last words and its end."""

    def __init__(self, observations: Observations) -> None:
        self._observations = observations
        self._lines = Lines(observations)
        self._listening = True
        self._output: asyncio.BaseTransport | None = None
        self._send, self.messages = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        self.exited = asyncio.Event()
        self.said_all = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._output = transport.get_pipe_transport(_STDOUT)
        add_process_group(transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        data = data if isinstance(data, bytes) else data.encode()
        if fd == _STDERR:
            self._observations.stderr.feed(data)
        elif self._listening:
            self._read(data)

    def _read(self, data: bytes) -> None:
        try:
            for line in self._lines.feed(data):
                self._deliver(line)
        except (FloodError, TooMuchJunkError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        else:
            return
        self._stop_listening()

    def _stop_listening(self) -> None:
        self._listening = False
        self._send.close()
        if isinstance(self._output, asyncio.ReadTransport):
            self._output.pause_reading()

    def _deliver(self, line: bytes) -> None:
        message = message_in(line)
        if message is not None:
            self._observations.count_messages(1)
            self._send.send_nowait(message)
        elif line.strip():
            self._observations.note_junk(line)
            if self._observations.junk_lines > self._observations.limits.junk_lines:
                raise TooMuchJunkError

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == _STDOUT:
            self._send.close()
        elif fd == _STDERR:
            self.said_all.set()

    def process_exited(self) -> None:
        self.exited.set()
        asyncio.get_running_loop().call_later(self._observations.limits.exit_seconds, self._send.close)

    def close(self) -> None:
        """Take no more messages."""
        self._send.close()
        self.messages.close()


class _Input:
    """A program's standard input as the SDK's sessions write to it."""

    def __init__(self, pipe: asyncio.WriteTransport) -> None:
        self._pipe = pipe

    async def send(self, item: SessionMessage, /) -> None:
        if self._pipe.is_closing():
            raise anyio.BrokenResourceError
        self._pipe.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    async def aclose(self) -> None:
        self._pipe.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Program:
    """A running server program, in a process group of its own."""

    def __init__(self, transport: asyncio.SubprocessTransport, listener: _Listener, observations: Observations) -> None:
        self._transport = transport
        self._listener = listener
        self._observations = observations

    @property
    def streams(self) -> tuple[MemoryObjectReceiveStream[SessionMessage | Exception], _Input]:
        """Return the streams that a session reads from and writes to."""
        pipe = self._transport.get_pipe_transport(_STDIN)
        assert isinstance(pipe, asyncio.WriteTransport)
        return self._listener.messages, _Input(pipe)

    async def last_words(self) -> None:
        """Give a program whose output has ended a moment to end itself, and note how it did."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._observations.limits.exit_seconds):
                await self._listener.exited.wait()
                await self._listener.said_all.wait()
        self._observations.exit_code = self._transport.get_returncode()

    async def stop(self) -> None:
        """Close its input, wait, ask its group to end, wait, kill what is left of the group. Takes 2 s at most.

        The transport is closed last: it would read the exit status that the loop waits for.
        """
        limits = self._observations.limits
        below = await asyncio.to_thread(descendants, self._transport.get_pid())
        try:
            pipe = self._transport.get_pipe_transport(_STDIN)
            if pipe is not None:
                pipe.close()
            await self._left(limits.leave_seconds)
            if self._signal_group(signal.SIGTERM):
                await self._group_left(limits.terminate_seconds)
        finally:
            self._signal_group(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
            remove_process_group(self._transport.get_pid())
            kill_remaining(below)
            await self._left(limits.terminate_seconds)
            self._transport.close()

    async def _left(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._listener.exited.wait()

    async def _group_left(self, seconds: float) -> None:
        for _ in range(round(seconds / _POLL_SECONDS)):
            if not self._signal_group(0):
                return
            await asyncio.sleep(_POLL_SECONDS)

    def _signal_group(self, number: int) -> bool:
        return signal_process_group(self._transport.get_pid(), number)


@contextlib.asynccontextmanager
async def running(launch: Launch, observations: Observations) -> AsyncIterator[Program]:
    """Start a program, lend it, and stop it with all its children. OSError where it cannot be started.

    Cancelling neither leaves a half-started program behind nor cuts its stopping short.
    """
    listener = _Listener(observations)
    start = asyncio.create_task(_started(launch, listener))
    try:
        await asyncio.wait({start})
        yield Program(start.result()[0], listener, observations)
    finally:
        await _to_the_end(_stop(start, listener, observations))


async def _started(launch: Launch, listener: _Listener) -> tuple[asyncio.SubprocessTransport, _Listener]:
    with held_program(launch.plan) as (executable, descriptors):
        return await asyncio.get_running_loop().subprocess_exec(
            lambda: listener,
            *launch.argv,
            executable=executable,
            pass_fds=descriptors,
            env=launch.env,
            cwd=launch.cwd,
            start_new_session=True,
        )


async def _stop(
    start: asyncio.Task[tuple[asyncio.SubprocessTransport, _Listener]], listener: _Listener, observations: Observations
) -> None:
    await asyncio.wait({start})
    listener.close()
    if start.exception() is None:
        await Program(start.result()[0], listener, observations).stop()


async def _to_the_end(work: Coroutine[None, None, None]) -> None:
    """Await `work` whatever happens meanwhile; a cancellation is heeded after it."""
    task = asyncio.create_task(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError
