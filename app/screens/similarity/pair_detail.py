"""One pair as text: scores, shared words, aligned parameters and observations from runs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.screens.similarity.analysis import SimilarityAnalysis
from app.screens.similarity.labels import confusion_text, interval_text
from app.screens.similarity.pair_list import PairIndices
from app.text.formatting import percent
from mcp_tef import (
    MatrixKind,
    PairExplanation,
    PairObservation,
    RunFilter,
    RunStatus,
    ScoreExplanation,
    SharedParameter,
    ToolLabel,
    ToolPair,
    WorkItem,
)

MAX_DESCRIPTION: Final = 1_200
MAX_PARAMETERS: Final = 40
_ITEM = re.compile(r"[-*•#]|\d+[.)]|\w+:")
_BETWEEN = re.compile(r"[\s,]*")

Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDescription:
    """One of the two tools: what it is called, and its description with the shared words' ranges in characters."""

    name: str
    server: str
    text: str
    marks: tuple[Range, ...]
    cut: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsLink:
    """Runs that can be shown: what the link says, which runs, and what they are called on the next screen."""

    text: str
    where: RunFilter
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRuns:
    """Observations of the pair in runs; `confused` None means that no run was offered both."""

    confused: bool | None
    headline: str
    sentence: str
    links: tuple[RunsLink, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDetail:
    """A pair for the panel."""

    places: PairIndices
    pair: ToolPair
    a: ToolDescription
    b: ToolDescription
    summary: str
    lead: ScoreExplanation
    scores: tuple[ScoreExplanation, ...]
    parameters: tuple[SharedParameter, ...]
    more_parameters: int
    shared_words: tuple[str, ...]
    observed: ObservedRuns
    overlap: str = ""

    @property
    def names(self) -> tuple[str, str]:
        """Names of both tools."""
        return self.a.name, self.b.name


def describe_pair(
    analysis: SimilarityAnalysis, pair: PairIndices, item: WorkItem | None, observed: NDArray[np.float32] | None
) -> PairDetail:
    """Return a pair as text; for a worker thread."""
    explained = analysis.similarity.explain(*pair)
    same = analysis.tools[pair[0]].tool.name == analysis.tools[pair[1]].tool.name
    a, b = (_describe_tool(analysis, place, explained, whole_name=same) for place in pair)
    share = float("nan") if observed is None else float(observed[pair])
    lead = next(score for score in explained.scores if score.kind is MatrixKind.CONFUSABILITY)
    return PairDetail(
        places=pair,
        pair=analysis.similarity.pair(*pair),
        a=a,
        b=b,
        summary=explained.summary,
        lead=lead,
        scores=tuple(score for score in explained.scores if score is not lead),
        parameters=explained.parameters[:MAX_PARAMETERS],
        more_parameters=max(0, len(explained.parameters) - MAX_PARAMETERS),
        shared_words=explained.shared_words,
        observed=_observed(item.observation if item else None, share, a.name, b.name),
    )


def whole(described: ToolDescription, text: str, words: Sequence[str]) -> ToolDescription:
    """Return a tool with all of its description."""
    told = reflow(text)
    return ToolDescription(name=described.name, server=described.server, text=told, marks=shared_ranges(told, words))


def reflow(text: str) -> str:
    """Return a description without indentation: only paragraphs and list items begin a line."""
    told = ""
    for line in (" ".join(line.split()) for line in text.strip().splitlines()):
        begins = not line or not told or told.endswith("\n") or _ITEM.match(line)
        told += f"\n{line}" if begins and told else line if begins else f" {line}"
    return re.sub("\n{3,}", "\n\n", told)


def _describe_tool(
    analysis: SimilarityAnalysis, place: int, explained: PairExplanation, *, whole_name: bool
) -> ToolDescription:
    """Return a tool by its name, or by its id if the other one has the same name."""
    tool = analysis.tools[place].tool
    description = reflow(tool.description)
    text = description[:MAX_DESCRIPTION]
    return ToolDescription(
        name=analysis.tools[place].id if whole_name else tool.name,
        server=tool.server,
        text=text,
        marks=shared_ranges(text, explained.shared_words),
        cut=len(description) - len(text),
    )


def shared_ranges(text: str, words: Sequence[str]) -> tuple[Range, ...]:
    """Return the ranges of whole words in a text; neighbours are joined over the space between them."""
    if not words:
        return ()
    longest_first = sorted({word for word in words if word}, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)
    found: list[Range] = []
    for match in pattern.finditer(text):
        start, end = match.span()
        if found and _BETWEEN.fullmatch(text, found[-1][1], start):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return tuple(found)


def _observed(observation: PairObservation | None, share: float, a: str, b: str) -> ObservedRuns:
    if observation is not None and observation.runs:
        return _describe_observation(observation, a, b)
    if isnan(share):
        return ObservedRuns(
            confused=None, headline="Not tested in runs", sentence="No completed run was offered both tools."
        )
    if share > 0:
        sentence = f"In {percent(share)} of the runs that were offered both."
        return ObservedRuns(confused=True, headline="Confused in runs", sentence=sentence)
    sentence = "Runs that were offered both never confused them."
    return ObservedRuns(confused=False, headline="Never confused in runs", sentence=sentence)


def _describe_observation(observation: PairObservation, a: str, b: str) -> ObservedRuns:
    ways = (
        (observation.a_taken_for_b, a, b, observation.label_a, observation.label_b),
        (observation.b_taken_for_a, b, a, observation.label_b, observation.label_a),
    )
    told = [f"{times:,} × {other} instead of {one}" for times, one, other, _, _ in ways if times]
    return ObservedRuns(
        confused=bool(observation.confused),
        headline=confusion_text(observation),
        sentence=" · ".join([interval_text(observation), *told]),
        links=tuple(_links(ways)),
    )


def _links(ways: Sequence[tuple[int, str, str, ToolLabel, ToolLabel]]) -> list[RunsLink]:
    shown = [way for way in ways if way[0]]
    made = []
    for times, one, other, expected, selected in shown:
        where = RunFilter(statuses=(RunStatus.COMPLETED,), expected=expected, selected=selected)
        text = "Show runs" if len(shown) == 1 else f"Show {times:,} of {one}"
        made.append(RunsLink(text=text, where=where, title=f"{other} selected where {one} was expected"))
    return made
