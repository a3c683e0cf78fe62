"""`servers …`: register, show, check, accept, change and remove servers."""

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_tef import (
    Drift,
    InputError,
    Server,
    ServerSpec,
    ServerStatus,
    ToolDrift,
    Transport,
    did_you_mean,
    drift_to_json,
    listing_to_json,
    name_key,
    server_check_to_json,
    server_to_json,
)
from mcp_tef.cli import server_calls, server_imports
from mcp_tef.cli.arguments import UNREACHED, Parser, Verbs, add_group, add_verb
from mcp_tef.cli.formatting import counted, drift_line, server_line
from mcp_tef.cli.server_auth import add_auth_options, authenticated, given_auth, without_secrets
from mcp_tef.cli.session import add_consent_options, agree, opened, require_yes
from mcp_tef.cli.terminal import Terminal, one_line, table

if TYPE_CHECKING:
    from mcp_tef import Engine

MOST_LINES = 100
REMEMBERED = "allow the program or address that it names, from now on"


def register(verbs: Verbs) -> None:
    """Add the verbs."""
    group = add_group(verbs, "servers", "register, check and list MCP servers and tools files")
    add_parser = _named(add_verb(group, "add", "register a server and check that it answers", add))
    _add_spec_options(add_parser)
    existing = add_parser.add_mutually_exclusive_group()
    existing.add_argument("--if-missing", action="store_true", help="do nothing where a server has this name")
    existing.add_argument("--replace", action="store_true", help="change the server of this name, if there is one")
    add_parser.add_argument("--no-keep", action="store_true", help="do not keep a new server whose first check fails")
    add_verb(group, "list", "list the servers", list_servers, reads=True)
    _named(add_verb(group, "show", "show one server", show, reads=True))
    add_consent_options(_named(add_verb(group, "check", "connect once and say what was found", check)))
    add_consent_options(_named(add_verb(group, "tools", "list the tools that a server has now", tools)))
    edit_parser = _named(add_verb(group, "edit", "change a server; options that you leave out keep their values", edit))
    edit_parser.add_argument("--name", dest="new_name", metavar="NEW", help="a new name")
    _add_spec_options(edit_parser)
    remove_parser = add_verb(group, "remove", "remove servers", remove)
    remove_parser.add_argument("names", nargs="+", metavar="NAME")
    remove_parser.add_argument("--yes", action="store_true", help="remove even servers that cases use")
    for name, summary in (
        ("include", "offer tools of a server that were left out"),
        ("exclude", "leave tools of a server out of runs"),
    ):
        parser = _named(add_verb(group, name, summary, include))
        parser.add_argument("tools", nargs="+", metavar="TOOL", help="the name of a tool")
        parser.set_defaults(included=name == "include")
    server_imports.register(group)
    server_calls.register(group)
    server_calls.register_health(group)
    accept_parser = _named(
        add_verb(group, "accept", "show how a server's tools differ from what was seen, and accept them", accept)
    )
    accept_parser.add_argument("--yes", action="store_true", help="accept the changes shown")


def _named(parser: Parser) -> Parser:
    parser.add_argument("name", metavar="NAME")
    return parser


def _add_spec_options(parser: Parser) -> None:
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--url", help="the address of an HTTP server")
    place.add_argument("--command", dest="program", metavar="CMD", help="the program of a stdio server")
    place.add_argument("--tools-file", type=Path, metavar="F", help="a saved tools/list answer, or an array of tools")
    http = (Transport.STREAMABLE_HTTP.value, Transport.SSE.value)
    parser.add_argument("--transport", choices=http, help="how the url is spoken to (default: streamable-http)")
    parser.add_argument("--arg", action="append", dest="args", metavar="A", help="an argument of the program")
    parser.add_argument("--env", action="append", metavar="K=V", help="an environment variable of the program")
    parser.add_argument(
        "--cwd",
        metavar="DIR",
        help="the folder that the program starts in (default: the project's, else your home folder)",
    )
    parser.add_argument("--header", action="append", metavar="K=V", help="a header of every request")
    add_auth_options(parser)
    add_consent_options(parser, REMEMBERED)
    parser.set_defaults(remember_consent=True, stored_paths=("tools_file",))


