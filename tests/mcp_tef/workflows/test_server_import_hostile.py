"""Configs of strangers: servers, refusals or one sentence; usual places; written secrets."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_tef.errors import InputError, StoreError
from mcp_tef.formats.servers.server_formats import read_config
from mcp_tef.llm.keys import KeyRing, ServerVault
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import AuthType, ServerSpec, Transport
from mcp_tef.model.transfer import ImportStatus
from mcp_tef.workflows.server_import import ServerPlan, usual_places
from mcp_tef.workflows.servers import PlainTextSecrets
from tests.support.fake_ports import MemoryKeychain

NAMES = (
    *("mcpServers", "servers", "mcp", "inputs", "projects", "packages", "remotes", "server"),
    *("name", "command", "args", "env", "headers", "url", "serverUrl", "type"),
    *("transport", "cwd", "envFile", "disabled", "disabledTools", "id", "password", "default"),
    *(
        "description",
        "registryType",
        "registry_name",
        "identifier",
        "version",
        "runtimeHint",
        "runtimeArguments",
        "packageArguments",
    ),
    *("environmentVariables", "variables", "value", "isRequired", "valueHint"),
)
WORDS = (
    *(
        "npm",
        "oci",
        "pypi",
        "stdio",
        "sse",
        "http",
        "named",
        "positional",
        "https://a.test/{x}",
        "http://[",
        "${input:x}",
    ),
    *("${A:-b}", "${workspaceFolder}", "Bearer hush-4711", "--token", "//u:p@h", "\0", "\ud800", "\u202e", "x" * 300),
)
FILES = (
    *("claude_desktop_config.json", ".mcp.json", ".claude.json", ".cursor/mcp.json", ".vscode/mcp.json"),
    *("settings.json", "mcp_config.json", "mcp.json", "server.json", "any"),
)
TEXT = st.sampled_from(WORDS) | st.text(max_size=12)
KEYS = st.sampled_from(NAMES) | TEXT
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=10
)
SERVER = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=7) | st.fixed_dictionaries(
    {"command": TEXT, "args": st.lists(TEXT, max_size=4)},
    optional={name: VALUES for name in NAMES if name not in ("command", "args")},
)
CONFIGS = VALUES | st.builds(
    lambda key, servers: {key: servers},
    st.sampled_from(("mcpServers", "servers", "packages", "remotes")),
    st.dictionaries(KEYS, SERVER, max_size=4) | st.lists(SERVER, max_size=3),
)
PATHS = st.none() | st.sampled_from(FILES).map(lambda name: Path("/srv/bikes") / name)


def imported(text: str, path: Path | None) -> None:
    """Read and plan a config; anything but servers and InputError fails the test."""
    try:
        _, entries = read_config(text, path)
    except InputError:
        return
    plan = ServerPlan((), {"A": "1"})
    found = [plan.planned(entry, str(path) if path else None) for entry in entries]
    named = [server.name for server in found if server.fate is ImportStatus.ADDED]
    assert len(named) == len({*named})
    assert all(server.reason for server in found if server.fate is ImportStatus.REFUSED)
    json.dumps([dict(server.spec.extra) for server in found if server.spec])


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(CONFIGS, PATHS)
def test_json_of_any_shape(value: Any, path: Path | None) -> None:
    imported(json.dumps(value), path)


@settings(max_examples=60)
@given(st.text(alphabet='{}[]",:/\\*$ab\n`', max_size=60), PATHS)
def test_text_of_any_kind(text: str, path: Path | None) -> None:
    imported(text, path)


@settings(max_examples=60)
@given(st.data())
def test_a_config_that_was_cut_or_changed_anywhere(data: st.DataObject) -> None:
    whole = json.dumps({"inputs": [{"id": "x"}], "servers": {"a": {"command": "c", "env": {"TOKEN": "hush-4711"}}}})
    place = data.draw(st.integers(0, len(whole)))
    cut = data.draw(st.integers(0, 5))
    imported(whole[:place] + data.draw(st.text(max_size=3)) + whole[place + cut :], None)


def nested(levels: int) -> dict[str, Any]:
    """A value that unfolds twice at each level."""
    value: dict[str, Any] = {"value": "x"}
    for _ in range(levels):
        value = {"value": "{a}{a}", "variables": {"a": value}}
    return value


LONG = {"value": "{a}" * 20_000, "variables": {"a": {"value": "x" * 60_000}}}


@pytest.mark.parametrize(
    "document",
    [
        {"packages": [{"registryType": "npm", "identifier": "w", "packageArguments": [nested(30)]}]},
        {"packages": [{"registryType": "npm", "identifier": "w", "packageArguments": [LONG] * 60}]},
        {"mcpServers": {"a": {"command": "x", "token": [f"hush-{number}" for number in range(20_000)]}}},
        {"mcpServers": {"a": {"command": "x", "more": "y" * 300_000}}},
        {"inputs": [{"id": "x"}] * 100_000, "servers": {"a": {"command": "${input:x}"}}},
    ],
    ids=["nested", "unfolding", "secrets", "large", "inputs"],
)
def test_a_small_file_never_unfolds_into_much(document: Any) -> None:
    imported(json.dumps(document), None)
    found = [ServerPlan((), {}).planned(entry, None) for entry in read_config(json.dumps(document))[1]]
    assert sum(len(repr(server)) for server in found) < 1_000_000


def test_a_line_of_backticks_and_breaks_is_read_at_once() -> None:
    for text in ("x```\n" + "\n" * 2_000_000, "x" + "```\n" * 500_000):
        imported(text, None)


@pytest.mark.parametrize(
    "entry",
    [
        {"url": "https://a.test/mcp", "headers": {"Authorization": "Bearer ${keychain:bank}"}},
        {"url": "https://a.test/${keychain:bank}"},
        {"command": "serve", "args": ["--token", "${keychain:bank}"]},
    ],
)
def test_no_config_gets_hold_of_the_keychain(entry: dict[str, Any]) -> None:
    (found,) = read_config(json.dumps({"mcpServers": {"a": entry}}))[1]
    planned = ServerPlan((), {}).planned(found, None)
    assert (planned.fate, planned.spec) == (ImportStatus.REFUSED, None)
    assert "keychain" in planned.reason


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
    assert {f"/srv/bikes/{name}/mcp.json" for name in (".cursor", ".vscode")} < set(paths("linux", {}, "/srv/bikes"))
    assert r"D:\bikes\.vscode\mcp.json" in paths("win32", {}, "D:\\bikes")


PLANTED, OTHER = "hush-4711", "hush-0815"


@pytest.fixture
def keychain() -> MemoryKeychain:
    return MemoryKeychain()


@pytest.fixture
def written(keychain: MemoryKeychain) -> PlainTextSecrets:
    return PlainTextSecrets({"OPENAI_API_KEY": "the provider's own"}, ServerVault(KeyRing({}, keychain)))


def shop(secret: str = PLANTED, name: str = "shop") -> ServerSpec:
    program = {"command": "serve", "args": ("--token", secret), "env": {"API_KEY": secret}}
    return ServerSpec(name=name, transport=Transport.STDIO, **program)  # type: ignore[arg-type]


def test_what_is_held_fills_the_variables_of_servers(written: PlainTextSecrets) -> None:
    typed = written.taken_out(shop())
    assert typed.spec.args == ("--token", "${SHOP_TOKEN}")
    assert PLANTED not in repr(typed)
    assert "SHOP_TOKEN" not in written.variables
    written.hold(typed.values)
    assert (written.variables["SHOP_TOKEN"], written.variables["API_KEY"]) == (PLANTED, PLANTED)
    assert written.held() == {"SHOP_TOKEN": Secret(PLANTED), "API_KEY": Secret(PLANTED)}


def test_a_variable_that_holds_something_else_is_never_taken(written: PlainTextSecrets) -> None:
    written.hold(written.taken_out(shop()).values)
    other = written.taken_out(shop(OTHER, "store"))
    assert other.spec.env == {"API_KEY": "${STORE_API_KEY}"}
    typed = written.taken_out(replace(shop(), env={"OPENAI_API_KEY": OTHER}))
    assert typed.spec.env == {"OPENAI_API_KEY": "${SHOP_OPENAI_API_KEY}"}


async def test_the_keychain_keeps_them_for_later_processes(written: PlainTextSecrets, keychain: MemoryKeychain) -> None:
    url = f"https://ines:{PLANTED}@shop.test/mcp"
    spec = await written.remember(
        written.taken_out(ServerSpec(name="shop", transport=Transport.STREAMABLE_HTTP, url=url))
    )
    assert (spec.url, spec.auth_type) == ("https://shop.test/mcp", AuthType.BASIC)
    assert spec.secret == "${keychain:SHOP_USER_AND_PASSWORD}"
    assert keychain.kept["mcp-tef", "server:SHOP_USER_AND_PASSWORD"] == f"ines:{PLANTED}"
    assert "SHOP_USER_AND_PASSWORD" not in written.variables


async def test_the_entry_of_another_server_is_not_replaced(written: PlainTextSecrets, keychain: MemoryKeychain) -> None:
    first = await written.remember(written.taken_out(shop()))
    second = await written.remember(written.taken_out(shop(OTHER, "store")))
    assert (first.env, second.env) == ({"API_KEY": "${keychain:API_KEY}"}, {"API_KEY": "${keychain:STORE_API_KEY}"})
    assert keychain.kept["mcp-tef", "server:API_KEY"] == PLANTED


async def test_a_keychain_that_refuses_is_told(written: PlainTextSecrets, keychain: MemoryKeychain) -> None:
    keychain.locked = True
    with pytest.raises(StoreError):
        await written.remember(written.taken_out(shop()))


def test_an_edit_leaves_what_was_stored_before(written: PlainTextSecrets) -> None:
    before = shop()
    typed = written.taken_out(replace(before, env={"API_KEY": OTHER}), before)
    assert typed.spec.args == ("--token", PLANTED)
    assert [secret.where for secret in typed.secrets] == ["variable API_KEY"]
