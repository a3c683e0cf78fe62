"""Arguments of a call while they are typed, as fields or as JSON; knows no Qt."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from app.arguments.parameters import Parameter, parameters_of
from app.arguments.typed_json import UnreadableError, dumps, loads
from app.arguments.values import parse, show
from mcp_tef import Json, ParameterFinding, Tool

WHOLE: Final = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDraft:
    """The arguments as typed, by parameter; an empty text gives none. `json_text` is what was typed as JSON instead."""

    texts: Mapping[str, str] = field(default_factory=dict)
    json_text: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedArguments:
    """The arguments, or None and one sentence for each parameter that is wrong (`WHOLE`: the text as a whole)."""

    arguments: dict[str, Json] | None
    faults: Mapping[str, str] = field(default_factory=dict)


def draft_from_arguments(tool: Tool, arguments: Mapping[str, Json]) -> CallDraft:
    """Return the draft that reads back as these arguments; as JSON if the fields cannot hold them."""
    known = {parameter.name: parameter for parameter in parameters_of(tool.input_schema)}
    if not arguments.keys() <= known.keys():
        return CallDraft(json_text=dumps(dict(arguments), indent=2))
    draft = CallDraft(texts={name: show(known[name], value) for name, value in arguments.items()})
    return draft if read(tool, draft).arguments == arguments else CallDraft(json_text=dumps(dict(arguments), indent=2))


def read(tool: Tool, draft: CallDraft) -> ParsedArguments:
    """Parse a draft."""
    if draft.json_text is not None:
        return _read_json(draft.json_text)
    arguments: dict[str, Json] = {}
    faults: dict[str, str] = {}
    for parameter in parameters_of(tool.input_schema):
        if text := draft.texts.get(parameter.name, ""):
            try:
                arguments[parameter.name] = parse(parameter, text)
            except UnreadableError as error:
                faults[parameter.name] = str(error)
    return ParsedArguments(None, faults) if faults else ParsedArguments(arguments)


def _read_json(text: str) -> ParsedArguments:
    try:
        value = loads(text) if text.strip() else {}
    except UnreadableError as error:
        return ParsedArguments(None, {WHOLE: str(error)})
    if not isinstance(value, dict):
        return ParsedArguments(None, {WHOLE: 'Write the arguments as a JSON object such as {"name": "value"}.'})
    return ParsedArguments(value)


def turned(tool: Tool, draft: CallDraft) -> CallDraft:
    """Return the draft as JSON, or as fields again; unchanged if it cannot be parsed."""
    arguments = read(tool, draft).arguments
    if arguments is None:
        return draft
    return (
        CallDraft(json_text=dumps(arguments, indent=2))
        if draft.json_text is None
        else draft_from_arguments(tool, arguments)
    )


def with_text(draft: CallDraft, name: str, text: str) -> CallDraft:
    """Return the draft with another text for one parameter."""
    return replace(draft, texts={**draft.texts, name: text})


def errors_by_parameter(problems: tuple[ParameterFinding, ...], parameters: tuple[Parameter, ...]) -> dict[str, str]:
    """Return the sentences of problems by parameter; those of no parameter stand together under `WHOLE`."""
    names = {parameter.name for parameter in parameters}
    found: dict[str, str] = {}
    for problem in problems:
        top = next((name for name in names if f"{problem.parameter}.".startswith(f"{name}.")), WHOLE)
        found[top] = f"{found[top]} {problem.sentence}" if top in found else problem.sentence
    return {name: sentence.replace("`", "") for name, sentence in found.items()}
