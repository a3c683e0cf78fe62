"""JSON as people write it in configs: with comments and with commas before a closing bracket."""

import re

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import parse_json, require_plain
from mcp_tef.model.json import Json

MAX_CONFIG_CHARACTERS = 10 * 1024 * 1024
"""The largest configs that we know of, which also hold a history, have a few MB."""

_STRING = r'"(?:\\[\s\S]?|[^"\\])*+(?:"|\Z)'
_COMMENTED = re.compile(rf"({_STRING})|//[^\r\n]*|/\*[\s\S]*?(?:\*/|\Z)")
_TRAILING = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])")


def parse_config(text: str, name: str) -> Json:
    """The document; InputError names the line that is wrong, or says what is too large or too deep."""
    if len(text) > MAX_CONFIG_CHARACTERS:
        raise InputError(f"{name} is larger than 10 MB.", hint="Import only the part that lists servers.")
    document = parse_json(_plain(text.removeprefix("\ufeff")), name)
    require_plain(document)
    return document


def _plain(text: str) -> str:
    """Strict JSON, with every line where it was."""
    bare = _COMMENTED.sub(lambda found: found[1] or " " + "\n" * found[0].count("\n"), text)
    return _TRAILING.sub(lambda found: found[1] or "", bare)
