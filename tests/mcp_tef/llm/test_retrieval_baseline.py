"""The built-in baselines: ranks, calibration on real cases, and parameters filled from a query by plain rules."""

import asyncio
import csv
import gzip
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mcp_tef.embedding.tfidf import TfidfIndex, TfidfLexicon
from mcp_tef.errors import EmbeddingError, InputError
from mcp_tef.llm.argument_filling import fill
from mcp_tef.llm.model_selector import ModelSelectors
from mcp_tef.llm.retrieval_baseline import MEANING, WORDS, Calibration, MeaningSelector, Ranker, WordsSelector
from mcp_tef.model.answers import ActualCall, Answer, ConfidenceSource
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.ports import Embedder, Question, Selector
from mcp_tef.prompts.selection_prompt import offer
from tests.support.baseline_cases import EXTRA_TOOLS, RECORDED, RankedCase, figures, offered, ranked, usable
from tests.support.bfcl_cases import bfcl_cases


def tool(name: str, description: str, **properties: object) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Tool(server="town", name=name, description=description, input_schema=schema, raw={"name": name})


TOOLS = offer([
    tool("weather.forecast", "The weather forecast for a city.", city={"type": "string"}),
    tool("bookTable", "Reserve a table at a restaurant.", guests={"type": "integer"}),
    tool("translate_text", "Translate a text into another language.", text={"type": "string"}),
])  # fmt: skip


class CountingLexicon(TfidfLexicon):
    """Word overlap that counts how often tools were prepared."""

    def __init__(self) -> None:
        super().__init__()
        self.made = 0

    async def index(self, texts: Sequence[str]) -> TfidfIndex:
        self.made += 1
        return await super().index(texts)


class Meaning:
    """An embedder with two directions: what is about eating, and the rest."""

    name = "meaning"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        eating = [any(word in text.lower() for word in ("hungry", "restaurant")) for text in texts]
        return np.array([[1.0, 0.0] if about else [0.0, 1.0] for about in eating], dtype=np.float32)


class Broken:
    """An embedder whose model cannot be used."""

    name = "broken"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise EmbeddingError("The embedding model broken cannot be used.")


def baseline(lexicon: TfidfLexicon | None = None) -> WordsSelector:
    return WordsSelector(lexicon or TfidfLexicon())


def meaning(embedder: Embedder | EmbeddingError | None) -> MeaningSelector:
    async def find() -> Embedder | None:
        if isinstance(embedder, EmbeddingError):
            raise embedder
        return embedder

    return MeaningSelector(TfidfLexicon(), find)


async def answer(query: str, selector: Selector, tools: tuple[OfferedTool, ...] = TOOLS) -> Answer:
    return await selector.select(Question(query, tools, ModelSettings()))


async def test_it_picks_the_nearest_tool_and_fills_its_parameters() -> None:
    found = await answer("What is the weather forecast for Paris?", baseline())
    assert found.calls == (ActualCall(tool="weather.forecast", server="town", arguments={"city": "Paris"}),)
    assert found.cost_usd == 0.0


async def test_it_picks_none_where_nothing_is_near() -> None:
    found = await answer("Sing me a lullaby.", baseline())
    assert found.calls == ()
    assert f"below the {found.raw_request['threshold']:.2f} that a selection needs" in found.words


async def test_a_threshold_that_is_set_is_the_one_that_counts() -> None:
    query = "What is the weather forecast for Paris?"
    usual = await answer(query, baseline())
    strict = await answer(query, WordsSelector(TfidfLexicon(), lambda: 0.99))
    assert (bool(usual.calls), strict.calls, strict.raw_request["threshold"]) == (True, (), 0.99)


async def test_the_ranking_holds_every_tool_best_first_with_scores() -> None:
    found = await answer("book a table for 4 guests", baseline())
    assert found.ranking[0].offered_name == "bookTable"
    scores = [item.score for item in found.ranking]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


async def test_no_more_than_ten_are_ranked() -> None:
    many = offer([tool(f"tool_{number}", "Does a thing.") for number in range(30)])
    assert len((await answer("does a thing", baseline(), many)).ranking) == 10


async def test_confidence_is_high_where_one_tool_is_far_ahead_and_low_between_twins() -> None:
    clear = await answer("Translate this text into another language", baseline())
    twins = offer([tool("find_a", "Find a house."), tool("find_b", "Find a house.")])
    torn = await answer("find a house", baseline(), twins)
    assert clear.confidence_source is ConfidenceSource.MARGIN
    assert clear.confidence is not None
    assert torn.confidence is not None
    assert clear.confidence >= 0.7 > torn.confidence


async def test_it_says_that_it_is_a_baseline_and_by_how_much_it_chose() -> None:
    found = await answer("book a table for 4 guests", baseline())
    assert found.words.startswith("Baseline by word overlap: bookTable scores 0.")
    assert " ahead of " in found.words


