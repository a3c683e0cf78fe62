"""Authentication of servers: no secret is ever an argument, printed, or kept in a file."""

import asyncio
import hashlib
import io
import json
import sqlite3
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from mcp_tef.cli.main import parser
from mcp_tef.cli.server_auth import without_secrets
from mcp_tef.cli.terminal import Terminal
from mcp_tef.llm.keys import KeyRing, ServerVault
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.workflows.servers import PlainTextSecrets
from tests.support.command_line import Said, say
from tests.support.fake_ports import MemoryKeychain
from tests.support.faults.fault_script import Talk
from tests.support.faults.http_server import Handler, Server, serving
from tests.support.forgetful_keychain import NONE, keychain
from tests.support.sign_in_server import ACCESS, Browser, Desk, signing_in_at
from tests.support.workspace_files import case, case_file, tools_file

if TYPE_CHECKING:
    from mcp_tef import Engine


KEY_CLIENT = ("--auth", "client-credentials", "--client-id", "us", "--private-key-file")
NOWHERE = "http://127.0.0.1:9/mcp"


class Watched(io.StringIO):
    """A terminal whose user opens each address that is written to it."""

    def __init__(self, browser: Browser) -> None:
        super().__init__()
        self._browser = browser

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if text.strip().startswith("http"):
            self._browser.show(text.strip())
        return super().write(text)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def url(desk: Desk) -> Iterator[str]:
    with signing_in_at(desk) as server:
        yield server.url


@pytest.fixture
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


def at_a_terminal(browser: Browser, *arguments: str) -> tuple[int, str, str]:
    """A command of somebody who sits there: its exit code, and what is on both streams."""
    given = parser().parse_args(arguments)
    given.workspace = None
    terminal = Terminal(input=Watched(browser), output=io.StringIO(), errors=Watched(browser))
    code = asyncio.run(given.command(given, terminal))
    assert isinstance(terminal.output, io.StringIO)
    assert isinstance(terminal.errors, io.StringIO)
    return code, terminal.output.getvalue(), terminal.errors.getvalue()


def test_who_is_at_a_terminal_is_sent_to_the_sign_in(url: str, browser: Browser) -> None:
    code, out, err = at_a_terminal(browser, "servers", "add", "shop", "--url", url, "--auth", "oauth2")
    assert (code, "2 tools" in out) == (0, True)
    assert "Open this address in a browser to sign in" in err
    assert len(browser.shown) == 1
    assert ACCESS not in out + err


def test_a_sign_in_that_was_declined_keeps_the_server(url: str, desk: Desk, browser: Browser) -> None:
    desk.declines = True
    code, _, err = at_a_terminal(browser, "servers", "add", "shop", "--url", url, "--auth", "oauth2")
    assert code == 3
    assert "shop was not signed in to: not today." in err
    assert [server["name"] for server in say("servers", "list", "--json").document["servers"]] == ["shop"]


def test_a_script_is_told_that_a_sign_in_is_needed(url: str) -> None:
    said = say("servers", "add", "shop", "--url", url, "--auth", "oauth2", "--json")
    assert (said.code, said.document["status"]) == (3, "failed")
    assert said.document["reason"] == "shop wants you to sign in."


def shown(*options: str) -> dict[str, object]:
    say("servers", "add", "shop", "--url", NOWHERE, *options, "--yes")
    document: dict[str, object] = say("servers", "show", "shop", "--json").document
    return {"auth": document["auth"], "secret": document["secret"]}


