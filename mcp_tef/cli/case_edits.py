"""`cases add` and `cases edit`: one case from options."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_tef import CaseDraft, Expectation, InputError, case_to_json, expectation_from_json
from mcp_tef.cli.arguments import add_verb
from mcp_tef.cli.session import opened

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