async def add(arguments: Namespace, terminal: Terminal) -> int:
    """Register a server and check it; a server whose first check fails is kept, unless the user decides otherwise."""
    spec = new_spec(arguments)
    async with opened(arguments, terminal) as engine:
        there = next((one for one in await engine.servers.list() if name_key(one.name) == name_key(spec.name)), None)
        spec = replace(spec, name=there.name) if there else spec
        if there and arguments.if_missing:
            return _told(there, terminal)
        typed, spec = spec, await without_secrets(engine, spec, arguments, terminal)
        engine.consents.note_typed(spec)
        await engine.consents.add_typed_server(typed, spec)
        await agree(engine, [spec], arguments, terminal)
        if there and arguments.replace:
            await engine.servers.edit(there.id, spec, seen=there.spec)
            return _told(await engine.servers.check(there.id), terminal)
        checked = await engine.servers.check((await engine.servers.add(spec)).id)
        await _keep_or_remove(engine, checked, arguments, terminal)
    return _told(checked, terminal)


async def _keep_or_remove(engine: "Engine", server: Server, arguments: Namespace, terminal: Terminal) -> None:
    """Decide about a new server that did not answer: by option, else by asking; where nobody is there, it is kept."""
    if server.status is ServerStatus.ACTIVE:
        return
    asks = terminal.asks and not arguments.no_keep
    kept = not (arguments.no_keep or (asks and terminal.confirms(f"Remove {server.name} again?")))
    if not kept:
        await engine.servers.remove([server.id])
    what = "was kept; check it again with mcp-tef servers check" if kept else "was not kept"
    terminal.note(f"{server.name} {what}.")


async def list_servers(arguments: Namespace, terminal: Terminal) -> None:
    """List the servers with what the last check found."""
    async with opened(arguments, terminal) as engine:
        servers = await engine.servers.list()
    terminal.document({"servers": [server_to_json(server) for server in servers]})
    terminal.say(*table(("NAME", "STATUS", "TOOLS", "WHERE"), [_row(server) for server in servers]))


def _row(server: Server) -> tuple[str, ...]:
    tools = "–" if server.tool_count is None else str(server.tool_count)
    return server.name, server.status.value, tools, server.spec.address


async def show(arguments: Namespace, terminal: Terminal) -> None:
    """Show one server."""
    async with opened(arguments, terminal) as engine:
        server = await engine.servers.find(arguments.name)
    shape = server_to_json(server)
    terminal.document(shape)
    terminal.say(*(f"{key:18} {_value(value)}" for key, value in shape.items() if value not in (None, [], "")))


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


async def check(arguments: Namespace, terminal: Terminal) -> int:
    """Connect once and say what was found."""
    async with opened(arguments, terminal) as engine:
        server = await engine.servers.find(arguments.name)
        await agree(engine, [server.spec], arguments, terminal)
        code = _told(await engine.servers.check(server.id), terminal)
        changes = await engine.drift.of_server(server.id)
    if changes is not None:
        terminal.note(drift_line(changes))
    return code


def _told(server: Server, terminal: Terminal) -> int:
    terminal.document(server_check_to_json(server))
    if server.status is ServerStatus.ACTIVE:
        terminal.say(server_line(server))
        return 0
    terminal.note(server_line(server))
    return UNREACHED


async def tools(arguments: Namespace, terminal: Terminal) -> None:
    """List a server's tools afresh, with those that were set aside."""
    async with opened(arguments, terminal) as engine:
        server = await engine.servers.find(arguments.name)
        await agree(engine, [server.spec], arguments, terminal)
        listing = await engine.servers.tools(server.id)
    terminal.document(listing_to_json(listing))
    terminal.say(*table(("TOOL", "DESCRIPTION"), [(tool.name, tool.description) for tool in listing.tools]))
    if listing.instructions:
        terminal.say("", "Instructions to the model:", listing.instructions)
    for problem in listing.problems:
        terminal.note(f"Set aside: {problem.tool or 'a tool without a name'}: {problem.reason}")


