"""Templates of promptfoo configurations: variables, what their arrays and files stand for, and filled prompts."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import SCHEME, FilesBeside, parse_json, parse_yaml
from mcp_tef.model.cases import EarlierMessage, Speaker
from mcp_tef.model.json import Json

MOST_COMBINATIONS = 1_000
LONGEST_TEXT = 1_000_000
TEMPLATE = re.compile(r"\{\{|\{%|\{#")
_PLACEHOLDER = re.compile(r"\{\{-?\s*(\w+(?:\.\w+)*)\s*-?\}\}")
_TEXT_FILES = {".txt", ".md", ".json", ".yaml", ".yml", ".csv", ".html", ".xml", ".j2"}
_PROMPT_FILE = re.compile(r"[^\s{}]+\.(?:txt|md|j2|json|yaml|yml|csv|js|cjs|mjs|ts|py)(?::\w+)?")
_SEPARATOR = re.compile(r"^---\s*$", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]{2,}")
_HINT = "Write the text out."


def filled(text: str, values: Mapping[str, Json]) -> str:
    """Return the text with its placeholders filled in; InputError for other template language or unknown names."""
    pieces, size, end = [], 0, 0
    for found in _PLACEHOLDER.finditer(text):
        pieces += [text[end : found.start()], _text_of(_value_at(found[1], values))]
        size += len(pieces[-1])
        if size > LONGEST_TEXT:
            raise InputError("Its templates unfold into more than a million characters.", hint=_HINT)
        end = found.end()
    rest = "".join([*pieces[::2], text[end:]])
    if TEMPLATE.search(rest):
        raise InputError("It is a template with more than names of variables.", hint=_HINT)
    return "".join([*pieces, text[end:]])


def _value_at(path: str, values: Mapping[str, Json]) -> Json:
    value: Json = values
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            raise InputError(f"It is a template, and no variable is called {path}.", hint="Give it under vars.")
        value = value[name]
    return value


def _text_of(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if text.startswith(SCHEME):
        raise InputError(f"It uses {text.removeprefix(SCHEME)}, which is not text.", hint=_HINT)
    return text


def combinations(values: Mapping[str, Json], files: FilesBeside, *, expand: bool) -> Iterator[dict[str, Json]]:
    """Yield values for each combination of what arrays of text, and files, stand for, as promptfoo does.

    Placeholders inside a value are filled in. Raises InputError, also for more than `MOST_COMBINATIONS`.
    """
    choices = {name: _choices(value, files, expand=expand) for name, value in values.items()}
    if prod(map(len, choices.values())) > MOST_COMBINATIONS:
        raise InputError(f"Its variables stand for more than {MOST_COMBINATIONS:,} cases.", hint="Split its arrays.")
    for chosen in product(*choices.values()):
        one = dict(zip(choices, chosen, strict=True))
        yield {name: _nested(value, one) for name, value in one.items()}


def _nested(value: Json, values: Mapping[str, Json]) -> Json:
    if isinstance(value, str) and _PLACEHOLDER.search(value):
        return filled(value, values)
    return value


def _choices(value: Json, files: FilesBeside, *, expand: bool) -> list[Json]:
    match value:
        case [str(), *_] if expand:
            return [one for item in value for one in _choices(item, files, expand=False)]
        case str() if value.startswith(SCHEME) and _is_text_file(value):
            return [_file_value(path, files) for path in files.matching(value)]
    return [value]


def _is_text_file(name: str) -> bool:
    return Path(name).suffix.lower() in _TEXT_FILES


def _file_value(path: Path, files: FilesBeside) -> Json:
    """Return a file as promptfoo fills it in: text as it is, documents as JSON."""
    if path.suffix.lower() in {".yaml", ".yml", ".json"}:
        return json.dumps(files.document(path), ensure_ascii=False)
    return files.text(path).strip()


@dataclass(frozen=True, slots=True)
class PromptfooTemplate:
    """A prompt as messages of user and assistant. `plain` is False where a chat was written out."""

    messages: tuple[EarlierMessage, ...]
    plain: bool = True

    @property
    def variables(self) -> frozenset[str]:
        """The names of the variables that it is filled with."""
        found = (_PLACEHOLDER.findall(message.content) for message in self.messages)
        return frozenset(path.partition(".")[0] for paths in found for path in paths)

    def filled(self, values: Mapping[str, Json], around: tuple[str, str]) -> tuple[EarlierMessage, ...]:
        """Return the messages with values filled in, a plain prompt with its prefix and suffix. Raises InputError."""
        before, after = around if self.plain else ("", "")
        texts = (f"{before}{message.content}{after}" for message in self.messages)
        return tuple(
            EarlierMessage(message.role, filled(text, values))
            for message, text in zip(self.messages, texts, strict=True)
        )


@dataclass(frozen=True, slots=True)
class PromptTemplates:
    """The prompts of a configuration; `notes` name what of them is not taken over."""

    templates: tuple[PromptfooTemplate, ...] = ()
    notes: tuple[str, ...] = ()


def prompts_in(prompts: Json, files: FilesBeside) -> PromptTemplates:
    """Read the prompts of a configuration: texts, chats, and files of either."""
    templates: list[PromptfooTemplate] = []
    notes: list[str] = []
    for item in _listed(prompts):
        try:
            texts = list(_texts_of(item, files))
        except InputError as error:
            notes.append(f"A prompt is not taken over: {error.message}")
            continue
        for text in texts:
            template, lost = _template(text)
            notes += [f"Not taken over from a prompt: {lost}."] if lost else []
            templates += [template] if template.messages else []
    return PromptTemplates(tuple(templates), tuple(dict.fromkeys(notes)))


def _listed(prompts: Json) -> Iterable[Json]:
    if isinstance(prompts, Mapping):
        return list(prompts)
    return prompts if isinstance(prompts, list) else [] if prompts is None else [prompts]


def _texts_of(item: Json, files: FilesBeside) -> Iterator[str]:
    text = _said(item)
    if not (text.startswith(SCHEME) or _PROMPT_FILE.fullmatch(text)):
        yield text
        return
    if not _is_text_file(text):
        raise InputError(f"{text.removeprefix(SCHEME)} is a program, which is never run.")
    for path in files.matching(text):
        text = files.text(path)
        yield from map(str.strip, _SEPARATOR.split(text) if path.suffix.lower() == ".txt" else [text])


def _said(prompt: Json) -> str:
    """Return the text or the reference of a prompt, which may stand in an object."""
    match prompt:
        case str() as text:
            return text
        case {"raw": str() as text} | {"id": str() as text} | {"file": str() as text}:
            return text
    raise InputError("It is not text.")


def _template(text: str) -> tuple[PromptfooTemplate, str]:
    """Return the prompt, and in words what is left out of it."""
    match _chat(text):
        case [{"role": _, "content": _}, *_] as messages:
            said = [one for message in messages if (one := _message(message))]
            while said and said[-1].role is not Speaker.USER:
                said.pop()
            roles = [message.get("role") for message in messages if isinstance(message, Mapping)]
            lost = len(messages) - len(said)
            named = f"{lost} of {len(messages)} messages ({', '.join(dict.fromkeys(map(str, roles)))})" if lost else ""
            return PromptfooTemplate(tuple(said), plain=False), named
    return PromptfooTemplate((EarlierMessage(Speaker.USER, text),) if text.strip() else ()), ""


def _chat(text: str) -> Json:
    try:
        return parse_json(text, "") if text.lstrip().startswith("[") else parse_yaml(text, "") if "role:" in text else 0
    except InputError:
        return None


def _message(message: Json) -> EarlierMessage | None:
    match message:
        case {"role": "user" | "assistant" as role, "content": str() as content} if content.strip():
            return EarlierMessage(Speaker(role), content)
        case {"role": "user" | "assistant" as role, "content": [*parts]}:
            texts = [part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
            return EarlierMessage(Speaker(role), "\n".join(texts)) if texts else None
    return None


def query_variable(values: Mapping[str, Json]) -> str | None:
    """Return the variable that reads most like a request: the longest in natural language, else the longest text."""
    texts = {name: value for name, value in values.items() if isinstance(value, str) and value.strip()}
    texts = {name: value for name, value in texts.items() if not value.startswith(SCHEME)}
    return max(texts, key=lambda name: (_is_language(texts[name]), len(texts[name])), default=None)


def _is_language(text: str) -> bool:
    return len(_WORD.findall(text)) > 1 and any(map(str.isspace, text.strip())) and text.lstrip()[:1] not in "{[<"
