"""`cases add`, `edit`, `draft` and `check`: cases from options, from recorded conversations, or proposed for tools."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
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
    case_finding_to_json,
    case_to_json,
    drafted_cases_to_json,
    expectation_from_json,
)
from mcp_tef.cli.arguments import FAILED, add_list_option, add_suite_options, add_verb
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.model_options import (
    add_key_option,
    add_writer_options,
    allow_typed_addresses,
    read_keys,
    tell_estimate,
    writer,
)
from mcp_tef.cli.output_files import is_standard_output, output_name, parsed_json, writable
from mcp_tef.cli.session import opened, with_consent
from mcp_tef.cli.terminal import Terminal, table
from mcp_tef.cli.tool_options import add_source_options, code_of, gather

if TYPE_CHECKING:
    from mcp_tef import DraftedCases, Engine, TestCase
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
    held = "hide it where drafts are edited; trials ask it (default: no)"
    parser.add_argument("--held-back", choices=("yes", "no"), help=held)
    for option, field in LISTS.items():
        parser.add_argument(f"--{option}", dest=field, action="append", metavar="NAME", help=f"one of its {field}")


async def add(arguments: Namespace, terminal: Terminal) -> None:
    """Add one case."""
    draft = _changed(CaseDraft(name="", query=""), arguments)
    async with opened(arguments, terminal) as engine:
        for name in draft.servers:
            await engine.servers.find(name)
        [case] = await engine.cases.add([draft])
        _tell(case, "was added", await engine.cases.warnings(case.draft), terminal)


async def edit(arguments: Namespace, terminal: Terminal) -> None:
    """Change one case; its past runs keep their verdicts."""
    async with opened(arguments, terminal) as engine:
        [case] = await engine.cases.named([arguments.case])
        draft = _changed(case.draft, arguments)
        for name in arguments.servers or ():
            await engine.servers.find(name)
        case = await engine.cases.edit(case.id, draft, seen=case.draft)
        _tell(case, "was changed", await engine.cases.warnings(case.draft), terminal)


def _changed(draft: CaseDraft, arguments: Namespace) -> CaseDraft:
    given: dict[str, Any] = {key: getattr(arguments, key) for key in ("query", "name", "family")}
    given |= {
        key: values and tuple(dict.fromkeys(values)) for key in LISTS.values() if (values := vars(arguments)[key])
    }
    given["expectation"] = _expectation(arguments)
    given["held_back"] = {"yes": True, "no": False}.get(arguments.held_back)
    return replace(draft, **{key: value for key, value in given.items() if value is not None})


def _expectation(arguments: Namespace) -> Expectation | None:
    if arguments.no_tool:
        return Expectation()
    if arguments.tool:
        return expectation_from_json([{"tool": arguments.tool}])
    if arguments.expected is None:
        return None
    hint = 'Write for example [{"tool": "search", "parameters": {"query": "rain"}}].'
    return expectation_from_json(parsed_json("--expected", arguments.expected, hint))


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


def register_drafts(group: Verbs) -> None:
    """Add the verbs to the group `cases`."""
    parser = add_verb(group, "draft", "propose test cases for the tools of a server", draft)
    add_source_options(parser)
    add_list_option(parser, "--tool", "T", "only for this tool")
    add_writer_options(parser, "the model that writes (default: from the definitions alone)")
    parser.add_argument("--offline", action="store_true", help="ask no model: draft from the definitions alone")
    add_key_option(parser)
    seeded = "another number gives other drafts (default: 0)"
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=seeded)
    parser.add_argument("--out", type=writable, metavar="F", help="write the drafts to a case file; nothing is added")
    add_suite_options(add_verb(group, "check", "find cases whose expectation or query may be wrong", check, reads=True))


async def draft(arguments: Namespace, terminal: Terminal) -> int:
    """Print drafts by tool, then write them to a file or add them after a yes; 1 if a tool could not be drafted for."""
    from mcp_tef.cli.progress import Progress

    model = writer(arguments)
    if arguments.offline and model:
        raise InputError("--offline asks no model.", hint="Leave out --model or --offline.", code="bad_usage")
    keys = read_keys(arguments, terminal, [model.provider] if model else [])
    async with opened(arguments, terminal) as engine:
        tool_set = await gather(engine, arguments, terminal, at_least=1)
        plan = await engine.case_drafting.plan(tool_set, tools=arguments.tool, seed=arguments.seed)
        if model:
            tell_estimate(await engine.case_drafting.estimate(plan, model), model, terminal)
            allow_typed_addresses(engine, [model])
        hear = Progress(terminal).heard
        ask = partial(
            engine.case_drafting.draft,
            plan,
            model=model,
            keys=keys,
            max_cost_usd=arguments.max_cost,
            progress=hear,
        )
        found = await with_consent(engine, arguments, terminal, ask)
        _tell_drafts(found, terminal)
        added = await _keep(engine, found, arguments, terminal)
    terminal.document({**drafted_cases_to_json(found), "file": arguments.out and str(arguments.out), "added": added})
    return code_of(tool_set) or (FAILED if found.failures else 0)


def _tell_drafts(found: DraftedCases, terminal: Terminal) -> None:
    for (server, tool), drafts in groupby(found.drafts, lambda one: (one.server, one.tool)):
        name = " / ".join(filter(None, (server, tool or "no tool")))
        terminal.say(name, *(f"  {one.kind.replace('_', ' '):9}  {one.draft.query}" for one in drafts), "")
    _tell_missing(found, terminal)
    tools = len({(one.server, one.tool) for one in found.drafts if one.tool})
    terminal.say(f"{counted(len(found.drafts), 'draft')} for {counted(tools, 'tool')}, {len(found.refused)} refused.")
    if found.left_out:
        terminal.say(
            f"{counted(len(found.left_out), 'tool')} left out: ask a model for them with --model, or write cases."
        )


def _tell_missing(found: DraftedCases, terminal: Terminal) -> None:
    for tool, failure in found.failures:
        terminal.note(f"{tool}: {failure.message} {failure.hint}".rstrip())
    for refused in found.refused:
        terminal.note(f"Refused: “{refused.query}” {refused.reason}")
    for tool, reason in found.left_out:
        terminal.note(f"Left out: {tool}. {reason}")


async def _keep(engine: Engine, found: DraftedCases, arguments: Namespace, terminal: Terminal) -> int:
    """Write the drafts, or add them if the user agrees; return the number of cases added."""
    drafts = [one.draft for one in found.drafts]
    if not drafts:
        return 0
    if arguments.out is not None:
        await engine.case_files.write_drafts(arguments.out, drafts, _format(arguments.out))
        terminal.say(f"They were written to {output_name(arguments.out)}.")
        return 0
    agreed = arguments.yes or (
        terminal.asks and terminal.confirms(f"Add {counted(len(drafts), 'case')} to the workspace?")
    )
    if not agreed:
        terminal.say("Nothing was added. Write them to a file with --out F, or add them with --yes.")
        return 0
    cases = await engine.cases.add(drafts)
    terminal.say(f"{counted(len(cases), 'case')} {'was' if len(cases) == 1 else 'were'} added.")
    return len(cases)


def _format(out: Path) -> CaseFileFormat | None:
    """Return the format of drafts; None where the ending of the file names it."""
    return CaseFileFormat.TEF if is_standard_output(out) else None


async def check(arguments: Namespace, terminal: Terminal) -> None:
    """List doubtful cases, each with the actions that would answer the doubt."""
    async with opened(arguments, terminal) as engine:
        await engine.cases.in_groups(arguments.suite, arguments.tag)
        findings = await engine.case_checks.find(suites=arguments.suite, tags=arguments.tag)
    terminal.document({"findings": [case_finding_to_json(one) for one in findings]})
    rows = [(one.name, one.doubt.replace("_", " "), one.sentence) for one in findings]
    terminal.say(*table(("CASE", "DOUBT", "WHY"), rows, none="No case is in doubt."))
