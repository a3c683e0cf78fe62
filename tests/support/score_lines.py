"""Lines for `score` from cases of BFCL: accepted answers, answers made wrong in known ways, and none at all."""

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

from tests.support.bfcl import gold_calls, score_line
from tests.support.mutations import mutations

SEED = 20261123
CONFIDENCES: tuple[dict[str, float], ...] = ({}, {"confidence": 0.2}, {"confidence": 0.95})


def score_lines(cases: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Return the lines of every case in order; the same cases give the same lines."""
    chance = random.Random(SEED)
    for case in cases:
        for number, (name, calls) in enumerate(_answers(case, chance)):
            confidence = CONFIDENCES[number % len(CONFIDENCES)]
            yield json.dumps(score_line(case, calls) | {"id": f"{case['id']}: {name}"} | confidence)


def _answers(case: dict[str, Any], chance: random.Random) -> Iterator[tuple[str, list[dict[str, Any]] | None]]:
    yield "no call", []
    yield "unreadable", None
    yield "first tool without arguments", [{"tool": case["tools"][0]["name"], "arguments": {}}]
    gold = gold_calls(case)
    if not gold:
        return
    yield "accepted", gold
    yield "accepted, shortest", gold_calls(case, omit=True)
    yield "backwards", gold[::-1]
    for number, mutation in enumerate(mutations(case, gold, chance)):
        yield f"{number} {mutation.what}", mutation.calls
