"""Detection of each program's config, its servers as that program would start them, and JSON with comments."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.errors import InputError
from mcp_tef.formats.servers.server_formats import parse_config
from mcp_tef.model.servers import Transport
from tests.support.configs import CLOCK, entries, form, refusal, spec

HOME = Path("~").expanduser
LISTED: dict[str, Any] = {"mcpServers": {"clock": CLOCK}}


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("/x/Claude/claude_desktop_config.json", LISTED, "claude-desktop"),
        ("/srv/bikes/.mcp.json", LISTED, "claude-code"),
        ("/home/ines/.claude.json", {"projects": {}}, "claude-code"),
        ("/home/ines/.cursor/mcp.json", LISTED, "cursor"),
        ("/srv/bikes/.vscode/mcp.json", {"servers": {"clock": CLOCK}}, "vscode"),
        ("/x/Code/User/settings.json", {"mcp": {"servers": {"clock": CLOCK}}}, "vscode"),
        ("/x/settings.json", {"editor.fontSize": 12}, "vscode"),
        ("/home/ines/.codeium/windsurf/mcp_config.json", LISTED, "windsurf"),
        ("/srv/bikes/mcp.json", LISTED, "inspector"),
        ("/srv/bikes/server.json", {"name": "a/b", "packages": []}, "registry"),
        ("/srv/bikes/any.json", LISTED, "snippet"),
        (None, LISTED, "snippet"),
        (None, {"servers": {"clock": CLOCK}}, "vscode"),
    ],
)
def test_whose_config_it_is(path: str | None, content: Any, expected: str) -> None:
    assert form(content, Path(path) if path else None) == expected


@pytest.mark.parametrize("name", ["claude_desktop_config.json", "mcp_config.json", "mcp.json", "any.json"])
def test_a_command_with_arguments_variables_and_a_folder(name: str) -> None:
    settings = {**CLOCK, "env": {"ZONE": "UTC", "LEVEL": 3, "GONE": None}, "cwd": "/srv"}
    [entry] = entries({"mcpServers": {"clock": settings}}, Path("/home/ines") / name)
    assert entry.spec is not None
    assert (entry.spec.name, entry.spec.argv, entry.spec.cwd) == ("clock", ("uvx", "mcp-server-time"), "/srv")
    assert entry.spec.env == {"ZONE": "UTC", "LEVEL": "3"}
    assert entry.spec.project is None


@pytest.mark.parametrize(
    ("settings", "transport"),
    [
        ({"url": "https://a.test/mcp"}, Transport.STREAMABLE_HTTP),
        ({"url": "https://a.test/sse"}, Transport.SSE),
        ({"serverUrl": "https://a.test/sse/"}, Transport.SSE),
        ({"httpUrl": "https://a.test/x"}, Transport.STREAMABLE_HTTP),
        ({"type": "http", "url": "https://a.test/sse"}, Transport.STREAMABLE_HTTP),
        ({"type": "sse", "url": "https://a.test/x"}, Transport.SSE),
        ({"type": "streamable-http", "url": "https://a.test/x"}, Transport.STREAMABLE_HTTP),
        ({"transport": "streamableHttp", "url": "https://a.test/x"}, Transport.STREAMABLE_HTTP),
        ({"type": "stdio", "command": "x"}, Transport.STDIO),
        ({"command": ["x", "-y"]}, Transport.STDIO),
    ],
)
def test_how_a_server_is_reached(settings: Any, transport: Transport) -> None:
    assert spec(settings).transport is transport


def test_headers_and_switched_off_tools_come_along() -> None:
    found = spec({"url": "https://a.test", "headers": {"X-Team": "bikes"}, "disabledTools": ["drop"]})
    assert (found.headers, found.disallowed_tools) == ({"X-Team": "bikes"}, ("drop",))


def test_what_only_the_other_program_understands_is_kept() -> None:
    more = {"disabled": True, "alwaysAllow": ["read"], "x": {"deep": [1, None]}}
    assert spec({**CLOCK, **more}).extra == more
    [entry] = entries({"mcpServers": {"clock": {**CLOCK, **more}}})
    assert entry.notes == ("It is switched off there.", "Not taken over: alwaysAllow, x.")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (3, "It is not a list of settings."),
        ({}, "It has neither a command nor an address."),
        ({"args": ["--quiet"]}, "It has neither a command nor an address."),
        ({"command": [], "args": ["--quiet"]}, "It has neither a command nor an address."),
        ({"command": "x", "url": "https://a.test"}, "It has both a command and an address."),
        ({"type": "http", "command": "x"}, "What it says of its transport does not fit the rest."),
        ({"type": "ws", "url": "https://a.test"}, "Its transport is none of stdio, sse and streamable HTTP."),
        ({"url": "ftp://ines:hush@a.test"}, "Its address does not begin with http:// or https://."),
        ({"url": "http://[bad"}, "Its address does not begin with http:// or https://."),
        ({"command": "x", "args": [{"a": 1}]}, "An item of its “args” is not text."),
        ({"command": "x", "args": ["a\0b"]}, "An item of its “args” holds characters that no program can be given."),
        ({"command": "x\ud800"}, "Its “command” holds characters that no program can be given."),
        ({"command": "x" * 70_000}, "Its “command” is longer than 64 KB."),
        ({"command": "x", "env": ["A=b"]}, "Its “env” is not a list of names and values."),
        ({"command": "x", "env": {"A=B": "c"}}, "“A=B” is no name of an environment variable."),
        ({"url": "https://a.test", "headers": {"X": "a\r\nY: b"}}, "One of its headers holds characters"),
    ],
)
def test_why_a_server_is_refused(settings: Any, reason: str) -> None:
    assert refusal(settings).startswith(reason)


@pytest.mark.parametrize("kind", [None, *(one.value for one in Transport if one is Transport.FILE), "tools", "library"])
@pytest.mark.parametrize("field", ["path", "file", "toolsFile", "tools_file", "tools"])
def test_no_config_brings_a_server_that_is_a_file(kind: str | None, field: str) -> None:
    """Such a file would be read unasked in a workspace of one's own."""
    assert refusal({field: "/etc/hosts"} | ({"type": kind} if kind else {}))


