"""Verdicts of trials of an idle, a helpful and a harmful draft with a stand-in model that chooses by words, with noise.

`python -m tests.benchmarks.idle_drafts [SEEDS]`. The idle draft differs in white space only. Limit: of 20 seeds, at
most one calls it better on these cases. The product's own decision reads every pair; no server and no store take part.
"""

import sys
from collections import Counter

import numpy as np

from mcp_tef.model.comparison import ClaimVerdict
from mcp_tef.model.trials import TrialGoal
from mcp_tef.statistics.trial_decision import TrialDecision
from tests.support.model_replies import Received
from tests.support.word_model import WordSensitiveModel

ROUNDS, NOISE = 5, 1.0
FAIR, CLEAR = "Return the weather of a town.", "Return the weather of a town: will there be rain, wind or snow."
DRAFTS = {"idle": f"{FAIR}  \n", "helpful": CLEAR, "harmful": "Departures of buses."}
OTHERS = {"departures": "Return departures of trains between two towns.", "rent": "Rent a bicycle in a city."}
QUERIES = [
    f"Will there be {what} in town {number}?" for number in range(10) for what in ("rain", "wind", "heat", "snow")
]


def passes(model: WordSensitiveModel, description: str, query: str) -> bool:
    """Return True if the model calls the forecast."""
    tools = [
        {"type": "function", "function": {"name": name, "description": text}}
        for name, text in ({"forecast": description} | OTHERS).items()
    ]
    body = {"messages": [{"role": "user", "content": query}], "tools": tools}
    reply = model(Received(method="POST", path="/chat/completions", headers={}, body=body))
    return '"forecast"' in reply.body


def verdict(description: str, seed: int, goal: TrialGoal) -> ClaimVerdict:
    """Return the verdict of one trial on its cases."""
    model, random = WordSensitiveModel(seed, NOISE), np.random.default_rng(seed)
    trial = TrialDecision(range(len(QUERIES)), rounds=ROUNDS, goal=goal)
    for round_ in range(ROUNDS):
        for case in random.permutation(len(QUERIES)).tolist():
            trial.add(case, round_, *(passes(model, text, QUERIES[case]) for text in (FAIR, description)))
            if trial.end:
                return trial.claims().on_these_cases.verdict
    return trial.claims().on_these_cases.verdict


def main(seeds: int) -> bool:
    """Print one row a draft and goal; whether the limit is kept."""
    kept = True
    for name, text in DRAFTS.items():
        for goal in (TrialGoal.QUICK, TrialGoal.FULL):
            found = Counter(verdict(text, seed, goal) for seed in range(seeds))
            kept &= name != "idle" or found[ClaimVerdict.BETTER] <= seeds / 20
            print(f"{name:8} {goal.value:6} {', '.join(f'{one.value}: {count}' for one, count in found.items())}")
    return kept


if __name__ == "__main__":
    sys.exit(not main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