async def edit(arguments: Namespace, terminal: Terminal) -> int:
    """Change what was given, then check again."""
    async with opened(arguments, terminal) as engine:
        server = await engine.servers.find(arguments.name)
        changed = changed_spec(server.spec, arguments)
        spec = await without_secrets(engine, changed, arguments, terminal, before=server.spec)
        if not engine.consents.needed(server.spec):
            engine.consents.note_typed(spec)  # what is stored was allowed before, and the rest is typed
        elif arguments.url or arguments.program:
            engine.consents.note_typed(changed_spec(ServerSpec(name=server.name, transport=Transport.STDIO), arguments))
        if arguments.url or arguments.tools_file:
            await engine.consents.add_typed_server(changed, spec)
        await agree(engine, [spec], arguments, terminal)
        await engine.servers.edit(server.id, spec, seen=server.spec)
        return _told(await engine.servers.check(server.id), terminal)


async def remove(arguments: Namespace, terminal: Terminal) -> None:
    """Remove servers by name, all or none; cases keep the name, and attach to the next server that has it."""
    async with opened(arguments, terminal) as engine:
        servers = [await engine.servers.find(name) for name in arguments.names]
        cases = await _cases_to_keep(engine, {server.name for server in servers}, arguments, terminal)
        await engine.servers.remove([server.id for server in servers])
    terminal.document({"removed": [server.name for server in servers], "cases": cases})
    terminal.say(*(f"{one_line(server.name)} was removed." for server in servers))
    if cases:
        terminal.say(f"{counted(len(cases), 'case')} kept the name; a server added under it serves them again.")


async def _cases_to_keep(engine: "Engine", names: set[str], arguments: Namespace, terminal: Terminal) -> list[str]:
    """Return the names of the cases of these servers, after a yes where there are any."""
    cases = [case for case in await engine.cases.list() if names & {*case.draft.servers}]
    if cases:
        await engine.cases.require_idle([case.id for case in cases])
        used = f"{counted(len(cases), 'case')} of {one_line(', '.join(sorted(names)))} could not run any more."
        require_yes(terminal, f"{used} Remove?", used, yes=arguments.yes)
    return [case.name for case in cases]


async def include(arguments: Namespace, terminal: Terminal) -> None:
    """Offer tools of a server again, or leave them out; the server stays as it is."""
    async with opened(arguments, terminal) as engine:
        server = await engine.servers.find(arguments.name)
        listing = await engine.servers.listed_tools(server.id)
        out = {*server.spec.disallowed_tools}
        require_known_tools(server.name, arguments.tools, {*listing, *out})
        out = out - {*arguments.tools} if arguments.included else out | {*arguments.tools}
        offered = tuple(dict.fromkeys((*server.spec.allowed_tools, *arguments.tools)))
        allowed = offered if arguments.included and server.spec.allowed_tools else server.spec.allowed_tools
        spec = replace(server.spec, disallowed_tools=tuple(sorted(out)), allowed_tools=allowed)
        changed = await engine.servers.edit(server.id, spec, seen=server.spec)
    terminal.document({"name": changed.name, "excluded": list(changed.spec.disallowed_tools)})
    terminal.say(f"{changed.name} leaves out {', '.join(sorted(out)) or 'no tool'}.")


def require_known_tools(server: str, wanted: Sequence[str], known: Iterable[str]) -> None:
    """Raise InputError with the nearest name for a tool that the server does not have, as last seen."""
    names = sorted(known)
    for tool in wanted:
        if names and tool not in names:
            hint = did_you_mean(tool, names, "See mcp-tef servers tools.")
            raise InputError(f"{server} has no tool {tool}.", hint=hint)


async def accept(arguments: Namespace, terminal: Terminal) -> None:
    """Show what the last check found to differ, and take it as seen; nothing is started."""
    async with opened(arguments, terminal) as engine:
        server = await engine.servers.find(arguments.name)
        drift = await engine.drift.of_server(server.id)
        terminal.document(drift_to_json(server.name, drift))
        if drift is None:
            terminal.say(f"The tools of {server.name} are as you last saw them.")
            return
        for line in _drift_lines(drift):
            terminal.note(line)
        refusal = f"Nobody has accepted the tools of {server.name}."
        require_yes(terminal, "Accept them as they are now?", refusal, yes=arguments.yes)
        await engine.drift.accept(server.id, drift)
    terminal.say(f"Accepted: the tools of {server.name} count as seen.")


