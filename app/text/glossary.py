"""Glossary: each term explained in a sentence or two with an example; tooltips and the help show the same text."""

from collections.abc import Mapping
from typing import Final

TERMS: Final[Mapping[str, str]] = {
    "accuracy": (
        "Share of judged runs with the correct choice: the expected tool, or no tool if none was expected. "
        "18 of 20 is 90 %."
    ),
    "precision": (
        "Share of correct calls among correct and unwanted calls. 18 correct and 2 unwanted calls are 90 %. "
        "A low value means that tools are called when none should be."
    ),
    "recall": "Share of runs that selected the expected tool, among runs that expected one: 18 of 24 is 75 %.",
    "tool precision": "Share of correct selections among all selections of this tool: 7 of 10 is 70 %.",
    "tool recall": "Share of runs that selected this tool, among runs that expected it: 18 of 24 is 75 %.",
    "F1": (
        "Precision and recall in one number from 0 to 1, close to the lower of both: 0.9 and 0.5 give 0.64. "
        "It is not a share of runs, so it has no Wilson interval."
    ),
    "n": "Number of judged runs behind a value. With only 3 runs, one run more or less changes the value a lot.",
    "Wilson interval": (
        "Range that contains the true share with 95 % certainty. 18 of 20 is 90 %, but it may be 70 or 97 %. "
        "More runs make it narrower."
    ),
    "pass rate": (
        "Share of repeats of a case that passed: the correct tool, and no judged parameter wrong. 4 of 5 is 80 %."
    ),
    "pass^k": (
        "Probability that k repeats of a case all pass. If 4 of 5 repeats passed, 3 random ones of them all passed in "
        "only 40 % of draws."
    ),
    "flaky case": "A case that sometimes passes and sometimes fails, although nothing changed in between.",
    "parameters right": "Share of calls with every value correct, among correct calls whose values were judged.",
    "completeness": (
        "Share of the needed parameters that the call has: those that the tool requires or the case expects. "
        "3 of 4 is 75 %."
    ),
    "correctness": "Share of the expected values that are correct, for example size M if the case expects M.",
    "type conformance": (
        "Share of values with a type that the tool's schema allows. The text “three” fails for a number."
    ),
    "hallucinated parameter": "A parameter that is not in the tool's schema, such as color where only size is known.",
    "confidence": (
        "Certainty of the choice from 0 to 1: stated by the model, measured by repeats, or the margin of the baseline. "
        "0.7 and more is high."
    ),
    "margin": "Distance between the first and the second tool of a ranking. 0.62 and 0.60 give 0.02, almost a tie.",
    "calibration": "Match of confidence and accuracy: of runs with a confidence of 0.8, about 80 % should be correct.",
    "robust": "Correct with high confidence: 0.7 or more.",
    "needs clarity": "Correct with low confidence. The description could explain the tool's purpose better.",
    "misleading": "Wrong with high confidence. The description promises something that the tool does not do.",
    "baseline": (
        "The offline selector, which ranks tools by their similarity to the query. "
        "It shows what a tool search finds without a language model."
    ),
    "recall@k": "Share of runs with the expected tool among the first k of a ranking: the first 3 in 87 % of runs.",
    "snapshot": "The tools exactly as a run was offered them. Later changes of the server do not affect them.",
    "drift": "Tools whose definitions changed since you accepted them: a new description, or another parameter.",
    "similarity": "Similarity of two tools in meaning, from 0 to 1: “find a bike” and “search bicycles” are close.",
    "similarity with parameters": (
        "Similarity of two tools in meaning, from 0 to 1, including the names, types and descriptions of parameters."
    ),
    "wording": "Share of words that two tools have in common, from 0 to 1. Rare words such as “tyre” count more.",
    "names": "Share of words that two names have in common, from 0 to 1: find_bike and search_bike share 1 of 3.",
    "shared parameters": (
        "Share of the parameters of two tools with the same name and type, from 0 to 1: 2 of 4 in all is 0.5."
    ),
    "confusability": (
        "Probability that a model mistakes one tool for the other, from 0 to 1, estimated from pairs that were tried."
    ),
    "percentile": "Share of all pairs that are less similar: 97 means that only 3 of 100 pairs are more similar.",
    "threshold": "Similarity from which a pair is flagged. The meaning of 0.85 depends on the embedding model.",
    "overlap": "Weighted mean of meaning, parameters and wording. The default weights are 0.5, 0.3 and 0.2.",
    "confused in runs": (
        "Runs that selected the other tool, among runs that were offered both and expected one: 26 of 117."
    ),
    "look-alikes": "Tools so similar that a model may mistake one for the other.",
    "most taken for": "The tool selected most often when this tool was expected.",
    "quality score": "A value from 0 to 100: 100 minus the points of each finding.",
    "finding": "A problem that a rule found in a tool: no description, a vague word, an undescribed parameter.",
    "token weight": (
        "Tokens that a definition costs in every request that offers the tool. "
        "60 tools of 300 tokens cost 18,000 tokens before the user's query."
    ),
    "latency": "Time to the answer. Half of the answers are faster than the median, 19 of 20 than the 95th percentile.",
    "McNemar's test": (
        "Test for a real difference between two batches, based on cases with a new result. 9 fixed and 1 broken is "
        "evidence, 5 and 4 is not."
    ),
}


def explain(term: str, *more: str) -> str:
    """Return the explanation of a term, with further lines below it."""
    return "\n".join((TERMS[term], *more))
