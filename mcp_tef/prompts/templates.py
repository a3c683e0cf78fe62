"""Variables of prompt templates: their rules, their values, and the templates that copies start from; pure.

A variable is `{{name}}`. Values are put in once and never read for variables again; there is no code in a template.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from difflib import SequenceMatcher
from typing import Final

from mcp_tef.errors import InputError
from mcp_tef.model.answers import CallingMode
from mcp_tef.model.definitions import BUILT_IN, PromptKind, PromptTemplate
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.search import did_you_mean, nearest
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.prompts.selection_prompt import NATIVE_PROMPT, STRUCTURED_PROMPT, TOOLS_VARIABLE, tool_lines
from mcp_tef.prompts.writing_prompts import (
    REVIEW_PROMPT,
    REWRITE_PROMPT,
    review_data,
    review_request,
    rewrite_data,
    rewrite_request,
)
from mcp_tef.trust.bounds import require_small_text

_VARIABLE: Final = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_OPENING: Final = re.compile(r"\{\{(.{0,20})", re.DOTALL)
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
MOST_COMPARED: Final = 4_000_000
"""Pairs of words of two texts; a comparison of more would take seconds, so that all words count as changed."""
DEFAULT_LANGUAGE: Final = "English"

_OF_SELECTION = ("date", "language", "server_names", "tool_count")
BUILT_IN_VARIABLES: Final[Mapping[PromptKind, tuple[str, ...]]] = {
    PromptKind.SYSTEM: _OF_SELECTION,
    PromptKind.JSON: (*_OF_SELECTION, TOOLS_VARIABLE),
    PromptKind.REVIEW: ("date", "language", "definition"),
    PromptKind.REWRITING: ("date", "language", "definitions"),
}
"""Variables that this program fills, by kind."""
SELECTING_KINDS: Final = (PromptKind.SYSTEM, PromptKind.JSON)
"""Kinds of prompts that runs are asked with."""
_PURPOSES: Final = {PromptKind.REVIEW: "reviewing definitions", PromptKind.REWRITING: "rewriting descriptions"}
REQUIRED_VARIABLE: Final = {
    PromptKind.JSON: TOOLS_VARIABLE,
    PromptKind.REVIEW: "definition",
    PromptKind.REWRITING: "definitions",
}
"""Variable without which a template of the kind would send nothing to work on."""

_DATA = "\n\nThe {0}, as data:\n<{0}>\n{{{{{0}}}}}\n</{0}>"
BUILT_IN_TEMPLATES: Final[Mapping[str, PromptTemplate]] = {
    one.name: one
    for one in (
        PromptTemplate(
            name=BUILT_IN,
            version=NATIVE_PROMPT.version,
            kind=PromptKind.SYSTEM,
            text=NATIVE_PROMPT.task,
            note="A request for a reason and a confidence follows it.",
        ),
        PromptTemplate(
            name=f"{BUILT_IN}-json",
            version=STRUCTURED_PROMPT.version,
            kind=PromptKind.JSON,
            text=f"{STRUCTURED_PROMPT.task}\n\n{STRUCTURED_PROMPT.report}\n{{{{{TOOLS_VARIABLE}}}}}",
            note="For models without tool calling.",
        ),
        PromptTemplate(
            name=f"{BUILT_IN}-review",
            version=REVIEW_PROMPT.version,
            kind=PromptKind.REVIEW,
            text=REVIEW_PROMPT.task + _DATA.format("definition"),
        ),
        PromptTemplate(
            name=f"{BUILT_IN}-rewriting",
            version=REWRITE_PROMPT.version,
            kind=PromptKind.REWRITING,
            text=REWRITE_PROMPT.task + _DATA.format("definitions"),
        ),
    )
}
"""Templates of this program by name; they are shown, never edited, and are where copies start."""


def variables_in(text: str) -> tuple[str, ...]:
    """Return the variables of a text, in order, with repeats."""
    return tuple(_VARIABLE.findall(text))


def template_pieces(text: str) -> tuple[tuple[str, str], ...]:
    """Return a text in pieces, each with the name of the variable that it is; "" for the text between them."""
    pieces, at = list[tuple[str, str]](), 0
    for found in _VARIABLE.finditer(text):
        pieces += [(text[at : found.start()], ""), (found[0], found[1])]
        at = found.end()
    return tuple(one for one in (*pieces, (text[at:], "")) if one[0])


def require_sound(template: PromptTemplate) -> None:
    """Raise InputError where the text or the variables of a template break a rule."""
    text, own = template.text, template.variables
    if not text.strip():
        raise InputError("The prompt has no text.", hint="Write what the model is told.")
    if opening := _OPENING.search(_VARIABLE.sub("", text)):
        raise InputError(
            f"“{{{{{opening[1].strip()}” in the prompt is not a variable.",
            hint="Write {{name}}: letters, digits and _ between two pairs of braces.",
        )
    if wrong := next((name for name in own if not _NAME.fullmatch(name)), None):
        raise InputError(f"“{wrong}” cannot be the name of a variable.", hint="Use letters, digits and _.")
    _require_known(template)


def prompt_fault(template: PromptTemplate) -> InputError | None:
    """Return the rule that a template breaks; None for a sound one."""
    try:
        require_sound(template)
    except InputError as error:
        return error
    return None


def unknown_variables(template: PromptTemplate) -> dict[str, str | None]:
    """Return the variables that a text uses and nobody declares, each with the nearest known name."""
    known = (*template.variables, *BUILT_IN_VARIABLES[template.kind])
    return {name: nearest(name, known) for name in variables_in(template.text) if name not in known}


def _require_known(template: PromptTemplate) -> None:
    """Raise InputError where a variable is unknown, none of those declared is used, or the one with the data lacks."""
    own, used, filled = template.variables, variables_in(template.text), BUILT_IN_VARIABLES[template.kind]
    if unknown := next((name for name in used if name not in own and name not in filled), None):
        _refuse_unknown(f"The prompt uses the variable {{{{{unknown}}}}}, which is not declared.", unknown, own, filled)
    if own and not set(own) & set(used):
        names = ", ".join(own)
        raise InputError(
            f"The prompt uses none of its variables: {names}.", hint=f"Write {{{{{next(iter(own))}}}}} in its text."
        )
    needed = REQUIRED_VARIABLE.get(template.kind)
    if needed and needed not in used:
        raise InputError(
            f"A prompt of the kind {template.kind} needs {{{{{needed}}}}}.", hint="Put it where the data belongs."
        )


def _refuse_unknown(message: str, name: str, own: Collection[str], filled: Collection[str]) -> None:
    known = (*own, *filled)
    otherwise = f"Declare it, or use one of {', '.join(known)}."
    raise InputError(message, hint=did_you_mean(name, known, otherwise))


def given_values(template: PromptTemplate, given: Mapping[str, str]) -> dict[str, str]:
    """Return the values that a run sets: those given, and the template's own. InputError for misspelt or empty ones.

    A built-in variable may be given as well, as {{language}} is.
    """
    own, filled = template.variables, BUILT_IN_VARIABLES[template.kind]
    if unknown := next((name for name in given if name not in own and name not in filled), None):
        _refuse_unknown(f"{template.label} has no variable {unknown}.", unknown, own, filled)
    values = {**own, **given}
    used = set(variables_in(template.text))
    if empty := next((name for name in own if name in used and not values[name].strip()), None):
        raise InputError(f"The variable {empty} of {template.label} has no value.", hint=f"Add --var {empty}=VALUE.")
    return values


def asked_with(
    settings: ModelSettings,
    template: PromptTemplate,
    values: Mapping[str, str],
    kinds: Sequence[PromptKind] = SELECTING_KINDS,
) -> ModelSettings:
    """Return settings that ask with a template of these kinds; a baseline reads none. InputError as `given_values`."""
    if template.kind not in kinds:
        purposes = [_PURPOSES.get(one, "selecting tools") for one in (template.kind, kinds[0])]
        raise InputError(
            f"{template.label} is a prompt for {purposes[0]}, not for {purposes[1]}.",
            hint=f"Name one of the kind {' or '.join(kinds)}.",
        )
    given = given_values(template, values)
    if settings.offline:
        return settings
    return replace(
        settings,
        prompt=template.label,
        system_prompt=template.text,
        variables=tuple(sorted(given.items())),
        mode=CallingMode.JSON if template.kind is PromptKind.JSON else settings.mode,
    )


def selection_values(tools: Sequence[OfferedTool], today: date) -> dict[str, str]:
    """Return the values that this program fills for a question about tools."""
    return {
        "date": today.isoformat(),
        "language": DEFAULT_LANGUAGE,
        "server_names": ", ".join(dict.fromkeys(one.tool.server for one in tools)),
        "tool_count": str(len(tools)),
        TOOLS_VARIABLE: tool_lines(tools),
    }


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with the values of its variables; one without a value stays as it is. InputError over 1 MB."""
    require_small_text(variables_in(text), values)
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), text)


