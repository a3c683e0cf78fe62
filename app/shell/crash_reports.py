"""Last resort for errors: they go to the log, and the user reads one calm sentence."""

import asyncio
import logging
import sys
import threading
from collections.abc import Callable, Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from app.core_link.preferences import Preferences
from mcp_tef import RedactingFormatter, make_private_folder, open_private, tighten

LOG = logging.getLogger("app.shell.crash_reports")
_QUIET = ("This plugin does not support", "propagateSizeHints")
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class PrivateLogHandler(RotatingFileHandler):
    """Log files that only their owner may read."""

    def _open(self) -> TextIOWrapper:
        return open_private(Path(self.baseFilename), "a")


def start_log(folder: Path) -> Path:
    """Log to a file in `folder`, five files of a megabyte; where it cannot be written, to stderr."""
    file = folder / "mcp-tef.log"
    handler: logging.Handler
    try:
        make_private_folder(folder)
        for earlier in (folder, *folder.glob(f"{file.name}*")):
            tighten(earlier)
        handler = PrivateLogHandler(file, maxBytes=1_000_000, backupCount=4, encoding="utf-8", delay=True)
    except OSError:
        handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s %(threadName)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    return file


def apply_log_level(preferences: Preferences) -> None:
    """Apply the preferred log level."""
    level = preferences.variable("LOG_LEVEL").read(preferences.text("LOG_LEVEL"))
    logging.getLogger().setLevel(level or logging.INFO)


class CrashHooks:
    """Catches errors that nobody caught on any thread or loop, and calls `report` once per kind of error.

    Errors that cannot be raised anywhere, such as those in a destructor, only go to the log.
    """

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        self._report = report
        self._reported: set[tuple[type[BaseException], str]] = set()

    def install(self) -> None:
        """Catch the errors of every thread, and Qt's own messages."""
        sys.excepthook = self._on_main
        threading.excepthook = self._on_thread
        sys.unraisablehook = self._on_unraisable
        qInstallMessageHandler(_on_qt)

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Catch the errors of a loop."""
        loop.set_exception_handler(self._on_loop)

    def _on_main(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            return
        self._report_once(error)

    def _on_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._report_once(args.exc_value)

    def _on_unraisable(self, args: "sys.UnraisableHookArgs") -> None:
        LOG.error("Nobody could catch this.", exc_info=args.exc_value)

    def _on_loop(self, loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, Exception):
            self._report_once(error)
        else:
            LOG.warning("Event loop error: %s", context.get("message"))

    def _report_once(self, error: BaseException) -> None:
        LOG.error("Nobody caught this.", exc_info=error)
        kind = (type(error), str(error))
        if kind in self._reported:
            return
        self._reported.add(kind)
        try:
            self._report(error)
        except Exception:
            LOG.exception("The report itself failed.")


def _on_qt(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    if not message.startswith(_QUIET):
        logging.getLogger("app.qt").log(_LEVELS.get(kind, logging.WARNING), "%s", message)
