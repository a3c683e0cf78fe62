"""The rules of tests/conftest.py bite: a test that breaks one fails."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]

OFFENCES = {
    "task_left_running": """
        import asyncio
        async def test_it():
            asyncio.get_running_loop().create_task(asyncio.sleep(60))
    """,
    "thread_left_running": """
        import threading
        def test_it():
            threading.Thread(target=threading.Event().wait, daemon=True).start()
    """,
    "connection_to_another_machine": """
        import contextlib, socket
        def test_it():
            with contextlib.suppress(OSError):
                socket.create_connection(("192.0.2.1", 80), timeout=1)
    """,
    "name_looked_up_in_the_network": """
        import contextlib, socket
        def test_it():
            with contextlib.suppress(OSError):
                socket.getaddrinfo("example.org", 80)
    """,
    "unexpected_complaint_in_the_log": """
        import logging
        def test_it():
            logging.getLogger("mcp_tef.anything").warning("hm")
    """,
    "warning": """
        import warnings
        def test_it():
            warnings.warn("old", DeprecationWarning)
    """,
}
IMPATIENT = "from tests.support import isolation\nisolation.GRACE_SECONDS = 0.2\n"
HONEST = """
        import asyncio
        async def test_it(caplog):
            server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            assert await reader.read() == b""
            writer.close()
            server.close()
    """


def test_each_offence_fails_its_test_and_an_honest_test_passes(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(IMPATIENT, "utf-8")
    for name, code in {**OFFENCES, "honest": HONEST}.items():
        (tmp_path / f"test_{name}.py").write_text(textwrap.dedent(code), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-rfEp", "-p", "no:cacheprovider", "-p", "tests.conftest"]
    command += ["--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml"), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    told = re.findall(r"^(PASSED|FAILED|ERROR) test_(\w+)\.py::test_it", done.stdout, re.MULTILINE)
    failed = {name for outcome, name in told if outcome != "PASSED"}
    assert failed == set(OFFENCES), done.stdout + done.stderr
    assert {name for _, name in told} - failed == {"honest"}, done.stdout + done.stderr
