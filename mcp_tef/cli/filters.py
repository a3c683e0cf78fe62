"""The filters of `metrics`, `confusions` and other verbs that look at many runs."""

from argparse import Namespace
from datetime import UTC, datetime, timedelta

from mcp_tef import BatchId, CaseId, InputError, RunFilter, RunStatus, ToolLabel, VerdictKind
from mcp_tef.cli.arguments import Parser

_SIDES = ("expected", "selected", "offered")


def add_filters(parser: Parser) -> None:
    """Let a verb take every filter; each may be given several times, and then any of its values holds."""
    for name, meta, words in (
        ("batch", "BATCH", "of this batch"),
        ("suite", "SUITE", "of cases in this suite"),
        ("tag", "TAG", "of cases with this tag"),
        ("case", "ID", "of this case"),
        ("model", "PROVIDER/NAME", "of this model"),
    ):
        parser.add_argument(f"--{name}", action="append", default=[], metavar=meta, help=f"only runs {words}")
    for side in _SIDES:
        parser.add_argument(f"--{side}-tool", metavar="TOOL", help=f"only runs where this tool was {side}")
        parser.add_argument(
            f"--{side}-server", metavar="NAME", help=f"only runs where a tool of this server was {side}"
        )
    for name, values in (("status", RunStatus), ("kind", VerdictKind)):
        choices = [value.value for value in values]
        parser.add_argument(f"--{name}", action="append", default=[], choices=choices, help=f"only runs of this {name}")
    parser.add_argument("--since", metavar="DATE", help="only runs planned on or after this date or time")
    parser.add_argument("--until", metavar="DATE", help="only runs planned up to this date or time, the day included")


def filter_of(arguments: Namespace) -> RunFilter:
    """The filter that the arguments make. Raises InputError for a date that is none."""
    return RunFilter(
        batch_ids=tuple(BatchId(value) for value in arguments.batch),
        suites=tuple(arguments.suite),
        tags=tuple(arguments.tag),
        case_ids=tuple(CaseId(value) for value in arguments.case),
        models=tuple(arguments.model),
        expected=_label(arguments, "expected"),
        selected=_label(arguments, "selected"),
        offered=_label(arguments, "offered"),
        statuses=tuple(RunStatus(value) for value in arguments.status),
        kinds=tuple(VerdictKind(value) for value in arguments.kind),
        since=_moment(arguments.since, timedelta()),
        until=_moment(arguments.until, timedelta(days=1)),
    )


def _label(arguments: Namespace, side: str) -> ToolLabel | None:
    tool, server = getattr(arguments, f"{side}_tool"), getattr(arguments, f"{side}_server")
    return None if tool is None and server is None else ToolLabel(tool, server)


def _moment(text: str | None, day: timedelta) -> datetime | None:
    """The moment of a text, in UTC where it names no zone; to a bare date a `day` is added."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(
            f"“{text}” is not a date.", hint="Write for example 2026-11-21 or 2026-11-21T14:00."
        ) from error
    whole = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return whole + day if len(text) == len("2026-11-21") else whole
