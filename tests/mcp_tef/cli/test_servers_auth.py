"""How servers are authenticated to from the command line; no secret is ever an argument, and none is printed."""

import asyncio
import io
from collections.abc import Iterator

import pytest

from mcp_tef.cli.main import parser
from mcp_tef.cli.terminal import Terminal
from tests.support.browser import Browser
from tests.support.command_line import say
from tests.support.sign_in_server import ACCESS, Desk, signing_in_at

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
    ],
)
def test_options_that_do_not_go_together_are_bad_usage(options: tuple[str, ...], why: str) -> None:
    said = say("servers", "add", "shop", "--url", NOWHERE, *options)
    assert said.code == 2
    assert why in said.err


def test_authentication_is_for_urls_only() -> None:
    said = say("servers", "add", "shop", "--command", "serve", "--auth", "bearer", "--secret-env", "SHOP")
    assert (said.code, "--auth is for a server with a url" in said.err) == (2, True)
