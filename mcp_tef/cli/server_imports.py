"""`servers import` and `servers discover`: servers from the configs of other programs, none of them started."""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from mcp_tef import (
    ImportedServer,
    ImportStatus,
    ServerImportPreview,
    detected_config_to_json,
    open_regular_file,
    server_import_to_json,
)
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.import_results import add_replace_option, change_lines, require_agreed
from mcp_tef.cli.output_files import is_standard_input
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal, one_line, table, unreachable

_DONE = {ImportStatus.ADDED: "Added", ImportStatus.CHANGED: "Changed", ImportStatus.UNCHANGED: "Unchanged"}
_WOULD = {ImportStatus.ADDED: "Would add", ImportStatus.CHANGED: "Would change", ImportStatus.UNCHANGED: "Unchanged"}


def register(group: Verbs) -> None:
    """Add the verbs below `servers`."""
    parser = add_verb(group, "import", "add the servers of another program's config; starts none", import_servers)
    parser.add_argument("file", metavar="FILE", help="the configuration file, or - for standard input")
    parser.add_argument("--only", action="append", metavar="NAME", default=[], help="only the server of this name")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    add_replace_option(parser)
    parser = add_verb(group, "discover", "look for configs of other programs in the usual places", discover, reads=True)
    parser.add_argument("--project", type=Path, metavar="DIR", help="a project's folder (default: the current one)")


async def import_servers(arguments: Namespace, terminal: Terminal) -> int:
    """Bring servers in, all or nothing; those that cannot be are refused with the reason."""
    path = _readable(Path(arguments.file))
    source = path.read_text("utf-8", errors="replace") if is_standard_input(path) else path
    async with opened(arguments, terminal) as engine:
        preview = await engine.server_files.preview(source)
        if arguments.only:
            preview = engine.server_files.chosen(preview, arguments.only)
        if not arguments.dry_run:
            changed = [one for one in preview.servers if one.edited]
            lines = [line for one in changed for line in change_lines(one.name, one.changes)]
            require_agreed(terminal, [one.name for one in changed], lines, replace=arguments.replace)
            await engine.server_files.apply(preview)
    _tell(preview, terminal, dry=arguments.dry_run)
    terminal.document({"dry_run": arguments.dry_run, **server_import_to_json(preview)})
    return 1 if preview.of(ImportStatus.REFUSED) else 0


async def discover(arguments: Namespace, terminal: Terminal) -> None:
    """List the configs that are there, with their servers and what importing each would do."""
    async with opened(arguments, terminal) as engine:
        found = await engine.server_files.discover(arguments.project or Path())
    terminal.document({"configs": [detected_config_to_json(config) for config in found]})
    for config in found:
        terminal.say(f"{config.title}: {config.path}")
        if config.preview is None:
            terminal.note(config.problem)
        else:
            terminal.say(*(f"    {line}" for line in table(("SERVER", "IMPORT", "WHERE"), _rows(config.preview))))
    terminal.say("Bring one in with: mcp-tef servers import FILE" if found else "No config lists servers here.")


def _readable(path: Path) -> Path:
    try:
        open_regular_file(path).close()
    except OSError as error:
        raise unreachable(error) from error
    return path


def _tell(preview: ServerImportPreview, terminal: Terminal, *, dry: bool) -> None:
    terminal.say(f"{preview.source} is read as: {preview.title}.")
    for server in preview.servers:
        if server.fate is ImportStatus.REFUSED:
            terminal.note(f"Refused {one_line(server.label)} ({one_line(server.place)}): {server.reason}")
            continue
        words = (_WOULD if dry else _DONE)[server.fate]
        terminal.say(f"{words} {server.name}: {_where(server)}", *(f"    {line}" for line in _remarks(server)))
    added, changed, same, refused = (len(preview.of(fate)) for fate in ImportStatus)
    terminal.say(f"{added} added, {changed} changed, {same} unchanged, {refused} refused. Nothing was started.")
    if dry:
        terminal.say("Nothing was changed yet, since this was a dry run.")


def _remarks(server: ImportedServer) -> Iterator[str]:
    if server.spec and server.name != server.label:
        yield f"Its name there, {one_line(server.label)}, is taken here."
    for change in server.changes:
        yield f"{change.field}: {change.before} → {change.after}"
    for secret in server.secrets:
        yield f"A secret is written out in its {secret.where}. Here it is ${{{secret.variable}}} and not kept."
    yield from server.notes
    if server.needs:
        yield f"Set before it is used: {', '.join(server.needs)}."


def _where(server: ImportedServer) -> str:
    return one_line(server.spec.address, 100) if server.spec else ""


def _rows(preview: ServerImportPreview) -> list[tuple[str, ...]]:
    return [(server.name, _fate(server.fate), server.reason or _where(server)) for server in preview.servers]


def _fate(fate: ImportStatus) -> str:
    return {ImportStatus.ADDED: "new", ImportStatus.UNCHANGED: "here already"}.get(fate, fate.value)