@pytest.mark.parametrize(
    ("options", "auth", "secret"),
    [
        (("--auth", "api-key", "--secret-env", "SHOP"), "api-key", "${SHOP}"),
        (("--auth", "basic", "--secret-keychain", "shop"), "basic", "${keychain:shop}"),
        (("--bearer-env", "SHOP"), "bearer", "${SHOP}"),
        (("--auth", "oauth2", "--client-id", "us", "--secret-env", "SHOP"), "oauth2", "${SHOP}"),
        (
            ("--auth", "client-credentials", "--client-id", "us", "--secret-env", "SHOP"),
            "client-credentials",
            "${SHOP}",
        ),
        ((), "none", None),
    ],
)
def test_it_is_said_where_a_secret_is_kept_and_never_what_it_is(
    options: tuple[str, ...], auth: str, secret: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP", "hush-4711")
    assert shown(*options) == {"auth": auth, "secret": secret}


def test_another_kind_of_authentication_drops_what_belonged_to_the_old_one() -> None:
    shown("--auth", "oauth2", "--client-id", "us", "--secret-env", "SHOP", "--remember-sign-in")
    say("servers", "edit", "shop", "--auth", "none", "--yes")
    assert say("servers", "show", "shop", "--json").document["secret"] is None


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--auth", "bearer"), "has no secret to authenticate with"),
        (("--secret-env", "SHOP"), "is given a secret and no --auth"),
        (("--auth", "bearer", "--secret-env", "SHOP", "--client-id", "us"), "is not signed in to by OAuth"),
        (("--auth", "bearer", "--secret-env", "no name"), "never stored"),
        (("--auth", "client-credentials", "--secret-env", "SHOP"), "has no client id to sign in with"),
        (("--auth", "client-credentials", "--client-id", "us"), "has no secret to authenticate with"),
        (("--auth", "oauth2", "--private-key-file", "key.pem"), "is not signed in to with a private key"),
        (("--auth", "bearer", "--secret-env", "SHOP", "--scope", "a"), "is not signed in to by OAuth"),
    ],
)
def test_options_that_do_not_go_together_are_bad_usage(options: tuple[str, ...], why: str) -> None:
    said = say("servers", "add", "shop", "--url", NOWHERE, *options)
    assert said.code == 2
    assert why in said.err


def test_authentication_is_for_urls_only() -> None:
    said = say("servers", "add", "shop", "--command", "serve", "--auth", "bearer", "--secret-env", "SHOP")
    assert (said.code, "--auth is for a server with a url" in said.err) == (2, True)


