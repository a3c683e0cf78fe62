"""What nobody caught is logged without secrets and told once."""

import asyncio
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import qInstallMessageHandler

from app.shell.crash_reports import CrashHooks, start_log
from app.text.formatting import ErrorText, error_text
from mcp_tef import Secret, without_keys


@pytest.mark.parametrize(
    "line",
    ["key sk-abcdefghijklmnopqrstuvwx is wrong", "Authorization: Bearer abc.def-123", 'api_key="hunter2hunter2"'],
)
def test_keys_are_dotted_out(line: str) -> None:
    cleaned = without_keys(line)
    assert "•••" in cleaned
    assert not any(secret in cleaned for secret in ("abcdefghijkl", "abc.def", "hunter2"))


def test_plain_words_stay() -> None:
    assert (
        without_keys("The server files did not answer within 30 s.") == "The server files did not answer within 30 s."
    )


def test_the_log_has_the_traceback_and_no_key(tmp_path: Path) -> None:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    file = start_log(tmp_path)
    try:
        try:
            raise ValueError("sk-abcdefghijklmnopqrstuvwx was refused")
        except ValueError:
            logging.getLogger("elsewhere").exception("It failed.")
    finally:
        for handler in [one for one in root.handlers if one not in before]:
            root.removeHandler(handler)
            handler.close()
        root.setLevel(level)
    text = file.read_text(encoding="utf-8")
    assert "Traceback" in text
    assert "abcdefghijkl" not in text


KEY = "planted/of+the.crash~51f0aa"


class Carrier:
    """Fails with the key in its words, its cause and its locals."""

    def __init__(self, key: str) -> None:
        self._key = key

    def fail(self) -> None:
        """Fail while failing."""
        key = self._key
        try:
            raise KeyError(f"no entry for {key}")
        except KeyError as cause:
            raise ValueError({"authorization": key}) from cause


class Clinging:
    """Fails when it is thrown away."""

    def __del__(self) -> None:
        raise RuntimeError(KEY)


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    """A log as the window starts it."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield start_log(tmp_path)
    for handler in [one for one in root.handlers if one not in before]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)


@pytest.fixture
def hooks() -> Iterator[CrashHooks]:
    """The hooks, installed; what stood there before comes back."""
    before = sys.excepthook, threading.excepthook, sys.unraisablehook
    made = CrashHooks(lambda error: told.append(error_text(error)))
    told: list[ErrorText] = []
    made.install()
    qInstallMessageHandler(None)
    yield made
    sys.excepthook, threading.excepthook, sys.unraisablehook = before
    assert told == [error_text(ValueError())] * len(told)


def test_a_key_in_a_crash_reaches_neither_the_log_nor_the_report(
    log_file: Path, hooks: CrashHooks, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = Secret(KEY)
    carrier = Carrier(secret.reveal())
    thread = threading.Thread(target=carrier.fail)
    thread.start()
    thread.join()
    loop = asyncio.new_event_loop()
    hooks.watch(loop)
    loop.call_soon(carrier.fail)
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    try:
        carrier.fail()
    except ValueError as error:
        sys.excepthook(ValueError, error, error.__traceback__)
    Clinging()
    written = log_file.read_text("utf-8")
    assert written.count("Nobody caught this.") == 3
    assert written.count("Nobody could catch this.") == 1
    assert written.count("Traceback") >= 7
    assert KEY not in written + "".join(capfd.readouterr())


def test_the_same_crash_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    told: list[BaseException] = []
    hooks = CrashHooks(told.append)
    loop = asyncio.new_event_loop()
    hooks.watch(loop)
    for _ in range(3):
        loop.call_exception_handler({"message": "it failed", "exception": KeyError("same")})
    loop.close()
    assert len(told) == 1
    assert sum("Nobody caught this" in record.getMessage() for record in caplog.records) == 3


def test_a_report_that_fails_harms_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def report(error: BaseException) -> None:
        raise RuntimeError("no window")

    hooks = CrashHooks(report)
    loop = asyncio.new_event_loop()
    hooks.watch(loop)
    loop.call_exception_handler({"message": "it failed", "exception": KeyError("x")})
    loop.close()
    assert "The report itself failed." in caplog.text