async def test_meaning_counts_where_an_embedding_model_is_at_hand() -> None:
    query = "I am hungry"
    assert (await answer(query, baseline())).calls == ()
    found = await answer(query, meaning(Meaning()))
    assert found.calls is not None
    assert [call.tool for call in found.calls] == ["bookTable"]
    assert "word overlap and meaning" in found.words
    assert found.raw_request["embedder"] == "meaning"


async def test_meaning_fails_rather_than_answer_by_words_where_its_model_fails_or_is_missing() -> None:
    with pytest.raises(EmbeddingError, match="model broken cannot be used"):
        await answer("weather forecast for Paris", meaning(Broken()))
    with pytest.raises(EmbeddingError, match="no embedding model on this machine") as missing:
        await meaning(None).prepare(Question("weather", TOOLS, ModelSettings()))
    assert "offline/words" in missing.value.hint


async def test_the_more_tools_are_offered_the_more_a_pick_needs() -> None:
    thresholds = []
    for number in (3, 30, 300):
        tools = offer([tool(f"tool_{place}", "Does a thing.") for place in range(number)])
        thresholds.append((await answer("Sing me a lullaby.", baseline(), tools)).raw_request["threshold"])
    assert thresholds[0] < thresholds[1] < thresholds[2]


async def test_tools_that_were_seen_together_are_prepared_once() -> None:
    lexicon = CountingLexicon()
    selector = baseline(lexicon)
    again = offer([item.tool for item in TOOLS])
    await asyncio.gather(
        *(answer(f"weather {number}", selector, tools) for number in range(20) for tools in (TOOLS, again))
    )
    assert lexicon.made == 1


@pytest.mark.parametrize("query", ["", " ", "???", "\x00", "天気は", "a" * 50_000])
async def test_no_query_whatever_fails(query: str) -> None:
    assert (await answer(query, baseline())).calls is not None


async def test_tools_without_a_word_and_no_tools_at_all_fail_nothing() -> None:
    assert (await answer("hello", baseline(), ())).calls == ()
    assert (await answer("hello", baseline(), offer([tool("", ""), tool("!", "…")]))).calls == ()


UNUSABLE = EmbeddingError("The folder holds no model.")
OFFLINE = ModelSettings(provider="offline", model="words")


@pytest.mark.parametrize(("embedder", "stands_for"), [(Meaning(), "meaning"), (None, "words"), (UNUSABLE, "words")])
async def test_the_default_baseline_stands_for_meaning_where_a_model_works_here(
    embedder: Embedder | EmbeddingError | None, stands_for: str
) -> None:
    words, by_meaning = baseline(), meaning(embedder)
    selectors = ModelSelectors(lambda: (words, by_meaning))
    resolved = await selectors.resolve(ModelSettings(timeout=7))
    assert resolved == ModelSettings(provider="offline", model=stands_for, timeout=7)
    assert selectors.selector_for(resolved) is (by_meaning if stands_for == "meaning" else words)


async def test_baselines_that_are_named_stay_or_are_refused_with_a_way_out() -> None:
    selectors = ModelSelectors(lambda: (baseline(), meaning(None)))
    assert await selectors.resolve(OFFLINE) == OFFLINE
    with pytest.raises(EmbeddingError, match="no embedding model"):
        await selectors.resolve(replace(OFFLINE, model="meaning"))
    with pytest.raises(InputError, match="no baseline offline/wrods") as unknown:
        await selectors.resolve(replace(OFFLINE, model="wrods"))
    assert "offline/words" in unknown.value.hint


async def test_every_other_name_is_a_model() -> None:
    words = baseline()
    selectors, model = ModelSelectors(lambda: (words, meaning(None))), ModelSettings(provider="openai", model="words")
    assert await selectors.resolve(model) == model
    assert selectors.selector_for(model) is not words
    await selectors.close()


