"""The entry point of the command line: load a verb, run it, and turn each way of ending into an exit code."""

import logging
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Final, TypeAlias

import platformdirs

from mcp_tef import VERSION, Config, ModelFault, ReachError, RedactingFormatter, TefError, error_to_json
from mcp_tef.cli.arguments import Command, HelpFormatter, Parser, Verbs, joined, shared_options
from mcp_tef.cli.output_files import from_standard_input, require_apart, require_fitting_endings, standard_output
from mcp_tef.cli.standard_streams import UNWRITTEN, discard, output_failed
from mcp_tef.cli.terminal import Terminal

CRASHED = 70
FILE = "cli-errors.log"
LARGEST_FILE = 1_000_000


def log_crash(error: Exception, terminal: Terminal) -> TefError:
    """Write the error to the log file without any key, and return the message for the user."""
    text = terminal.redacted("".join(traceback.format_exception(error)))
    kind = type(error).__name__
    try:
        where = _written(text)
    except OSError:
        hint = "Run it again with --debug to see where."
    else:
        hint = f"What had finished is kept; where it happened is written in {where}."
    return TefError(f"mcp-tef itself failed, by an error of the kind {kind}.", hint=hint, code="internal")


def _written(text: str) -> Path:
    """Add it to the file of such errors, which is begun anew where it has grown large."""
    from mcp_tef import make_private_folder, open_private

    folder = Path(platformdirs.user_log_dir("mcp-tef", appauthor=False))
    make_private_folder(folder)
    file = folder / FILE
    keep = file.exists() and file.stat().st_size < LARGEST_FILE
    with open_private(file, "a" if keep else "w") as log:
        log.write(f"{datetime.now(UTC).isoformat(timespec='seconds')}, process {os.getpid()}\n{text}\n")
    return file


INTERRUPTED = 130
FINISHED = (0, 1, 4)
"""Exit codes of commands that said nothing about an error so far."""
Register: TypeAlias = Callable[[Verbs], None]
VERBS: Final = {
    "demo": "demo.register_demo",
    "gui": "demo.register_gui",
    "servers": "servers.register",
    "cases": "cases.register",
    "run": "run.register",
    "runs": "runs.register",
    "metrics": "metrics.register_metrics",
    "compare": "compare.register",
    "confusions": "metrics.register_confusions",
    "similarity": "similarity.register_similarity",
    "overlap": "similarity.register_overlap",
    "recommend": "recommend.register",
    "quality": "quality.register",
    "draft": "drafts.register",
    "try": "trials.register",
    "improve": "improve.register",
    "clients": "clients.register",
    "models": "models.register",
    "routes": "routes.register",
    "search": "search.register",
    "prompts": "prompts.register",
    "crowd": "crowds.register_crowd",
    "steal": "crowds.register_steal",
    "library": "library.register",
    "mcp": "serve.register_mcp",
    "verify": "evidence.register",
    "serve": "serve.register_serve",
    "score": "score.register",
    "keys": "keys.register",
    "workspace": "workspaces.register",
    "completion": "manual.register_completion",
    "sample-server": "demo.register_sample_server",
    "manual": "manual.register_manual",
}
"""Modules and functions that add the verbs, in the order of the help; a command loads those of its own verb only."""
DESCRIPTION = """Will a language model select your MCP tool, with the right arguments?

Exit codes: 0 done and passed; 1 done, and something failed its expectation; 2 bad usage or bad input;
3 a server, model or file could not be reached; 4 compare, try or improve --strict cannot tell yet;
70 mcp-tef itself failed; 129 hung up, 130 interrupted, 143 terminated. Finished runs are kept, and requested reports
are written."""


def main(argv: Sequence[str] | None = None, groups: Sequence[Register] = ()) -> int:
    """Do what the arguments say; return the exit code. `groups` add verbs other than `VERBS`."""
    given = with_help(joined(sys.argv[1:] if argv is None else argv))
    _speak_utf8()
    terminal = Terminal(json="--json" in given, quiet="--quiet" in given)
    with terminal.interruption.handled():
        code = _outcome(given, terminal, groups)
        code = _write_rest(terminal, code)
    return terminal.interruption.exit_code or code


def _write_rest(terminal: Terminal, code: int) -> int:
    """Write the document and what is still held back; return the exit code, which tells where that failed."""
    try:
        terminal.write_document()
        sys.stdout.flush()
    except (BrokenPipeError, KeyboardInterrupt):
        discard(sys.stdout)
    except (ReachError, OSError) as error:
        discard(sys.stdout)
        if code in FINISHED:
            failed = error if isinstance(error, ReachError) else output_failed(error)
            terminal.note(f"mcp-tef: {failed.message} {failed.hint}")
            return UNWRITTEN
    return code


