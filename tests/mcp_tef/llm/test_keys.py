"""Sources of keys, and that they go nowhere else."""

import pytest

from mcp_tef.errors import StoreError
from mcp_tef.llm.keys import KeyRing, ServerVault
from mcp_tef.model.secrets import Secret
from tests.support.fake_ports import MemoryKeychain


def key_of(ring: KeyRing, provider: str) -> Secret | None:
    """The key for a provider's own address."""
    stored = ring.stored(provider)
    return ring.typed(provider) or (stored.secret if stored else None)


def test_a_typed_key_is_used_before_the_environment_and_that_before_the_keychain() -> None:
    keychain = MemoryKeychain()
    keys = KeyRing({"OPENAI_API_KEY": "from-environment"}, keychain)
    keys.remember("openai", Secret("remembered"))
    keys.remember("mistral", Secret("remembered"))
    keys.set("openai", Secret("typed"))
    assert key_of(keys, "openai") == Secret("typed")
    keys.forget("openai")
    assert key_of(keys, "openai") == Secret("from-environment")
    assert key_of(keys, "mistral") == Secret("remembered")
    assert key_of(keys, "groq") is None


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("gemini", "GOOGLE_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("together_ai", "TOGETHERAI_API_KEY"),
        ("nano-gpt", "NANO_GPT_API_KEY"),
    ],
)
def test_each_providers_own_variable_is_read(provider: str, variable: str) -> None:
    assert key_of(KeyRing({variable: " sk-1 "}, MemoryKeychain()), provider) == Secret("sk-1")


def test_an_empty_variable_is_no_key() -> None:
    assert key_of(KeyRing({"OPENAI_API_KEY": "  "}, MemoryKeychain()), "openai") is None


def test_remembered_providers_are_listed_by_name_until_they_are_forgotten() -> None:
    keys = KeyRing({}, MemoryKeychain())
    keys.remember("openai", Secret("sk-1"))
    keys.remember("anthropic", Secret("sk-2"))
    assert keys.remembered() == ("anthropic", "openai")
    keys.forget_remembered("openai")
    keys.forget_remembered("never-there")
    assert keys.remembered() == ("anthropic",)
    assert key_of(keys, "openai") is None


def test_nothing_is_kept_unless_it_is_asked_for() -> None:
    keychain = MemoryKeychain()
    keys = KeyRing({"OPENAI_API_KEY": "sk-1"}, keychain)
    keys.set("anthropic", Secret("sk-2"))
    assert key_of(keys, "openai")
    assert keychain.kept == {}


def test_without_a_keychain_remembering_says_so_and_all_else_goes_on() -> None:
    keys = KeyRing({"OPENAI_API_KEY": "sk-1"})
    with pytest.raises(StoreError, match="no keychain that can be used") as raised:
        keys.remember("openai", Secret("sk-1"))
    assert "environment variable" in raised.value.hint
    assert keys.remembered() == ()
    assert key_of(keys, "openai") == Secret("sk-1")
    assert key_of(keys, "groq") is None


def test_a_locked_keychain_is_a_clear_error_without_what_it_said() -> None:
    keychain = MemoryKeychain()
    keychain.locked = True
    with pytest.raises(StoreError, match="the system keychain refused") as raised:
        KeyRing({}, keychain).remember("openai", Secret("sk-1"))
    assert "sk-" not in f"{raised.value.message}{raised.value.hint}"


def test_a_key_ring_never_shows_a_key() -> None:
    keys = KeyRing({"OPENAI_API_KEY": "sk-1"}, MemoryKeychain())
    assert "sk-1" not in f"{keys!r}{key_of(keys, 'openai')!r}{key_of(keys, 'openai')!s}"


def test_entries_of_servers_are_apart_from_keys_of_providers() -> None:
    ring = KeyRing({}, MemoryKeychain())
    vault = ServerVault(ring)
    ring.remember("openai", Secret("of-openai"))
    vault.write("openai", Secret("of-a-server"))
    assert (vault.read("openai"), key_of(ring, "openai")) == (Secret("of-a-server"), Secret("of-openai"))
    assert ring.remembered() == ("openai", "server:openai")
    vault.forget("openai")
    vault.forget("openai")
    assert (vault.read("openai"), key_of(ring, "openai")) == (None, Secret("of-openai"))


def test_a_key_typed_with_an_address_belongs_to_that_origin_only() -> None:
    keys = KeyRing({}, MemoryKeychain())
    keys.set("openai", Secret("sk-1"), "https://Gateway.example:443/v1")
    assert keys.typed("openai", "https://gateway.example") == Secret("sk-1")
    assert keys.typed("openai", "https://other.example") is None
    assert keys.typed("openai") is None
    assert keys.typed_providers() == ("openai",)
    keys.forget("openai")
    assert keys.typed("openai", "https://gateway.example") is None


def test_a_stored_key_names_the_place_that_it_comes_from() -> None:
    keys = KeyRing({"CO_API_KEY": "sk-1"}, MemoryKeychain())
    keys.remember("openai", Secret("sk-2"))
    places = [stored.source for name in ("cohere", "openai") if (stored := keys.stored(name))]
    assert places == ["CO_API_KEY", "keychain:openai"]
