"""Time of functions that take a stranger's text grows with the text, not with its square."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import pytest

from mcp_tef.errors import TefError
from mcp_tef.formats.cases.recorded_messages import decoded_text
from mcp_tef.formats.servers.server_formats import parse_config
from mcp_tef.llm.argument_filling import _EMAIL
from mcp_tef.model.json import loads_bounded
from mcp_tef.prompts.answer_parsing import objects
from mcp_tef.servers.sanitizing import sanitized
from tests.support.bad_texts import BAD_TEXTS, bad_text

READERS: Final[dict[str, Callable[[str], Any]]] = {
    "sanitized": lambda text: sanitized(b'{"a":' * 160 + text.encode("utf-8", "replace")),
    "loads_bounded": loads_bounded,
    "decoded_text": decoded_text,
    "parse_config": lambda text: parse_config(text, "text"),
    "objects": lambda text: list(objects(text)),
    "emails": _EMAIL.findall,
}
SMALL, LARGE = 32_000, 128_000
FLOOR: Final = 0.03
"""Seconds below which no growth is measured."""


def seconds(read: Callable[[str], Any], text: str) -> float:
    """CPU time of this thread, the best of three."""
    found = []
    for _ in range(3):
        started = time.thread_time()
        with suppress(ValueError, RecursionError, TefError):
            read(text)
        found.append(time.thread_time() - started)
        if found[-1] < FLOOR:
            break
    return min(found)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", BAD_TEXTS)
def test_four_times_the_text_takes_at_most_ten_times_as_long(kind: str, reader: str) -> None:
    large = seconds(READERS[reader], bad_text(kind, LARGE))
    assert large < FLOOR or large <= 10 * seconds(READERS[reader], bad_text(kind, SMALL))
