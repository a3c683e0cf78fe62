"""Calibration of both baselines, on real cases among 0, 20 and 100 other tools."""

import csv
import gzip

import pytest

from mcp_tef.embedding.tfidf import TfidfLexicon
from mcp_tef.llm.retrieval_baseline import MEANING, WORDS, Calibration, Ranker
from tests.support.baseline_cases import EXTRA_TOOLS, RECORDED, RankedCase, figures, offered, ranked, usable
from tests.support.bfcl_cases import bfcl_cases


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
