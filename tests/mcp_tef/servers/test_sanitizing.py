"""Repair of JSON whose strings do not end."""

import json

import pytest

from mcp_tef.servers.sanitizing import DEEPEST, MARK, sanitized, shallow

DEEP = b"[" * (DEEPEST + 9) + b"]" * (DEEPEST + 9)


def test_a_line_without_an_end_of_its_string_leaves_the_next_line_alone() -> None:
    sound = b'{"deep": ' + DEEP + b', "text": "[[\\"[["}'
    first, second = sanitized(b'{"cut": "a\\"b [\n' + sound).split(b"\n")
    assert first == b'{"cut": "a\\"b ['
    assert json.loads(second)["text"] == '[["[['
    assert MARK in second.decode()


@pytest.mark.parametrize("text", ['"[' * 300, '\\"' * 300, "\\\\" * 300 + '"[{'])
def test_brackets_in_texts_do_not_count(text: str) -> None:
    line = json.dumps({"a": text, "b": [text]}).encode()
    assert shallow(line) == line
