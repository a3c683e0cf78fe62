"""Keys that come back in another form are masked like plain ones, in each output, and other texts stay."""

import base64
import html
import json
import logging
import time
import urllib.parse
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.model import secrets
from mcp_tef.model.secrets import MASK, RedactingFormatter, Secret, json_without_keys, without, without_keys

KEYS = ("aB3/x+Q9z_kLm7.R2-tYw8", "sk0proj1T4nd8mQ7vX2c", "0123456789abcdef0123456789abcdef", "ünï-9z_kLm7.R2-tY")
Encode = Callable[[str], str]


def based(encode: Callable[[bytes], bytes], shift: int, key: str) -> str:
    return encode(b"u:~"[:shift] + key.encode() + b";").decode()


FORMS: Final[Mapping[str, Encode]] = {
    "plain": str,
    "upper": str.upper,
    "lower": str.lower,
    "swapped": str.swapcase,
    "reversed": lambda key: key[::-1],
    "hex": lambda key: key.encode().hex(),
    "HEX": lambda key: key.encode().hex().upper(),
    "hex in pairs": lambda key: key.encode().hex(" "),
    "percent": lambda key: "".join(f"%{byte:02X}" for byte in key.encode()),
    "percent lower": lambda key: "".join(f"%{byte:02x}" for byte in key.encode()),
    "percent twice": lambda key: urllib.parse.quote(urllib.parse.quote(key, safe=""), safe=""),
    "json escapes": lambda key: "".join(f"\\u{ord(one):04x}" for one in key),
    "json twice": lambda key: json.dumps(json.dumps("".join(f"\\u{ord(one):04X}" for one in key))),
    "json slash": lambda key: key.replace("/", "\\/"),
    "x escapes": lambda key: "".join(f"\\x{ord(one):02x}" for one in key),
    "html decimal": lambda key: "".join(f"&#{ord(one)};" for one in key),
    "html hex": lambda key: "".join(f"&#x{ord(one):x};" for one in key),
    "html names": lambda key: html.escape(key).replace("/", "&sol;").replace("+", "&plus;"),
    "spaces": " ".join,
    "lines": lambda key: "\r\n".join(key[place : place + 5] for place in range(0, len(key), 5)),
    "quotes": lambda key: "', '".join(key),
    "list": lambda key: json.dumps([*key], ensure_ascii=False),
    "zero width": "\u200b".join,
    "soft hyphens": "\u00ad".join,
    "without four in front": lambda key: key[4:],
    "without four at the end": lambda key: key[:-4],
    "without two at each end": lambda key: key[2:-2],
    **{f"base64 {shift}": partial(based, base64.b64encode, shift) for shift in range(3)},
    **{f"url-safe base64 {shift}": partial(based, base64.urlsafe_b64encode, shift) for shift in range(3)},
}
OUTPUTS: Final[Mapping[str, Callable[[str, Secret], str]]] = {
    "secret": lambda text, secret: secret.redact(text),
    "text": lambda text, _: without_keys(text),
    "json": lambda text, _: str(json_without_keys({"a": [text], text: 1})),
    "json of known ones": lambda text, secret: str(without({"a": [text], text: 1}, [secret])),
    "log": lambda text, _: RedactingFormatter().format(logging.LogRecord("a", 40, "a.py", 1, "%s", (text,), None)),
}


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_no_form_of_a_key_leaves_by_any_output(form: Encode, output: Callable[[str, Secret], str]) -> None:
    for key in KEYS if form is not FORMS["x escapes"] else KEYS[:3]:
        secret, told = Secret(key), form(key)
        for text in (told, f"before {told} behind", f"ü{told}\n{told}"):
            shown = output(text, secret)
            assert MASK in shown
            rest = shown.replace(MASK, "")
            assert not any(told[place : place + 8] in rest for place in range(len(told) - 7)), (key, shown)


def test_the_longer_part_goes_where_four_characters_in_the_middle_are_replaced() -> None:
    for key in KEYS[:3]:
        held = Secret(key)
        for place in range(len(key) - 4):
            shown = held.redact(f"{key[:place]}****{key[place + 4 :]}")
            assert MASK in shown
            assert max(map(len, shown.split("****"))) <= len(key) // 2 + len(MASK)


def test_text_around_stays_and_so_do_texts_without_a_key() -> None:
    held = Secret(KEYS[0])
    around = 'Grüße 😀 100 % \\u0041 &amp; "x" '
    assert held.redact(f"{around}{KEYS[0][::-1]}{around}") == f"{around}{MASK}{around}"
    for text in (around, KEYS[0][:8], "the quick brown fox", "a" * 100, "", "%", "\\u", "&#x;", "\ud800", "%ff%fe"):
        assert held.redact(text) == without_keys(text) == text


def test_a_short_key_is_looked_for_as_it_is_only() -> None:
    held = Secret("hush-47")
    assert held.redact("hush-47 74-hsuh") == f"{MASK} 74-hsuh"


def test_what_is_known_of_a_key_ends_with_it() -> None:
    before = dict(secrets._GRAMS)
    first, second = Secret(KEYS[0]), Secret(KEYS[0])
    del first
    assert without_keys(KEYS[0][::-1]) == MASK
    del second
    assert dict(secrets._GRAMS) == before


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=30), st.text("ab%u0\\&#x;Q \u200bü", max_size=30), st.sampled_from(sorted(FORMS)))
def test_any_text_around_a_key_is_kept(before: str, behind: str, form: str) -> None:
    held = Secret("Zq7Wm2Xk9Vt4Rb6Ny8")
    shown = held.redact(f"{before}|{FORMS[form](held.reveal())}|{behind}")
    assert MASK in shown
    assert shown.startswith(before)
    assert shown.endswith(behind)


HOSTILE = {
    "blanks": " ", "backslashes": "\\", "percent": "%", "codes": "%41", "entities": "&#", "beginnings": "aB3/x+Q9z!",
    "letters": "a ", "digits": "0", "unseen": "\u200b", "quotes": '"', "unicode": "\\u00", "key": KEYS[0],
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_time_grows_with_the_text_alone(text: str) -> None:
    held = Secret(KEYS[0])

    def seconds(size: int) -> float:
        told, times = text * (size // len(text)), []
        for _ in range(3):
            start = time.perf_counter()
            held.redact(told)
            times.append(time.perf_counter() - start)
        return min(times)

    assert seconds(200_000) < 12 * seconds(50_000) + 0.1