def _drift_lines(drift: Drift) -> Iterator[str]:
    """Every tool that differs, with what is suspicious in it and the difference of its definition."""
    for tool in drift.tools:
        yield f"{tool.name} ({tool.change.change})"
        yield from (f"    Check this: {finding.sentence}" for finding in tool.findings)
        yield from (f"    {line}" for line in _definition(tool))


def _definition(tool: ToolDrift) -> Iterator[str]:
    lines = tool.change.diff.splitlines()
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"… and {len(lines) - MOST_LINES} lines more"


def new_spec(arguments: Namespace) -> ServerSpec:
    """Return the server that the options describe."""
    if not (arguments.url or arguments.program or arguments.tools_file):
        raise InputError(
            f"Nothing says where {arguments.name} is.", hint="Give --url, --command or --tools-file.", code="bad_usage"
        )
    return changed_spec(ServerSpec(name=arguments.name, transport=Transport.STDIO), arguments)


def changed_spec(spec: ServerSpec, arguments: Namespace) -> ServerSpec:
    """Return the server with what the options change; another kind of place drops what belonged to the old one."""
    changes: dict[str, Any] = _place(arguments, spec)
    if arguments.args is not None:
        changes["args"] = tuple(arguments.args)
    if arguments.env is not None:
        changes["env"] = pairs(arguments.env, "--env")
    if arguments.cwd is not None:
        changes["cwd"] = str(Path(arguments.cwd).absolute())
    elif _names_files_here(arguments):
        changes["cwd"] = str(Path().absolute())
    if arguments.header is not None:
        changes["headers"] = pairs(arguments.header, "--header")
    if getattr(arguments, "new_name", None):
        changes["name"] = arguments.new_name
    changed = authenticated(replace(spec, **changes), arguments)
    _require_fit(changed, arguments)
    return changed


def _names_files_here(arguments: Namespace) -> bool:
    """Return True if a command means files of the current folder: the program keeps starting in it."""
    program = arguments.program or ""
    is_relative = bool(os.path.dirname(program)) and not os.path.isabs(os.path.expanduser(program))
    named = [text for text in arguments.args or () if not os.path.isabs(text)]
    return bool(program) and (is_relative or any(map(os.path.exists, named)))


def _place(arguments: Namespace, spec: ServerSpec) -> dict[str, Any]:
    if arguments.program:
        return {**_nowhere(), "transport": Transport.STDIO, "command": arguments.program}
    if arguments.tools_file:
        return {**_nowhere(), "transport": Transport.FILE, "path": str(arguments.tools_file.absolute())}
    if arguments.url:
        transport = Transport(arguments.transport or Transport.STREAMABLE_HTTP)
        return {**_nowhere(), "transport": transport, "url": arguments.url}
    if arguments.transport and spec.url:
        return {"transport": Transport(arguments.transport)}
    return {}


def _nowhere() -> dict[str, Any]:
    imported: dict[str, Any] = {"env_file": None, "project": None, "origin": None, "extra": {}}
    return {"url": None, "command": None, "path": None, "args": (), "env": {}, "cwd": None, **imported}


def _require_fit(spec: ServerSpec, arguments: Namespace) -> None:
    program_only = {"--arg": arguments.args, "--env": arguments.env, "--cwd": arguments.cwd}
    url_only = {
        "--transport": arguments.transport,
        "--header": arguments.header,
        **dict.fromkeys(given_auth(arguments), True),
    }
    for options, fits, what in (
        (program_only, spec.transport is Transport.STDIO, "a server with a command"),
        (url_only, bool(spec.url), "a server with a url"),
    ):
        misplaced = [option for option, value in options.items() if value is not None and not fits]
        if misplaced:
            raise InputError(
                f"{misplaced[0]} is for {what}, which {spec.name} is not.", hint="Leave it out.", code="bad_usage"
            )


def pairs(texts: Sequence[str], option: str) -> Mapping[str, str]:
    """`K=V` texts as a mapping; a value may hold further equals signs."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise InputError(f"A value of {option} is not of the form K=V.", hint="Write for example NAME=value.")
        found[key] = value
    return found
