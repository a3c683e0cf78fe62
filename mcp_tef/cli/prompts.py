"""`prompts …`: versioned prompt templates, and two of them compared by a trial."""

from __future__ import annotations

import shlex
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import (
    BUILT_IN_VARIABLES,
    REPEATS,
    RETRIES,
    SEED,
    TEMPERATURE,
    TIMEOUT,
    DraftId,
    InputError,
    PromptKind,
    PromptTemplate,
    TrialRequest,
    prompt_to_json,
    variables_in,
    word_changes,
)
from mcp_tef.cli.arguments import add_group, add_verb
from mcp_tef.cli.model_options import (
    add_cost_options,
    add_key_options,
    add_one_model_options,
    add_variable_option,
    writer,
)
from mcp_tef.cli.output_files import read_text
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import table

if TYPE_CHECKING:
    from mcp_tef import ModelSettings
    from mcp_tef.cli.arguments import Parser, Verbs
    from mcp_tef.cli.terminal import Terminal

ROUNDS = 5


def register(verbs: Verbs) -> None:
    """Add the verbs."""
    group = add_group(verbs, "prompts", "keep prompt templates in versions, and compare two by a trial")
    add_verb(group, "list", "list the prompts", list_prompts, reads=True)
    show_parser = add_verb(group, "show", "show a prompt with its variables and versions", show, reads=True)
    show_parser.add_argument("prompt", metavar="NAME[@N]", help="a prompt, or one version of it")
    add_parser = add_verb(group, "add", "keep a new prompt, from a file or as a copy", add)
    add_parser.add_argument("name", metavar="NAME", help="name of the new prompt")
    add_parser.add_argument("--kind", choices=[one.value for one in PromptKind], help="what it is for (system)")
    add_parser.add_argument("--from", dest="source", metavar="NAME[@N]", help="start as a copy of this prompt")
    edit_parser = add_verb(group, "edit", "keep the next version of a prompt", edit)
    edit_parser.add_argument("name", metavar="NAME", help="name of the prompt")
    for parser in (add_parser, edit_parser):
        parser.add_argument("--file", type=Path, metavar="F", help="the text; - is standard input")
        add_variable_option(parser, "a variable with its value, or NAME= where each run gives one")
        parser.add_argument("--for-model", metavar="PROVIDER/NAME", help="the model it is meant for (any)")
        parser.add_argument("--note", default="", metavar="TEXT", help="a note on this version")
    diff_parser = add_verb(group, "diff", "show the words that differ between two versions", diff, reads=True)
    diff_parser.add_argument("before", metavar="NAME@N", help="the earlier version")
    diff_parser.add_argument("after", metavar="NAME[@N]", help="the later version")
    remove_parser = add_verb(group, "remove", "remove a prompt with all its versions; runs keep its text", remove)
    remove_parser.add_argument("name", metavar="NAME", help="name of the prompt")
    _register_try(add_verb(group, "try", "ask the same cases with two prompts, and judge which is better", try_prompt))


def _register_try(parser: Parser) -> None:
    from mcp_tef.cli.run import add_choice_options

    parser.add_argument("prompt", metavar="NAME[@N]", help="the prompt to try")
    parser.add_argument("--against", metavar="NAME[@N]", help="the other arm (the version before, else the built-in)")
    add_variable_option(parser, "a value of a variable, for both arms")
    add_choice_options(parser)
    repeats = replace(REPEATS, default=ROUNDS, help="most times per case")
    add_one_model_options(parser, "the model to ask", TIMEOUT, TEMPERATURE, RETRIES, SEED, repeats, required=True)
    add_cost_options(parser)
    add_key_options(parser)
    parser.set_defaults(fail_under=[], fail_if_surely_under=[], case_pass_rate=None, baseline=None, stateless=False)


async def list_prompts(arguments: Namespace, terminal: Terminal) -> None:
    """Print each prompt in a line."""
    async with opened(arguments, terminal) as engine:
        found = await engine.prompts.list()
    terminal.document({"prompts": [prompt_to_json(one) for one in found]})
    rows = [(one.label, one.kind.value, ", ".join(dict.fromkeys(variables_in(one.text))), one.note) for one in found]
    terminal.say(*table(("PROMPT", "KIND", "VARIABLES", "NOTE"), rows))


async def show(arguments: Namespace, terminal: Terminal) -> None:
    """Print the text of a prompt, where each variable comes from, and its versions."""
    async with opened(arguments, terminal) as engine:
        template = await engine.prompts.find(arguments.prompt)
        versions = await engine.prompts.versions(template.name)
    terminal.document(prompt_to_json(template) | {"versions": [one.version for one in versions]})
    meant = f", meant for {template.model}" if template.model else ""
    terminal.say(f"{template.label} ({template.kind}{meant}), {template.note or 'without a note'}", "", template.text)
    terminal.say("", *table(("VARIABLE", "FROM", "VALUE"), _variables(template)))
    terminal.say(f"Versions: {', '.join(str(one.version) for one in versions)}")


