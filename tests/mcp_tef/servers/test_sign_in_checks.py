"""What is checked of an authorization server before a code or a secret is sent to it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.servers import AuthType, OAuthClient, ServerSpec, Transport
from mcp_tef.servers.client import McpClient, McpSignIns
from mcp_tef.servers.credential_store import CredentialStore
from mcp_tef.servers.oauth_flow import RefusedError, mark, require_private
from tests.support.sign_in_server import Browser, Desk, signing_in_at


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def spec(desk: Desk) -> Iterator[ServerSpec]:
    with signing_in_at(desk) as server:
        yield ServerSpec(name="Shop", transport=Transport.STREAMABLE_HTTP, url=server.url, auth_type=AuthType.OAUTH2)


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    browser = Browser()
    yield browser
    await asyncio.to_thread(browser.close)


@pytest.fixture
def credentials() -> CredentialStore:
    return CredentialStore()


@pytest.fixture
async def sign_ins(browser: Browser, credentials: CredentialStore) -> AsyncIterator[McpSignIns]:
    sign_ins = McpSignIns(credentials, browser.show, {"SHOP_SECRET": "hush-4711"})
    yield sign_ins
    await sign_ins.close()


async def refusal(sign_ins: McpSignIns, spec: ServerSpec) -> ServerError:
    with pytest.raises(ServerError) as caught:
        await sign_ins.sign_in(spec)
    assert caught.value.fault is ServerFault.UNAUTHORIZED
    return caught.value


@pytest.mark.parametrize("methods", [None, [], ["plain"]])
async def test_nobody_is_sent_to_an_authorization_server_without_s256(
    sign_ins: McpSignIns, spec: ServerSpec, desk: Desk, browser: Browser, methods: list[str] | None
) -> None:
    desk.challenges = methods
    error = await refusal(sign_ins, spec)
    assert error.message == (
        f"Shop uses an authorization server, {desk.origin}, whose metadata does not offer PKCE with S256,"
        " which MCP requires."
    )
    assert "code_challenge_methods_supported" in error.hint
    assert (browser.shown, desk.forms) == ([], [])


async def test_an_older_server_without_any_metadata_is_still_signed_in_to(
    sign_ins: McpSignIns, spec: ServerSpec, desk: Desk, browser: Browser
) -> None:
    known = "/.well-known/"
    desk.missing = (
        *(f"{known}oauth-protected-resource", f"{known}oauth-protected-resource/mcp"),
        *(f"{known}oauth-authorization-server", f"{known}openid-configuration"),
    )
    await sign_ins.sign_in(spec)
    assert "code_challenge_method=S256" in browser.shown[0]


@pytest.mark.parametrize(
    ("announced", "sent"),
    [(True, "https://login.elsewhere.example"), (False, "https://login.elsewhere.example"), (True, None)],
    ids=["another issuer", "another issuer, not announced", "announced and missing"],
)
@pytest.mark.parametrize("declines", [False, True], ids=["code", "error"])
async def test_an_answer_of_another_authorization_server_is_not_used(
    sign_ins: McpSignIns, spec: ServerSpec, desk: Desk, announced: bool, sent: str | None, declines: bool
) -> None:
    desk.announces_iss, desk.iss, desk.declines = announced, sent, declines
    error = await refusal(sign_ins, spec)
    assert error.message == (
        "Shop got an answer to the sign-in that does not come from the authorization server that was asked."
    )
    assert desk.forms == []


async def test_an_answer_that_names_the_right_issuer_is_used(
    sign_ins: McpSignIns, spec: ServerSpec, desk: Desk
) -> None:
    desk.announces_iss, desk.iss = True, desk.origin
    await sign_ins.sign_in(spec)
    assert not await sign_ins.needed(spec)


async def test_metadata_of_another_issuer_is_refused(sign_ins: McpSignIns, spec: ServerSpec, desk: Desk) -> None:
    desk.issuer = f"{desk.origin}/tenant"
    assert "metadata issuer mismatch" in (await refusal(sign_ins, spec)).message
    assert desk.forms == []


async def test_the_chosen_scopes_are_registered_and_requested(
    sign_ins: McpSignIns, spec: ServerSpec, desk: Desk, browser: Browser
) -> None:
    desk.scopes = ["everything"]
    await sign_ins.sign_in(replace(spec, oauth=OAuthClient(scope="tools:read tools:call")))
    assert parse_qs(urlsplit(browser.shown[0]).query)["scope"] == ["tools:read tools:call"]
    assert desk.registered[0]["scope"] == "tools:read tools:call"


async def test_a_given_secret_goes_to_no_authorization_server_that_the_user_has_not_named(
    sign_ins: McpSignIns, spec: ServerSpec, desk: Desk, browser: Browser
) -> None:
    desk.home = "https://login.elsewhere.example"
    given = replace(spec, oauth=OAuthClient(client_id="ours"), secret="${SHOP_SECRET}")
    error = await refusal(sign_ins, given)
    assert "wants its client's secret sent to https://login.elsewhere.example" in error.message
    assert (browser.shown, desk.forms) == ([], [])


async def test_a_stored_grant_that_is_too_narrow_is_widened_only_after_the_same_checks(
    sign_ins: McpSignIns, spec: ServerSpec, desk: Desk, browser: Browser, credentials: CredentialStore
) -> None:
    await sign_ins.sign_in(spec)
    desk.lacks_scope, desk.challenges = "tools:admin", None
    visits = McpClient({}, credentials=credentials, show=browser.show)
    with pytest.raises(ServerError, match="whose metadata does not offer PKCE"):
        await visits.list_tools(spec, 10.0)
    desk.challenges = ["S256"]
    await visits.list_tools(spec, 10.0)
    await visits.close()
    assert "tools%3Aadmin" in browser.shown[-1]


PUBLIC = frozenset({"https://mcp.example.com"})


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "address",
    [
        *("http://auth.example.com/token", "http://evil/token", "https://10.0.0.5/token", "http://127.0.0.1:9/token"),
        *(
            "http://169.254.169.254/latest",
            "https://[::ffff:10.0.0.5]/token",
            "https://0x7f000001/",
            "https://2130706433/",
        ),
        *("https://localhost./token", "https://router.local/", "https://[64:ff9b::a9fe:a9fe]/", "https://0.0.0.0/"),
    ],
)
def test_a_server_on_the_internet_sends_no_step_of_a_sign_in_to_a_network_of_ones_own(
    address: str, method: str
) -> None:
    with pytest.raises(RefusedError):
        mark(httpx2.Request(method, address), PUBLIC)


@pytest.mark.parametrize("named", [{"http://127.0.0.1:8000"}, {"https://10.0.0.5"}, {*PUBLIC, "https://10.0.0.5"}])
def test_an_authorization_server_of_ones_own_serves_servers_of_ones_own(named: set[str]) -> None:
    request = httpx2.Request("POST", "https://10.0.0.5/token")
    mark(request, frozenset(named))
    assert request.extensions["sign_in"]


@pytest.mark.parametrize(
    "address",
    [
        *("javascript:alert(1)", "file:///etc/passwd", "file://localhost/etc/passwd", "vscode://localhost/run"),
        *("http://evil/authorize", "data:text/html,x", "ftp://127.0.0.1/", "ms-msdt://localhost/x", "http://10.0.0.5/"),
    ],
)
def test_no_other_scheme_and_nothing_unencrypted_reaches_the_browser(address: str) -> None:
    with pytest.raises(RefusedError):
        require_private(httpx2.URL(address))
