"""Real cases for the built-in baselines, each among its own tools and some others, and the figures of decisions."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from mcp_tef.llm.retrieval_baseline import Decision, Ranker
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.prompts.selection_prompt import offer

EXTRA_TOOLS = (0, 20, 100)
FOLDS = 5
RECORDED = Path(__file__).parents[1] / "data" / "baseline_rankings.csv.gz"
"""Rankings of all cases among the tools of other cases, by words and by all-MiniLM-L6-v2.

`tests/benchmarks/baseline_calibration.py --record` writes them.
"""


@dataclass(frozen=True, slots=True)
class RankedCase:
    """The two best scores among some offered tools; `hit`: the best one is expected, `expected`: one of them is."""

    id: str
    tools: int
    top: float
    second: float
    hit: bool
    expected: bool


@dataclass(frozen=True, slots=True)
class BaselineFigures:
    """Shares over ranked cases. `accuracy` is over cases that expect a tool, `overall` over all."""

    recall_at_1: float
    accuracy: float
    overall: float
    silence: float
    none_confidence: float
    none_hits: float
    picked_confidence: float
    picked_hits: float


def tool_of(row: dict[str, Any], server: str = "") -> Tool:
    """The tool of a raw definition."""
    return Tool(
        server=str(row.get("server") or server),
        name=row["name"],
        description=row.get("description") or "",
        input_schema=row.get("input_schema") or {},
        raw={},
    )


def usable(cases: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cases with tools and with one clear expectation."""
    return [case for case in cases if case["label"] != "any_call" and case["tools"]]


def fold_of(case: dict[str, Any]) -> int:
    """The fold of a case; cases with the same tools are in one."""
    return crc32("\n".join(sorted(tool["name"] for tool in case["tools"])).encode()) % FOLDS


def tools_of(cases: Iterable[dict[str, Any]]) -> list[Tool]:
    """Every tool of some cases once, by name."""
    return list({tool["name"]: tool_of(tool, "other") for case in cases for tool in case["tools"]}.values())


def offered(case: dict[str, Any], extra: int, pool: Sequence[Tool]) -> tuple[OfferedTool, ...]:
    """The tools of a case among some others of other names, always the same ones."""
    chance = random.Random(f"{extra}:{case['id']}")
    own = [tool_of(tool, "own") for tool in case["tools"]]
    names = {tool.name for tool in own}
    others = [tool for tool in chance.sample(pool, min(extra + 10, len(pool))) if tool.name not in names][:extra]
    together = [*own, *others]
    chance.shuffle(together)
    return offer(together)


async def ranked(ranker: Ranker, case: dict[str, Any], tools: tuple[OfferedTool, ...]) -> RankedCase:
    """Rank the tools for the query of a case."""
    wanted = {call["tool"] for call in case["expected_calls"] or ()}
    scores = await ranker.scores(case["query"], tools)
    order = np.argsort(-scores, kind="stable")
    return RankedCase(
        id=case["id"],
        tools=len(order),
        top=float(scores[order[0]]),
        second=float(scores[order[1]]) if len(order) > 1 else 0.0,
        hit=tools[order[0]].tool.name in wanted,
        expected=bool(wanted),
    )


def figures(cases: Sequence[RankedCase], decisions: Sequence[Decision]) -> BaselineFigures:
    """What was decided on ranked cases, in numbers."""
    picked, confidence = np.array([(one.picked, one.confidence) for one in decisions]).T
    picked = picked.astype(bool)
    hit = np.array([case.hit for case in cases])
    expected = np.array([case.expected for case in cases])
    right = np.where(picked, hit, ~expected)
    return BaselineFigures(
        recall_at_1=float(np.mean(hit[expected])),
        accuracy=float(np.mean(right[expected])),
        overall=float(np.mean(right)),
        silence=float(np.mean(right[~expected])),
        none_confidence=float(np.mean(confidence[~picked])),
        none_hits=float(np.mean(right[~picked])),
        picked_confidence=float(np.mean(confidence[picked])),
        picked_hits=float(np.mean(right[picked])),
    )
