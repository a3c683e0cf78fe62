"""Tells whose config a text is, and reads it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mcp_tef.formats.servers import claude_code, claude_desktop, cursor, inspector, registry, snippet, vscode, windsurf
from mcp_tef.formats.servers.entries import ServerEntry, Source
from mcp_tef.formats.servers.snippet import parse_snippet
from mcp_tef.model.server_import import ServerFileForm


@dataclass(frozen=True, slots=True)
class Form:
    """One form of configs: whether a text is one, and its servers."""

    form: ServerFileForm
    title: str
    fits: Callable[[Source], bool]
    read: Callable[[Source], tuple[ServerEntry, ...]]


FORMS = (
    Form(ServerFileForm.CLAUDE_DESKTOP, claude_desktop.TITLE, claude_desktop.fits, claude_desktop.read),
    Form(ServerFileForm.CLAUDE_CODE, claude_code.TITLE, claude_code.fits, claude_code.read),
    Form(ServerFileForm.CURSOR, cursor.TITLE, cursor.fits, cursor.read),
    Form(ServerFileForm.WINDSURF, windsurf.TITLE, windsurf.fits, windsurf.read),
    Form(ServerFileForm.INSPECTOR, inspector.TITLE, inspector.fits, inspector.read),
    Form(ServerFileForm.REGISTRY, registry.TITLE, registry.fits, registry.read),
    Form(ServerFileForm.VSCODE, vscode.TITLE, vscode.fits, vscode.read),
    Form(ServerFileForm.SNIPPET, snippet.TITLE, snippet.fits, snippet.read),
)
"""In the order in which they are tried: those that a file's name tells, then those that the content tells."""


def read_config(text: str, path: Path | None = None) -> tuple[Form, tuple[ServerEntry, ...]]:
    """The form of a config, and its servers; InputError where it cannot be read as a whole."""
    source = Source(parse_snippet(text, path), path)
    form = next(form for form in FORMS if form.fits(source))
    return form, form.read(source)
