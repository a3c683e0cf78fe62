"""Where programs keep their lists of MCP servers, on each system."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath, PureWindowsPath

_EDITORS = ("Code", "Code - Insiders", "VSCodium")


@dataclass(frozen=True, slots=True)
class ConfigPlace:
    """One usual place, whether or not there is a file: whose config it would be, and its path."""

    title: str
    path: PurePath


def usual_places(platform: str, environment: Mapping[str, str], project: str | None = None) -> tuple[ConfigPlace, ...]:
    """The places of a user on a system (as in `sys.platform`), then those of a project's folder, if one is given.

    A pure function of its arguments: it looks at no disk. Without a home in the environment only the project's.
    """
    kind = PureWindowsPath if platform == "win32" else PurePosixPath
    home = environment.get("USERPROFILE" if platform == "win32" else "HOME")
    found = _of_user(kind(home), platform, environment) if home else []
    if project:
        folder = kind(project)
        found += [
            ConfigPlace("Claude Code (project)", folder / ".mcp.json"),
            ConfigPlace("Cursor (project)", folder / ".cursor" / "mcp.json"),
            ConfigPlace("VS Code (project)", folder / ".vscode" / "mcp.json"),
            ConfigPlace("MCP Inspector", folder / "mcp.json"),
            ConfigPlace("MCP registry", folder / "server.json"),
        ]
    return tuple(found)


def _of_user(home: PurePath, platform: str, environment: Mapping[str, str]) -> list[ConfigPlace]:
    settings = _settings(home, platform, environment)
    code = environment.get("CLAUDE_CONFIG_DIR")
    editors = [settings / editor / "User" / name for editor in _EDITORS for name in ("mcp.json", "settings.json")]
    return [
        ConfigPlace("Claude Desktop", settings / "Claude" / "claude_desktop_config.json"),
        ConfigPlace("Claude Code", (type(home)(code) if code else home) / ".claude.json"),
        ConfigPlace("Cursor", home / ".cursor" / "mcp.json"),
        *(ConfigPlace("VS Code", path) for path in editors),
        ConfigPlace("Windsurf", home / ".codeium" / "windsurf" / "mcp_config.json"),
    ]


def _settings(home: PurePath, platform: str, environment: Mapping[str, str]) -> PurePath:
    """The folder in which applications keep a user's settings."""
    match platform:
        case "win32":
            return type(home)(environment.get("APPDATA") or home / "AppData" / "Roaming")
        case "darwin":
            return home / "Library" / "Application Support"
    return type(home)(environment.get("XDG_CONFIG_HOME") or home / ".config")
