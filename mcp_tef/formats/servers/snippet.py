"""Server configs as pasted text: JSON with comments, a fragment without brackets, one server, or a bare address."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import parse_json, require_plain
from mcp_tef.formats.servers.entries import ConfigSource, ServerEntry, is_mapping
from mcp_tef.formats.servers.settings import entries_of, entry_of
from mcp_tef.model.json import Json

MAX_CONFIG_CHARACTERS = 10 * 1024 * 1024
"""The largest configs that we know of, which also hold a history, have a few MB."""

_STRING = r'"(?:\\[\s\S]?|[^"\\])*+(?:"|\Z)'
_COMMENTED = re.compile(rf"({_STRING})|//[^\r\n]*|/\*[\s\S]*?(?:\*/|\Z)")
_TRAILING = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])")


def parse_config(text: str, name: str) -> Json:
    """Return the document; InputError names the line that is wrong, or says what is too large or too deep."""
    if len(text) > MAX_CONFIG_CHARACTERS:
        raise InputError(f"{name} is larger than 10 MB.", hint="Import only the part that lists servers.")
    document = parse_json(_plain(text.removeprefix("\ufeff")), name)
    require_plain(document)
    return document


def _plain(text: str) -> str:
    """Return strict JSON, with every line where it was."""
    bare = _COMMENTED.sub(lambda found: found[1] or " " + "\n" * found[0].count("\n"), text)
    return _TRAILING.sub(lambda found: found[1] or "", bare)


_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_PLACES = ("command", "url", "serverUrl", "httpUrl")
_DEFAULT_NAME = "server"


def read(source: ConfigSource) -> tuple[ServerEntry, ...]:
    """Return the servers under `mcpServers`, or of a mapping by name; or the one that the text describes."""
    document = source.document
    if isinstance(document, dict) and any(key in document and not _is_server(document[key]) for key in _PLACES):
        return (entry_of(_name_of(document), document, "the text"),)
    if is_mapping(document, "mcpServers"):
        return entries_of(document["mcpServers"], source, "mcpServers")
    if isinstance(document, dict) and any(_is_server(value) for value in document.values()):
        return entries_of(document, source, "the text")
    raise InputError(
        "No servers were found in it.",
        hint="Give a config with mcpServers, servers, packages or remotes, or one server with a command or a url.",
    )


def parse_snippet(text: str, path: Path | None = None) -> Json:
    """Return the document that a pasted text stands for; InputError where it is none."""
    inner = text.strip().removeprefix("\ufeff")
    if not inner.startswith(("{", "[", '"', "/")) and (fenced := _FENCE.search(inner)):
        inner = fenced[1].strip()
    if re.fullmatch(r"https?://\S+", inner):
        return {"url": inner}
    if inner.startswith('"'):
        inner = "{" + inner.rstrip(",") + "}"
    return parse_config(inner, path.name if path else "The text")


def _is_server(value: Json) -> bool:
    return isinstance(value, dict) and any(value.get(key) for key in _PLACES)


def _name_of(document: dict[str, Json]) -> str:
    """Return a name for a server that has none of its own: what it says, its package, or its host."""
    said = document.get("name")
    if isinstance(said, str) and said.strip():
        return said
    if host := next(filter(None, (_host(document.get(key)) for key in _PLACES[1:])), None):
        return host
    return _package_name(document) or _DEFAULT_NAME


def _package_name(document: dict[str, Json]) -> str:
    """Return the last part of the first argument that is no flag, else of the command, without a version."""
    args = document.get("args")
    words = [word for word in args if isinstance(word, str)] if isinstance(args, list) else []
    package = next((word for word in words if word and not word.startswith("-")), document.get("command"))
    return re.split(r"[/\\]", package)[-1].partition("@")[0] if isinstance(package, str) else ""


def _host(url: Json) -> str:
    try:
        return urlsplit(url).hostname or "" if isinstance(url, str) else ""
    except ValueError:
        return ""
