"""Review of recorded conversations on a terminal: each row is shown, and becomes a case only after a yes."""

import json
from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping, Sequence

from mcp_tef import CaseDraft, CaseFileFormat, CaseImportPreview, ImportedCase, ImportStatus, InputError, Json
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.terminal import Terminal

OFFERED_SHOWN = 8


def reviewed(preview: CaseImportPreview, arguments: Namespace, terminal: Terminal) -> CaseImportPreview:
    """Return what is taken of a recording: all with --accept, else what the user keeps; other files as they are."""
    recorded = preview.form is CaseFileFormat.RECORDING
    wrong = "--prune" if recorded and arguments.prune else "--accept" if arguments.accept and not recorded else ""
    if wrong:
        raise InputError(
            f"{wrong} does not go with {'a' if recorded else 'anything but a'} recording.",
            hint="Leave it out.",
            code="bad_usage",
        )
    return preview.kept(_places(preview, arguments, terminal)) if recorded else preview


def _places(preview: CaseImportPreview, arguments: Namespace, terminal: Terminal) -> Collection[str]:
    drafts = preview.of(ImportStatus.ADDED)
    places = [case.place for case in drafts]
    if arguments.dry_run or arguments.accept or not drafts:
        return places
    if not terminal.asks:
        terminal.note(f"{counted(len(drafts), 'row')} would be new. Nothing was added, since each call is a proposal.")
        terminal.note("Review the rows in a terminal, or take all with --accept.")
        return ()
    tools = {server.name: tuple(map(_name, server.tools)) for server in preview.servers}
    return [case.place for case in drafts if _keeps(case, tools, terminal)]


def _name(tool: Mapping[str, Json]) -> str:
    return str(tool["name"])


def _keeps(case: ImportedCase, tools: Mapping[str, Sequence[str]], terminal: Terminal) -> bool:
    """Show one row of a recording, and ask if it becomes a case."""
    assert case.draft is not None
    terminal.say("", f"{case.place}: {case.draft.query}", *(f"  {line}" for line in _lines(case, case.draft, tools)))
    return terminal.confirms("Is this call right, and does the row become a case?")


def _lines(case: ImportedCase, draft: CaseDraft, tools: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if draft.before:
        yield f"after {counted(len(draft.before), 'earlier message')}"
    offered = [name for server in draft.servers for name in tools.get(server, (server,))]
    more = f" and {len(offered) - OFFERED_SHOWN} more" if len(offered) > OFFERED_SHOWN else ""
    yield f"offered: {', '.join(offered[:OFFERED_SHOWN]) or 'not recorded'}{more}"
    yield f"call: {draft.expectation.label}"
    for call in draft.expectation.alternatives[0]:
        yield f"  {call.tool} {json.dumps(call.parameters or {}, ensure_ascii=False)}"
    yield from case.notes
