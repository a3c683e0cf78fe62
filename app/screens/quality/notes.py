"""Findings as a reviewer's notes: one note a rule, with the places where it applies."""

from dataclasses import dataclass
from typing import Final

from app.screens.quality.words import SEVERITIES, danger, ranked
from app.text.formatting import count
from mcp_tef import LintFinding, Severity, ToolQuality

MOST_PLACES: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place that a note is about: what is wrong there, the text itself, and what to do where that differs."""

    sentence: str
    excerpt: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What a rule found in a tool. `more` tells of places that are not shown, `fix` is advice for all of them."""

    rule: str
    severity: Severity
    word: str
    title: str
    where: str
    cost: int
    places: tuple[Place, ...]
    more: str
    fix: str
    why: str
    unsafe: bool


def notes(quality: ToolQuality) -> tuple[Note, ...]:
    """The notes on a tool, the gravest first."""
    groups: dict[str, list[LintFinding]] = {}
    for finding in ranked(quality.findings):
        groups.setdefault(finding.rule.id, []).append(finding)
    return tuple(_note(group) for group in groups.values())


def _note(group: list[LintFinding]) -> Note:
    rule, aimed = group[0].rule, danger(group[0].rule)
    word, left = SEVERITIES[rule.severity], len(group) - MOST_PLACES
    fixes = {one.fix for one in group}
    return Note(
        rule=rule.id,
        severity=rule.severity,
        word=f"{word}, {aimed}" if aimed else word,
        title=rule.title,
        where=group[0].place if len(group) == 1 else f"in {count(len(group), 'place')}",
        cost=sum(one.penalty for one in group),
        places=tuple(
            Place(sentence=_sentence(one, group), excerpt=one.excerpt, fix="" if len(fixes) == 1 else one.fix)
            for one in group[:MOST_PLACES]
        ),
        more=f"And {count(left, 'more place')} of the same kind." if left > 0 else "",
        fix=group[0].fix if len(fixes) == 1 else "",
        why=rule.why,
        unsafe=bool(aimed),
    )


def _sentence(one: LintFinding, group: list[LintFinding]) -> str:
    """Equal sentences are told apart by their places."""
    alike = sum(other.sentence == one.sentence for other in group) > 1
    return f"{one.place}: {one.sentence}" if alike else one.sentence