def test_a_client_signs_in_from_a_script_without_a_terminal(
    url: str, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP", "hush-4711")
    desk.client_id, desk.client_secret = "us", "hush-4711"
    client = ("--auth", "client-credentials", "--client-id", "us", "--secret-env", "SHOP", "--issuer", desk.origin)
    said = say("servers", "add", "shop", "--url", url, *client, "--scope", "a b", "--scope", "c", "--yes", "--json")
    assert (said.code, said.document["status"]) == (0, "active")
    assert desk.forms[0]["scope"] == "a b c"
    document = say("servers", "show", "shop", "--json").document
    assert {name: document[name] for name in ("auth", "client_id", "issuer", "scopes")} == {
        "auth": "client-credentials",
        "client_id": "us",
        "issuer": desk.origin,
        "scopes": ["a", "b", "c"],
    }
    assert say("servers", "check", "shop").code == 0


def test_of_a_private_key_only_the_path_is_kept_until_a_secret_takes_its_place(tmp_path: Path) -> None:
    key = tmp_path / "client.pem"
    say("servers", "add", "shop", "--url", NOWHERE, *KEY_CLIENT, str(key), "--signing-algorithm", "ES256", "--yes")
    assert say("servers", "show", "shop", "--json").document["private_key_file"] == str(key)
    say("servers", "edit", "shop", "--scope", "a")
    assert say("servers", "show", "shop", "--json").document["private_key_file"] == str(key)
    say("servers", "edit", "shop", "--secret-env", "SHOP", "--yes")
    document = say("servers", "show", "shop", "--json").document
    assert (document["private_key_file"], document["secret"], document["scopes"]) == (None, "${SHOP}", ["a"])


MARK = "Zx81Planted4711Marker"
PROGRAM = """
import hashlib, os, sys
given = hashlib.sha256((sys.argv[1] + os.environ["API_KEY"]).encode()).hexdigest()
sys.exit(42 if given == "%s" else 1)
"""
PLACES = [
    (("--header", f"Authorization=Bearer {MARK}"), "{url}", "authorization", f"Bearer {MARK}"),
    (("--header", f"X-Api-Key={MARK}"), "{url}", "x-api-key", MARK),
    ((), "{ines}", "authorization", "Basic aW5lczpaeDgxUGxhbnRlZDQ3MTFNYXJrZXI="),
    ((), f"{{url}}?api_key={MARK}", "query", f"api_key={MARK}"),
]


@pytest.fixture
def server() -> Iterator[Server]:
    talk = Talk()

    def answer(handler: Handler) -> None:
        handler.server.headers_seen[-1] = {**handler.server.headers_seen[-1], "query": handler.path.partition("?")[2]}
        reply = talk.reply(handler.message())
        handler.give(202 if reply is None else 200, "application/json", json.dumps(reply).encode() if reply else b"")

    with serving(answer) as server:
        yield server


def require_unseen(*said: Said) -> None:
    """Nothing that was said holds the secret, and no file below the home folder does."""
    assert [one for one in said if MARK in one.out + one.err] == []
    files = (file for file in Path.home().rglob("*") if file.is_file())
    assert [file for file in files if MARK.encode() in file.read_bytes()] == []


def listed() -> tuple[Said, ...]:
    return say("servers", "list"), say("servers", "list", "--json"), say("servers", "show", "shop", "--json")


@pytest.mark.parametrize(("options", "place", "header", "value"), PLACES)
def test_a_secret_for_an_address_is_sent_there_and_not_stored(
    server: Server, options: tuple[str, ...], place: str, header: str, value: str
) -> None:
    url = place.format(url=server.url, ines=server.url.replace("//", f"//ines:{MARK}@"))
    said = say("servers", "add", "shop", "--url", url, *options)
    assert said.code == 0
    assert {headers[header] for headers in server.headers_seen} == {value}
    assert "It is used for this command only. For later ones, set the environment variable SHOP_" in said.err
    require_unseen(said, *listed())
    later = say("servers", "check", "shop")
    assert (later.code, "which is not set" in later.err) == (3, True)


def test_secrets_of_a_program_reach_it_and_are_not_stored(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM % hashlib.sha256(f"--token={MARK}{MARK}".encode()).hexdigest())
    program = ("--command", sys.executable, "--arg", script, "--arg", f"--token={MARK}", "--env", f"API_KEY={MARK}")
    said = say("servers", "add", "shop", *program, "--yes")
    assert "ended with exit code 42" in said.err
    assert "set the environment variable SHOP_TOKEN, API_KEY." in said.err
    require_unseen(said, *listed())


def test_an_edit_takes_out_what_is_typed_and_leaves_the_rest_as_it_was(server: Server) -> None:
    say("servers", "add", "shop", "--url", server.url, "--header", "X-Team=docs")
    assert say("servers", "edit", "shop", "--header", f"Cookie={MARK}").code == 2
    said = say("servers", "edit", "shop", "--header", f"Cookie={MARK}", "--yes")
    assert said.code == 0
    assert server.headers_seen[-1]["cookie"] == MARK
    require_unseen(said, *listed())


def test_a_user_beside_another_authentication_is_refused(server: Server) -> None:
    url = server.url.replace("//", f"//ines:{MARK}@")
    said = say("servers", "add", "shop", "--url", url, "--bearer-env", "SHOP")
    assert said.code == 2
    assert "holds a user name or password beside another authentication" in said.err
    require_unseen(said)


def test_without_a_keychain_nothing_can_be_remembered(server: Server) -> None:
    header = ("--header", f"Authorization=Bearer {MARK}")
    with keychain(NONE):
        said = say("servers", "add", "shop", "--url", server.url, *header, "--remember")
    assert (said.code, "no keychain that can be used" in said.err) == (3, True)
    require_unseen(said, say("servers", "list", "--json"))


def test_a_pair_that_is_none_is_not_repeated() -> None:
    said = say("servers", "add", "shop", "--url", "http://127.0.0.1:9/mcp", "--header", MARK)
    assert said.code == 2
    require_unseen(said)


ADDRESSES = [
    f"http://ines:{MARK}@127.0.0.1:9/v1",
    f"http://{MARK}@127.0.0.1:9",
    f"http://127.0.0.1:9/v1?api_key={MARK}",
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "verb",
    [
        ("run", "--model", "openai/m", "--base-url"),
        ("recommend", "--tools-file", "{tools}", "--model", "openai/m", "--base-url"),
        ("quality", "--tools-file", "{tools}", "--model", "openai/m", "--base-url"),
        ("similarity", "--tools-file", "{tools}", "--embedder", "litellm:openai/m", "--embedder-url"),
    ],
    ids=lambda verb: verb[0],
)
def test_an_address_of_a_model_with_a_password_or_key_is_refused(
    verb: tuple[str, ...], address: str, tmp_path: Path
) -> None:
    tools = str(tools_file(tmp_path))
    said = say(*(part.format(tools=tools) for part in verb), address)
    assert (said.code, "The address holds a password or a key" in said.err) == (2, True)
    require_unseen(said)


def test_an_embedder_at_an_address_with_a_password_is_refused(tmp_path: Path) -> None:
    said = say("similarity", "--tools-file", tools_file(tmp_path), "--embedder", f"http:{ADDRESSES[0]}")
    assert (said.code, "The address holds a password or a key" in said.err) == (2, True)
    require_unseen(said)


def test_a_stored_address_with_a_password_comes_out_of_nothing(tmp_path: Path) -> None:
    """A stranger's workspace, or one from before, may hold some; they are neither shown nor used."""
    workspace = tmp_path / "theirs.db"
    there = ("--workspace", workspace)
    say("servers", "add", "city", "--tools-file", tools_file(tmp_path), *there)
    say("cases", "import", case_file(tmp_path, [case("What is the weather?", [{"tool": "weather_report"}])]), *there)
    model = ("--model", "openai/m", "--base-url", "http://127.0.0.1:9/v1", "--retries", "0")
    batch = say("run", *model, "--json", *there).document["batch"]
    say("servers", "add", "shop", "--url", "http://127.0.0.1:9/mcp", *there)
    with sqlite3.connect(workspace) as rows:
        rows.execute("UPDATE model_settings SET base_url = ?", (ADDRESSES[0],))
        rows.execute("UPDATE mcp_servers SET url = ? WHERE name = 'shop'", (f"{ADDRESSES[0]}/mcp",))
    rows.close()
    reports = [tmp_path / f"report{ending}" for ending in (".html", ".xml", ".csv")]
    options = ("--html", reports[0], "--junit", reports[1], "--csv", reports[2], "--json")
    shown = say("runs", "show", batch, *options, *there)
    run_id = shown.document["runs"][0]["id"]
    said = (
        *(shown, say("runs", "show", run_id, *there), say("runs", "show", run_id, "--json", *there)),
        *(say("runs", "retry", batch, *there), say("servers", "list", *there)),
        *(say("servers", "show", "shop", "--json", *there), say("servers", "check", "shop", *there)),
    )
    assert said[2].document["settings"]["base_url"] == "http://127.0.0.1:9/v1"
    require_unseen(*said)
    assert [report for report in reports if MARK in report.read_text("utf-8")] == []


@pytest.mark.parametrize(
    ("answer", "header", "kept"),
    [("y", "Bearer ${keychain:SHOP_AUTHORIZATION}", MARK), ("", "Bearer ${SHOP_AUTHORIZATION}", None)],
)
async def test_at_a_terminal_it_is_asked_where_a_secret_is_kept(answer: str, header: str, kept: str | None) -> None:
    keychain = MemoryKeychain()
    keys = KeyRing({}, keychain)
    engine = SimpleNamespace(keys=keys, written_secrets=PlainTextSecrets({}, ServerVault(keys)))
    terminal = Terminal(input=Screen(f"{answer}\n"), output=io.StringIO(), errors=Screen())
    spec = ServerSpec(
        name="shop",
        transport=Transport.STREAMABLE_HTTP,
        url="https://shop.example/mcp",
        headers={"Authorization": f"Bearer {MARK}"},
    )
    plain = await without_secrets(cast("Engine", engine), spec, Namespace(remember=False), terminal)
    assert plain.headers == {"Authorization": header}
    assert keychain.kept.get(("mcp-tef", "server:SHOP_AUTHORIZATION")) == kept
    assert isinstance(terminal.errors, Screen)
    assert "Keep it in the system keychain? [y/N]" in terminal.errors.getvalue()
    assert MARK not in terminal.errors.getvalue()


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True
