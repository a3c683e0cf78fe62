"""Reasons why two tools are similar, in plain text."""

import re
from collections.abc import Sequence

from mcp_tef.model.similarity import (
    ConfusabilityLevel,
    MatrixKind,
    PairExplanation,
    ScoreExplanation,
    SharedParameter,
    ToolPair,
)
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.tool_texts import name_words, parameters, side_by_side, stems_of

_WRITTEN = re.compile(r"[^\W_]+(?:[_\-./:][^\W_]+)*")
_MOST, _MANY, _SOME = 0.5, 0.25, 0.0
_DEGREES = {level: f"{level} confusability" for level in ConfusabilityLevel}


def explain(a: Tool, b: Tool, pair: ToolPair) -> PairExplanation:
    """One sentence a score, the words in both descriptions as they are written there, and the parameters aligned."""
    aligned = side_by_side(parameters(a), parameters(b))
    scores = [
        ScoreExplanation(MatrixKind.SIMILARITY, "Similarity", pair.similarity, _rank(pair)),
        ScoreExplanation(MatrixKind.LEXICAL, "Wording", pair.lexical, _wording(a, b)),
        ScoreExplanation(MatrixKind.NAMES, "Names", pair.names, _naming(a, b)),
        ScoreExplanation(MatrixKind.PARAMETERS, "Parameters", pair.parameters, _parameters(aligned)),
    ]
    if pair.full is not None:
        words = "Name, description and parameters taken together"
        scores.insert(1, ScoreExplanation(MatrixKind.FULL, "With parameters", pair.full, words))
    scores.append(ScoreExplanation(MatrixKind.CONFUSABILITY, "Confusability", pair.confusability, _judged(pair)))
    return PairExplanation(
        summary=_summary(a, b, pair),
        scores=tuple(scores),
        shared_words=shared_words(a.description, b.description),
        parameters=aligned,
    )


def shared_words(a: str, b: str) -> tuple[str, ...]:
    """Return the content words of one text that are, up to their endings, in the other too; as written, each once."""
    common = set(stems_of(a)) & set(stems_of(b))
    written = [word for text in (a, b) for word in _WRITTEN.findall(text)]
    return tuple(dict.fromkeys(word for word in written if common.intersection(stems_of(word))))


def _rank(pair: ToolPair) -> str:
    return f"closer than {percent(pair.percentile)} of all pairs"


def percent(share: float) -> str:
    """Never 100 % of what is not all of it."""
    return f"{min(share * 100, 99.9):.1f} %" if share < 1 else "100 %"


def _summary(a: Tool, b: Tool, pair: ToolPair) -> str:
    if a.name == b.name and a.description == b.description and dict(a.input_schema) == dict(b.input_schema):
        where = "is there twice" if a.server == b.server else "is the same on both servers"
        return f"{a.name} {where}: nothing else tells them apart."
    return f"{a.name} and {b.name}: {_DEGREES[pair.level]}, and {_rank(pair)}."


def _wording(a: Tool, b: Tool) -> str:
    of_a, of_b = set(stems_of(a.description)), set(stems_of(b.description))
    if not of_a or not of_b:
        return "One description has no content words"
    share = len(of_a & of_b) / min(len(of_a), len(of_b))
    return f"{_amount(share)} content words occur in both"


def _amount(share: float) -> str:
    if share >= 1:
        return "All"
    return "Most" if share > _MOST else "Many" if share > _MANY else "Few" if share > _SOME else "No"


def _naming(a: Tool, b: Tool) -> str:
    of_a, of_b = name_words(a.name), name_words(b.name)
    if of_a == of_b:
        return "The names have the same words"
    return f"{_of(len(of_a & of_b), len(of_a | of_b), 'word')} of the names {_is_are(len(of_a & of_b))} the same"


def _parameters(aligned: Sequence[SharedParameter]) -> str:
    if not aligned:
        return "Neither has parameters"
    same = sum(one.same_type for one in aligned)
    if same == len(aligned):
        return (
            "The only parameter has the same name and type"
            if same == 1
            else "All parameters have the same names and types"
        )
    return f"{_of(same, len(aligned), 'parameter name')} and types are the same"


def _of(part: int, whole: int, what: str) -> str:
    return f"{part} of {whole} {what}{'s' * (whole != 1)}"


def _is_are(count: int) -> str:
    return "is" if count == 1 else "are"


def _judged(pair: ToolPair) -> str:
    return f"{_DEGREES[pair.level].capitalize()}: estimated from such pairs that a reader judged, not measured in runs"
