"""Launch of a program: references are filled in late, it is found, and it gets a small environment."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.secrets import MASK, Secret
from mcp_tef.model.servers import INPUTS, ServerSpec, Transport
from mcp_tef.servers.launch import Launch, ResolvedSpec
from mcp_tef.servers.tool_lister import McpToolLister
from mcp_tef.trust.plans import StartPlan
from mcp_tef.trust.programs import find_program, program_folders
from tests.support.telling_server import program


def spec(**fields: Any) -> ServerSpec:
    return ServerSpec(**({"name": "Desk", "transport": Transport.STDIO, "command": sys.executable} | fields))


def launch(environment: dict[str, str], **fields: Any) -> Launch:
    return ResolvedSpec(spec(**fields), environment).launch()


def refused(environment: dict[str, str], **fields: Any) -> ServerError:
    with pytest.raises(ServerError) as caught:
        launch(environment, **fields)
    assert caught.value.fault is ServerFault.SETTINGS
    return caught.value


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${SHOP}", "Harbour"),
        ("a ${env:SHOP} b", "a Harbour b"),
        ("${SHOP:-Hill}", "Harbour"),
        ("${NOT_SET:-Hill}", "Hill"),
        ("${NOT_SET:-}", ""),
        ("${input:shop}", "Harbour"),
        ("${workspaceFolder}/x", "/srv/bikes/x"),
        ("${workspaceFolder:web}/x", "/srv/bikes/x"),
        ("${workspaceFolderBasename}", "bikes"),
        ("a${pathSeparator}b${/}c", f"a{os.sep}b{os.sep}c"),
        ("${command:pick.one}", "${command:pick.one}"),
        ("$SHOP {SHOP} ${} ${1}", "$SHOP {SHOP} ${} ${1}"),
    ],
)
def test_references_are_filled_in_arguments_and_variables(text: str, filled: str) -> None:
    made = launch({"SHOP": "Harbour"}, args=("-m", text), env={"PLACE": text}, project="/srv/bikes")
    assert made.argv[1:] == ("-m", filled)
    assert made.env["PLACE"] == filled


def test_an_entry_of_the_keychain_is_filled_in_and_is_a_secret() -> None:
    said = spec(env={"TOKEN": "Bearer ${keychain:shop.token}"})
    resolved = ResolvedSpec(said, {}, {"shop.token": Secret("hush-4711")})
    assert resolved.launch().env["TOKEN"] == "Bearer hush-4711"
    assert Secret("hush-4711") in resolved.secrets


def test_an_entry_that_is_not_in_the_keychain_is_named_with_what_makes_it() -> None:
    error = refused({"token": "not this"}, args=("${keychain:token}",))
    assert error.message == "Desk needs the keychain entry token, which is not there."
    assert error.hint == "Make it with: mcp-tef keys set server:token"


def test_what_nobody_answered_is_named_with_its_variable() -> None:
    error = refused({}, args=("${input:shop-token}",))
    assert error.message == "Desk needs the environment variable SHOP_TOKEN, which is not set."


def test_a_config_may_say_what_holds_where_nobody_answers() -> None:
    asked = [{"id": "other", "default": "no"}, {"id": "shop", "default": "Hill"}]
    assert launch({}, args=("${input:shop}",), extra={INPUTS: asked}).argv[1:] == ("Hill",)


def test_a_folder_of_the_editor_that_is_not_known_is_told() -> None:
    assert "no folder is known for that" in refused({}, args=("${workspaceFolder}",)).message


def test_command_and_folder_are_filled_too(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "desk"
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    made = launch({}, command="${workspaceFolder}/bin/desk", cwd="${workspaceFolder}", project=str(tmp_path))
    assert (made.argv, made.cwd) == ((str(program),), str(tmp_path))


def test_variables_come_from_the_env_file_and_the_config_overrules_it(tmp_path: Path) -> None:
    lines = ["# a comment", "export A=one # tail", 'B="two\\nlines"', "C='$x # y'", "D = four", "not a line", "E=five"]
    (tmp_path / ".env").write_text("\n".join(lines), "utf-8")
    resolved = ResolvedSpec(spec(env_file="${workspaceFolder}/.env", project=str(tmp_path), env={"E": "six"}), {})
    assert resolved.launch().env == {"A": "one", "B": "two\nlines", "C": "$x # y", "D": "four", "E": "six"}


def test_an_env_file_is_read_where_the_plan_says_and_only_once_the_plan_is_allowed(tmp_path: Path) -> None:
    resolved = ResolvedSpec(spec(env_file="missing.env", project=str(tmp_path)), {})

    def refuse(plan: StartPlan) -> None:
        raise PermissionError(plan.env_file)

    with pytest.raises(PermissionError, match=re.escape(str(tmp_path / "missing.env"))):
        resolved.launch(refuse)
    with pytest.raises(ServerError, match="cannot be read"):
        resolved.launch()


def test_what_an_env_file_holds_is_a_secret(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TOKEN=hush-4711", "utf-8")
    resolved = ResolvedSpec(spec(env_file=".env", project=str(tmp_path)), {})
    resolved.launch()
    assert "hush-4711" in [secret.reveal() for secret in resolved.secrets]


@pytest.mark.parametrize(
    "name",
    [
        *("LD_PRELOAD", "NODE_OPTIONS", "PYTHONPATH", "PATH", "HOME", "npm_config_registry", "UV_INDEX"),
        *("GIT_CONFIG_COUNT", "OPENSSL_CONF", "PYTHONPYCACHEPREFIX", "CORECLR_PROFILER_PATH", "DOCKER_CONFIG"),
        *("DOTNET_ROOT", "COREPACK_NPM_REGISTRY", "LUA_CPATH", "GEM_PATH"),
    ],
)
def test_an_env_file_that_was_not_shown_cannot_bring_in_other_code(tmp_path: Path, name: str) -> None:
    (tmp_path / ".env").write_text(f"TOKEN=x\n{name}=/srv/evil", "utf-8")
    error = refused({}, env_file=str(tmp_path / ".env"))
    assert error.message == (
        f"Desk takes {name} from {tmp_path / '.env'}, which can make it run code that you have not approved."
    )
    assert launch({}, env={name: os.defpath}).env[name] == os.defpath


@pytest.mark.parametrize(
    "name",
    [
        "API_TOKEN",
        "DOCKER_TOKEN",
        "DOTNET_ENVIRONMENT",
        "GIT_AUTHOR_NAME",
        "HTTPS_PROXY",
        "HOMEPAGE",
        "DEBUG",
        "NPM_TOKEN",
    ],
)
def test_keys_and_settings_come_from_an_env_file_and_may_change_without_asking_again(tmp_path: Path, name: str) -> None:
    for value in ("one", "two"):
        (tmp_path / ".env").write_text(f"{name}={value}", "utf-8")
        assert launch({}, env_file=str(tmp_path / ".env")).env[name] == value


def test_a_program_never_starts_in_the_current_folder(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "inner").mkdir(parents=True)
    assert launch({}).cwd == str(home)
    assert launch({}, project=str(project)).cwd == str(project)
    assert launch({}, project=str(tmp_path / "gone")).cwd == str(home)
    assert launch({}, project=str(project), cwd="inner").cwd == str(project / "inner")


@pytest.mark.parametrize("content", [None, b"A=\xff", b"x" * 2_000_000])
def test_an_env_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / ".env").write_bytes(content)
    error = refused({}, env_file=str(tmp_path / ".env"))
    assert f"takes variables from {tmp_path / '.env'}, which cannot be read" in error.message


def test_the_home_of_somebody_who_is_not_there_is_named() -> None:
    assert "~nobody-here/x, which is no folder" in refused({}, cwd="~nobody-here/x").message
    assert "~nobody-here/.env, which cannot be read" in refused({}, env_file="~nobody-here/.env").message


def test_a_program_beyond_path_finds_its_interpreter_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / ".volta" / "bin"
    folder.mkdir(parents=True)
    program = folder / "npx-of-ours"
    program.write_text("#!/usr/bin/env node\n", "utf-8")
    program.chmod(0o755)
    made = launch({"HOME": str(tmp_path), "PATH": "/usr/bin"}, command="npx-of-ours")
    assert made.argv == (str(program),)
    assert made.env["PATH"] == f"{folder}{os.pathsep}/usr/bin"


def executable(folder: Path, name: str = "npx") -> str:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text("#!/bin/sh\n", "utf-8")
    file.chmod(0o755)
    return str(file)


def resolved(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), "PATH": str(home / "on-path"), **more}


def test_path_comes_first(tmp_path: Path) -> None:
    executable(tmp_path / ".local" / "bin")
    first = executable(tmp_path / "on-path")
    assert find_program("npx", resolved(tmp_path), "linux") == first


@pytest.mark.parametrize(
    "folder", [".local/bin", ".volta/bin", ".pyenv/shims", ".cargo/bin", ".bun/bin", ".asdf/shims", "bin"]
)
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_the_usual_places_of_package_managers_are_looked_through(tmp_path: Path, folder: str, platform: str) -> None:
    there = executable(tmp_path / folder, "tool-of-ours")
    assert find_program("tool-of-ours", resolved(tmp_path), platform) == there


def test_the_newest_node_of_nvm_is_taken_by_number_not_by_letters(tmp_path: Path) -> None:
    versions = tmp_path / ".nvm" / "versions" / "node"
    for version in ("v9.11.2", "v22.4.0", "v22.10.1"):
        executable(versions / version / "bin", "node-of-ours")
    found = find_program("node-of-ours", resolved(tmp_path), "darwin")
    assert found == str(versions / "v22.10.1" / "bin" / "node-of-ours")


def test_what_a_variable_says_of_a_package_manager_holds(tmp_path: Path) -> None:
    there = executable(tmp_path / "elsewhere" / "bin", "tool-of-ours")
    executable(tmp_path / ".volta" / "bin", "tool-of-ours")
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


USUAL = {"HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
PLANTED = {
    "OPENAI_API_KEY": "planted-key-of-a-model",
    "AWS_SECRET_ACCESS_KEY": "planted-key-of-a-cloud",
    "CITY_PASS": "planted-pass",
    "PLANTED": "planted-word",
    "NODE_OPTIONS": "--planted",
    "PYTHONSTARTUP": "/planted.py",
    "SSH_AUTH_SOCK": "/planted.sock",
}


async def test_nothing_of_ours_reaches_a_program_but_what_its_server_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    command, *args = program("environment")
    env = {"CITY": "${CITY_PASS}", "REGION": "eu"}
    spec = ServerSpec(name="telling", transport=Transport.STDIO, command=command, args=tuple(args), env=env)
    lister = McpToolLister(dict(os.environ))
    listing = await lister.list_tools(spec, timeout=20)
    await lister.close()
    seen = json.loads(listing.tools[0].description)
    assert {*seen} - USUAL == {"CITY", "REGION"}
    assert [value for value in seen.values() if "planted" in value] == []
    assert (seen["REGION"], seen["CITY"]) == ("eu", MASK)
    assert seen["PATH"] == os.environ["PATH"]
