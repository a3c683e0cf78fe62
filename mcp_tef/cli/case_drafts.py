"""`cases draft` and `cases check`: propose test cases for tools, and find cases that may be wrong."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import CaseFileFormat, InputError, case_finding_to_json, drafted_cases_to_json
from mcp_tef.cli.arguments import add_verb
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.output_files import is_standard_output, output_name, writable
from mcp_tef.cli.session import opened, with_consent
from mcp_tef.cli.terminal import table
from mcp_tef.cli.verb_options import add_source_options, add_writer_options, code_of, gather, tell_estimate, writer

if TYPE_CHECKING:
    from mcp_tef import DraftedCases, Engine
    from mcp_tef.cli.arguments import Verbs
    from mcp_tef.cli.terminal import Terminal

SOME_FAILED = 1


def register(group: Verbs) -> None:
    """Add the verbs to the group `cases`."""
    parser = add_verb(group, "draft", "propose test cases for the tools of a server", draft)
    add_source_options(parser)
    parser.add_argument("--tool", action="append", default=[], metavar="T", help="only for this tool")
    add_writer_options(parser, "the model that writes (default: from the definitions alone)")
    parser.add_argument("--offline", action="store_true", help="ask no model: draft from the definitions alone")
    parser.add_argument("--key-stdin", action="store_true", help="read the provider's key from standard input")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="another number gives other drafts (default: 0)"
    )
    parser.add_argument("--out", type=writable, metavar="F", help="write the drafts to a case file; nothing is added")
    check_parser = add_verb(group, "check", "find cases whose expectation or query may be wrong", check, reads=True)
    check_parser.add_argument("--suite", action="append", default=[], metavar="S", help="only cases of this suite")
    check_parser.add_argument("--tag", action="append", default=[], metavar="T", help="only cases with this tag")


async def draft(arguments: Namespace, terminal: Terminal) -> int:
    """Print drafts by tool, then write them to a file or add them after a yes; 1 if a tool could not be drafted for."""
    from mcp_tef.cli.progress import Progress
    from mcp_tef.cli.run import allow_typed_addresses, read_keys

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
        _tell(found, terminal)
        added = await _keep(engine, found, arguments, terminal)
    terminal.document({**drafted_cases_to_json(found), "file": arguments.out and str(arguments.out), "added": added})
    return code_of(tool_set) or (SOME_FAILED if found.failures else 0)


def _tell(found: DraftedCases, terminal: Terminal) -> None:
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


async def check(arguments: Namespace, terminal: Terminal) -> int:
    """List doubtful cases, each with the actions that would answer the doubt."""
    async with opened(arguments, terminal) as engine:
        await engine.cases.in_groups(arguments.suite, arguments.tag)
        findings = await engine.case_checks.find(suites=arguments.suite, tags=arguments.tag)
    terminal.document({"findings": [case_finding_to_json(one) for one in findings]})
    rows = [(one.name, one.doubt.replace("_", " "), one.sentence) for one in findings]
    terminal.say(*(table(("CASE", "DOUBT", "WHY"), rows) if rows else ["No case is in doubt."]))
    return 0
