"""`library …`: tools of one's own, before any server exists: designed, run, evaluated and served."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_tef import (
    ExecutionFigures,
    ExecutionStatus,
    ExecutorKind,
    InputError,
    LibraryTool,
    SourceKind,
    ToolDesign,
    ToolSource,
    ToolStatus,
    design_from_json,
    document_text,
    execution_figures_to_json,
    execution_to_json,
    import_items_to_json,
    library_tool_to_json,
    local_time_text,
    new_token,
    percent_text,
    strong_token,
    tool_version_to_json,
    write_text,
)
from mcp_tef.cli.arguments import FAILED, Parser, Verbs, add_group, add_list_option, add_verb
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.import_results import add_replace_option, item_lines, require_agreed
from mcp_tef.cli.output_files import output_name, read_json, read_text, writable
from mcp_tef.cli.server_calls import given_arguments
from mcp_tef.cli.session import add_consent_options, opened, require_yes, with_consent
from mcp_tef.cli.terminal import Terminal, one_line, table

if TYPE_CHECKING:
    from mcp_tef import Engine, Execution, Json, JsonObject, ToolVersion

DEFINITION = "its definition as JSON; - is standard input"


def register(verbs: Verbs) -> None:
    """Add the verbs."""
    group = add_group(verbs, "library", "design tools of your own, run and serve them before their server exists")
    list_parser = add_verb(group, "list", "list the tools of the library", list_tools, reads=True)
    list_parser.add_argument("--category", metavar="C", help="those in this category or below it")
    list_parser.add_argument("--tag", metavar="T", help="those with this tag")
    show_parser = _named(
        add_verb(group, "show", "show a tool, its versions, or what two of them differ in", show, reads=True)
    )
    show_parser.add_argument("--versions", action="store_true", help="list the versions")
    show_parser.add_argument("--compare", nargs=2, type=int, metavar=("N", "M"), help="compare two versions")
    add_parser = add_verb(group, "add", "add a tool as a draft", add)
    add_parser.add_argument("file", metavar="FILE", help=DEFINITION)
    _add_design_options(add_parser)
    edit_parser = _named(add_verb(group, "edit", "change a tool, which makes a new version", edit))
    edit_parser.add_argument("--definition", metavar="FILE", help=DEFINITION)
    edit_parser.add_argument("--restore", type=int, metavar="N", help="make version N the newest again")
    _add_design_options(edit_parser)
    for name, status in (("activate", "active"), ("deactivate", "disabled"), ("deprecate", "deprecated")):
        parser = add_verb(group, name, f"make tools {status}", set_status)
        parser.add_argument("names", nargs="+", metavar="NAME")
        parser.set_defaults(status=ToolStatus(status))
    delete_parser = add_verb(group, "delete", "delete tools with their versions and executions", delete)
    delete_parser.add_argument("names", nargs="+", metavar="NAME")
    delete_parser.add_argument("--yes", action="store_true", help="delete them without asking")
    _register_execution(group)
    _register_transfer(group)


def _register_execution(group: Verbs) -> None:
    run_parser = _named(add_verb(group, "run", "execute a tool once", run))
    run_parser.add_argument("arguments", metavar="JSON", nargs="?", default="{}", help="the arguments as a JSON object")
    add_consent_options(run_parser)
    history_parser = add_verb(group, "history", "list executions, with percentiles and error rate", history)
    history_parser.add_argument("name", metavar="NAME", nargs="?", help="those of this tool")
    statuses = [status.value for status in ExecutionStatus]
    history_parser.add_argument("--status", action="append", default=[], choices=statuses, help="those that ended so")
    history_parser.add_argument("--search", default="", metavar="TEXT", help="those with this text")
    history_parser.add_argument("--again", metavar="ID", help="execute this one again instead")
    add_consent_options(history_parser)
    serve_parser = add_verb(group, "serve", "serve the active tools over MCP: over stdio, or over HTTP", serve)
    serve_parser.add_argument(
        "--http",
        type=int,
        metavar="PORT",
        help="serve on this port of loopback, to clients that send a token",
    )
    serve_parser.add_argument("--token-file", type=Path, metavar="F", help="holds the token (default: a new one)")
    add_consent_options(serve_parser)


def _register_transfer(group: Verbs) -> None:
    import_parser = add_verb(group, "import", "take tools into the library", import_tools)
    source = import_parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--server", metavar="S", help="those of a registered server, which is called then")
    source.add_argument("--tools-file", metavar="F", help="those of a saved tools/list answer, or of an export")
    source.add_argument("--draft", metavar="D", help="those of a draft of the Workshop")
    add_list_option(import_parser, "--tool", "T", "only this one")
    add_replace_option(import_parser)
    add_consent_options(import_parser)
    export_parser = add_verb(group, "export", "write tools of the library to a tools file", export, reads=True)
    export_parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    export_parser.add_argument("--out", type=writable, metavar="F", help="a file; - or none is standard output")


def _named(parser: Parser) -> Parser:
    parser.add_argument("name", metavar="NAME", help="name of the tool")
    return parser


def _add_design_options(parser: Parser) -> None:
    kinds = [kind.value for kind in ExecutorKind]
    parser.add_argument("--executor", choices=kinds, help="what carries it out (default for a new one: answer)")
    parser.add_argument("--config", metavar="FILE", help="the executor's config as JSON; - is standard input")
    parser.add_argument("--script", type=Path, metavar="FILE", help="the Python script, with def run(input): …")
    parser.add_argument("--category", metavar="PATH", help="a category such as town/buses, which is made if needed")
    parser.add_argument("--tag", action="append", metavar="T", help="a tag; may be repeated")
    parser.add_argument("--changelog", default="", metavar="TEXT", help="what this version changes")


async def list_tools(arguments: Namespace, terminal: Terminal) -> None:
    """List tools, by name."""
    async with opened(arguments, terminal) as engine:
        tools = await engine.library.list(category=arguments.category, tag=arguments.tag)
    terminal.document({"tools": [library_tool_to_json(tool) for tool in tools]})
    rows = [_row(tool) for tool in tools]
    header = ("NAME", "STATUS", "VERSION", "EXECUTOR", "DESCRIPTION")
    terminal.say(*table(header, rows, none="The library holds no tool yet."))


def _row(tool: LibraryTool) -> tuple[str, ...]:
    design = tool.design
    return tool.name, tool.status.value, str(tool.version), design.executor.value, one_line(design.description)


async def show(arguments: Namespace, terminal: Terminal) -> None:
    """Show a tool."""
    async with opened(arguments, terminal) as engine:
        tool = await engine.library.find(arguments.name)
        versions = await engine.library.versions(arguments.name)
        changes = await engine.library.compare(arguments.name, *arguments.compare) if arguments.compare else {}
    told = library_tool_to_json(tool) | {"versions": [tool_version_to_json(one) for one in versions]}
    fields = [{"path": list(path), "before": _plain(old), "after": _plain(new)} for path, (old, new) in changes.items()]
    terminal.document(told | ({"changes": fields} if arguments.compare else {}))
    if arguments.compare:
        terminal.say(*(f"{' / '.join(one['path'])}: {one['before']} → {one['after']}" for one in fields))
    elif arguments.versions:
        terminal.say(*table(("VERSION", "DATE", "CHANGELOG"), map(_version_row, versions)))
    else:
        terminal.say(*_whole_tool(tool))


def _whole_tool(tool: LibraryTool) -> list[str]:
    action = {"config": tool.design.config} | ({"script": tool.design.script} if tool.design.script else {})
    return [_line(tool), "", tool.design.description, "", *_indented(action).splitlines()]


def _version_row(one: ToolVersion) -> tuple[str, ...]:
    return str(one.version), local_time_text(one.created_at), one.changelog


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | list | dict | None) else None


def _line(tool: LibraryTool) -> str:
    return f"{tool.name} is {tool.status}, in version {tool.version}, carried out by {tool.design.executor}."


async def add(arguments: Namespace, terminal: Terminal) -> None:
    """Add a tool."""
    definition = _definition(arguments.file)
    async with opened(arguments, terminal) as engine:
        design = await _changed(engine, design_from_json(definition), arguments)
        _tell(await engine.library.add(design, changelog=arguments.changelog), terminal)


async def edit(arguments: Namespace, terminal: Terminal) -> None:
    """Change a tool."""
    async with opened(arguments, terminal) as engine:
        tool = await engine.library.find(arguments.name)
        if arguments.restore is not None:
            _tell(await engine.library.restore_version(tool.name, arguments.restore), terminal)
            return
        design = tool.design
        if arguments.definition is not None:
            given = design_from_json(_definition(arguments.definition), (design.executor, design.config))
            design = replace(given, tags=design.tags, category=design.category, script=design.script)
        design = await _changed(engine, design, arguments)
        _tell(await engine.library.edit(tool.name, design, seen=tool, changelog=arguments.changelog), terminal)


def _definition(name: str) -> JsonObject:
    definition = read_json(name)
    if not isinstance(definition, dict):
        raise InputError(f"{name} holds no tool.", hint='Write {"name": …, "description": …, "inputSchema": {…}}.')
    return definition


async def _changed(engine: Engine, design: ToolDesign, arguments: Namespace) -> ToolDesign:
    """Return a design with what the options change."""
    given: dict[str, Any] = {}
    if arguments.executor is not None:
        given |= {"executor": ExecutorKind(arguments.executor), "config": {}, "script": None}
    if arguments.config is not None:
        given["config"] = read_json(arguments.config)
        if not isinstance(given["config"], dict):
            raise InputError(
                f"{arguments.config} is not a JSON object.", hint='Write an object, such as {"answer": "Yes."}.'
            )
    if arguments.script is not None:
        given["script"] = read_text(arguments.script)
    if arguments.category is not None:
        given["category"] = await engine.library.ensure_category(arguments.category)
    if arguments.tag is not None:
        given["tags"] = tuple(arguments.tag)
    return replace(design, **given)


async def set_status(arguments: Namespace, terminal: Terminal) -> None:
    """Give tools another status."""
    async with opened(arguments, terminal) as engine:
        tools = [await engine.library.set_status(name, arguments.status) for name in arguments.names]
    terminal.document({"tools": [library_tool_to_json(tool) for tool in tools]})
    terminal.say(*map(_line, tools))


def _tell(tool: LibraryTool, terminal: Terminal) -> None:
    terminal.document(library_tool_to_json(tool))
    terminal.say(_line(tool))


async def delete(arguments: Namespace, terminal: Terminal) -> None:
    """Delete tools."""
    async with opened(arguments, terminal) as engine:
        for name in arguments.names:
            await engine.library.find(name)
        named = ", ".join(arguments.names)
        require_yes(terminal, f"Delete {named}?", f"{named} would be deleted with all executions.", yes=arguments.yes)
        await engine.library.delete(arguments.names)
    terminal.document({"deleted": arguments.names})
    terminal.say(f"{counted(len(arguments.names), 'tool')} deleted.")


async def run(arguments: Namespace, terminal: Terminal) -> int:
    """Execute a tool; the exit code is 1 where that failed."""
    given = given_arguments(arguments.arguments)
    async with opened(arguments, terminal) as engine:
        work = partial(engine.library_runs.run, arguments.name, given, caller_id="command line")
        return _executed(await with_consent(engine, arguments, terminal, work), terminal)


def _executed(done: Execution, terminal: Terminal) -> int:
    terminal.document(execution_to_json(done))
    if done.status is ExecutionStatus.SUCCESS:
        text = done.output if isinstance(done.output, str) else _indented(done.output)
        terminal.say(*text.splitlines())
    terminal.note(done.error_message or f"Done, after {done.duration_ms} ms.")
    return 0 if done.status is ExecutionStatus.SUCCESS else FAILED


async def history(arguments: Namespace, terminal: Terminal) -> int:
    """List executions, newest first, or repeat one."""
    statuses = [ExecutionStatus(status) for status in arguments.status]
    async with opened(arguments, terminal) as engine:
        if arguments.again is not None:
            work = partial(engine.library_runs.again, arguments.again)
            return _executed(await with_consent(engine, arguments, terminal, work), terminal)
        found = await engine.library_runs.history(arguments.name, statuses=statuses, text=arguments.search)
    figures = ExecutionFigures.of(found)
    figures_told = execution_figures_to_json(figures)
    terminal.document({"executions": [execution_to_json(one) for one in found], "figures": figures_told})
    rows = [_execution_row(one) for one in found]
    terminal.say(*table(("ID", "TOOL", "STATUS", "TIME", "ERROR"), rows, none="There is no execution yet."))
    if figures.error_rate is not None:
        shown = f"p50 {figures.p50_ms} ms, p95 {figures.p95_ms} ms, {percent_text(figures.error_rate)} failed"
        terminal.note(f"{counted(figures.count, 'execution')}: {shown}.")
    return 0


def _execution_row(one: Execution) -> tuple[str, ...]:
    error = one_line(one.error_message or "")
    return one.id, one.tool, one.status.value, f"{one.duration_ms or 0} ms", error


async def serve(arguments: Namespace, terminal: Terminal) -> None:
    """Serve until told to stop. Consent is asked for before, since nobody can be asked while it serves."""
    async with opened(arguments, terminal) as engine:
        served = engine.served_library
        await served.refresh()
        await with_consent(engine, arguments, terminal, lambda: engine.library_runs.require_consent(*served.designs))
        http = None if arguments.http is None else (arguments.http, bearer_token(arguments.token_file, terminal))
        await engine.serve_library(terminal.note, http=http)


def token_of(file: Path) -> str:
    """Return the token in a file, which may be a pipe; InputError where it cannot be read."""
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read.", hint="Name a text file in UTF-8.") from error


def bearer_token(file: Path | None, terminal: Terminal) -> str:
    """Return the token of a file, or a new one, which is told to the user."""
    if file is not None:
        return strong_token(token_of(file))
    token = new_token()
    terminal.note(f"Authorization: Bearer {token}")
    return token


async def import_tools(arguments: Namespace, terminal: Terminal) -> int:
    """Take tools; 1 where some were refused."""
    async with opened(arguments, terminal) as engine:
        found = await with_consent(engine, arguments, terminal, partial(_found, engine, arguments))
        missing = set(arguments.tool) - {str(raw.get("name")) for raw, _ in found}
        if missing:
            raise InputError(f"There is no tool named {min(missing)} there.", hint="Look at its tools.")
        wanted = [one for one in found if not arguments.tool or one[0].get("name") in arguments.tool]
        planned = await engine.library.take(wanted, dry=True)
        require_agreed(terminal, planned.changed, item_lines(planned.items), replace=arguments.replace)
        taken = await engine.library.take(wanted, replacing=True)
        await engine.library_runs.allow_calls(arguments.server, taken.added)
    refused = [{"name": name, "reason": reason} for name, reason in taken.refused]
    names = {"added": list(taken.added), "changed": list(taken.changed), "unchanged": list(taken.unchanged)}
    terminal.document({**names, "refused": refused, "changes": import_items_to_json(planned.items)["changed"]})
    terminal.say(*item_lines(planned.items))
    counts = f"{len(taken.changed)} changed, {len(taken.unchanged)} unchanged"
    terminal.say(f"{counted(len(taken.added), 'tool')} added, {counts}.")
    for name, reason in taken.refused:
        terminal.note(f"{one_line(name)} was left out. {reason}")
    return FAILED if refused else 0


async def _found(engine: Engine, arguments: Namespace) -> list[tuple[JsonObject, ToolDesign | None]]:
    if arguments.draft is not None:
        return [(raw, None) for raw in (await engine.drafts.find(arguments.draft)).tools]
    kind = SourceKind.SERVERS if arguments.server is not None else SourceKind.FILES
    source = ToolSource(kind=kind, names=(arguments.server or arguments.tools_file,))
    found = await engine.tools.gather(source, at_least=1)
    for one in found.unreachable:
        raise InputError(f"{one.server} could not be read: {one.reason}", hint=one.hint)
    return [(one.tool.raw, _calling(arguments.server, one.tool.name)) for one in found.tools]


def _calling(server: str | None, tool: str) -> ToolDesign | None:
    """Return a design that is carried out by a tool of a server; None where there is none."""
    if server is None:
        return None
    config = {"server": server, "tool": tool}
    return ToolDesign(name=tool, input_schema={}, executor=ExecutorKind.MCP, config=config)


async def export(arguments: Namespace, terminal: Terminal) -> None:
    """Write tools, with all that an import needs to make the same."""
    async with opened(arguments, terminal) as engine:
        exported = await engine.library.export(arguments.names)
    if arguments.out is None:
        terminal.document(exported)
        terminal.say(*_indented(exported).splitlines())
        return
    write_text(arguments.out, _indented(exported) + "\n")
    count = counted(len(exported["tools"]), "tool")
    terminal.document({"file": str(arguments.out), "tools": len(exported["tools"])})
    terminal.say(f"{count} written to {output_name(arguments.out)}.")


def _indented(value: Json) -> str:
    return document_text(value).rstrip("\n")
