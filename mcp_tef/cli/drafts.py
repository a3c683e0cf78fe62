"""`draft …`: change the tools of a listing without touching the server, and hand the changes over."""

from __future__ import annotations

import json
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_tef import (
    INSTRUCTIONS,
    DraftFormat,
    InputError,
    ParameterEdit,
    ToolEdit,
    conflict_to_json,
    draft_format,
    draft_summary_to_json,
    draft_text,
    draft_to_json,
    left_out_of_override,
    prediction_to_json,
    trials_evidence,
    write_draft,
)
from mcp_tef.cli.arguments import FAILED, add_group, add_list_option, add_verb
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.output_files import (
    STANDARD_OUTPUT,
    is_standard_output,
    output_name,
    parsed_json,
    read_json,
    read_text,
    writable,
)
from mcp_tef.cli.session import add_consent_options, opened, with_consent
from mcp_tef.cli.terminal import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_tef import Draft, Json, Neighbour, Prediction, ToolPrediction
    from mcp_tef.cli.arguments import Parser, Verbs
    from mcp_tef.cli.terminal import Terminal

QUOTED = 'Write texts in quotes, such as "open".'


def register(verbs: Verbs) -> None:
    """Add the verbs."""
    group = add_group(verbs, "draft", "change tools in a draft, without touching the server")
    new_parser = _named(add_verb(group, "new", "make a draft over the tools of a server or file", new))
    source = new_parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--server", metavar="S", help="a registered server, with its last listing")
    source.add_argument("--tools-file", metavar="F", help="a saved tools/list answer, or an array of tools")
    add_consent_options(new_parser)
    add_verb(group, "list", "list the drafts", list_drafts, reads=True)
    _named(add_verb(group, "show", "show what a draft changes", show, reads=True))
    _named(add_verb(group, "predict", "predict what a draft changes, without a model", predict, reads=True))
    _add_set(_named(add_verb(group, "set", "change one tool in a draft, or the server's instructions", set_tool)))
    add_parser = _named(add_verb(group, "add", "add a tool to a draft", add))
    add_parser.add_argument("file", metavar="FILE", help="its definition as JSON; - is standard input")
    patch_parser = _named(add_verb(group, "patch", "apply an RFC 6902 patch to a draft", patch))
    patch_parser.add_argument("file", metavar="FILE", help="the operations as JSON; - is standard input")
    _named(add_verb(group, "undo", "take back the last step of a draft", undo))
    _named(add_verb(group, "redo", "apply a step again that was undone", redo))
    rebase_parser = _named(add_verb(group, "rebase", "move a draft to the last listing of its server", rebase))
    rebase_parser.add_argument("--tools-file", metavar="F", help="move it to the tools of this file instead")
    rebase_parser.add_argument(
        "--keep", choices=("draft", "listing"), help="whose text to keep where the draft and the listing changed it"
    )
    export_parser = _named(add_verb(group, "export", "write the changes of a draft to a file", export, reads=True))
    export_parser.add_argument("--out", type=writable, metavar="F", help="a file; - or none is standard output")
    formats = [kind.value for kind in DraftFormat]
    export_parser.add_argument("--format", choices=formats, help="(default: by the ending of the file, else patch)")
    _named(add_verb(group, "remove", "delete a draft", remove))


def _named(parser: Parser) -> Parser:
    parser.add_argument("name", metavar="NAME", help="name of the draft")
    return parser


def _add_set(parser: Parser) -> None:
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="name of the tool in the draft")
    parser.add_argument("--instructions", metavar="FILE", help="file with the server's new instructions; no TOOL then")
    parser.add_argument("--description", metavar="FILE", help="file with the new description; - is standard input")
    parser.add_argument("--title", metavar="TEXT", help='the new title; "" takes it away')
    parser.add_argument("--rename", metavar="NAME", help="the new name of the tool")
    add_list_option(parser, "--annotation", "NAME=JSON", "null takes one away")
    parser.add_argument("--parameter", metavar="P", help="change this parameter; one of an object as outer.inner")
    parser.add_argument("--parameter-description", metavar="TEXT", help="its description")
    parser.add_argument("--rename-parameter", metavar="NAME", help="its new name")
    parser.add_argument("--enum", metavar="JSON", help="its allowed values as a list; [] takes them away")
    parser.add_argument("--default", metavar="JSON", help="its default value")
    parser.add_argument("--no-default", action="store_true", help="it has no default value")
    needed = parser.add_mutually_exclusive_group()
    needed.add_argument("--required", action="store_true", default=None, help="it has to be given")
    needed.add_argument("--optional", dest="required", action="store_false", help="it may be left out")
    parser.add_argument("--remove", action="store_true", help="remove the tool from the draft")