@pytest.mark.parametrize(
    ("name", "reason"),
    [("", "It has no name."), ("a\u202eb", "Its name holds characters"), ("n" * 300, "Its name is longer")],
)
def test_why_a_name_is_refused(name: str, reason: str) -> None:
    assert refusal(CLOCK, name).startswith(reason)


def test_claude_code_knows_servers_of_the_user_and_of_each_project() -> None:
    content = {
        "numStartups": 9,
        "mcpServers": {"clock": CLOCK},
        "projects": {"/srv/bikes": {"mcpServers": {"desk": CLOCK}}, "/srv/none": {"mcpServers": {}}, "/odd": 3},
    }
    clock, desk = entries(content, Path("/home/ines/.claude.json"))
    assert clock.spec is not None
    assert desk.spec is not None
    assert (clock.spec.project, clock.spec.cwd) == (None, None)
    assert (desk.spec.project, desk.spec.cwd) == ("/srv/bikes", "/srv/bikes")
    assert desk.place == "projects › /srv/bikes › desk"


@pytest.mark.parametrize(
    ("path", "project"),
    [
        ("/srv/bikes/.mcp.json", "/srv/bikes"),
        ("/srv/bikes/.cursor/mcp.json", "/srv/bikes"),
        ("/srv/bikes/any.json", None),
    ],
)
def test_servers_of_a_project_start_in_its_folder(path: str, project: str | None) -> None:
    [entry] = entries(LISTED, Path(path))
    assert entry.spec is not None
    assert (entry.spec.project, entry.spec.cwd) == (project, project)


def test_cursor_servers_of_the_user_belong_to_no_project() -> None:
    [entry] = entries(LISTED, Path("~/.cursor/mcp.json").expanduser())
    assert entry.spec is not None
    assert entry.spec.project is None


