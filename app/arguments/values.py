"""Values of parameters as users type and read them: as text, as JSON, and as the arguments of a call."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from app.arguments.parameters import Kind, Parameter, parameters_of
from mcp_tef import Json, ParameterFinding, Tool, canonical, loads_bounded


class UnreadableError(ValueError):
    """Text that its field cannot take; the message is one sentence for the user."""


def needed(text: str, sentence: str) -> str:
    """Return the text; raise UnreadableError with the sentence if it is empty."""
    if not text:
        raise UnreadableError(sentence)
    return text


def dumps(value: Json, *, indent: int | None = None) -> str:
    """Return JSON with Unicode characters unescaped."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def loads(text: str) -> Json:
    """Parse JSON; raise UnreadableError with the place of the error."""
    try:
        return loads_bounded(needed(text.strip(), "Write a JSON value."))
    except json.JSONDecodeError as error:
        raise UnreadableError(f"This is not JSON yet: {_plainly(error)}.") from error
    except (RecursionError, ValueError) as error:
        if isinstance(error, UnreadableError):
            raise
        raise UnreadableError("This JSON is too deep or too long.") from error


def _plainly(error: json.JSONDecodeError) -> str:
    where = f"line {error.lineno}, column {error.colno}"
    reason = error.msg[:1].lower() + error.msg[1:]
    return f"{reason} at {where}"


def is_json(text: str) -> bool:
    """Return True if a text is JSON."""
    try:
        loads(text)
    except UnreadableError:
        return False
    return True


def show(parameter: Parameter, value: Json) -> str:
    """Return a value as the field of its parameter shows it; `parse` reads it back."""
    for choice in parameter.choices:
        if canonical(choice.value) == canonical(value):
            return choice.label
    if parameter.kind is Kind.LIST:
        return show_list(parameter.items, value)
    return show_kind(parameter.kind, value)


def show_kind(kind: Kind, value: Json) -> str:
    """Return a value of a kind as text."""
    if isinstance(value, str) and (kind is Kind.TEXT or (kind is Kind.ANY and not is_json(value))):
        return value
    if kind is Kind.FLAG and isinstance(value, bool):
        return "yes" if value else "no"
    return dumps(value)


def show_list(kind: Kind, values: Json) -> str:
    """Return values separated by commas; as JSON if that could not be read back."""
    if not isinstance(values, list | tuple) or not values:
        return dumps(values)
    texts = [show_kind(kind, value) for value in values]
    is_readable = all(map(_fits_between_commas, texts)) and not texts[0].startswith("[")
    return ", ".join(texts) if is_readable else dumps(values)


def _fits_between_commas(text: str) -> bool:
    return bool(text) and text == text.strip() and not set(text) & set(",\n")


def parse(parameter: Parameter, text: str) -> Json:
    """Parse the value of a parameter; raise UnreadableError with a sentence."""
    for choice in parameter.choices:
        if choice.label == text:
            return choice.value
    if parameter.kind is Kind.LIST:
        return parse_list(parameter.items, text)
    return parse_kind(parameter.kind, text)


def parse_kind(kind: Kind, text: str) -> Json:
    """Parse a value of a kind; raise UnreadableError with a sentence."""
    match kind:
        case Kind.TEXT:
            return text
        case Kind.NUMBER | Kind.WHOLE:
            return number(text, kind)
        case Kind.FLAG:
            return _flag(text)
        case Kind.OBJECT:
            return _object(text)
        case Kind.LIST:
            return parse_list(Kind.ANY, text)
        case Kind.ANY:
            return loads(text) if is_json(text) else text


def number(text: str, kind: Kind = Kind.NUMBER) -> int | float:
    """Parse a number; raise UnreadableError with a sentence."""
    example = "20" if kind is Kind.WHOLE else "20 or 0.5"
    value = loads(text) if is_json(text) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableError(f"Write a number such as {example}.")
    return value


_FLAGS: Final[Mapping[str, bool]] = {"yes": True, "true": True, "no": False, "false": False}


def _flag(text: str) -> bool:
    try:
        return _FLAGS[text.strip().lower()]
    except KeyError:
        raise UnreadableError("Select yes or no.") from None


def _object(text: str) -> Json:
    value = loads(needed(text, 'Write a JSON object such as {"name": "value"}.'))
    if not isinstance(value, dict):
        raise UnreadableError('Write a JSON object such as {"name": "value"}.')
    return value


def parse_list(kind: Kind, text: str) -> list[Json]:
    """Parse values separated by commas, or a JSON list; raise UnreadableError with a sentence."""
    if text.lstrip().startswith("["):
        value = loads(text)
        if isinstance(value, list):
            return value
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise UnreadableError('Separate values with commas, or write a JSON list such as ["a", "b"].')
    return [parse_kind(kind, part) for part in parts]


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
