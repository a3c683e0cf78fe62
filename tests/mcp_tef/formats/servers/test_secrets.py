"""A secret that a config holds in plain text is found wherever it stands, and a variable takes its place."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest

from mcp_tef.formats.servers.secrets import Secrets
from mcp_tef.model.servers import ServerSpec
from tests.support.configs import spec

PLANTED = "hush-4711"
SHAPED = "ghp_0123456789abcdefABCD"


def clean(settings: Any, environment: Mapping[str, str] | None = None, name: str = "desk") -> tuple[ServerSpec, Any]:
    return Secrets(environment or {}).taken_out(spec(settings, name))


@pytest.mark.parametrize(
    "args",
    [
        ["--api-key", PLANTED],
        [f"--api-key={PLANTED}"],
        [f"--token:{PLANTED}"],
        ["--header", f"Authorization: Bearer {PLANTED}"],
        ["--header", f"X-Api-Key:{PLANTED}"],
        [f"--header=Authorization: Basic {PLANTED}"],
        ["-e", f"GITHUB_TOKEN={PLANTED}"],
        [f"--env=GITHUB_TOKEN={PLANTED}"],
        [f"postgres://ines:{PLANTED}@db.test/shop"],
        [f"--db=postgres://ines:{PLANTED}@db.test/shop"],
        [f"https://a.test/mcp?api_key={PLANTED}&x=1"],
        [SHAPED],
        ["--anything", SHAPED],
        [f"--anything={SHAPED}"],
    ],
)
def test_in_arguments(args: list[str]) -> None:
    found, secrets = clean({"command": "x", "args": args})
    assert PLANTED not in repr(found)
    assert SHAPED not in repr(found)
    assert len(secrets) == 1
    assert f"${{{secrets[0].variable}}}" in found.args[-1]


INNER = {"apiKey": PLANTED, "url": "https://a.test", "deep": [{"headers": {"Authorization": f"Bearer {PLANTED}"}}]}
DOCUMENTS = {
    "plain": json.dumps(INNER),
    "indented": json.dumps(INNER, indent=2),
    "a list": json.dumps([INNER]),
    "nested": json.dumps({"config": json.dumps(INNER)}),
    "nested twice": json.dumps({"config": json.dumps({"more": json.dumps(INNER)})}),
    "an address": json.dumps({"db": f"postgres://ines:{PLANTED}@db.test/shop?x=1"}),
    "a query": json.dumps({"at": f"https://a.test/mcp?api_key={PLANTED}&x=1"}),
    "base64": base64.b64encode(json.dumps(INNER).encode()).decode(),
    "url-safe base64": base64.urlsafe_b64encode(json.dumps(INNER, indent=1).encode()).decode().rstrip("="),
}
PLACES: dict[str, Any] = {
    "variable": lambda text: {"command": "x", "env": {"OPENAPI_MCP_HEADERS": text}},
    "argument": lambda text: {"command": "x", "args": ["--config", text]},
    "argument with its name": lambda text: {"command": "x", "args": [f"--config={text}"]},
    "argument alone": lambda text: {"command": "x", "args": [text]},
    "header": lambda text: {"url": "https://a.test", "headers": {"X-Config": text.replace("\n", " ")}},
    "setting": lambda text: {"command": "x", "more": {"config": [text]}},
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS)
def test_inside_a_json_value(text: str, place: Any) -> None:
    found, secrets = clean(place(text))
    shown = repr(found)
    assert secrets
    assert PLANTED not in shown
    assert base64.b64encode(PLANTED.encode()).decode()[:8] not in shown
    assert text == DOCUMENTS["base64"] or "eyJ" not in shown
    assert all(f"${{{one.variable}}}" in shown for one in secrets)


def test_a_json_value_stays_json_and_is_whole_again_with_its_variables() -> None:
    text = json.dumps(INNER)
    server = Secrets({})
    found, secrets = server.taken_out(spec({"command": "x", "env": {"OPENAPI_MCP_HEADERS": text}}, "desk"))
    written = found.env["OPENAPI_MCP_HEADERS"]
    assert json.loads(written)["url"] == "https://a.test"
    for name, value in server.values(secrets).items():
        written = written.replace(f"${{{name}}}", value.reveal())
    assert json.loads(written) == INNER


def test_a_secret_with_escapes_takes_the_whole_value_and_json_without_one_stays_as_it_is() -> None:
    text = json.dumps({"password": 'a"quoted"\\secret'})
    server = Secrets({})
    found, (secret,) = server.taken_out(spec({"command": "x", "env": {"CONFIG": text}}, "desk"))
    assert found.env["CONFIG"] == f"${{{secret.variable}}}"
    assert server.values([secret])[secret.variable].reveal() == text
    for harmless in ('{ "level":  1, "mode": "fast" }', "[1, 2]", "{not json", "[" * 5_000, "eyJub3QiOiAi"):
        kept, none = clean({"command": "x", "args": [harmless]})
        assert (kept.args, none) == ((harmless,), ())


@pytest.mark.parametrize(
    ("settings", "variable"),
    [
        ({"command": "x", "env": {"GITHUB_TOKEN": PLANTED}}, "GITHUB_TOKEN"),
        ({"command": "x", "env": {"openaiApiKey": PLANTED}}, "openaiApiKey"),
        ({"command": "x", "env": {"ANYTHING": SHAPED}}, "ANYTHING"),
        ({"command": "x", "env": {"DATABASE": f"mysql://root:{PLANTED}@h/d"}}, "DESK_PASSWORD"),
        ({"url": "https://a.test", "headers": {"Authorization": f"Bearer {PLANTED}"}}, "DESK_AUTHORIZATION"),
        ({"url": "https://a.test", "headers": {"x-api-key": PLANTED}}, "DESK_X_API_KEY"),
        ({"url": f"https://a.test/mcp?token={PLANTED}"}, "DESK_TOKEN"),
        ({"url": f"https://ines:{PLANTED}@a.test/mcp"}, "DESK_USER_AND_PASSWORD"),
        ({"url": f"https://{PLANTED}@a.test/mcp"}, "DESK_USER_AND_PASSWORD"),
        ({"command": "x", "oauth": {"deep": [{"clientSecret": PLANTED}]}}, "DESK_CLIENTSECRET"),
    ],
)
def test_in_variables_headers_addresses_and_other_settings(settings: Any, variable: str) -> None:
    found, secrets = clean(settings)
    assert PLANTED not in repr(found) + repr(secrets)
    assert SHAPED not in repr(found) + repr(secrets)
    assert [secret.variable for secret in secrets] == [variable]
    assert f"${{{variable}}}" in repr(found)


@pytest.mark.parametrize(
    "settings",
    [
        {"command": "x", "env": {"TOKEN": "${TOKEN}", "KEY": "${env:KEY}", "PASSWORD": "${input:pw}"}},
        {
            "command": "x",
            "env": {"MAX_TOKENS": "4096", "TOKEN_FILE": "/run/token", "AUTH_TYPE": "bearer", "AUTHOR": "Ines"},
        },
        {"command": "x", "env": {"SSH_AUTH": "false", "KEYBOARD": "swiss", "MONKEY": "banana", "API_KEY": ""}},
        {"command": "docker", "args": ["run", "-i", "-e", "GITHUB_TOKEN", "ghcr.io/github/github-mcp-server"]},
        {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem@2026.1.14", "/home/ines/Documents"]},
        {"command": "uvx", "args": ["--from", "git+https://github.com/acme/desk@v1.2.3", "desk", "--auth", "none"]},
        {"url": "https://a.test/mcp?zone=utc", "headers": {"Authorization": "Bearer ${TOKEN}", "X-Team": "bikes"}},
    ],
)
def test_what_is_no_secret_stays(settings: Any) -> None:
    found, secrets = clean(settings)
    assert (found, secrets) == (spec(settings, "desk"), ())


def test_a_variable_that_holds_something_else_already_is_not_taken() -> None:
    settings = {"command": "x", "env": {"TOKEN": PLANTED}}
    assert clean(settings, {"TOKEN": "another"})[1][0].variable == "DESK_TOKEN"
    assert clean(settings, {"TOKEN": PLANTED})[1][0].variable == "TOKEN"
    assert clean(settings, {"TOKEN": "another", "DESK_TOKEN": "a third"})[1][0].variable == "DESK_TOKEN_2"


def test_two_servers_share_a_variable_only_where_the_secret_is_the_same() -> None:
    secrets = Secrets({})
    made = [
        secrets.taken_out(spec({"command": "x", "env": {"TOKEN": value}}, name))[0].env["TOKEN"]
        for name, value in (("a", "hush-1"), ("b", "hush-1"), ("c", "hush-2"))
    ]
    assert made == ["${TOKEN}", "${TOKEN}", "${C_TOKEN}"]
