"""Programs are found where people installed them, though an application that a menu started sees a short PATH."""

from pathlib import Path

import pytest

from mcp_tef.servers.program_lookup import find_program, program_folders


def program(folder: Path, name: str = "npx") -> str:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text("#!/bin/sh\n", "utf-8")
    file.chmod(0o755)
    return str(file)


def resolved(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), "PATH": str(home / "on-path"), **more}


def test_path_comes_first(tmp_path: Path) -> None:
    program(tmp_path / ".local" / "bin")
    first = program(tmp_path / "on-path")
    assert find_program("npx", resolved(tmp_path), "linux") == first


@pytest.mark.parametrize(
    "folder", [".local/bin", ".volta/bin", ".pyenv/shims", ".cargo/bin", ".bun/bin", ".asdf/shims", "bin"]
)
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_the_usual_places_of_package_managers_are_looked_through(tmp_path: Path, folder: str, platform: str) -> None:
    there = program(tmp_path / folder, "tool-of-ours")
    assert find_program("tool-of-ours", resolved(tmp_path), platform) == there


def test_the_newest_node_of_nvm_is_taken_by_number_not_by_letters(tmp_path: Path) -> None:
    versions = tmp_path / ".nvm" / "versions" / "node"
    for version in ("v9.11.2", "v22.4.0", "v22.10.1"):
        program(versions / version / "bin", "node-of-ours")
    found = find_program("node-of-ours", resolved(tmp_path), "darwin")
    assert found == str(versions / "v22.10.1" / "bin" / "node-of-ours")


def test_what_a_variable_says_of_a_package_manager_holds(tmp_path: Path) -> None:
    there = program(tmp_path / "elsewhere" / "bin", "tool-of-ours")
    program(tmp_path / ".volta" / "bin", "tool-of-ours")
    found = find_program("tool-of-ours", resolved(tmp_path, VOLTA_HOME=str(tmp_path / "elsewhere")), "linux")
    assert found == there


def test_a_program_that_is_nowhere_is_none(tmp_path: Path) -> None:
    assert find_program("no-such-program-of-ours", resolved(tmp_path), "linux") is None
    assert find_program("no-such-program-of-ours", {}, "darwin") is None


def test_windows_keeps_programs_elsewhere() -> None:
    folders = program_folders(
        {
            "USERPROFILE": r"C:\Users\Ines",
            "APPDATA": r"C:\Users\Ines\AppData\Roaming",
            "LOCALAPPDATA": r"C:\Users\Ines\AppData\Local",
            "PROGRAMFILES": r"C:\Program Files",
        },
        "win32",
    )
    assert r"C:\Users\Ines\AppData\Roaming\npm" in folders
    assert r"C:\Users\Ines\.local\bin" in folders
    assert r"C:\Program Files\nodejs" in folders
    assert not [folder for folder in folders if folder.startswith("/") or "{" in folder]


def test_each_system_has_its_own_places() -> None:
    mac, linux = (program_folders({"HOME": "/home/ines"}, platform) for platform in ("darwin", "linux"))
    assert "/opt/homebrew/bin" in mac
    assert "/opt/homebrew/bin" not in linux
    assert "/home/linuxbrew/.linuxbrew/bin" in linux
    assert "/home/ines/Library/Application Support/fnm/aliases/default/bin" in mac
    assert {"/usr/local/bin", "/home/ines/.local/bin", "/home/ines/.nvm/versions/node/*/bin"} <= {*mac} & {*linux}