def review_text(settings: ModelSettings, definition: str) -> str:
    """Return the request to review a definition (JSON), in the prompt of the settings if they have one."""
    if not settings.prompt:
        return review_request(definition)
    return _writing_text(settings, PromptKind.REVIEW, review_data(definition))


def rewrite_text(settings: ModelSettings, tool: Tool, others: Sequence[Tool]) -> str:
    """Return the request to describe a tool apart from others, in the prompt of the settings if they have one."""
    if not settings.prompt:
        return rewrite_request(tool, others)
    return _writing_text(settings, PromptKind.REWRITING, rewrite_data(tool, others))


def _writing_text(settings: ModelSettings, kind: PromptKind, data: str) -> str:
    known = {"date": date.today().isoformat(), "language": DEFAULT_LANGUAGE, **dict(settings.variables)}
    return filled(settings.system_prompt or "", {**known, REQUIRED_VARIABLE[kind]: data})


def word_changes(before: str, after: str) -> tuple[tuple[str, str, str], ...]:
    """Return two texts as pieces in order: words of both, words that went, words that came; either may be empty."""
    old, new = before.split(), after.split()
    if len(old) * len(new) > MOST_COMPARED:
        return (("", " ".join(old), " ".join(new)),)
    pieces = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(
        (" ".join(old[a:b]), "", "") if kind == "equal" else ("", " ".join(old[a:b]), " ".join(new[c:d]))
        for kind, a, b, c, d in pieces
    )
