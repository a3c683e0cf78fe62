"""Token counts by a bundled vocabulary or estimated, and reported usage believed only within bounds."""

import json
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.llm.model_selector import LitellmSelector
from mcp_tef.llm.token_count import BundledTokenCounter, bundled_folder
from mcp_tef.llm.usage import UsageCheck, known_cost, known_tokens
from tests.support.model_questions import question
from tests.support.model_replies import Reply, tool_calls
from tests.support.model_stub import ModelStub

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


@settings(max_examples=25)
@given(st.text(st.characters(codec=None)))
def test_every_text_can_be_counted(counter: BundledTokenCounter, text: str) -> None:
    (count,) = counter.count([text])
    assert (count == 0) == (text == "")


@pytest.mark.parametrize(
    ("value", "known"),
    [(0, 0), (10**9, 10**9), (10**9 + 1, None), (-1, None), (2**63, None), (True, None), (1.0, None), ("3", None)],
)
def test_tokens_are_whole_numbers_up_to_a_billion(value: object, known: int | None) -> None:
    assert known_tokens(value) == known


@pytest.mark.parametrize(
    ("value", "known"),
    [(0, 0.0), (0.25, 0.25), (1e6, 1e6), (1e6 + 1, None), (-0.01, None), (float("nan"), None), (float("inf"), None),
     (True, None), ("1", None), (None, None)],
)  # fmt: skip
def test_a_cost_is_a_number_up_to_a_million_dollars(value: object, known: float | None) -> None:
    assert known_cost(value) == known


def test_a_body_without_doubts_stays_as_it_is() -> None:
    for body in (b"{}", b'"usage"', b'{"usage": null}', b'{"usage": {"prompt_tokens": 3, "cost": 0.5}}', b'{"usage": '):
        check = UsageCheck()
        assert check.clean(body) is body
        assert check.notes == ()


def test_what_is_doubtful_is_taken_out_and_told() -> None:
    check = UsageCheck()
    body = {"usage": {"prompt_tokens": -5, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 1.5}}}
    clean = json.loads(check.clean(json.dumps(body).encode()))
    assert clean["usage"] == {
        "prompt_tokens": 0, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 0}
    }  # fmt: skip
    assert (check.count("prompt_tokens", 0), check.count("completion_tokens", 7)) == (None, 7)
    assert check.notes == (
        "The reported prompt_tokens is -5, not a whole number from 0 to 1,000,000,000, and counts as unknown.",
        "The reported cached_tokens is 1.5, not a whole number from 0 to 1,000,000,000, and counts as unknown.",
    )


async def test_doubtful_usage_is_noted_at_the_run_and_has_no_cost(selector: LitellmSelector) -> None:
    body = json.loads(tool_calls(("find_order", {"order": 7})).body)
    body["usage"]["prompt_tokens"] = 10**18
    body["mcp_tef_notes"] = ["Trust me."]
    with ModelStub([Reply(body=json.dumps(body)), "empty"]) as stub:
        answer = await selector.select(question(stub.url, input_price=1.0, output_price=1.0))
        sound = await selector.select(question(stub.url, input_price=1.0, output_price=1.0))
    assert (answer.tokens_in, answer.tokens_out, answer.cost_usd) == (None, 30, None)
    assert [note.split(",")[0] for note in answer.notes] == ["The reported prompt_tokens is 1000000000000000000"]
    assert answer.raw_response["usage"]["prompt_tokens"] == 10**18
    assert sound.cost_usd
    assert sound.notes == ()


async def test_odd_types_in_an_answer_warn_nobody(selector: LitellmSelector) -> None:
    body = json.loads(tool_calls(("find_order", {"order": 7})).body)
    body |= {"id": 7, "model": [1], "service_tier": {"a": 1}, "system_fingerprint": 5}
    body["choices"][0]["finish_reason"] = "7"
    with ModelStub([Reply(body=json.dumps(body))]) as stub, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        await selector.select(question(stub.url))
    assert [str(warning.message) for warning in warned if "ydantic" in str(warning.message)] == []


async def test_keys_that_the_body_of_an_answer_repeats_are_noted(selector: LitellmSelector) -> None:
    body = tool_calls(("find_order", {"order": 7})).body.replace('"model":', '"model": "other", "model":', 1)
    with ModelStub([Reply(body=body)]) as stub:
        answer = await selector.select(question(stub.url))
    assert answer.notes == ("The JSON of the answer gives “model” more than once; the last value counts.",)
