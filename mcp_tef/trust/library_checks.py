"""Checks of a design of a library tool, each with one sentence of what is wrong and how to put it right."""

import re
from collections.abc import Mapping
from typing import Final

from mcp_tef.errors import InputError
from mcp_tef.model.json import Json
from mcp_tef.model.json_patch import pointer_parts
from mcp_tef.model.library import (
    LONGEST_SECONDS,
    MOST_MEMORY_MB,
    PLACEHOLDER,
    TOOL_NAME,
    ExecutorKind,
    ToolDesign,
    placeholders,
)
from mcp_tef.model.servers import references
from mcp_tef.trust.template_values import misplaced_value

_LONGEST_DISPLAY_NAME = 200
_SECRET_HEADER = re.compile(r"auth|key|token|secret|password|cookie", re.IGNORECASE)

_SETTINGS: Final[Mapping[ExecutorKind, tuple[Mapping[str, type], Mapping[str, type]]]] = {
    ExecutorKind.PYTHON: ({}, {"env": list, "memory_mb": int}),
    ExecutorKind.HTTP: ({"url": str}, {"method": str, "headers": dict, "body": object, "result": str}),
    ExecutorKind.SHELL: ({"argv": list}, {"env": list, "memory_mb": int}),
    ExecutorKind.MCP: ({"server": str, "tool": str}, {"arguments": dict}),
    ExecutorKind.SEARCH: ({}, {"search": str, "base_url": str, "provider": str, "count": int}),
    ExecutorKind.ANSWER: ({"answer": object}, {}),
}
"""Keys that the config of each executor must and may hold; every one may hold `seconds`."""
_TYPES: Final[Mapping[type, str]] = {str: "a text", list: "a list", int: "a whole number", dict: "an object"}


def require_sound_design(design: ToolDesign) -> None:
    """Raise InputError for the first thing that is wrong with a design, apart from its schemas."""
    if not TOOL_NAME.fullmatch(design.name):
        hint = "Begin with a small letter, and use up to 100 small letters, digits and underscores."
        raise InputError(f"“{design.name[:120]}” cannot be the name of a tool.", hint=hint, code="bad_name")
    if not design.description.strip():
        raise _wrong(design, "has no description", "Write what it does, and when to use it.")
    if len(design.display_name) > _LONGEST_DISPLAY_NAME:
        raise _wrong(design, "has a display name of more than 200 characters", "Shorten it.")
    _require_settings(design)
    _require_limits(design)
    _require_templates(design)


def _wrong(design: ToolDesign, what: str, hint: str) -> InputError:
    return InputError(f"The tool {design.name} {what}.", hint=hint, code="bad_tool")


def _require_settings(design: ToolDesign) -> None:
    required, optional = _SETTINGS[design.executor]
    known = {**required, **optional, "seconds": object}
    for name in required:
        if name not in design.config:
            raise _wrong(design, f"does not say its {name}", f"Add “{name}” to the executor's config.")
    for name, value in design.config.items():
        if name not in known:
            hint = f"It may hold {', '.join(known)}."
            raise _wrong(design, f"has an unknown setting “{name}” for its executor", hint)
        if not isinstance(value, known[name]):
            raise _wrong(design, f"has a setting “{name}” of the wrong type", f"Write {_TYPES[known[name]]}.")
    _require_script(design)


def _require_script(design: ToolDesign) -> None:
    if design.executor is not ExecutorKind.PYTHON and design.script:
        raise _wrong(design, "has a script, which its executor does not run", "Take the script away.")
    if design.executor is ExecutorKind.PYTHON and "def run(" not in (design.script or ""):
        raise _wrong(design, "has no script with a function run", "Write: def run(input): …")


def _require_limits(design: ToolDesign) -> None:
    seconds, memory = design.config.get("seconds", 1), design.config.get("memory_mb", 1)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST_SECONDS:
        raise _wrong(design, "has an unusable time limit", f"Write seconds above 0 and up to {LONGEST_SECONDS}.")
    if not 1 <= memory <= MOST_MEMORY_MB:
        raise _wrong(design, "has an unusable memory limit", f"Write 1 to {MOST_MEMORY_MB} MB.")


def _require_templates(design: ToolDesign) -> None:
    config = design.config
    if not all(isinstance(text, str) for text in (*config.get("argv", []), *config.get("env", []))):
        raise _wrong(design, "has an argument or variable that is not text", "Write each in quotes.")
    if design.executor is ExecutorKind.SHELL and PLACEHOLDER.search("".join(config["argv"][:1]) or "{none}"):
        raise _wrong(design, "does not name a fixed program", "Write the program as the first of argv.")
    _require_plain_values(design)
    if design.executor in (ExecutorKind.HTTP, ExecutorKind.SEARCH):
        _require_fixed_request(design)
    unknown = sorted(set(placeholders(_template(design))) - set(design.input_schema.get("properties", {})))
    if unknown:
        hint = "Add it to the input schema, or correct its name."
        raise _wrong(design, f"uses {{{unknown[0]}}}, which its input does not have", hint)


def _require_plain_values(design: ToolDesign) -> None:
    if why := misplaced_value(design.config.get("argv", [])):
        hint = "Write the placeholder as an argument of its own, behind the program or script that is to read it."
        raise _wrong(design, why, hint)


def _require_fixed_request(design: ToolDesign) -> None:
    if design.executor is ExecutorKind.SEARCH and _names_search(design):
        return
    _require_fixed_address(design, design.request.url or "")
    for name, value in design.request.headers.items():
        _require_header(design, name, value)
    try:
        pointer_parts(design.config.get("result", ""))
    except ValueError:
        raise _wrong(design, "has a result that is no JSON Pointer", "Write one such as /data/items.") from None


def _require_fixed_address(design: ToolDesign, url: str) -> None:
    origin = "/".join(url.split("/")[:3])
    if not origin.startswith(("http://", "https://")) or PLACEHOLDER.search(origin):
        raise _wrong(design, "has no fixed address", "Begin it with http:// or https:// and the host itself.")
    if any(references(url)):
        raise _wrong(design, "has a variable in its address", "Write the value itself, or use it in a header.")


def _names_search(design: ToolDesign) -> bool:
    """Return True for a named search tool, False for an address; InputError for neither or both."""
    if len({"search", "base_url"} & set(design.config)) != 1:
        hint = "Name a search tool as “search”, or give the “base_url” of a SearXNG service."
        raise _wrong(design, "does not say how it searches", hint)
    return "search" in design.config


def _require_header(design: ToolDesign, name: str, value: object) -> None:
    if not isinstance(value, str):
        raise _wrong(design, f"has a header {name} that is not text", "Write it in quotes.")
    if _SECRET_HEADER.search(name) and not any(references(value)):
        raise _wrong(design, f"holds the value of the header {name}", "Write it as ${NAME} or ${keychain:NAME}.")


def _template(design: ToolDesign) -> Json:
    return [value for name, value in design.config.items() if name not in ("env", "seconds", "memory_mb", "result")]
