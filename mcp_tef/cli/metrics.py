"""`metrics` and `confusions`: metrics of the runs that pass the filters, and expected against selected tools."""

from argparse import Namespace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from mcp_tef import (
    ConfusionMatrix,
    InputError,
    NotFoundError,
    RunFilter,
    RunStatus,
    ToolLabel,
    ToolMetrics,
    VerdictKind,
    confusions_to_json,
    overview_to_json,
)
from mcp_tef.cli.arguments import Parser, Verbs, add_list_option, add_verb
from mcp_tef.cli.formatting import overview_lines, rate
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal, table

if TYPE_CHECKING:
    from mcp_tef import Engine

_SIDES = ("expected", "selected", "offered")


def add_filters(parser: Parser) -> None:
    """Let a verb take every filter; each may be given several times, and then any of its values holds."""
    for name, meta, words in (
        ("batch", "BATCH", "of this batch"),
        ("suite", "SUITE", "of cases in this suite"),
        ("tag", "TAG", "of cases with this tag"),
        ("case", "CASE", "of this case"),
        ("model", "PROVIDER/NAME", "of this model"),
        ("prompt", "NAME@N", "asked with this version of a prompt"),
    ):
        add_list_option(parser, f"--{name}", meta, f"only runs {words}")
    for side in _SIDES:
        parser.add_argument(f"--{side}-tool", metavar="TOOL", help=f"only runs where this tool was {side}")
        parser.add_argument(
            f"--{side}-server", metavar="NAME", help=f"only runs where a tool of this server was {side}"
        )
    for name, values in (("status", RunStatus), ("kind", VerdictKind)):
        choices = [value.value for value in values]
        parser.add_argument(f"--{name}", action="append", default=[], choices=choices, help=f"only runs of this {name}")
    parser.add_argument("--since", metavar="DATE", help="only runs queued on or after this date or time")
    parser.add_argument("--until", metavar="DATE", help="only runs queued up to this date or time, the day included")


async def filter_of(engine: "Engine", arguments: Namespace) -> RunFilter:
    """Return the filter of the arguments; InputError for a date that is none, NotFoundError for an unknown name."""
    await engine.cases.in_groups(arguments.suite, arguments.tag)
    where = RunFilter(
        batch_ids=tuple([(await engine.runs.named(value)).id for value in arguments.batch]),
        suites=tuple(arguments.suite),
        tags=tuple(arguments.tag),
        case_ids=tuple(case.id for case in await engine.cases.named(arguments.case)),
        models=await _asked(engine, arguments),
        expected=_label(arguments, "expected"),
        selected=_label(arguments, "selected"),
        offered=_label(arguments, "offered"),
        statuses=tuple(RunStatus(value) for value in arguments.status),
        kinds=tuple(VerdictKind(value) for value in arguments.kind),
        since=_moment(arguments.since, timedelta()),
        until=_moment(arguments.until, timedelta(days=1)),
    )
    await engine.metrics.require_known(where)
    return where


async def _asked(engine: "Engine", arguments: Namespace) -> tuple[str, ...]:
    """Return the models of the filter as runs name them, with their prompts where those are named."""
    if not arguments.prompt:
        return tuple(arguments.model)
    ends = tuple(f" with {label}" for label in arguments.prompt)
    known = [name for name in (await engine.metrics.choices()).models if name.endswith(ends)]
    found = [name for name in known if not arguments.model or name.startswith(tuple(arguments.model))]
    if not found:
        asked = ", ".join(arguments.prompt)
        raise NotFoundError(f"No run was asked with {asked}.", hint="Name a version, as in counter@3.")
    return tuple(found)


def _label(arguments: Namespace, side: str) -> ToolLabel | None:
    tool, server = getattr(arguments, f"{side}_tool"), getattr(arguments, f"{side}_server")
    return None if tool is None and server is None else ToolLabel(tool, server)


def _moment(text: str | None, day: timedelta) -> datetime | None:
    """Parse a moment, in UTC where it names no zone; to a bare date a `day` is added."""
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


def register_metrics(verbs: Verbs) -> None:
    """Add the verb."""
    add_filters(
        add_verb(verbs, "metrics", "the figures of all runs, or of those that pass the filters", metrics, reads=True)
    )


async def metrics(arguments: Namespace, terminal: Terminal) -> None:
    """Tell the figures of the runs that pass the filters, all where there is none."""
    async with opened(arguments, terminal) as engine:
        where = await filter_of(engine, arguments)
        overview = await engine.metrics.overview(where)
    terminal.document(overview_to_json(overview))
    terminal.say(*overview_lines(overview))


def register_confusions(verbs: Verbs) -> None:
    """Add the verb."""
    add_filters(
        add_verb(verbs, "confusions", "which tool was selected where another was expected", confusions, reads=True)
    )


async def confusions(arguments: Namespace, terminal: Terminal) -> None:
    """Tell each tool against the rest, then every pair that was confused, the most frequent first."""
    async with opened(arguments, terminal) as engine:
        where = await filter_of(engine, arguments)
        matrix = await engine.metrics.confusions(where)
    terminal.document(confusions_to_json(matrix))
    terminal.say(*table(("TOOL", "RUNS", "PRECISION", "RECALL"), [_row(figures) for figures in matrix.tools]))
    if pairs := _confused(matrix):
        terminal.say("", *table(("EXPECTED", "SELECTED", "RUNS"), pairs))


def _row(figures: ToolMetrics) -> tuple[str, ...]:
    return figures.name, str(figures.n), rate(figures.precision), rate(figures.recall)


def _confused(matrix: ConfusionMatrix) -> list[tuple[str, str, str]]:
    wrong = [(cell, count) for cell, count in matrix.cells.items() if cell[0] != cell[1]]
    wrong.sort(key=lambda item: (-item[1], item[0]))
    names = [matrix.name(label) for label in matrix.columns]
    return [(names[row], names[column], str(count)) for (row, column), count in wrong]
