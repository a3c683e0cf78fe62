"""Secrets of typed definitions are kept in memory or in the keychain, each under a name of its own."""

from dataclasses import replace

import pytest

from mcp_tef.errors import StoreError
from mcp_tef.llm.keys import KeyRing, ServerVault
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import AuthType, ServerSpec, Transport
from mcp_tef.workflows.written_secrets import PlainTextSecrets
from tests.support.fake_ports import MemoryKeychain

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
