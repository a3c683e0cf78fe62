"""Rules about characters that people cannot see but a model reads, or that reverse the text direction."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from mcp_tef.scoring.lint.definition_texts import INVISIBLE, TURNING, TURNING_MARKS, DefinitionText, escape, excerpt
from mcp_tef.scoring.lint.lint_context import LintContext
from mcp_tef.scoring.lint.rule import LintHit, RuleCheck, error
from mcp_tef.scoring.phrases import counted, listed

_FLAG = "\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f"
_JOINED = "(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])"
_HIDDEN = re.compile(f"(?:{_FLAG}|{_JOINED})|(?P<found>[{INVISIBLE}]+)")
_TURNING = re.compile(f"[{TURNING}]+")
_MARKS = re.compile(f"[{TURNING_MARKS}]+")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_TAGS = re.compile("[\U000e0020-\U000e007e]+")


def _hidden(subject: LintContext) -> Iterator[LintHit]:
    for text in _foreign(subject.texts):
        found = [match for match in _HIDDEN.finditer(text.text) if match["found"]]
        if found:
            characters = "".join(match["found"] for match in found)
            sentence = f"{_opening(text)} {counted(len(characters), 'character', 'characters')} that cannot be seen: "
            sentence += f"{_named(characters)}.{_spelled(characters)}"
            yield LintHit(
                text.place, sentence, "Take them out, and find out who put them there.", _shown(text, found[0])
            )


def _turning(subject: LintContext) -> Iterator[LintHit]:
    for text in _foreign(subject.texts):
        found = [*_TURNING.finditer(text.text)]
        if not _RIGHT_TO_LEFT.search(text.text):
            found += _MARKS.finditer(text.text)
        if found:
            named = _named("".join(match[0] for match in found))
            sentence = f"{_opening(text)} characters that change the direction of text: {named}."
            fix = "Take them out: people read another text than the model."
            yield LintHit(text.place, sentence, fix, _shown(text, found[0]))


def _foreign(texts: Iterable[DefinitionText]) -> Iterator[DefinitionText]:
    """Return texts that could hold such characters: most are plain and told at once."""
    return (text for text in texts if not (text.text.isascii() and text.text.isprintable()))


def _opening(text: DefinitionText) -> str:
    return "This name has" if text.key else "This text has"


def _shown(text: DefinitionText, match: "re.Match[str]") -> str:
    return excerpt(text.text, *match.span())


def _named(characters: str) -> str:
    ordered = groupby(sorted(characters))
    return listed([f"{escape(one)}{f' × {count}' if (count := len(list(same))) > 1 else ''}" for one, same in ordered])


def _spelled(characters: str) -> str:
    """Return the plain letters that tag characters (U+E0000–U+E007F) stand for; empty without any."""
    letters = "".join(chr(ord(one) - 0xE0000) for run in _TAGS.findall(characters) for one in run)
    return f" They spell “{excerpt(letters)}”." if letters else ""


CHECKS: tuple[RuleCheck, ...] = (
    error(
        "hidden-characters",
        40,
        _hidden,
        title="Hidden characters",
        why="A model reads what people who approve the tool cannot see; instructions are smuggled in this way.",
    ),
    error(
        "bidirectional-characters",
        40,
        _turning,
        title="Characters that turn text around",
        why="People are shown another order of characters than the model reads.",
    ),
)
