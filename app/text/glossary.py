"""The terms of the trade, each in a sentence or two with a plain example: one text for tooltips and for the help."""

from collections.abc import Mapping
from typing import Final

TERMS: Final[Mapping[str, str]] = {
    "accuracy": (
        "Of all judged runs, how many chose rightly: the expected tool, or none where none was right. "
        "18 of 20 right is 90 %."
    ),
    "precision": (
        "Of the right calls and the calls that nobody wanted, how many were right. Low means that tools are called "
        "where nothing should be: 18 right calls and 2 unwanted ones are 90 %."
    ),
    "recall": (
        "Of the times a tool was expected, how often that tool was picked: of 24 times, 18 right ones are 75 %."
    ),
    "tool precision": (
        "Of the times this tool was picked, how often it was the right one. Picked 10 times, 7 of them rightly: 70 %."
    ),
    "tool recall": (
        "Of the times this tool was expected, how often it was picked. Expected 24 times and picked 18 times is 75 %."
    ),
    "F1": (
        "Precision and recall in one number from 0 to 1, close to the lower of both: 0.9 and 0.5 give 0.64. "
        "It is no share of runs, so it has no interval of this kind."
    ),
    "n": "How many judged runs a figure is counted from. With 3 of them, one run more or less changes everything.",
    "Wilson interval": (
        "Where the true share lies with a certainty of 95 %: 18 of 20 is 90 %, but it may well be 70 or 97 %. "
        "The more runs, the narrower."
    ),
    "pass rate": (
        "How often a case passed when it was repeated: the right tool, and no judged parameter wrong. "
        "4 of 5 times is 80 %."
    ),
    "pass^k": (
        "How likely a case is to pass k times in a row. A case that passes 4 times of 5 passes three times running "
        "in only 40 % of draws."
    ),
    "flaky case": "A case that sometimes passes and sometimes does not, though nothing was changed in between.",
    "parameters right": "Of the right calls whose values were judged, how many had every one of them right.",
    "completeness": (
        "How much of what a call needs is there: the parameters that the tool requires or the case expects. "
        "3 of 4 given is 75 %."
    ),
    "correctness": "How many of the expected values are right: size M where M was expected, and 3 where 3 was.",
    "type conformance": (
        "Whether every value is of the kind that the tool's schema allows: “three” is no number, and fails where a "
        "number is wanted."
    ),
    "hallucinated parameter": "A parameter that the tool does not have: colour, where it knows only size and price.",
    "confidence": (
        "How sure the choice was, from 0 to 1, by the model's own word, by repeats that agree, or by the margin of the "
        "baseline. From 0.7 on it counts as high."
    ),
    "margin": (
        "How far the first of a ranking is ahead of the second: 0.62 before 0.60 is a margin of 0.02, as good as a tie."
    ),
    "calibration": "Whether sureness is deserved: of the runs with a confidence of 0.8, about 80 % should be right.",
    "robust": "Right, and sure of it: a confidence of 0.7 or more.",
    "needs clarity": "Right, but not sure of it: the description could say more plainly what the tool is for.",
    "misleading": "Wrong, and sure of it: the description promises something that the tool does not do.",
    "baseline": (
        "The offline selector, which ranks tools by how well they fit the words of the query. It shows what a tool "
        "search would find, and is never a model's answer."
    ),
    "recall@k": "How often the expected tool is among the first k of a ranking: in the first 3 in 87 % of runs.",
    "snapshot": "The tools exactly as a run was offered them. A later change of the server does not touch them.",
    "drift": "Tools that a server defines otherwise than you last saw them: a new text, or a parameter more.",
    "similarity": "How alike two tools are in meaning, from 0 to 1: “find a bike” and “search bicycles” are close.",
    "similarity with parameters": (
        "How alike two tools are in meaning when their parameters' names, types and texts count as well, from 0 to 1."
    ),
    "wording": "How many words two tools share, from 0 to 1, rare words counting more: “tyre” says more than “get”.",
    "names": "How many words the names of two tools share, from 0 to 1: find_bike and search_bike share one of three.",
    "shared parameters": (
        "How many of the parameters of two tools are the same, name and type, from 0 to 1: 2 shared of 4 in all is 0.5."
    ),
    "confusability": (
        "The chance that a model takes one tool for the other, from 0 to 1, learnt from pairs that were tried."
    ),
    "percentile": "How many of all pairs are less alike: 97 means that only 3 of 100 pairs are more alike.",
    "threshold": "From which similarity on a pair is flagged. What 0.85 means depends on what compares the texts.",
    "overlap": "Meaning, parameters and wording weighed together: 0.5, 0.3 and 0.2 unless you weigh them otherwise.",
    "confused in runs": (
        "Of the runs that were offered both tools and expected one of them, how many picked the other: 26 of 117."
    ),
    "look-alikes": "Tools that are so alike that a model may take one for the other.",
    "most taken for": "What was picked most often when this tool was expected.",
    "quality score": "From 0 to 100: 100 less the points that each finding of a rule takes off.",
    "finding": "Something that a rule found in a tool: no description, a vague word, a parameter without a text.",
    "token weight": (
        "What a definition costs in every single request that offers the tool: 300 tokens for each of 60 tools are "
        "18,000 before the user has said a word."
    ),
    "latency": "How long an answer took. Half of them came within the median, 19 of 20 within the 95th percentile.",
    "McNemar's test": (
        "Whether two batches really differ, by the cases that changed sides: 9 fixed and 1 broken says better, "
        "5 and 4 says nothing."
    ),
}


def explain(term: str, *more: str) -> str:
    """Return the explanation of a term, with further lines below it."""
    return "\n".join((TERMS[term], *more))
