"""`servers call` and `servers health`: a call of one tool after a question, and how servers answered lately."""

import json
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping
from typing import Any

from mcp_tef import (
    CALL_SECONDS,
    ConsentError,
    HealthState,
    InputError,
    Json,
    Server,
    ServerHealth,
    ToolCall,
    ToolReply,
    loads_bounded,
    percent_text,
    server_health_to_json,
    tool_call_to_json,
)
from mcp_tef.cli.arguments import FAILED, Verbs, add_verb
from mcp_tef.cli.session import add_consent_options, agree, opened
from mcp_tef.cli.terminal import Terminal, one_line, table

LEAST_SECONDS, MOST_SECONDS = 0.1, 3600.0
EXAMPLE = 'Write for example {"name": "value"}.'
WAIT = f"seconds to wait (default: {CALL_SECONDS:g})"
YES = "allow the call, and the program or address of the server, for this command"


def register(group: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(group, "call", "call a tool of a server by hand, and keep what came back", call)
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("tool", metavar="TOOL")
    parser.add_argument("arguments", metavar="JSON", nargs="?", default="{}", help="the arguments as a JSON object")
    parser.add_argument("--timeout", type=_seconds, default=CALL_SECONDS, metavar="S", help=WAIT)
    add_consent_options(parser, YES)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise ArgumentTypeError(f"{text} is not from {LEAST_SECONDS:g} to {MOST_SECONDS:g}")
    return seconds


async def call(arguments: Namespace, terminal: Terminal) -> int:
    """Call a tool; the exit code is 1 where the tool itself says that it failed."""
    given = given_arguments(arguments.arguments)
    async with opened(arguments, terminal) as engine:
        server = await engine.servers.find(arguments.name)
        await agree(engine, [server.spec], arguments, terminal)
        if not arguments.yes:
            require_word(terminal, server, arguments.tool, given)
        made = await engine.calls.call(server.id, arguments.tool, given, seconds=arguments.timeout)
    terminal.document(tool_call_to_json(made))
    return _told(made, terminal)


def given_arguments(text: str) -> Mapping[str, Json]:
    """Return the arguments in a JSON text."""
    try:
        value: Any = loads_bounded(text, parse_constant=_refuse)
    except RecursionError as error:
        raise InputError("The arguments nest too deep.", hint=EXAMPLE) from error
    except ValueError as error:
        raise InputError(f"The arguments are not JSON: {error}.", hint=EXAMPLE) from error
    if not isinstance(value, dict):
        raise InputError("The arguments are not a JSON object.", hint=EXAMPLE)
    return value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def require_word(terminal: Terminal, server: Server, tool: str, given: Mapping[str, Json]) -> None:
    """Show the call and ask; ConsentError where nobody agrees, or nobody is there."""
    if not terminal.asks:
        raise ConsentError(
            f"You have not confirmed the call of {tool} of {server.name}.", hint="Add --yes to confirm it."
        )
    terminal.note(f"This would be sent to {tool} of {server.name}:")
    terminal.note(terminal.redacted(json.dumps(given, indent=2, ensure_ascii=False)))
    if not terminal.confirms("Call it now?"):
        raise ConsentError(f"{tool} was not called, since you did not agree.", hint="Nothing was sent.")


def _told(made: ToolCall, terminal: Terminal) -> int:
    reply = made.reply or ToolReply()
    terminal.say(*(line for block in reply.content for line in _block(block).splitlines() or [""]))
    if reply.structured is not None and not reply.text:
        terminal.say(*_json(reply.structured).splitlines())
    whole = " Not all of it was kept." if reply.cut else ""
    failed = "The tool says that it failed" if reply.is_error else "Answered"
    terminal.note(f"{failed}, after {reply.execution_time_ms} ms.{whole}")
    return FAILED if reply.is_error else 0


def _block(block: Json) -> str:
    text = block.get("text") if isinstance(block, Mapping) else None
    return text if isinstance(text, str) else _json(block)


def _json(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def register_health(group: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(group, "health", "show how servers answered in the last hour", health)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these servers")
    watching = "check them every minute until interrupted; a server that needs consent is left alone"
    parser.add_argument("--watch", action="store_true", help=watching)


async def health(arguments: Namespace, terminal: Terminal) -> int:
    """Show the health of servers; 1 where one of them is degraded or unavailable."""
    async with opened(arguments, terminal) as engine:
        if arguments.watch:
            async for one in engine.health.watch(arguments.names):
                terminal.note(" ".join(filter(None, _row(one))))
        overall, each = await engine.health.report(arguments.names)
    told = server_health_to_json(overall)
    terminal.document({"overall": told, "servers": [server_health_to_json(one) for one in each]})
    terminal.say(*table(("SERVER", "STATUS", "ERRORS", "P50", "P95", "A MINUTE", "WHY"), map(_row, (*each, overall))))
    return FAILED if overall.state in (HealthState.DEGRADED, HealthState.UNAVAILABLE) else 0


def _row(one: ServerHealth) -> tuple[str, ...]:
    times = ["–" if value is None else f"{value} ms" for value in (one.p50_ms, one.p95_ms)]
    figures = (percent_text(one.error_rate), *times, f"{one.calls_per_minute:.1f}")
    return one.server or "(all)", one.state.value, *figures, one_line(one.reason or "")
