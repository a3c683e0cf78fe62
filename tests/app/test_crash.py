"""What nobody caught is logged without secrets and told once."""

import asyncio
import logging
from pathlib import Path

import pytest

from app.crash import CrashHooks, start_log
from mcp_tef import without_keys


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