def _variables(template: PromptTemplate) -> list[tuple[str, str, str]]:
    own = [(name, "own", value or "given by each run") for name, value in template.variables.items()]
    used = variables_in(template.text)
    return own + [(name, "built in", "") for name in BUILT_IN_VARIABLES[template.kind] if name in used]


async def add(arguments: Namespace, terminal: Terminal) -> None:
    """Keep a new prompt."""
    async with opened(arguments, terminal) as engine:
        start = PromptTemplate(name="", version=0, kind=PromptKind.SYSTEM, text="")
        if arguments.source:
            start = await engine.prompts.find(arguments.source)
        elif not arguments.file:
            raise InputError("A new prompt needs a text.", hint="Add --file F, or --from NAME.", code="bad_usage")
        kind = PromptKind(arguments.kind) if arguments.kind else start.kind
        kept = await engine.prompts.add(_changed(replace(start, name=arguments.name, kind=kind), arguments))
    _tell_kept(kept, terminal)


async def edit(arguments: Namespace, terminal: Terminal) -> None:
    """Keep the next version of a prompt."""
    async with opened(arguments, terminal) as engine:
        kept = await engine.prompts.edit(_changed(await engine.prompts.find(arguments.name), arguments))
    _tell_kept(kept, terminal)


def _changed(start: PromptTemplate, arguments: Namespace) -> PromptTemplate:
    text = read_text(arguments.file).removesuffix("\n") if arguments.file else start.text
    used = variables_in(text)
    kept = {name: value for name, value in start.variables.items() if name in used}
    model = start.model if arguments.for_model is None else arguments.for_model
    return replace(start, text=text, variables={**kept, **dict(arguments.var)}, model=model, note=arguments.note)


def _tell_kept(template: PromptTemplate, terminal: Terminal) -> None:
    terminal.document(prompt_to_json(template))
    terminal.say(f"Kept {template.label}. Use it with: mcp-tef run --prompt {shlex.quote(template.label)}")


async def diff(arguments: Namespace, terminal: Terminal) -> None:
    """Print the words that went and came between two versions."""
    async with opened(arguments, terminal) as engine:
        before, after = [await engine.prompts.find(label) for label in (arguments.before, arguments.after)]
    pieces = word_changes(before.text, after.text)
    changes = [{"removed": gone, "added": came} for _, gone, came in pieces if gone or came]
    terminal.document({"before": before.label, "after": after.label, "changes": changes})
    more, less = (sum(len(one[place].split()) for one in pieces) for place in (2, 1))
    terminal.say(f"From {before.label} to {after.label}: {more} words more, {less} fewer.")
    for both, gone, came in pieces:
        terminal.say(*(f"{mark} {text}" for mark, text in ((" ", both), ("-", gone), ("+", came)) if text))


async def remove(arguments: Namespace, terminal: Terminal) -> None:
    """Remove a prompt with all its versions."""
    async with opened(arguments, terminal) as engine:
        await engine.prompts.remove(arguments.name)
    terminal.document({"removed": arguments.name})
    terminal.say(f"The prompt {arguments.name} was removed. Runs keep its text.")


async def try_prompt(arguments: Namespace, terminal: Terminal) -> int:
    """Try a prompt against another on the same cases; return 1 where it is worse."""
    from mcp_tef.cli.model_options import allow_typed_addresses, read_keys
    from mcp_tef.cli.session import agree_to_servers, wanted_cases
    from mcp_tef.cli.trials import tell_trial, trial_code, tried

    model = _model(arguments)
    keys = read_keys(arguments, terminal, [model.provider])
    async with opened(arguments, terminal) as engine:
        given = dict(arguments.var)
        before, after = await engine.prompts.arms(model, arguments.prompt, arguments.against or "", given)
        cases = await wanted_cases(engine, arguments)
        await agree_to_servers(engine, cases, arguments, terminal)
        allow_typed_addresses(engine, [model], arguments)
        request = TrialRequest(
            draft=DraftId(""),
            settings=after,
            against_settings=before,
            cases=tuple(case.id for case in cases),
            rounds=arguments.repeats,
            seed=arguments.seed or 0,
            max_cost_usd=arguments.max_cost,
            name=f"{after.prompt} against {before.prompt}",
        )
        terminal.note(await engine.trials.what_it_can_show(request.cases))
        found = [await tried(engine, request, keys, arguments, terminal)]
        await tell_trial(engine, found, terminal)
    return trial_code(found)


def _model(arguments: Namespace) -> ModelSettings:
    model = writer(arguments)
    if model is None or model.offline:
        raise InputError("A baseline reads no prompt.", hint="Name a model with --model.", code="bad_usage")
    return replace(model, seed=arguments.seed)
