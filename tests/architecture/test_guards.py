"""The rules of tests/conftest.py bite: a test that breaks one fails."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

OFFENCES = {
    "a task left running": """
        import asyncio
        async def test_it():
            asyncio.get_running_loop().create_task(asyncio.sleep(60))
    """,
    "a thread left running": """
        import threading
        def test_it():
            threading.Thread(target=threading.Event().wait, daemon=True).start()
    """,
    "a connection to another machine": """
        import contextlib, socket
        def test_it():
            with contextlib.suppress(OSError):
                socket.create_connection(("192.0.2.1", 80), timeout=1)
    """,
    "a name looked up in the network": """
        import contextlib, socket
        def test_it():
            with contextlib.suppress(OSError):
                socket.getaddrinfo("example.org", 80)
    """,
    "an unexpected complaint in the log": """
        import logging
        def test_it():
            logging.getLogger("mcp_tef.anything").warning("hm")
    """,
    "a warning": """
        import warnings
        def test_it():
            warnings.warn("old", DeprecationWarning)
    """,
}


def run_pytest(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    lines = code.strip("\n").splitlines()
    margin = len(lines[0]) - len(lines[0].lstrip())
    test = folder / "test_offence.py"
    test.write_text("\n".join(line[margin:] for line in lines), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.conftest"]
    command += ["--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml"), str(test)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("offence", OFFENCES)
def test_the_offence_fails_the_test(offence: str, tmp_path: Path) -> None:
    done = run_pytest(tmp_path, OFFENCES[offence])
    assert done.returncode == 1, done.stdout + done.stderr
    assert " error" in done.stdout or " failed" in done.stdout


def test_an_honest_test_passes(tmp_path: Path) -> None:
    code = """
        import asyncio
        async def test_it(caplog):
            server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            assert await reader.read() == b""
            writer.close()
            server.close()
    """
    done = run_pytest(tmp_path, code)
    assert done.returncode == 0, done.stdout + done.stderr
