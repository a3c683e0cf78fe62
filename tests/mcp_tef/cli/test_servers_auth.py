"""How servers are authenticated to from the command line; no secret is ever an argument, and none is printed."""

import asyncio
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_tef.cli.main import parser
from mcp_tef.cli.terminal import Terminal
from tests.support.command_line import say
from tests.support.sign_in_server import ACCESS, Browser, Desk, signing_in_at

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