def _outcome(given: Sequence[str], terminal: Terminal, groups: Sequence[Register]) -> int:
    debug = "--debug" in given
    try:
        _log_to_stderr(verbose=debug or "--verbose" in given)
        return _do(parser(groups or registers(verb_of(given))).parse_args(given), terminal)
    except TefError as error:
        return _failed(terminal, error, debug, error.exit_code)
    except KeyboardInterrupt:
        return _interrupted(terminal)
    except (BrokenPipeError, SystemExit) as ended:  # argparse ends by the latter after a help page
        return int(getattr(ended, "code", 1) or 0)
    except Exception as error:  # noqa: BLE001  # the outermost frame of a command
        return _failed(terminal, log_crash(error, terminal), debug, CRASHED)


def _log_to_stderr(*, verbose: bool) -> None:
    log = logging.StreamHandler()
    log.setFormatter(RedactingFormatter(logging.BASIC_FORMAT))
    level = Config.lenient(os.environ, {})[0].log_level or "CRITICAL"
    logging.basicConfig(level=logging.INFO if verbose else level, handlers=[log])


def verb_of(given: Sequence[str]) -> Sequence[str]:
    """Return the verb, which may stand behind options of all verbs."""
    waiting = iter(given)
    for text in waiting:
        if text == "--workspace":
            next(waiting, None)
        elif not text.startswith("-"):
            return (text,)
    return ()


def with_help(given: list[str]) -> list[str]:
    """Return `help VERB` as `VERB --help`, and `help --man` as the verb that prints the manual page."""
    if given[:1] == ["help"] and "--man" in given:
        return ["manual", *(text for text in given[1:] if text != "--man")]
    return [*given[1:], "--help"] if given[:1] == ["help"] else given


def registers(verb: Sequence[str] = ()) -> Iterator[Register]:
    """Load what adds one verb, or every verb where it is not one of them."""
    for name in [one for one in verb if one in VERBS] or VERBS:
        module, _, function = VERBS[name].partition(".")
        yield getattr(import_module(f"mcp_tef.cli.{module}"), function)


def parser(groups: Iterable[Register] | None = None) -> Parser:
    """Return the parser with the verbs of `groups`, by default with every verb."""
    whole = Parser(prog="mcp-tef", description=DESCRIPTION, formatter_class=HelpFormatter, parents=[shared_options()])
    whole.add_argument("--version", action="version", version=f"mcp-tef {VERSION}")
    whole.set_defaults(workspace=None, recover=False, json=False, debug=False)
    verbs = whole.add_subparsers(metavar="VERB", required=True, title="verbs")
    for register in groups or registers():
        register(verbs)
    return whole


def _speak_utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")


def _do(arguments: Namespace, terminal: Terminal) -> int:
    require_fitting_endings(arguments)
    require_apart(arguments)
    command: Command = arguments.command
    with ExitStack() as streams:
        if names := from_standard_input(arguments):
            from mcp_tef.cli.output_files import standard_input

            streams.enter_context(standard_input(arguments, names, terminal))
        to = streams.enter_context(standard_output(arguments, terminal))
        outcome = command(arguments, to)
        return (to.interruption.run(outcome) if isinstance(outcome, Coroutine) else outcome) or 0


def _interrupted(terminal: Terminal) -> int:
    """End after a signal; the document that a verb has set by then stays."""
    error = terminal.interruption.error
    if not terminal.documents:
        terminal.document({"error": error_to_json(error)})
    terminal.note(f"mcp-tef: {error.message} {error.hint}")
    return INTERRUPTED


def _hint(error: TefError) -> str:
    """Return the hint of an error; for a missing key it names the ways of the command line."""
    if error.code != ModelFault.KEY_MISSING:
        return error.hint
    provider, variable = (error.context.get(name) for name in ("provider", "variable"))
    return f"Use --key-stdin, run mcp-tef keys set {provider}, or set {variable}."


def _failed(terminal: Terminal, error: TefError, debug: bool, exit_code: int) -> int:
    message, hint = terminal.redacted(error.message), _hint(error)
    terminal.document({"error": {"code": error.code, "message": message, "hint": hint}})
    terminal.note(f"mcp-tef: {message} {hint}".rstrip())
    if debug:
        terminal.note(terminal.redacted(traceback.format_exc()))
    return exit_code
