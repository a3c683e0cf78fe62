"""JSON with comments and trailing commas is read as editors read it, and text inside quotes is never touched."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.errors import InputError
from mcp_tef.formats.servers.server_formats import parse_config

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(JSON)
def test_plain_json_means_the_same(value: Any) -> None:
    for indent in (None, 1):
        assert parse_config(json.dumps(value, indent=indent, ensure_ascii=False), "x") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, // one\n "b": 2,}', {"a": 1, "b": 2}),
        ("[1, /* two, ] */ 3 , ]", [1, 3]),
        ('["// no", "/* no */", ",]", "\\"//"]', ["// no", "/* no */", ",]", '"//']),
        ("{} // end", {}),
        ("[1] /* open", [1]),
    ],
)
def test_comments_and_trailing_commas(text: str, value: Any) -> None:
    assert parse_config(text, "x") == value


def test_the_line_that_is_wrong_is_named_as_it_is_in_the_file() -> None:
    with pytest.raises(InputError, match="at line 4"):
        parse_config('{ /* one\n two */\n // three\n "a": oops}', "x")


@pytest.mark.parametrize("piece", ["/*", '"\\', "//", ", ", '"\\"', "/**/", "[", '{"a":'])
def test_no_text_takes_long(piece: str) -> None:
    with pytest.raises(InputError):
        parse_config(piece * 300_000, "x")