async def new(arguments: Namespace, terminal: Terminal) -> None:
    """Make a draft."""
    async with opened(arguments, terminal) as engine:
        make = partial(engine.drafts.new, arguments.name, server=arguments.server, tools_file=arguments.tools_file)
        draft = await with_consent(engine, arguments, terminal, make)
        terminal.document(draft_to_json(draft))
        terminal.say(f"The draft {draft.name} stands over {counted(len(draft.base), 'tool')}.")


async def list_drafts(arguments: Namespace, terminal: Terminal) -> None:
    """List the drafts, oldest first."""
    async with opened(arguments, terminal) as engine:
        drafts = await engine.drafts.list()
    terminal.document({"drafts": [draft_summary_to_json(draft) for draft in drafts]})
    rows = [(one.name, one.server or "a tools file", ", ".join(one.changed_tools()) or "nothing") for one in drafts]
    terminal.say(*table(("Draft", "Over", "Changes"), rows, none="There is no draft yet."))


async def show(arguments: Namespace, terminal: Terminal) -> None:
    """Show the changes of a draft."""
    async with opened(arguments, terminal) as engine:
        draft = await engine.drafts.find(arguments.name)
        if draft.server and await engine.drafts.newer_listing(draft):
            terminal.note(f"{draft.server} lists other tools by now. Move the draft with: mcp-tef draft rebase NAME")
    terminal.document(draft_to_json(draft))
    terminal.say(_steps(draft), *(line for change in draft_to_json(draft)["changes"] for line in _change(change)))


def _steps(draft: Draft) -> str:
    undone = len(draft.steps) - draft.step
    return f"{draft.name}: {counted(draft.step, 'step')}" + (f", {undone} undone" if undone else "")


def _change(change: dict[str, Any]) -> list[str]:
    if change["change"] != "changed":
        return ["", f"{change['tool']} is {change['change']}"]
    fields = (
        _columns(" / ".join(one["path"]), {"before": one["before"], "after": one["after"]}) for one in change["fields"]
    )
    return ["", change["tool"], *(f"  {line}" for lines in fields for line in lines)]


def _columns(title: str, texts: dict[str, Json]) -> list[str]:
    """Return a title and whole texts below each other, each on one line; a missing one is a dash."""
    width = max(map(len, texts)) + 2
    return [title, *(f"  {label:{width}}{' '.join(_text(text).split()) or '–'}" for label, text in texts.items())]


