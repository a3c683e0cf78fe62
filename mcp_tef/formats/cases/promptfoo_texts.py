"""Texts that promptfoo would act upon instead of taking them as text: it loads files, runs programs, fills templates.

It has no way to quote them, so that a case with one is left out of an export.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from mcp_tef.formats.cases.entries import CannotHoldError
from mcp_tef.formats.cases.promptfoo_templates import TEMPLATE
from mcp_tef.model.json import Json, loads_bounded

_LOADED: Final = re.compile(
    r"\s*(?:file|package|exec|python|javascript|js|ruby|golang|huggingface|portkey|langfuse|helicone):(?!\s)",
    re.IGNORECASE,
)
"""Prefixes of values that promptfoo reads from a file or package, or has a program or service compute."""
_REFERENCES: Final = frozenset({"$ref", "$id", "$dynamicRef"})
"""Keys whose values promptfoo resolves before it reads the rest, from files and addresses as well."""
_SHOWN: Final = 40
_CHAT: Final = "- role:"


def require_inert(value: Json) -> None:
    """Raise CannotHoldError where a text or a key anywhere in a value would not stay text."""
    for text in _texts(value):
        if TEMPLATE.search(text):
            raise CannotHoldError(f"{_shown(text)} holds {{{{, {{% or {{#, which promptfoo takes for a template.")
        if _LOADED.match(text):
            raise CannotHoldError(f"{_shown(text)} begins as what promptfoo loads or runs.")


def require_plain_prompt(query: str) -> None:
    """Raise CannotHoldError for a query that promptfoo would read as a list of messages."""
    begun = query.lstrip()
    if begun.startswith(_CHAT) or (begun[:1] in ("[", "{") and _is_json(begun)):
        raise CannotHoldError("Its query is JSON or a list of roles, which promptfoo takes for messages.")


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if key in _REFERENCES:
                raise CannotHoldError(f"It holds the key {key}, which promptfoo takes for a reference.")
            yield key
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _shown(text: str) -> str:
    return f"The text {json.dumps(text[:_SHOWN], ensure_ascii=True)}"


def _is_json(text: str) -> bool:
    try:
        loads_bounded(text)
    except (ValueError, RecursionError):
        return False
    return True
