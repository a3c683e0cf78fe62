"""Strangers' texts in questions: nothing hides, imitates or pushes the rest away, and hosts stand in ASCII."""

import sys
import unicodedata

import httpx2
import pytest

from mcp_tef.trust.names import quoted_argument, shown, shown_address, shown_host, visible

LOOK_ALIKES = (
    "pyth\u043en3", "\uff50ython", "\U0001d429ython", "p\u0131ng", "a\u2215b", "a\u0301b", "x\u2024y", "\u0261it",
    "rm\u00a0-rf", "ls\u2800", "\u3164", "a\u200bb", "a\u202eb", "\u2060", "curl\uff0fhttp", "\u02bcls\u02bc",
    "x\u00b2", "\u0440y", "l\u217c", "Acme\u2122", "a" + " " * 40 + "b",
)  # fmt: skip


@pytest.mark.parametrize("text", LOOK_ALIKES, ids=ascii)
def test_what_hides_or_imitates_stands_as_an_escape(text: str) -> None:
    assert "\\" in shown(text)
    assert shown(text).replace(" ", "").isprintable()


@pytest.mark.parametrize("text", ["npx -y @acme/docs", "Ünïcode Łódź", "caf\u00e9", "🚲 Bike", "a   b", "tiếng"])
def test_plain_names_stay_as_they_are(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize(("text", "script"), [("сору", "Cyrillic"), ("αβγ", "Greek"), ("天気サーバー", "Chinese")])
def test_a_word_in_another_script_names_it(text: str, script: str) -> None:
    assert shown(text).startswith(text)
    assert script in shown(text)


def test_no_character_outside_of_ascii_is_shown_as_one_of_ascii_or_as_nothing() -> None:
    """Each character between two letters: invisible ones, marks and everything that NFKC reads as ASCII is escaped."""
    for code in range(0x80, sys.maxunicode + 1):
        character = chr(code)
        hidden = unicodedata.category(character)[0] in "CMZ"
        if hidden or unicodedata.normalize("NFKC", character).isascii():
            assert character not in shown(f"a{character}b"), hex(code)


def test_up_to_16_blanks_stay_and_more_are_shown_one_by_one() -> None:
    for around in ("a{}b", "é{}b"):
        assert shown(around.format(" " * 16)) == around.format(" " * 16)
        assert shown(around.format(" " * 17)) == around.format("\\x20" * 17)
    assert quoted_argument('a"\\') == '"a\\"\\\\"'
    assert visible("a\tb\u202eé") == "a\\tb\\u202eé"


def test_digits_and_letters_of_a_word_are_shown_by_their_scripts() -> None:
    assert shown("é 12 v2") == "é 12 v2"
    assert shown("сору2") == "сору2⟨Cyrillic⟩"
    assert shown("v٣") == "v\\u0663"
    assert shown("٣") == "\\u0663"
    assert shown("é€₤") == "é€₤"


def test_only_the_host_of_an_address_is_turned_into_ascii() -> None:
    assert shown_address("é.example/é") == "é.example/é"
    for end in "/?#\\":
        assert shown_address(f"http://é.example{end}é.x") == f"http://xn--9ca.example{end}é.x"


def test_two_arguments_that_differ_are_shown_differently() -> None:
    texts = ("a", "a\\n", "a\n", "a\\\n", 'a"', 'a\\"', "a\u043e", "a\\u043e", "a\\x20", "a" + " " * 20)
    assert len({quoted_argument(text) for text in texts}) == len(texts)


def test_hosts_stand_in_ascii() -> None:
    assert shown_host("аpple.com") == "xn--pple-43d.com"
    assert shown_address("https://аpple.com:8443/path") == "https://xn--pple-43d.com:8443/path"
    assert shown_address("https://user@exämple.com/?q=\u202e") == "https://user@xn--exmple-cua.com/?q=\\u202e"
    assert shown_host("a" * 70 + "é.com").isascii()


def test_a_host_is_shown_as_the_one_that_is_contacted() -> None:
    for host in ("straße.example", "127。0。0。1", "evil｡example", "BÜCHER.example", "пример.рф"):
        assert shown_host(host) == httpx2.URL(f"http://{host}/").raw_host.decode()
