"""Registry of the formats of server configs, and detection of a text's format."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mcp_tef.formats.servers import client_configs, registry, snippet
from mcp_tef.formats.servers.entries import ServerEntry, Source
from mcp_tef.formats.servers.snippet import parse_snippet
from mcp_tef.model.transfer import ServerFileForm


@dataclass(frozen=True, slots=True)
class Form:
    """One format of configs: a test for it, and a reader of its servers."""

    form: ServerFileForm
    title: str
    fits: Callable[[Source], bool]
    read: Callable[[Source], tuple[ServerEntry, ...]]


def _mcp_servers(form: ServerFileForm, title: str, file_name: str) -> Form:
    return Form(form, title, client_configs.named(file_name), client_configs.read_mcp_servers)


FORMS = (
    _mcp_servers(ServerFileForm.CLAUDE_DESKTOP, "Claude Desktop", "claude_desktop_config.json"),
    Form(ServerFileForm.CLAUDE_CODE, "Claude Code", client_configs.is_claude_code, client_configs.read_claude_code),
    Form(ServerFileForm.CURSOR, "Cursor", client_configs.is_cursor, client_configs.read_cursor),
    _mcp_servers(ServerFileForm.WINDSURF, "Windsurf", "mcp_config.json"),
    _mcp_servers(ServerFileForm.INSPECTOR, "MCP Inspector", "mcp.json"),
    Form(ServerFileForm.REGISTRY, "MCP registry", registry.fits, registry.read),
    Form(ServerFileForm.VSCODE, "VS Code", client_configs.is_vscode, client_configs.read_vscode),
    Form(ServerFileForm.SNIPPET, "A list of servers", lambda _source: True, snippet.read),
)
"""Formats in the order of detection: by file name first, then by content; a pasted list comes last."""


def read_config(text: str, path: Path | None = None) -> tuple[Form, tuple[ServerEntry, ...]]:
    """Return the format of a config and its servers; InputError where it cannot be read as a whole."""
    source = Source(parse_snippet(text, path), path)
    form = next(form for form in FORMS if form.fits(source))
    return form, form.read(source)