def _text(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


async def predict(arguments: Namespace, terminal: Terminal) -> None:
    """Predict the effects of a draft by search and rules."""
    async with opened(arguments, terminal) as engine:
        draft = await engine.drafts.find(arguments.name)
        prediction = await engine.predictions.predict(draft)
        names = {case.id: case.told_name for case in await engine.cases.list()}
    if prediction is None:  # Only a newer prediction cancels one, and here is none.
        return
    terminal.document(prediction_to_json(draft, prediction, names))
    terminal.say(*(line for one in prediction.tools for line in _predicted(one)), *_predicted_set(prediction))
    changed = [one for one in prediction.cases if one.passed_before != one.passed_after]
    rows = [(names[one.case_id], _rank(one.rank_before), _rank(one.rank_after)) for one in changed]
    terminal.say(*(table(("Case", "Rank with original", "Rank with draft"), rows) if rows else []))
    terminal.note("Found by search; no model was asked. To ask one, use: mcp-tef try NAME --model M")


def _rank(rank: int | None) -> str:
    return "not offered" if rank is None else f"{rank:,}"


def _predicted(one: ToolPrediction) -> list[str]:
    """Return lines on one changed tool."""
    nearest = [next((f"{each.tool} {each.similarity:.2f}" for each in side), "none") for side in _sides(one)]
    newly = f"; newly near: {', '.join(each.tool for each in one.newly_near)}" if one.newly_near else ""
    return [
        one.name,
        f"  Tokens: {one.tokens_before:,} → {one.tokens_after:,}",
        f"  Nearest tool: {nearest[0]} → {nearest[1]}{newly}",
        *(f"  Finding gone: {finding.rule.title} ({finding.place})" for finding in one.findings_gone),
        *(f"  New finding: {finding.sentence} {finding.fix}" for finding in one.findings_new),
    ]


def _sides(one: ToolPrediction) -> tuple[Sequence[Neighbour], Sequence[Neighbour]]:
    return one.neighbours_before, one.neighbours_after


def _predicted_set(prediction: Prediction) -> list[str]:
    """Return lines on all tools and cases."""
    cases, record = prediction.cases, prediction.record
    before, after = sum(one.passed_before for one in cases), sum(one.passed_after for one in cases)
    found = f"Search finds the expected tool: {before:,} → {after:,} of {counted(len(cases), 'case')}"
    right = f"Its direction was right in {record.right:,} of {counted(record.trials, 'trial')} here."
    return [
        f"All tools: {prediction.set_tokens_before:,} → {prediction.set_tokens_after:,} tokens",
        f"{found}; {prediction.fixed:,} fixed, {prediction.broken:,} broken." if cases else "There is no case yet.",
        *([right] if record.trials else []),
    ]


async def set_tool(arguments: Namespace, terminal: Terminal) -> None:
    """Change one tool of a draft, or the instructions of its server."""
    edit = _edit(arguments) if arguments.instructions is None else _edit_of_instructions(arguments)
    if arguments.tool is None:
        raise InputError("No tool is named.", hint="Name one, or add --instructions FILE.", code="bad_usage")
    if edit == ToolEdit() and not arguments.remove:
        hint = "Give an option such as --description FILE; see mcp-tef help draft set."
        raise InputError("Nothing was given to change.", hint=hint, code="bad_usage")
    async with opened(arguments, terminal) as engine:
        draft = await engine.drafts.find(arguments.name)
        if arguments.remove:
            draft = await engine.drafts.remove_tool(draft.id, arguments.tool)
        else:
            draft = await engine.drafts.edit(draft.id, arguments.tool, edit, seen=draft)
        _tell(draft, terminal)


def _edit_of_instructions(arguments: Namespace) -> ToolEdit:
    """Return the edit of the server's instructions, which stand in the place of the tool. InputError beside one."""
    if arguments.tool is not None or arguments.remove or _edit(arguments) != ToolEdit():
        hint = "Leave out TOOL and its options."
        raise InputError("--instructions changes no tool.", hint=hint, code="bad_usage")
    arguments.tool = INSTRUCTIONS
    return ToolEdit(description=read_text(Path(arguments.instructions)).strip())


def _edit(arguments: Namespace) -> ToolEdit:
    return ToolEdit(
        rename=arguments.rename,
        title=arguments.title,
        description=None if arguments.description is None else read_text(Path(arguments.description)).rstrip("\n"),
        annotations=dict(map(_annotation, arguments.annotation)),
        parameters=() if (edit := _parameter_edit(arguments)) is None else (edit,),
    )


def _parameter_edit(arguments: Namespace) -> ParameterEdit | None:
    """Return the edit of the parameter that is named; InputError where options need a name that is not given."""
    edit = ParameterEdit(
        name=arguments.parameter or "",
        rename=arguments.rename_parameter,
        description=arguments.parameter_description,
        enum=None if arguments.enum is None else _list(arguments.enum),
        default=None if arguments.default is None else parsed_json("--default", arguments.default, QUOTED),
        has_default=arguments.default is not None,
        without_default=arguments.no_default,
        required=arguments.required,
    )
    if arguments.parameter is None and edit != ParameterEdit(name=""):
        raise InputError("No parameter is named.", hint="Add --parameter NAME.", code="bad_usage")
    return None if arguments.parameter is None else edit


def _annotation(text: str) -> tuple[str, Json]:
    name, separator, value = text.partition("=")
    if not separator:
        raise InputError(f"--annotation {text} has no value.", hint="Write for example readOnlyHint=true.")
    return name, parsed_json("--annotation", value, QUOTED)


def _list(text: str) -> list[Json]:
    value = parsed_json("--enum", text, QUOTED)
    if not isinstance(value, list):
        raise InputError("--enum is not a list.", hint='Write for example ["open", "closed"].')
    return value


async def add(arguments: Namespace, terminal: Terminal) -> None:
    """Add a tool to a draft."""
    definition = read_json(arguments.file)
    if not isinstance(definition, dict):
        raise InputError(f"{arguments.file} holds no tool.", hint='Write {"name": …, "inputSchema": {…}}.')
    async with opened(arguments, terminal) as engine:
        draft = await engine.drafts.find(arguments.name)
        _tell(await engine.drafts.add_tool(draft.id, definition), terminal)


async def patch(arguments: Namespace, terminal: Terminal) -> None:
    """Apply a patch to a draft as one step."""
    operations = read_json(arguments.file)
    async with opened(arguments, terminal) as engine:
        draft = await engine.drafts.find(arguments.name)
        _tell(await engine.drafts.apply(draft.id, operations), terminal)


async def undo(arguments: Namespace, terminal: Terminal) -> None:
    """Take back one step."""
    async with opened(arguments, terminal) as engine:
        draft = await engine.drafts.find(arguments.name)
        _tell(await engine.drafts.undo(draft.id, seen=draft), terminal)


async def redo(arguments: Namespace, terminal: Terminal) -> None:
    """Apply one step again."""
    async with opened(arguments, terminal) as engine:
        draft = await engine.drafts.find(arguments.name)
        _tell(await engine.drafts.redo(draft.id, seen=draft), terminal)


def _tell(draft: Draft, terminal: Terminal) -> None:
    terminal.document(draft_to_json(draft))
    changed = ", ".join(draft.changed_tools()) or "nothing"
    terminal.say(f"{_steps(draft)}. It changes {changed}.")


async def rebase(arguments: Namespace, terminal: Terminal) -> int:
    """Move a draft; 1, and nothing is changed, where both changed a text and neither is to be kept."""
    keep = None if arguments.keep is None else arguments.keep == "draft"
    async with opened(arguments, terminal) as engine:
        draft = await engine.drafts.find(arguments.name)
        found = await engine.drafts.rebase(draft.id, keep_draft=keep, tools_file=arguments.tools_file)
    conflicts = [conflict_to_json(one) for one in found.conflicts]
    left = bool(conflicts) and keep is None
    terminal.document({**draft_to_json(found.draft), "conflicts": conflicts, "rebased": not left})
    for one in found.conflicts:
        terminal.say(*_columns(f"{one.tool}, {one.field}", {"was": one.was, "now": one.now, "draft": one.draft}))
    if left:
        terminal.note("Nothing was changed. Keep one side with --keep draft or --keep listing.")
        return FAILED
    terminal.say(f"{_steps(found.draft)}. It changes {', '.join(found.draft.changed_tools()) or 'nothing'}.")
    return 0


async def export(arguments: Namespace, terminal: Terminal) -> None:
    """Write the changes of a draft."""
    async with opened(arguments, terminal) as engine:
        draft = await engine.drafts.find(arguments.name)
        evidence = trials_evidence(await engine.trials.evidence(draft))
    out = arguments.out or STANDARD_OUTPUT
    kind = draft_format(out, arguments.format or (DraftFormat.PATCH if is_standard_output(out) else None))
    if kind is DraftFormat.OVERRIDE and (left_out := left_out_of_override(draft)):
        terminal.note(f"An override cannot hold: {', '.join(left_out)}.")
    told = {"draft": draft.name, "format": kind.value}
    if arguments.out is None:
        text = draft_text(draft, kind, evidence=evidence)
        terminal.document(told | {"text": text})
        terminal.say(*text.rstrip("\n").split("\n"))
        return
    write_draft(draft, out, kind, evidence=evidence)
    terminal.document(told | {"file": str(out)})
    terminal.say(f"The {kind.value} of {draft.name} was written to {output_name(out)}.")


async def remove(arguments: Namespace, terminal: Terminal) -> None:
    """Delete a draft with its steps; it holds no results."""
    async with opened(arguments, terminal) as engine:
        draft = await engine.drafts.find(arguments.name)
        await engine.trials.require_idle(draft)
        await engine.drafts.remove([draft.id])
        terminal.document({"removed": draft.name})
        terminal.say(f"The draft {draft.name} was removed.")