VSCODE = """\ufeff// our servers
{
    /* asked once */
    "inputs": [
        {"type": "promptString", "id": "token", "description": "Your token", "password": true, "default": "hush"},
        {"type": "promptString", "id": "zone", "default": "UTC"},
        {"type": "promptString", "id": "unused"}, 7,
    ],
    "servers": {
        "clock": {
            "command": "uvx", "args": ["clock", "${input:zone}", "http://a.test//x"], // not a comment in there
            "env": {"TOKEN": "${input:token}"},
            "envFile": "${workspaceFolder}/.env",
        },
    },
}
"""


def test_vs_code_asks_with_inputs_and_reads_an_env_file() -> None:
    [entry] = entries(VSCODE, Path("/srv/bikes/.vscode/mcp.json"))
    found = entry.spec
    assert found is not None
    assert found.args == ("clock", "${input:zone}", "http://a.test//x")
    assert (found.env, found.env_file) == ({"TOKEN": "${input:token}"}, "${workspaceFolder}/.env")
    assert (found.project, found.cwd) == ("/srv/bikes", "/srv/bikes")
    assert [(item["id"], item.get("default")) for item in found.inputs] == [("token", None), ("zone", "UTC")]
    assert entry.notes[0] == "It asks for “token” (Your token): set the environment variable TOKEN."


@pytest.mark.parametrize(
    "text",
    [
        '{"mcpServers": {"clock": {"command": "uvx", "args": ["mcp-server-time"]}}}',
        '{"clock": {"command": "uvx", "args": ["mcp-server-time"]}}',
        '"clock": {"command": "uvx", "args": ["mcp-server-time"]},',
        'Put this there:\n\n```json\n{"mcpServers": {"clock": {"command": "uvx", "args": ["mcp-server-time"]}}}\n```\n',
        '{"name": "clock", "command": "uvx", "args": ["mcp-server-time"]}',
    ],
)
def test_a_pasted_snippet_may_be_a_part_of_a_config(text: str) -> None:
    [entry] = entries(text)
    assert entry.spec is not None
    assert (entry.spec.name, entry.spec.argv) == ("clock", ("uvx", "mcp-server-time"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("https://mcp.a.test/mcp", "mcp.a.test"),
        ('{"command": "npx", "args": ["-y", "@acme/weather@1.2"]}', "weather"),
        ('{"command": "/opt/desk"}', "desk"),
    ],
)
def test_a_server_without_a_name_gets_one_from_what_it_is(text: str, name: str) -> None:
    [entry] = entries(text)
    assert entry.spec is not None
    assert entry.spec.name == name


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", '{"a": 1}', "not json", '{"mcpServers": [1]}', "[" * 5000])
def test_a_text_that_lists_no_servers_is_refused_as_a_whole(text: str) -> None:
    with pytest.raises(InputError):
        entries(text)


def test_a_thousand_servers_are_enough() -> None:
    with pytest.raises(InputError, match="lists 1,001 servers"):
        entries({"mcpServers": {f"n{number}": CLOCK for number in range(1001)}})


def test_a_config_of_more_than_ten_megabytes_is_refused() -> None:
    with pytest.raises(InputError, match="larger than 10 MB"):
        entries('{"mcpServers": {}, "x": "' + "x" * (10 * 1024 * 1024) + '"}')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(JSON)
def test_plain_json_means_the_same(value: Any) -> None:
    for indent in (None, 1):
        assert parse_config(json.dumps(value, indent=indent, ensure_ascii=False), "x") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, // one\n "b": 2,}', {"a": 1, "b": 2}),
        ("[1, /* two, ] */ 3 , ]", [1, 3]),
        ('["// no", "/* no */", ",]", "\\"//"]', ["// no", "/* no */", ",]", '"//']),
        ("{} // end", {}),
        ("[1] /* open", [1]),
    ],
)
def test_comments_and_trailing_commas(text: str, value: Any) -> None:
    assert parse_config(text, "x") == value


def test_the_line_that_is_wrong_is_named_as_it_is_in_the_file() -> None:
    with pytest.raises(InputError, match="at line 4"):
        parse_config('{ /* one\n two */\n // three\n "a": oops}', "x")


@pytest.mark.parametrize("piece", ["/*", '"\\', "//", ", ", '"\\"', "/**/", "[", '{"a":'])
def test_no_text_takes_long(piece: str) -> None:
    with pytest.raises(InputError):
        parse_config(piece * 300_000, "x")
