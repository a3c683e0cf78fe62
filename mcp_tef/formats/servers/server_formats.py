"""Registry of the formats of server configs, and detection of a text's format."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mcp_tef.formats.servers import client_configs, registry, snippet
from mcp_tef.formats.servers.entries import ConfigSource, ServerEntry
from mcp_tef.formats.servers.snippet import parse_snippet
from mcp_tef.model.transfer import ServerFileFormat


@dataclass(frozen=True, slots=True)
class ServerFormat:
    """One format of configs: a test for it, and a reader of its servers."""

    form: ServerFileFormat
    title: str
    fits: Callable[[ConfigSource], bool]
    read: Callable[[ConfigSource], tuple[ServerEntry, ...]]


def _mcp_servers(form: ServerFileFormat, title: str, file_name: str) -> ServerFormat:
    return ServerFormat(form, title, client_configs.named(file_name), client_configs.read_mcp_servers)


FORMS = (
    _mcp_servers(ServerFileFormat.CLAUDE_DESKTOP, "Claude Desktop", "claude_desktop_config.json"),
    ServerFormat(
        ServerFileFormat.CLAUDE_CODE, "Claude Code", client_configs.is_claude_code, client_configs.read_claude_code
    ),
    ServerFormat(ServerFileFormat.CURSOR, "Cursor", client_configs.is_cursor, client_configs.read_cursor),
    _mcp_servers(ServerFileFormat.WINDSURF, "Windsurf", "mcp_config.json"),
    _mcp_servers(ServerFileFormat.INSPECTOR, "MCP Inspector", "mcp.json"),
    ServerFormat(ServerFileFormat.REGISTRY, "MCP registry", registry.fits, registry.read),
    ServerFormat(ServerFileFormat.VSCODE, "VS Code", client_configs.is_vscode, client_configs.read_vscode),
    ServerFormat(ServerFileFormat.SNIPPET, "A list of servers", lambda _source: True, snippet.read),
)
"""Formats in the order of detection: by file name first, then by content; a pasted list comes last."""


def read_config(text: str, path: Path | None = None) -> tuple[ServerFormat, tuple[ServerEntry, ...]]:
    """Return the format of a config and its servers; InputError where it cannot be read as a whole."""
    source = ConfigSource(parse_snippet(text, path), path)
    form = next(form for form in FORMS if form.fits(source))
    return form, form.read(source)
