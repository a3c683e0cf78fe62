"""Configs of all clients: each setting of each server comes in, or is named as left out."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.errors import InputError
from mcp_tef.formats.servers.server_formats import parse_config, parse_toml, read_config
from mcp_tef.formats.servers.settings import ServerEntry
from mcp_tef.model.servers import ServerSpec, Transport

DATA = Path(__file__).parents[3] / "data" / "clients"
PLACES = {
    "claude-code": "/srv/bikes/.mcp.json",
    "claude-desktop": "/home/ines/.config/Claude/claude_desktop_config.json",
    "codex": "/srv/bikes/.codex/config.toml",
    "cursor": "/srv/bikes/.cursor/mcp.json",
    "gemini": "/srv/bikes/.gemini/settings.json",
    "vscode": "/srv/bikes/.vscode/mcp.json",
    "windsurf": "/home/ines/.codeium/windsurf/mcp_config.json",
    "zed": "/home/ines/.config/zed/settings.json",
}
LISTS = {"codex": "mcp_servers", "vscode": "servers", "zed": "context_servers"}
NAMED, OFF, SAID = "named as not taken over", "named as switched off", "the default, or said by the transport"
HTTP = Transport.STREAMABLE_HTTP
ISSUES = "https://issues.acme.test/mcp"
NPX = ("npx", "-y", "@acme/docs-mcp")
DOCS_FOLDER = "/srv/bikes/services/docs"
# What becomes of each setting: a value is the part of the definition that has it.
TABLE: dict[tuple[str, str], dict[str, Any]] = {
    ("claude-code", "docs"): {
        "type": SAID,
        "command": {"command": "${DOCS_BIN:-docs-mcp}"},
        "args": {"args": ("--level", "info")},
        "env": {"env": {"DOCS_TOKEN": "${DOCS_TOKEN}"}},
        "timeout": NAMED,
        "alwaysLoad": NAMED,
    },
    ("claude-code", "issues"): {
        "type": {"transport": Transport.SSE},
        "url": {"url": "${ISSUES_URL:-https://issues.acme.test}/sse"},
        "headers": {"headers": {"Authorization": "Bearer ${ISSUES_TOKEN}"}},
        "headersHelper": NAMED,
        "oauth": NAMED,
    },
    ("claude-desktop", "docs"): {
        "command": {"command": "npx"},
        "args": {"argv": NPX},
        "env": {"env": {"DOCS_LEVEL": "info"}},
        "description": NAMED,
    },
    ("codex", "docs"): {
        "command": {"command": "npx"},
        "args": {"args": ("-y", "@acme/docs-mcp@2.1")},
        "env": {"env": {"DOCS_TOKEN": "${DOCS_TOKEN}", "DOCS_USER": "${DOCS_USER}", "DOCS_LEVEL": "info"}},
        "env_vars": {"env": {"DOCS_TOKEN": "${DOCS_TOKEN}", "DOCS_USER": "${DOCS_USER}", "DOCS_LEVEL": "info"}},
        "cwd": {"cwd": DOCS_FOLDER, "project": "/srv/bikes"},
        "required": NAMED,
        "startup_timeout_sec": NAMED,
        "tool_timeout_sec": NAMED,
        "enabled_tools": {"allowed_tools": ("search", "read")},
        "disabled_tools": {"disallowed_tools": ("write",)},
        "tools": NAMED,
    },
    ("codex", "issues"): {
        "url": {"url": ISSUES, "transport": HTTP},
        "bearer_token_env_var": {"headers.Authorization": "Bearer ${ISSUES_TOKEN}"},
        "http_headers": {"headers.X-Team": "bikes"},
        "env_http_headers": {"headers.X-User": "${ISSUES_USER}"},
        "scopes": NAMED,
        "enabled": OFF,
    },
    ("cursor", "docs"): {
        "type": SAID,
        "command": {"command": "npx"},
        "args": {"args": ("-y", "@acme/docs-mcp", "--user=${env:DOCS_USER}")},
        "env": {"env": {"DOCS_TOKEN": "${DOCS_TOKEN:-none}"}},
        "envFile": {"env_file": "/srv/bikes/.env"},
        "cwd": {"cwd": DOCS_FOLDER},
        "alwaysAllow": NAMED,
        "timeout": NAMED,
    },
    ("cursor", "issues"): {
        "url": {"url": ISSUES},
        "headers": {"headers": {"Authorization": "Bearer ${env:ISSUES_TOKEN}"}},
        "auth": NAMED,
        "disabledTools": {"disallowed_tools": ("close",)},
        "disabled": OFF,
    },
    ("gemini", "docs"): {
        "command": {"command": "npx"},
        "args": {"args": ("-y", "@acme/docs-mcp", "--key=${DOCS_KEY}")},
        "env": {"env": {"DOCS_TOKEN": "${DOCS_TOKEN}", "HOME_URL": "${HOME_URL}"}},
        "cwd": {"cwd": DOCS_FOLDER},
        "timeout": NAMED,
        "trust": NAMED,
        "description": NAMED,
        "includeTools": {"allowed_tools": ("search", "read")},
        "excludeTools": {"disallowed_tools": ("write",)},
    },
    ("gemini", "issues"): {
        "httpUrl": {"url": ISSUES, "transport": HTTP},
        "headers": {"headers": {"Authorization": "Bearer ${ISSUES_TOKEN}"}},
        "oauth": NAMED,
        "authProviderType": NAMED,
    },
    ("vscode", "docs"): {
        "type": SAID,
        "command": {"command": "${workspaceFolder}/bin/docs", "project": "/srv/bikes"},
        "args": {"args": ("--key", "${input:docs-key}")},
        "env": {"env": {"DOCS_TOKEN": "${env:DOCS_TOKEN}"}},
        "envFile": {"env_file": "${workspaceFolder}/.env"},
        "cwd": {"cwd": DOCS_FOLDER},
        "dev": NAMED,
        "gallery": NAMED,
        "sandboxEnabled": NAMED,
    },
    ("vscode", "issues"): {
        "type": {"transport": HTTP},
        "url": {"url": ISSUES},
        "headers": {"headers": {"X-Team": "bikes"}},
        "version": NAMED,
    },
    ("windsurf", "docs"): {
        "command": {"command": "npx"},
        "args": {"argv": NPX},
        "disabledTools": {"disallowed_tools": ("write",)},
        "disabled": SAID,
    },
    ("windsurf", "issues"): {
        "serverUrl": {"url": ISSUES, "transport": HTTP},
        "headers": {"headers": {"X-Team": "bikes"}},
        "alwaysAllow": NAMED,
        "autoApprove": NAMED,
    },
    ("zed", "docs"): {
        "source": SAID,
        "command": {"command": "npx"},
        "args": {"argv": NPX},
        "env": {"env": {"DOCS_TOKEN": "${DOCS_TOKEN:-none}"}},
    },
    ("zed", "older"): {
        "command": {"argv": ("uvx", "mcp-server-git"), "env": {"LEVEL": "1"}},
        "command.timeout": NAMED,
        "settings": NAMED,
        "enabled": OFF,
    },
    ("zed", "issues"): {"url": {"url": ISSUES}, "headers": {"headers": {"X-Team": "bikes"}}, "remote": NAMED},
}


def text_of(client: str) -> str:
    return (DATA / f"{client}.{'toml' if client == 'codex' else 'json'}").read_text("utf-8")


def document_of(client: str) -> Any:
    return parse_toml(text_of(client), client) if client == "codex" else parse_config(text_of(client), client)


def read(client: str, text: str = "") -> dict[str, ServerEntry]:
    form, found = read_config(text or text_of(client), Path(PLACES[client]))
    assert form.form == client
    return {one.label: one for one in found}


def spec(entry: ServerEntry) -> ServerSpec:
    assert entry.spec is not None, entry.refused
    return entry.spec


def part(definition: ServerSpec, path: str) -> Any:
    name, _, key = path.partition(".")
    value = getattr(definition, name)
    return value[key] if key else value


def named_in(entry: ServerEntry) -> set[str]:
    notes = [note for note in entry.notes if note.startswith("Not taken over: ")]
    return {name for note in notes for name in note.removeprefix("Not taken over: ").rstrip(".").split(", ")}


@pytest.mark.parametrize("client", PLACES)
def test_the_table_has_each_server_and_each_setting_of_the_files(client: str) -> None:
    servers = document_of(client)[LISTS.get(client, "mcpServers")]
    assert {name for owner, name in TABLE if owner == client} == set(servers)
    for name, settings in servers.items():
        assert {key.partition(".")[0] for key in TABLE[client, name]} == set(settings)


@pytest.mark.parametrize(("client", "name"), TABLE)
def test_each_setting_comes_in_or_is_named_as_left_out(client: str, name: str) -> None:
    entry, rows = read(client)[name], TABLE[client, name]
    for fate in rows.values():
        for path, value in fate.items() if isinstance(fate, dict) else ():
            assert part(spec(entry), path) == value
    assert named_in(entry) == {key for key, fate in rows.items() if fate == NAMED}
    is_off = OFF in rows.values() or (client, name) == ("gemini", "issues")
    assert ("It is switched off there." in entry.notes) is is_off


def test_gemini_and_vs_code_say_more_outside_of_their_servers() -> None:
    assert read("gemini")["issues"].notes[0] == "It is switched off there."
    asked = "It asks for “docs-key” (Key of the documents): set the environment variable DOCS_KEY."
    assert asked in read("vscode")["docs"].notes


KEYS = st.from_regex(r"[a-z][A-Za-z_]{2,30}", fullmatch=True)
VALUES: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just([1]) | st.just({"a": {}})
)
KNOWN = {"type", "transport", "command", "args", "env", "headers", "url", "cwd", "envFile", "name"}
KNOWN |= {"httpUrl", "serverUrl", "includeTools", "disabledTools", "excludeTools", "disabled", "enabled"}


@given(st.sampled_from([one for one in TABLE if one[0] != "codex"]), KEYS.filter(lambda key: key not in KNOWN), VALUES)
def test_any_unknown_setting_is_named(server: tuple[str, str], key: str, value: Any) -> None:
    client, name = server
    document = document_of(client)
    document[LISTS.get(client, "mcpServers")][name][key] = value
    entry = read(client, json.dumps(document))[name]
    assert key in named_in(entry)


@given(st.sampled_from(["disabled", "enabled", "source", "name", "description"]), VALUES)
def test_a_known_setting_with_an_odd_value_is_named_too(key: str, value: Any) -> None:
    document = document_of("zed")
    document["context_servers"]["docs"][key] = value
    entry = read("zed", json.dumps(document))["docs"]
    said_so = key in ("disabled", "enabled") and isinstance(value, bool)
    assert (key in named_in(entry)) is not said_so


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ('env_vars = "A"', "env_vars"),
        ("env_vars = [1]", "env_vars"),
        ('env_http_headers = ["A"]', "env_http_headers"),
        ("bearer_token_env_var = 3", "bearer_token_env_var"),
        ('headers = { a = "b" }', "headers"),
    ],
)
def test_what_codex_would_not_understand_is_named(setting: str, named: str) -> None:
    _, [entry] = read_config(f'[mcp_servers.clock]\ncommand = "uvx"\n{setting}\n')
    assert named in named_in(entry)


@pytest.mark.parametrize("url", ["${URL:-ftp://a.test}/x", "${URL:-}/x", "${input:url}/x", "${workspaceFolder}/x"])
def test_a_variable_that_cannot_begin_an_address_is_refused(url: str) -> None:
    _, [entry] = read_config(json.dumps({"mcpServers": {"clock": {"url": url}}}))
    assert entry.refused == f"{url} is not a web address."


def test_many_unknown_settings_are_counted() -> None:
    settings = {"command": "uvx"} | {f"x{number:02}": 1 for number in range(25)}
    _, [entry] = read_config(json.dumps({"mcpServers": {"clock": settings}}))
    assert entry.notes[0].endswith("x18, x19 and 5 more.")


def test_a_part_of_a_toml_file_can_be_pasted() -> None:
    form, (only,) = read_config('[mcp_servers.clock]\ncommand = "uvx"\ncwd = "here"\n')
    assert (form.form, spec(only).command) == ("codex", "uvx")
    assert only.notes == ("Its path “here” is relative, and no folder is known for it.",)


def test_a_damaged_toml_file_is_named() -> None:
    with pytest.raises(InputError, match=r"config\.toml is not valid TOML"):
        read_config("[mcp_servers", Path("/srv/config.toml"))


def test_a_number_of_5000_digits_in_toml_is_refused_in_a_sentence() -> None:
    with pytest.raises(InputError, match=r"config\.toml is not valid TOML"):
        read_config(f"[mcp_servers.city]\ncommand = 'city'\ntimeout = {'9' * 5_000}\n", Path("/srv/config.toml"))
