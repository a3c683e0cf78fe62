"""Each system keeps the configs of each program in a place of its own."""

import pytest

from mcp_tef.workflows.server_import import usual_places

HOMES = {
    "linux": {"HOME": "/home/ines"},
    "darwin": {"HOME": "/Users/ines"},
    "win32": {"USERPROFILE": r"C:\Users\Ines", "APPDATA": r"C:\Users\Ines\AppData\Roaming"},
}


def paths(platform: str, environment: dict[str, str], project: str | None = None) -> list[str]:
    return [str(place.path) for place in usual_places(platform, environment, project)]


@pytest.mark.parametrize(
    ("platform", "path"),
    [
        ("linux", "/home/ines/.config/Claude/claude_desktop_config.json"),
        ("linux", "/home/ines/.config/Code/User/mcp.json"),
        ("linux", "/home/ines/.config/Code - Insiders/User/settings.json"),
        ("linux", "/home/ines/.claude.json"),
        ("linux", "/home/ines/.cursor/mcp.json"),
        ("linux", "/home/ines/.codeium/windsurf/mcp_config.json"),
        ("darwin", "/Users/ines/Library/Application Support/Claude/claude_desktop_config.json"),
        ("darwin", "/Users/ines/Library/Application Support/Code/User/mcp.json"),
        ("darwin", "/Users/ines/.cursor/mcp.json"),
        ("win32", r"C:\Users\Ines\AppData\Roaming\Claude\claude_desktop_config.json"),
        ("win32", r"C:\Users\Ines\AppData\Roaming\Code\User\mcp.json"),
        ("win32", r"C:\Users\Ines\.claude.json"),
        ("win32", r"C:\Users\Ines\.codeium\windsurf\mcp_config.json"),
    ],
)
def test_the_usual_places_of_a_user(platform: str, path: str) -> None:
    assert path in paths(platform, HOMES[platform])


def test_what_the_environment_says_of_the_places_holds() -> None:
    moved = paths("linux", {**HOMES["linux"], "XDG_CONFIG_HOME": "/cfg", "CLAUDE_CONFIG_DIR": "/claude"})
    assert "/cfg/Claude/claude_desktop_config.json" in moved
    assert "/claude/.claude.json" in moved
    assert r"D:\R\Claude\claude_desktop_config.json" in paths("win32", {**HOMES["win32"], "APPDATA": "D:\\R"})
    assert r"C:\Users\Ines\AppData\Roaming\Code\User\mcp.json" in paths("win32", {"USERPROFILE": r"C:\Users\Ines"})


def test_a_project_has_places_too_and_needs_no_home() -> None:
    assert paths("linux", {}) == []
    assert paths("linux", {}, "/srv/bikes")[:3] == [
        "/srv/bikes/.mcp.json",
        "/srv/bikes/.cursor/mcp.json",
        "/srv/bikes/.vscode/mcp.json",
    ]
    assert r"D:\bikes\.vscode\mcp.json" in paths("win32", {}, "D:\\bikes")
