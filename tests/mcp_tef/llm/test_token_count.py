"""Token counts come from a vocabulary on this machine, or are an estimate that says so."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.llm.token_count import BundledTokenCounter, bundled_folder

TEXTS = (
    "",
    "hello world",
    "Find flights between two airports on a day.",
    '{"type":"object","properties":{"origin":{"type":"string"}}}',
    "I'LL don't 12345 67\r\n\n   \t x",
    "Zürich → 東京 👩\u200d👧 \U000e0041",
    "<|endoftext|>",
    "def f(x):\n    return x ** 2  # squared\n",
)


@pytest.fixture(scope="module")
def counter() -> BundledTokenCounter:
    """The one of the product."""
    return BundledTokenCounter()


def test_known_texts_have_their_known_counts(counter: BundledTokenCounter) -> None:
    assert counter.count(["hello world", "", "tiktoken is great!"]) == (2, 0, 6)
    assert counter.name == "cl100k_base"


def test_counts_are_those_of_the_library_itself(counter: BundledTokenCounter) -> None:
    script = (
        "import json, sys, tiktoken\n"
        "encoding = tiktoken.get_encoding('cl100k_base')\n"
        "print(json.dumps([len(encoding.encode_ordinary(text)) for text in json.load(sys.stdin)]))"
    )
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(bundled_folder())}
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(TEXTS),
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert list(counter.count(TEXTS)) == json.loads(done.stdout)


def test_a_broken_or_missing_vocabulary_makes_an_estimate_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "vocabulary").write_text("aGk= 0\n", "utf-8")
    for folder in (tmp_path, tmp_path / "missing"):
        estimate = BundledTokenCounter(folder)
        assert "estimate" in estimate.name
        assert estimate.count(["", "a", "four", "five5"]) == (0, 1, 1, 2)


def test_many_threads_read_the_vocabulary_once_and_count_alike() -> None:
    counter = BundledTokenCounter()
    counts: list[tuple[int, ...]] = []
    threads = [threading.Thread(target=lambda: counts.append(counter.count(TEXTS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(counts) == 4
    assert len(set(counts)) == 1


def test_loading_it_loads_no_litellm_and_reaches_for_no_network() -> None:
    script = (
        "import sys, socket\n"
        "def refuse(*args): raise AssertionError('a connection was tried')\n"
        "socket.socket.connect = refuse\n"
        "from mcp_tef.llm.token_count import BundledTokenCounter\n"
        "print(BundledTokenCounter().count(['hello world']), 'litellm' in sys.modules, 'requests' in sys.modules)"
    )
    root = Path(__file__).parents[3]
    environment = {name: value for name, value in os.environ.items() if "TIKTOKEN" not in name}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=root, env=environment, check=False
    )
    assert done.stdout.strip() == "(2,) False False", done.stderr


@pytest.mark.parametrize("piece", [" ", "\n", "a", "\u200b", "1"])
def test_a_million_equal_characters_are_counted_without_harm(counter: BundledTokenCounter, piece: str) -> None:
    (count,) = counter.count([piece * 1_000_000])
    assert 1_000 < count <= 1_000_000


@settings(max_examples=50)
@given(st.text(st.characters(codec=None)))
def test_every_text_can_be_counted(counter: BundledTokenCounter, text: str) -> None:
    (count,) = counter.count([text])
    assert (count == 0) == (text == "")
