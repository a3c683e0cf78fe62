"""What a mended answer reads like: as it was where it was sound, and with a mark where nobody can read it."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from mcp_tef.model.json import Json
from mcp_tef.servers.sanitizing import DEEPEST, MARK, WholeLines, sanitized

WHOLE = st.characters(codec="utf-8", exclude_characters=MARK)  # no half of a surrogate pair, which becomes a mark
TEXTS = st.text(WHOLE) | st.sampled_from(["[", "}", '"', "\\", "\\ud800", "a\\"])
SOUND = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(SOUND, st.booleans())
def test_sound_json_stays_byte_for_byte(value: Json, escaped: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped).encode()
    assert sanitized(text) == text


@given(st.text(st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010) | st.sampled_from("\\u😀")))
def test_half_characters_become_marks_and_whole_ones_stay(text: str) -> None:
    read = from_json(sanitized(json.dumps([text]).encode()))
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\ufffd", MARK)
    assert read == [whole]


@given(st.binary())
def test_bytes_that_are_no_text_become_marks(data: bytes) -> None:
    assert sanitized(data).decode().replace(MARK, "") == data.decode("utf-8", "ignore").replace("\ufffd", "")


@pytest.mark.parametrize("levels", [0, DEEPEST // 2 - 1, DEEPEST - 1, DEEPEST, 5_000])
@pytest.mark.parametrize(("begin", "end"), [(b"[", b"]"), (b'{"a":', b"}"), (b'{"]}":[', b"]}")])
def test_what_nests_too_deep_is_cut_out_and_the_rest_stays(levels: int, begin: bytes, end: bytes) -> None:
    deep = begin * levels + b"1" + end * levels
    read = sanitized(b'[{"name":"[[[["},' + deep + b',"last"]')
    first, _, last = from_json(read)
    assert (first, last) == ({"name": "[[[["}, "last")
    assert (MARK.encode() in read) == (levels * len(end) >= DEEPEST)


@pytest.mark.parametrize("data", [b"[" * 500_000, b"]" * 500_000, b"[{" * 250_000, b"[]" * 250_000, b'"[' * 500_000])
def test_what_is_no_json_is_left_to_its_reader_in_no_time(data: bytes) -> None:
    began = time.thread_time()
    sanitized(data)
    assert time.thread_time() - began < 2


@given(st.lists(st.binary(max_size=5) | st.sampled_from([b"\n", b"\r\n", b"ab\ncd"])))
def test_lines_come_whole_and_nothing_is_lost(chunks: list[bytes]) -> None:
    lines = WholeLines(1_000)
    fed = [lines.feed(chunk) for chunk in chunks]
    assert b"".join([*fed, lines.rest()]) == b"".join(chunks)
    assert all(piece[-1:] in b"\r\n" for piece in fed)


def test_a_line_without_an_end_is_handed_on_when_it_is_too_long() -> None:
    lines = WholeLines(10)
    assert [lines.feed(b"1234"), lines.feed(b"5678"), lines.feed(b"90a"), lines.rest()] == [
        b"",
        b"",
        b"1234567890a",
        b"",
    ]
