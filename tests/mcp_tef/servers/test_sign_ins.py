"""Signing in by OAuth: once by a person, then by what that brought, until it is no good any more."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.llm.keys import KeyRing, ServerVault
from mcp_tef.model.limits import Limits
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import AuthType, OAuthClient, ServerSpec, Transport
from mcp_tef.servers.client import McpSignIns
from mcp_tef.servers.credential_store import CredentialStore
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.fake_ports import MemoryKeychain
from tests.support.faults.tool_lists import ModernOnly
from tests.support.sign_in_server import ACCESS, REFRESH, Browser, Desk, signing_in_at

AMPLE = 30.0


@dataclass
class Shop:
    """A server with its desk, and all that visits it."""

    desk: Desk
    spec: ServerSpec
    browser: Browser
    keychain: MemoryKeychain
    lister: McpToolLister
    sign_ins: McpSignIns
    told: list[str]

    async def names(self) -> list[str]:
        """The tools that it lists."""
        listing = await self.lister.list_tools(self.spec, timeout=AMPLE)
        return [tool.name for tool in listing.tools]

    async def refusal(self) -> ServerError:
        """Why there was no sign-in."""
        with pytest.raises(ServerError) as caught:
            await self.sign_ins.sign_in(self.spec)
        return caught.value


Open = Callable[..., Shop]


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def url(desk: Desk) -> Iterator[str]:
    with signing_in_at(desk) as server:
        yield server.url


@pytest.fixture
async def opened(desk: Desk, url: str, tmp_path: Path) -> AsyncIterator[Open]:
    """Makes what a process has; several of them share one keychain."""
    shops: list[Shop] = []
    keychain, locks = MemoryKeychain(), tmp_path / "locks"

    def make(environment: dict[str, str] | None = None, limits: Limits | None = None, **fields: Any) -> Shop:
        told: list[str] = []
        box = CredentialStore(ServerVault(KeyRing({}, keychain)), told.append, locks)
        browser = fields.pop("browser", Browser())
        rules = limits or Limits()
        known = ServerSpec(name="Shop", transport=Transport.STREAMABLE_HTTP, url=url, auth_type=AuthType.OAUTH2)
        lister = McpToolLister(environment or {}, rules, box)
        sign_ins = McpSignIns(box, browser.show, environment or {}, rules)
        shops.append(Shop(desk, replace(known, **fields), browser, keychain, lister, sign_ins, told))
        return shops[-1]

    yield make
    for shop in shops:
        await shop.lister.close()
        await shop.sign_ins.close()
        await asyncio.to_thread(shop.browser.close)


def modes_in(folder: Path) -> list[int]:
    """The rights of a folder, and of each file in it."""
    return [item.stat().st_mode & 0o777 for item in (folder, *folder.iterdir())]


async def test_the_locks_of_sign_ins_are_private(tmp_path: Path) -> None:
    box = CredentialStore(locks=tmp_path / "locks")
    async with box.turn("https://shop.test/mcp", remembered=True):
        assert modes_in(tmp_path / "locks") == [0o700, 0o600]


async def test_nobody_is_sent_to_a_browser_unasked(opened: Open) -> None:
    shop = opened()
    with pytest.raises(ServerError) as caught:
        await shop.names()
    assert caught.value.fault is ServerFault.UNAUTHORIZED
    assert caught.value.message == "Shop wants you to sign in."
    assert shop.browser.shown == []
    assert await shop.sign_ins.needed(shop.spec)


async def test_after_the_sign_in_the_server_is_used_without_a_person(opened: Open) -> None:
    shop = opened()
    await shop.sign_ins.sign_in(shop.spec)
    assert not await shop.sign_ins.needed(shop.spec)
    assert await shop.names() == ["first", "second"]
    assert len(shop.browser.shown) == 1
    assert "code_challenge_method=S256" in shop.browser.shown[0]
    assert "You are signed in." in shop.browser.page


async def test_a_grant_ends_with_the_process_unless_it_is_to_be_remembered(opened: Open) -> None:
    shop = opened()
    await shop.sign_ins.sign_in(shop.spec)
    assert shop.keychain.kept == {}
    assert await opened().sign_ins.needed(shop.spec)


async def test_a_remembered_grant_is_taken_from_the_keychain(opened: Open) -> None:
    shop = opened(oauth=OAuthClient(remember=True))
    await shop.sign_ins.sign_in(shop.spec)
    later = opened(oauth=OAuthClient(remember=True))
    assert await later.names() == ["first", "second"]
    assert later.browser.shown == []
    await later.sign_ins.sign_out(later.spec)
    assert await opened(oauth=OAuthClient(remember=True)).sign_ins.needed(shop.spec)
    assert not [name for _, name in shop.keychain.kept if "sign-in" in name]


@pytest.mark.parametrize("field", ["issuer", "url"])
async def test_a_grant_belongs_to_one_server_and_one_issuer(opened: Open, url: str, field: str) -> None:
    origin = url.rpartition("/")[0]
    shop = opened(oauth=OAuthClient(issuer=origin))
    await shop.sign_ins.sign_in(shop.spec)
    assert not await shop.sign_ins.needed(shop.spec)
    by_other = replace(shop.spec, oauth=OAuthClient(issuer="https://other.test"))
    changed = by_other if field == "issuer" else replace(shop.spec, url=f"{origin}/other")
    assert await shop.sign_ins.needed(changed)
    with pytest.raises(ServerError, match="wants you to sign in"):
        await shop.lister.list_tools(changed, timeout=AMPLE)


async def test_a_keychain_that_refuses_a_grant_is_told_of_once_and_the_sign_in_holds(opened: Open, desk: Desk) -> None:
    shop = opened(oauth=OAuthClient(remember=True))
    shop.keychain.locked = True
    desk.expires_in = -1
    await shop.sign_ins.sign_in(shop.spec)
    desk.expires_in = 3600
    assert await shop.names() == ["first", "second"]
    (told,) = shop.told
    assert told.startswith(f"The sign-in to {shop.spec.url} is not kept beyond this session. The key could not be")
    assert ACCESS not in told


async def test_a_token_that_has_run_out_is_renewed_by_itself(opened: Open, desk: Desk) -> None:
    desk.expires_in = -1
    shop = opened(oauth=OAuthClient(remember=True))
    await shop.sign_ins.sign_in(shop.spec)
    desk.expires_in = 3600
    before = desk.tokens
    assert await opened(oauth=OAuthClient(remember=True)).names() == ["first", "second"]
    assert desk.tokens == before + 1
    assert desk.forms[-1]["refresh_token"] == f"{REFRESH}{before}"


async def test_two_visits_that_renew_a_grant_at_once_do_not_lose_it(opened: Open, desk: Desk) -> None:
    desk.expires_in = -1
    shop = opened()
    await shop.sign_ins.sign_in(shop.spec)
    desk.expires_in = 3600
    assert await asyncio.gather(*(shop.names() for _ in range(4))) == [["first", "second"]] * 4
    assert not await shop.sign_ins.needed(shop.spec)
    assert await shop.names() == ["first", "second"]


async def test_a_grant_is_renewed_once_for_all_visits_so_that_no_renewal_token_is_shown_twice(
    opened: Open, desk: Desk
) -> None:
    desk.expires_in, desk.withdraws = -1, True
    shop = opened()
    await shop.sign_ins.sign_in(shop.spec)
    desk.expires_in, before = 3600, desk.tokens
    assert await asyncio.gather(*(shop.names() for _ in range(4))) == [["first", "second"]] * 4
    assert (desk.tokens, desk.revoked) == (before + 1, False)
    assert await shop.names() == ["first", "second"]


async def test_a_remembered_grant_is_renewed_once_for_all_processes_too(opened: Open, desk: Desk) -> None:
    desk.expires_in, desk.withdraws = -1, True
    shops = [opened(oauth=OAuthClient(remember=True)) for _ in range(4)]
    await shops[0].sign_ins.sign_in(shops[0].spec)
    desk.expires_in, before = 3600, desk.tokens
    assert await asyncio.gather(*(shop.names() for shop in shops)) == [["first", "second"]] * 4
    assert (desk.tokens, desk.revoked) == (before + 1, False)


async def test_where_there_can_be_no_lock_a_grant_is_renewed_all_the_same(
    opened: Open, desk: Desk, tmp_path: Path
) -> None:
    (tmp_path / "locks").touch()
    desk.expires_in = -1
    shop = opened(oauth=OAuthClient(remember=True))
    await shop.sign_ins.sign_in(shop.spec)
    desk.expires_in = 3600
    assert await shop.names() == ["first", "second"]


async def test_a_grant_that_another_process_renewed_is_taken_from_the_keychain(opened: Open, desk: Desk) -> None:
    here, there = (opened(oauth=OAuthClient(remember=True)) for _ in range(2))
    desk.expires_in = -1
    await here.sign_ins.sign_in(here.spec)
    desk.expires_in = 3600
    assert await there.names() == ["first", "second"]
    renewed, shown = desk.tokens, len(here.browser.shown)
    assert await here.names() == ["first", "second"]
    assert (desk.tokens, len(here.browser.shown)) == (renewed, shown)


async def test_a_grant_that_was_taken_back_asks_for_a_new_sign_in(opened: Open, desk: Desk) -> None:
    shop = opened()
    await shop.sign_ins.sign_in(shop.spec)
    desk.revoked = True
    with pytest.raises(ServerError, match="Shop wants you to sign in again"):
        await shop.names()
    assert await shop.sign_ins.needed(shop.spec)
    await shop.sign_ins.sign_in(shop.spec)
    assert await shop.names() == ["first", "second"]


async def test_a_given_client_shows_its_secret_and_is_not_registered(opened: Open, desk: Desk) -> None:
    shop = opened({"SHOP_SECRET": "hush-4711"}, oauth=OAuthClient(client_id="ours"), secret="${SHOP_SECRET}")
    await shop.sign_ins.sign_in(shop.spec)
    assert "/register" not in desk.asked
    assert desk.forms[0]["authorization"] == "Basic b3VyczpodXNoLTQ3MTE="
    assert "client_id=ours" in shop.browser.shown[0]


async def test_a_secret_is_shown_in_the_body_where_the_service_takes_it_only_there(opened: Open, desk: Desk) -> None:
    desk.methods = ["client_secret_post"]
    shop = opened({"SHOP_SECRET": "hush-4711"}, oauth=OAuthClient(client_id="ours"), secret="${SHOP_SECRET}")
    await shop.sign_ins.sign_in(shop.spec)
    assert (desk.forms[0]["client_secret"], desk.forms[0]["authorization"]) == ("hush-4711", "")


async def test_who_did_not_choose_a_sign_in_is_told_of_it(opened: Open) -> None:
    shop = opened(auth_type=AuthType.NONE)
    with pytest.raises(ServerError, match="Shop wants a key") as caught:
        await shop.names()
    assert "OAuth" in caught.value.hint


async def test_what_says_where_to_sign_in_is_looked_for_in_every_place(opened: Open, desk: Desk) -> None:
    known = "/.well-known/"
    desk.missing = (f"{known}oauth-authorization-server", f"{known}oauth-protected-resource/mcp")
    shop = opened()
    await shop.sign_ins.sign_in(shop.spec)
    assert await shop.names() == ["first", "second"]
    assert len(desk.asked[: desk.asked.index("/token")]) >= 6


async def test_who_declines_is_told_so(opened: Open, desk: Desk) -> None:
    desk.declines = True
    shop = opened()
    error = await shop.refusal()
    assert (error.fault, error.message) == (ServerFault.UNAUTHORIZED, "Shop was not signed in to: not today.")
    assert await shop.sign_ins.needed(shop.spec)


async def test_a_service_that_registers_nobody_wants_a_client_of_its_own(opened: Open, desk: Desk) -> None:
    desk.registers = False
    error = await opened().refusal()
    assert error.message.startswith("Shop would not register us as a client")
    assert "client id" in error.hint


async def test_nobody_is_sent_to_an_address_that_is_not_encrypted(opened: Open, desk: Desk) -> None:
    desk.authorization = "http://shop.example/authorize"
    shop = opened()
    assert (await shop.refusal()).message == "Shop wants the sign-in sent unprotected to shop.example."
    assert shop.browser.shown == []


async def test_who_never_comes_back_is_not_waited_for_for_ever(opened: Open) -> None:
    shop = opened(limits=Limits(sign_in_seconds=0.2), browser=Idle())
    assert (await shop.refusal()).message == "Shop was not signed in to within 0.2 s."


async def test_a_person_may_take_longer_than_a_server(opened: Open, desk: Desk) -> None:
    desk.talk = ModernOnly()
    shop = opened(limits=Limits(discover_seconds=3), browser=Slow())
    await shop.sign_ins.sign_in(shop.spec)
    assert len(shop.browser.shown) == 1


async def test_only_who_knows_the_state_is_heard(opened: Open) -> None:
    forger = Forger()
    shop = opened(browser=forger)
    await shop.sign_ins.sign_in(shop.spec)
    assert forger.answers == [400, 404, 400]
    assert forger.odd == b"HTTP/1.1 404 Not Found"
    assert await shop.names() == ["first", "second"]


async def test_a_server_that_answers_everybody_is_told_apart(opened: Open, desk: Desk) -> None:
    desk.open = True
    error = await opened().refusal()
    assert (error.fault, error.message) == (ServerFault.SETTINGS, "Shop answers without a sign-in.")


async def test_no_error_and_no_text_of_a_grant_repeats_a_token(opened: Open, desk: Desk) -> None:
    shop = opened()
    await shop.sign_ins.sign_in(shop.spec)
    desk.revoked = True
    with pytest.raises(ServerError) as caught:
        await shop.names()
    texts = [caught.value.message, caught.value.hint, repr(caught.value.context), repr(vars(shop.sign_ins))]
    assert not [text for text in texts if ACCESS in text or REFRESH in text]


async def test_a_header_is_taken_from_the_keychain(opened: Open, desk: Desk) -> None:
    shop = opened(auth_type=AuthType.BEARER, secret="${keychain:shop}")
    KeyRing({}, shop.keychain).remember("server:shop", Secret(f"{ACCESS}7"))
    desk.tokens = 7
    assert await shop.names() == ["first", "second"]


async def test_a_keychain_that_refuses_is_told_with_the_server(opened: Open) -> None:
    shop = opened(auth_type=AuthType.BEARER, secret="${keychain:shop}")
    shop.keychain.locked = True
    with pytest.raises(ServerError) as caught:
        await shop.names()
    assert caught.value.message.startswith("Shop needs the system keychain. The key could not be read")


class Idle(Browser):
    """Nobody looks at it."""

    def _open(self, url: str) -> None:
        pass


class Slow(Browser):
    """Somebody who looks for the password first."""

    def _open(self, url: str) -> None:
        threading.Event().wait(3.5)
        super()._open(url)


class Forger(Browser):
    """Something else on this machine comes back first, without knowing the state."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[int] = []
        self.odd = b""

    def _open(self, url: str) -> None:
        back = url.partition("redirect_uri=")[2].partition("&")[0].replace("%3A", ":").replace("%2F", "/")
        for address in (f"{back}?code=forged&state=guessed", back.replace("callback", "other"), f"{back}?code=forged"):
            self.answers.append(self._status(address))
        with socket.create_connection(("127.0.0.1", urlsplit(back).port or 0), timeout=10) as talk:
            talk.sendall(b"GET //[ HTTP/1.1\r\n\r\n")
            self.odd = talk.makefile("rb").readline().rstrip()
        super()._open(url)

    def _status(self, address: str) -> int:
        try:
            with urlopen(address, timeout=10) as answer:
                return int(answer.status)
        except OSError as error:
            return int(getattr(error, "code", 0))


@pytest.mark.parametrize("path", ["/register", "/token", "/.well-known/oauth-authorization-server"])
async def test_an_endless_answer_of_the_service_is_read_up_to_16_mb(desk: Desk, opened: Open, path: str) -> None:
    desk.floods = path
    shop = opened()
    refusal = await asyncio.wait_for(shop.refusal(), AMPLE)
    assert refusal.message == "Shop sent more than is read at once."
    assert desk.flooded <= 16 * 2**20 + 12 * 2**20
