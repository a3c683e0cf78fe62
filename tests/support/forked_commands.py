"""Commands of ours, each in a copy of one process that has loaded them, since each start of its own loads for a second.

As a program with the path of a socket and arguments this passes place, streams and signals on to a copy, and ends as
that does. With `--serve` and a path it makes the copies until its input ends.
"""

import contextlib
import json
import os
import resource
import select
import signal
import socket
import sys

KILL = signal.SIGUSR1
"""Kills a copy before the program that asked for it, which a kill would end at once."""
PASSED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, KILL)
LOADED = (
    *("cli.main", "cli.run", "cli.servers", "cli.cases", "cli.runs", "cli.similarity", "cli.library", "cli.demo"),
    *("engine_adapters", "api.samples", "servers.sample_server", "servers.library_server", "servers.tool_lister"),
    *("servers.tool_caller", "servers.http_transport", "storage.run_store", "storage.run_metrics", "storage.run_facts"),
    *("storage.case_store", "storage.server_store", "storage.draft_store", "storage.consent_file", "workflows.servers"),
    *("workflows.runs", "workflows.metrics", "workflows.transfer", "workflows.batch_job", "reports.results_html"),
    *("llm.model_selector", "llm.retrieval_baseline", "embedding.tfidf", "formats.cases.case_formats"),
)
LIBRARIES = (
    *("anyio._backends._asyncio", "numpy.random", "numpy.ma", "rich.logging", "sqlalchemy.dialects.sqlite.aiosqlite"),
)


def pass_on(path: str, arguments: list[str]) -> None:
    """Have a copy do a command, pass signals on to it, and end with its exit code or by its signal."""
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED)
    asked = {
        "arguments": arguments,
        "folder": os.getcwd(),  # pathlib takes as long to load as all of this
        "environment": dict(os.environ),
        "ignored": [number for number in PASSED if signal.getsignal(number) == signal.SIG_IGN],
        "file_bytes": resource.getrlimit(resource.RLIMIT_FSIZE),
    }
    message = json.dumps(asked).encode()
    with socket.socket(socket.AF_UNIX) as copy:
        copy.connect(path)
        socket.send_fds(copy, [len(message).to_bytes(4, "big")], [0, 1, 2])
        copy.sendall(message)
        pid = int.from_bytes(copy.recv(4), "big")
        for number in (0, 1, 2):
            os.close(number)

        def send(number: int, _: object) -> None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL if number == KILL else number)

        for number in set(PASSED) - set(asked["ignored"]):
            signal.signal(number, send)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED)
        code = int.from_bytes(copy.recv(4), "big", signed=True)
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED)
    if code >= 0:
        os._exit(code)
    if -code in PASSED:
        signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-code])
    os.kill(os.getpid(), -code)


def serve(path: str) -> None:
    """Load the commands, and make a copy for each connection until standard input ends."""
    import gc
    import importlib

    for name in (*(f"mcp_tef.{module}" for module in LOADED), *LIBRARIES):
        importlib.import_module(name)
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while listener.fileno() in select.select([listener.fileno(), 0], [], [])[0]:
            asking, _ = listener.accept()
            with asking:
                if os.fork() == 0:
                    watch(asking)
                    return
            _bury()


def _bury() -> None:
    """Count the time of the copies that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def watch(asking: socket.socket) -> None:
    """Make the copy, which returns when it has done the command; kill it where the asking program is killed."""
    head, streams, _, _ = socket.recv_fds(asking, 4, 3)
    with asking.makefile("rb") as reader:
        asked = json.loads(reader.read(int.from_bytes(head, "big")))
    pid = os.fork()
    if pid == 0:
        asking.close()
        do(streams, **asked)
    for stream in streams:
        os.close(stream)
    asking.sendall(pid.to_bytes(4, "big"))
    ended = os.pidfd_open(pid)
    if ended not in select.select([ended, asking.fileno()], [], [])[0]:
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with contextlib.suppress(BrokenPipeError):
        asking.sendall(code.to_bytes(4, "big", signed=True))
    os._exit(0)


def do(
    streams: list[int],
    arguments: list[str],
    folder: str,
    environment: dict[str, str],
    ignored: list[int],
    file_bytes: list[int],
) -> None:
    """Take the place of a program that was asked to do a command, and do it."""
    import runpy

    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", buffering=1 if os.isatty(1) else -1, closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1, errors="backslashreplace", closefd=False)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes[0], file_bytes[1]))
    sys.dont_write_bytecode = True  # a file that is cut would stay
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    sys.argv = ["mcp-tef", *arguments]
    runpy.run_module("mcp_tef", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(sys.argv[2])
    else:
        pass_on(sys.argv[1], sys.argv[2:])
