"""Whatever a config from a stranger holds, reading it ends in servers, in refusals, or in one readable error."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_tef.errors import InputError
from mcp_tef.formats.servers.server_formats import read_config
from mcp_tef.model.transfer import ImportStatus
from mcp_tef.workflows.server_import import ServerPlan

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


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(CONFIGS, PATHS)
def test_json_of_any_shape(value: Any, path: Path | None) -> None:
    imported(json.dumps(value), path)


@settings(max_examples=300)
@given(st.text(alphabet='{}[]",:/\\*$ab\n`', max_size=60), PATHS)
def test_text_of_any_kind(text: str, path: Path | None) -> None:
    imported(text, path)


@settings(max_examples=200)
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
