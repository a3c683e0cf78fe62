"""Glossary: each term explained in a sentence or two with an example; tooltips and the help show the same text."""

from collections.abc import Mapping
from typing import Final

TERMS: Final[Mapping[str, str]] = {
    "accuracy": (
        "Share of judged runs with the correct choice: the expected tool, or no tool if none was expected. "
        "18 of 20 is 90 %."
    ),
    "doubt": "Why a test case may be wrong: models agree on another tool, or it repeats a case or names its tool.",
    "correct call": (
        "Share of judged runs with the correct tool and every judged argument correct. No call counts as correct if "
        "none was expected. 16 of 20 is 80 %."
    ),
    "correct tool": (
        "Share of judged runs with the correct tool, or no tool if none was expected, regardless of the arguments. "
        "18 of 20 is 90 %."
    ),
    "precision": (
        "Share of correct tools among correct tools and calls where no tool was expected: 18 and 2 are 90 %. "
        "A wrong tool lowers recall instead. A low value means that tools are called when none should be."
    ),
    "recall": "Share of runs that selected the expected tool, among runs that expected one: 18 of 24 is 75 %.",
    "tool precision": (
        "Share of correct selections among all selections of this tool: 7 of 10 is 70 %. Unlike the precision of all "
        "runs, it also counts runs that expected another tool."
    ),
    "tool recall": "Share of runs that selected this tool, among runs that expected it: 18 of 24 is 75 %.",
    "F1": (
        "Precision and recall in one number from 0 to 1, close to the lower of both: 0.9 and 0.5 give 0.64. "
        "It is not a share of runs, so its interval is that of resampled cases."
    ),
    "n": "Number of judged runs behind a value. With only 3 runs, one run more or less changes the value a lot.",
    "Wilson interval": (
        "Range that contains the true share with 95 % certainty. 18 of 20 cases are 90 %, but it may be 68 or 97 %. "
        "More cases make it narrower; repeats of a case hardly do, since they are not new cases."
    ),
    "pass rate": (
        "Share of repeats of a case that are correct calls: the correct tool, and no judged argument wrong. 4 of 5 is "
        "80 %."
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
    "calibration": (
        "Match of confidence and correct calls: of runs with a confidence of 0.8, about 80 % should be correct calls."
    ),
    "robust": "A correct call with high confidence: 0.7 or more.",
    "needs clarity": "A correct call with low confidence. The description could explain the tool's purpose better.",
    "misleading": (
        "Sure and wrong: a confidence of 0.7 or more without a correct call. Agreement of 5 repeats, token "
        "probabilities or calibrated confidences show that the description misleads."
    ),
    "baseline": (
        "The offline selector, which ranks tools by their similarity to the query. "
        "It shows what a tool search finds without a language model."
    ),
    "recall@k": "Share of runs with the expected tool among the first k of a ranking: the first 3 in 87 % of runs.",
    "snapshot": "The tools exactly as a run was offered them. Later changes of the server do not affect them.",
    "drift": "Tools whose definitions changed since you accepted them: a new description, or another parameter.",
    "similarity": (
        "Similarity of two tools, from 0 to 1: of meaning with an embedding model, where “find a bike” and “search "
        "bicycles” are close, else of words."
    ),
    "similarity with parameters": (
        "Similarity of two tools, from 0 to 1, including the names, types and descriptions of parameters."
    ),
    "wording": "Share of words that two tools have in common, from 0 to 1. Rare words such as “tyre” count more.",
    "names": "Share of words that two names have in common, from 0 to 1: find_bike and search_bike share 1 of 3.",
    "shared parameters": (
        "Share of the parameters of two tools with the same name and type, from 0 to 1: 2 of 4 in all is 0.5."
    ),
    "confusability": (
        "How alike a reader judges two tools by name, verb, meaning and parameters. “High”: 6 of 10 such pairs were "
        "judged alike. It is not measured in runs. The number from 0 to 1 orders pairs and is no probability."
    ),
    "percentile": "Share of all pairs that are less similar: 97 means that only 3 of 100 pairs are more similar.",
    "threshold": "Confusability from which a pair is flagged, from 0 to 1. From 0.5 it is high, from 0.25 medium.",
    "overlap": "Weighted mean of similarity, parameters and wording. The default weights are 0.5, 0.3 and 0.2.",
    "confused in runs": (
        "Runs that selected the other tool, among runs that were offered both and expected one: 26 of 117."
    ),
    "look-alikes": "Tools so similar that a model may mistake one for the other.",
    "most often mistaken for": "The tool selected most often when this tool was expected.",
    "quality score": "A value from 0 to 100: 100 minus the points of each finding.",
    "finding": "A problem that a rule found in a tool: no description, a vague word, an undescribed parameter.",
    "token weight": (
        "Tokens that a definition costs in every request that offers the tool. "
        "60 tools of 300 tokens cost 18,000 tokens before the user's query."
    ),
    "latency": "Time to the answer. Half of the answers are faster than the median, 19 of 20 than the 95th percentile.",
    "two claims": (
        "On these cases: counts pairs of runs won and lost. 8 wins without a loss decide. "
        "A case is fixed or regressed by all its runs together.\n"
        "For queries like these: counts cases, since repeats of one case are not new cases."
    ),
}


def explain(term: str, *more: str) -> str:
    """Return the explanation of a term, with further lines below it."""
    return "\n".join((TERMS[term], *more))
