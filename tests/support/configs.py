"""Configs of other programs, as their users have them, and servers read from them."""

import json
from pathlib import Path
from typing import Any

from mcp_tef.formats.servers.server_formats import read_config
from mcp_tef.formats.servers.settings import ServerEntry
from mcp_tef.model.servers import ServerSpec

CLOCK = {"command": "uvx", "args": ["mcp-server-time"]}


def written(path: Path, content: Any) -> Path:
    """A config on disk: text as it is, anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def entries(content: Any, path: Path | None = None) -> tuple[ServerEntry, ...]:
    """What a config lists."""
    return read_config(content if isinstance(content, str) else json.dumps(content), path)[1]


def form(content: Any, path: Path | None = None) -> str:
    """Whose config it is taken for."""
    return read_config(content if isinstance(content, str) else json.dumps(content), path)[0].form.value


def spec(settings: Any, name: str = "clock") -> ServerSpec:
    """The server of these settings in a config of `mcpServers`."""
    [entry] = entries({"mcpServers": {name: settings}})
    assert entry.spec is not None, entry.refused
    return entry.spec


def refusal(settings: Any, name: str = "clock") -> str:
    """Why a server of these settings is refused."""
    [entry] = entries({"mcpServers": {name: settings}})
    assert entry.spec is None
    return entry.refused
