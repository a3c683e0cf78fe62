"""`cases add` and `cases edit`, from options, and the review of recorded conversations, from questions and answers."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_tef import (
    CaseDraft,
    CaseFileFormat,
    CaseImportPreview,
    Expectation,
    ImportedCase,
    ImportStatus,
    InputError,
    Json,
    case_to_json,
    expectation_from_json,
)
from mcp_tef.cli.arguments import add_verb
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal

if TYPE_CHECKING:
    from mcp_tef import TestCase
    from mcp_tef.cli.arguments import Parser, Verbs
    from mcp_tef.cli.terminal import Terminal


LISTS = {"server": "servers", "suite": "suites", "tag": "tags"}


def register(group: Verbs) -> None:
    """Add the verbs to the group `cases`."""
    add_parser = add_verb(group, "add", "add one case", add)
    add_parser.add_argument("query", metavar="QUERY", help="what the user would say")
    _add_fields(add_parser, required=True)
    edit_parser = add_verb(group, "edit", "change one case; options that you leave out keep their values", edit)
    edit_parser.add_argument("case", metavar="ID", help="an id, or a name")
    edit_parser.add_argument("--query", metavar="QUERY", help="what the user would say")
    _add_fields(edit_parser, required=False)


def _add_fields(parser: Parser, *, required: bool) -> None:
    expected = parser.add_mutually_exclusive_group(required=required)
    expected.add_argument("--tool", metavar="T", help="the tool that should be called, with any arguments")
    expected.add_argument("--no-tool", action="store_true", help="no tool should be called")
    expected.add_argument("--expected", metavar="JSON", help="the expectation, as in case files")
    parser.add_argument("--name", metavar="NAME", help="its name (default: the first line of the query)")
    parser.add_argument("--family", metavar="NAME", help="the family of paraphrases that it belongs to")
    for option, field in LISTS.items():
        parser.add_argument(f"--{option}", dest=field, action="append", metavar="NAME", help=f"one of its {field}")


async def add(arguments: Namespace, terminal: Terminal) -> int:
    """Add one case."""
    draft = _changed(CaseDraft(name="", query=""), arguments)
    async with opened(arguments, terminal) as engine:
        for name in draft.servers:
            await engine.servers.find(name)
        [case] = await engine.cases.add([draft])
        _tell(case, "was added", await engine.cases.warnings(case.draft), terminal)
    return 0


async def edit(arguments: Namespace, terminal: Terminal) -> int:
    """Change one case; its past runs keep their verdicts."""
    async with opened(arguments, terminal) as engine:
        [case] = await engine.cases.named([arguments.case])
        draft = _changed(case.draft, arguments)
        for name in arguments.servers or ():
            await engine.servers.find(name)
        case = await engine.cases.edit(case.id, draft)
        _tell(case, "was changed", await engine.cases.warnings(case.draft), terminal)
    return 0


def _changed(draft: CaseDraft, arguments: Namespace) -> CaseDraft:
    given: dict[str, Any] = {key: getattr(arguments, key) for key in ("query", "name", "family")}
    given |= {
        key: values and tuple(dict.fromkeys(values)) for key in LISTS.values() if (values := vars(arguments)[key])
    }
    given["expectation"] = _expectation(arguments)
    return replace(draft, **{key: value for key, value in given.items() if value is not None})


def _expectation(arguments: Namespace) -> Expectation | None:
    if arguments.no_tool:
        return Expectation()
    if arguments.tool:
        return expectation_from_json([{"tool": arguments.tool}])
    if arguments.expected is None:
        return None
    try:
        return expectation_from_json(json.loads(arguments.expected))
    except (ValueError, RecursionError):
        hint = 'Write for example [{"tool": "search", "parameters": {"query": "rain"}}].'
        raise InputError("--expected is not valid JSON.", hint=hint) from None


def _tell(case: TestCase, done: str, warnings: tuple[str, ...], terminal: Terminal) -> None:
    for warning in warnings:
        terminal.note(f"{case.name}: {warning}")
    terminal.document(case_to_json(case))
    terminal.say(f"{case.name} {done}: it expects {case.draft.expectation.label}.")


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
