"""`cases …`: bring test cases in and out, and look at them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import (
    CASE_FILE_SUFFIXES,
    CaseFileFormat,
    ImportStatus,
    InputError,
    RunFilter,
    case_export_to_json,
    case_import_to_json,
    case_to_json,
    open_regular_file,
)
from mcp_tef.cli import case_edits
from mcp_tef.cli.arguments import add_group, add_suite_options, add_verb
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.import_results import add_replace_option, change_lines, require_agreed
from mcp_tef.cli.output_files import output_name, writable
from mcp_tef.cli.session import opened, require_yes
from mcp_tef.cli.terminal import table, unreachable

if TYPE_CHECKING:
    from mcp_tef import CaseImportPreview, Engine, TestCase
    from mcp_tef.cli.arguments import Parser, Verbs
    from mcp_tef.cli.terminal import Terminal

FORMATS = tuple(form.value for form in CaseFileFormat)


def register(verbs: Verbs) -> None:
    """Add the verbs."""
    group = add_group(verbs, "cases", "import, export and list test cases")
    import_parser = add_verb(group, "import", "add and update cases from a file", import_cases)
    _file(import_parser)
    import_parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    attached = "use this server for every case, whatever the file names"
    import_parser.add_argument("--attach", metavar="SERVER", help=attached)
    for name, summary in (
        ("--prune", "remove the cases of the workspace that the file does not hold"),
        ("--accept", "take every row of a recording, without looking at each"),
    ):
        import_parser.add_argument(name, action="store_true", help=summary)
    import_parser.add_argument("--yes", action="store_true", help="remove cases even if they have runs")
    add_replace_option(import_parser)
    export_parser = add_verb(group, "export", "write cases to a file", export_cases, reads=True)
    export_parser.add_argument("out", type=writable, metavar="FILE")
    _form_option(export_parser, [form.value for form in CaseFileFormat if form.is_written])
    add_suite_options(export_parser)
    add_suite_options(add_verb(group, "list", "list the cases", list_cases, reads=True))
    add_verb(group, "show", "show one case", show, reads=True).add_argument(
        "case", metavar="ID", help="an id, or a name"
    )
    families_parser = add_verb(group, "families", "propose families of cases that paraphrase one another", families)
    add_suite_options(families_parser)
    families_parser.add_argument(
        "--apply", nargs="*", metavar="FAMILY", help="store the proposals with these names (default: all of them)"
    )
    case_edits.register_drafts(group)
    remove_parser = add_verb(group, "remove", "remove cases with their runs", remove)
    remove_parser.add_argument("cases", nargs="+", metavar="ID", help="an id, or a name")
    remove_parser.add_argument("--yes", action="store_true", help="remove even cases that have runs")
    case_edits.register(group)


def _file(parser: Parser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE")
    _form_option(parser, FORMATS)


def _form_option(parser: Parser, formats: Sequence[str]) -> None:
    parser.add_argument("--format", choices=formats, help="the form of the file (default: by its extension)")


async def import_cases(arguments: Namespace, terminal: Terminal) -> int:
    """Bring cases in; those that cannot be are refused with the reason, the rest come in together."""
    from mcp_tef.cli.case_edits import reviewed

    _require_known_form(arguments)
    _require_readable(arguments.file)
    async with opened(arguments, terminal) as engine:
        proposed = await _previewed(engine, arguments, terminal)
        preview = reviewed(proposed, arguments, terminal)
        pruned = _pruned(preview, arguments)
        if not arguments.dry_run:
            _require_agreed(preview, arguments, terminal)
            await _require_removable(engine, pruned, arguments, terminal)
            await engine.case_files.apply(preview)
            await engine.cases.remove([case.id for case in pruned])
        doubts = await _doubts(engine, preview)
    for name, warning in doubts:
        terminal.note(f"{name}: {warning}")
    _tell(preview, terminal, dry=arguments.dry_run)
    terminal.say(*(f"Not in the file, so removed: {case.name}." for case in pruned))
    document = case_import_to_json(preview, doubts, dry=arguments.dry_run)
    dropped = _dropped(proposed, preview)
    terminal.document(document | {"pruned": [case.name for case in pruned], "dropped": dropped})
    return 1 if preview.of(ImportStatus.REFUSED) else 0


def _dropped(proposed: CaseImportPreview, preview: CaseImportPreview) -> list[str]:
    kept = {case.place: case for case in preview.cases}
    return [case.label for case in proposed.cases if kept.get(case.place) != case]


def _require_agreed(preview: CaseImportPreview, arguments: Namespace, terminal: Terminal) -> None:
    changed = [one for one in preview.cases if one.edited]
    lines = [line for one in changed for line in change_lines(one.label, one.changes)]
    require_agreed(terminal, [one.label for one in changed], lines, replace=arguments.replace)


async def _previewed(engine: Engine, arguments: Namespace, terminal: Terminal) -> CaseImportPreview:
    attach = [(await engine.servers.find(arguments.attach)).name] if arguments.attach else []
    preview = await engine.case_files.preview(arguments.file, _form(arguments), attach=attach)
    if preview.ignored_servers:
        terminal.note(f"All cases use {arguments.attach}, not {', '.join(preview.ignored_servers)}.")
    return preview


def _pruned(preview: CaseImportPreview, arguments: Namespace) -> tuple[TestCase, ...]:
    """Return the cases that --prune removes; InputError where refused ones would be taken for missing ones."""
    if not arguments.prune:
        return ()
    if refused := preview.of(ImportStatus.REFUSED):
        first = f"{refused[0].place}: {refused[0].reason}"
        raise InputError(f"Nothing is pruned while cases are refused. {first}", hint="Correct the file first.")
    return preview.absent


async def _require_removable(
    engine: Engine, cases: Sequence[TestCase], arguments: Namespace, terminal: Terminal
) -> int:
    """Return the number of runs that go with these cases, after a yes where there are any."""
    ids = tuple(case.id for case in cases)
    runs = await engine.runs.count(RunFilter(case_ids=ids)) if ids else 0
    if runs:
        await engine.cases.require_idle(ids)
        lost = f"{counted(len(ids), 'case')} would be removed with {counted(runs, 'run')}."
        require_yes(terminal, f"{lost} Remove?", lost, yes=arguments.yes)
    return runs


def _form(arguments: Namespace) -> CaseFileFormat | None:
    return CaseFileFormat(arguments.format) if arguments.format else None


def _tell(preview: CaseImportPreview, terminal: Terminal, *, dry: bool) -> None:
    for note in preview.note_lines:
        terminal.note(note)
    for case in preview.cases:
        if case.fate is ImportStatus.REFUSED:
            terminal.note(f"Refused {case.label} ({case.place}): {case.reason}")
        terminal.say(*change_lines(case.label, case.changes))
    for server in preview.servers:
        terminal.say(f"{server.name}: a tools file with {counted(len(server.tools), 'tool')}, at {server.path}.")
    counts = {fate: len(preview.of(fate)) for fate in ImportStatus}
    added, changed, same, refused = counts.values()
    terminal.say(f"{added} added, {changed} updated, {same} unchanged, {refused} refused.")
    if dry:
        terminal.say("Nothing was changed yet, since this was a dry run.")


def _require_known_form(arguments: Namespace) -> None:
    if arguments.format is None and arguments.file.suffix.lower() not in CASE_FILE_SUFFIXES:
        raise InputError(
            f"The extension of {arguments.file} does not say what form it has.",
            hint="Name it .yaml, .json, .csv or .jsonl, or give --format.",
        )


def _require_readable(file: Path) -> None:
    try:
        open_regular_file(file).close()
    except OSError as error:
        raise unreachable(error) from error


async def _doubts(engine: Engine, preview: CaseImportPreview) -> list[tuple[str, str]]:
    """Return warnings about values in imported cases that look mistyped."""
    fates = (ImportStatus.ADDED, ImportStatus.CHANGED)
    drafts = [case.draft for case in preview.cases if case.fate in fates and case.draft]
    warnings = await engine.cases.warnings_of(drafts)
    return [(draft.name, one) for draft, ones in zip(drafts, warnings, strict=True) for one in ones]


async def export_cases(arguments: Namespace, terminal: Terminal) -> int:
    """Write cases to a file; what its form cannot hold is told, case by case."""
    async with opened(arguments, terminal) as engine:
        ids = [case.id for case in await engine.cases.in_groups(arguments.suite, arguments.tag)]
        if not ids:
            raise InputError("There is no case to export.", hint="Look at them with: mcp-tef cases list")
        report = await engine.case_files.export_file(arguments.out, ids, _form(arguments))
    for name, reason in report.left_out:
        terminal.note(f"Left out {name}: {reason}")
    for name, what in report.lost:
        terminal.note(f"{name}: {what}")
    terminal.document(case_export_to_json(arguments.out, report))
    were = "was" if report.written == 1 else "were"
    terminal.say(f"{counted(report.written, 'case')} {were} written to {output_name(arguments.out)}.")
    return 1 if report.left_out else 0


async def list_cases(arguments: Namespace, terminal: Terminal) -> None:
    """List the cases."""
    async with opened(arguments, terminal) as engine:
        cases = await engine.cases.in_groups(arguments.suite, arguments.tag)
    terminal.document({"cases": [case_to_json(case) for case in cases]})
    drafts = [(case.id, case.draft) for case in cases]
    rows = [(id_, one.name, one.expectation.label, one.origin, ", ".join(one.suites)) for id_, one in drafts]
    terminal.say(*table(("ID", "NAME", "EXPECTED", "ORIGIN", "SUITES"), rows))


async def show(arguments: Namespace, terminal: Terminal) -> None:
    """Show one case."""
    async with opened(arguments, terminal) as engine:
        [case] = await engine.cases.named([arguments.case])
    shape = case_to_json(case)
    terminal.document(shape)
    terminal.say(*(f"{key:10} {value}" for key, value in shape.items() if value not in ([], "")))


async def families(arguments: Namespace, terminal: Terminal) -> None:
    """List proposed families; only --apply stores any."""
    async with opened(arguments, terminal) as engine:
        await engine.cases.in_groups(arguments.suite, arguments.tag)
        proposals = await engine.families.propose(suites=arguments.suite, tags=arguments.tag)
        if arguments.apply is not None:
            proposals = engine.families.named(arguments.apply, proposals)
            joined = [(case, proposal.name) for proposal in proposals for case in proposal.cases]
            wanted = {case.id: replace(case.draft, family=name) for case, name in joined}
            await engine.cases.edit_all(wanted, seen={case.id: case.draft for case, _ in joined})
    shapes = [{"family": one.name, "cases": [case_to_json(case) for case in one.cases]} for one in proposals]
    terminal.document({"families": shapes, "applied": arguments.apply is not None})
    rows = [(one.name, case.name, case.draft.query) for one in proposals for case in one.cases]
    terminal.say(*table(("FAMILY", "CASE", "QUERY"), rows, none="No cases paraphrase one another."))
    if rows and arguments.apply is None:
        terminal.say("", "Nothing was changed. Store them with: mcp-tef cases families --apply [FAMILY ...]")


async def remove(arguments: Namespace, terminal: Terminal) -> None:
    """Remove cases, all or none."""
    async with opened(arguments, terminal) as engine:
        cases = await engine.cases.named(arguments.cases)
        runs = await _require_removable(engine, cases, arguments, terminal)
        await engine.cases.remove([case.id for case in cases])
    terminal.document({"removed": [case.id for case in cases], "runs": runs})
    gone = f" with {counted(runs, 'run')}" if runs else ""
    terminal.say(*(f"{case.name} was removed." for case in cases), *([f"Removed{gone}."] if runs else []))