def schema(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


TEXT, WHOLE, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
YES_NO, LIST = {"type": "boolean"}, {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize(
    ("query", "wanted", "filled"),
    [
        ('Search for "red tyres" now', schema("query", query=TEXT), {"query": "red tyres"}),
        ("Find me a quiet hotel", schema("query", query=TEXT), {"query": "Find me a quiet hotel"}),
        (
            "Book a table for 4 at 19:30",
            schema("guests", "time", guests=WHOLE, time=TEXT),
            {"guests": 4, "time": "19:30"},
        ),
        (
            "An area of 12.5 with a width of 3",
            schema("width", "area", width=NUMBER, area=NUMBER),
            {"width": 3, "area": 12.5},
        ),
        ("Pay 1,250,000 euros", schema("amount", amount=WHOLE), {"amount": 1_250_000}),
        ("Roll three dice", schema("dice", dice=WHOLE), {"dice": 3}),
        ("Write to ann@example.org about it", schema("recipient", recipient=TEXT), {"recipient": "ann@example.org"}),
        ("Open https://example.org/a?b=1.", schema("url", url=TEXT), {"url": "https://example.org/a?b=1"}),
        ("Come on March 3rd, 2026", schema("day", day=TEXT | {"format": "date"}), {"day": "2026-03-03"}),
        ("Come on 3 March 2026", schema("date", date=TEXT), {"date": "2026-03-03"}),
        (
            "From 2026-01-02 to 2026-02-03",
            schema(start_date=TEXT, end_date=TEXT),
            {"start_date": "2026-01-02", "end_date": "2026-02-03"},
        ),
        ("Read /etc/hosts", schema("path", path=TEXT), {"path": "/etc/hosts"}),
        ("Cancel booking R-2041", schema("booking_id", booking_id=TEXT), {"booking_id": "R-2041"}),
        ("I want a large pizza", schema(size={"enum": ["small", "large"]}), {"size": "large"}),
        ("I want a pizza", schema("size", size={"enum": ["small", "large"]}), {}),
        ("Ship it express", schema(express=YES_NO), {"express": True}),
        ("Ship it, but not express", schema(express=YES_NO), {"express": False}),
        ("Ship it", schema("express", express=YES_NO), {}),
        ("Add 1, 2 and 3", schema("numbers", numbers=LIST), {"numbers": [1, 2, 3]}),
        (
            "The mean of [4, 5] to 2 digits",
            schema("values", digits=WHOLE, values=LIST),
            {"digits": 2, "values": [4, 5]},
        ),
        ("The weather in New York please", schema("city", city=TEXT), {"city": "New York"}),
        ("status: open", schema(status=TEXT), {"status": "open"}),
        ("Nothing is said here", schema(limit=WHOLE, city=TEXT, when=TEXT | {"format": "date-time"}), {}),
    ],
)
def test_values_are_taken_from_the_query(query: str, wanted: dict[str, Any], filled: dict[str, Any]) -> None:
    assert fill(query, wanted) == filled


def test_one_number_is_never_used_twice() -> None:
    assert fill("Only 5 is said", schema("a", "b", a=WHOLE, b=WHOLE)) == {"a": 5}


def test_references_and_nullable_types_are_followed() -> None:
    wanted = schema("when", "count", when={"$ref": "#/$defs/Day"}, count={"anyOf": [{"type": "null"}, WHOLE]})
    wanted["$defs"] = {"Day": {"type": "string", "format": "date"}}
    assert fill("7 of them on 2026-05-01", wanted) == {"when": "2026-05-01", "count": 7}


def test_a_schema_that_refers_to_itself_ends() -> None:
    node: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#"}, "n": WHOLE}, "required": ["next"]}
    assert fill("1 2 3", node | {"$ref": "#"}) is not None


@pytest.mark.parametrize(
    "odd", [{}, {"properties": []}, {"properties": {"a": True}}, {"properties": {"a": {"type": 3}}}]
)
def test_odd_schemas_fill_nothing_and_never_raise(odd: dict[str, Any]) -> None:
    assert fill("Take 5", odd) == {}


@given(st.text(max_size=200))
def test_no_query_whatever_raises(query: str) -> None:
    kinds = schema("a", "n", "l", "url", a=TEXT, n=NUMBER, l=LIST, url=TEXT, date=TEXT, time=TEXT, yes=YES_NO)
    fill(query, kinds)


@pytest.fixture(scope="module")
def recorded() -> dict[tuple[str, int], list[RankedCase]]:
    """The recorded rankings by selector and number of other tools."""
    found: dict[tuple[str, int], list[RankedCase]] = {}
    with gzip.open(RECORDED, "rt", encoding="utf-8", newline="") as text:
        for selector, extra, name, tools, top, second, hit, expected in list(csv.reader(text))[1:]:
            case = RankedCase(name, int(tools), float(top), float(second), hit=hit == "1", expected=expected == "1")
            found.setdefault((selector, int(extra)), []).append(case)
    return found


@pytest.mark.parametrize("extra", EXTRA_TOOLS)
@pytest.mark.parametrize(("selector", "calibration"), [("words", WORDS), ("meaning", MEANING)])
def test_silence_costs_two_points_of_recall_at_most_and_says_how_often_it_is_right(
    recorded: dict[tuple[str, int], list[RankedCase]], selector: str, calibration: Calibration, extra: int
) -> None:
    cases = recorded[selector, extra]
    got = figures(cases, [calibration.decide(case.top, case.second, case.tools) for case in cases])
    assert len(cases) > 1_000
    assert got.accuracy >= got.recall_at_1 - 0.02
    assert got.none_confidence == pytest.approx(got.none_hits, abs=0.1)
    assert got.picked_confidence == pytest.approx(got.picked_hits, abs=0.1)
    assert got.silence >= 0.3


async def test_the_recorded_rankings_are_those_of_today(recorded: dict[tuple[str, int], list[RankedCase]]) -> None:
    before = {case.id: case for case in recorded["words", 0]}
    ranker = Ranker(TfidfLexicon())
    for case in usable(bfcl_cases())[::7]:
        now = await ranked(ranker, case, offered(case, 0, ()))
        then = before[case["id"]]
        assert (now.tools, now.hit) == (then.tools, then.hit), case["id"]
        assert (now.top, now.second) == pytest.approx((then.top, then.second), abs=1e-3), case["id"]
