"""The rule by which a text is written into a user's source: as a string, for certain, or not at all.

A text is written only where it is the whole of one string literal that is parsed, encoded for its kind, and the file
parsed again equals the old one but for that string. All else is for the user to copy: other languages and encodings,
f-strings, templates, comments, texts with hidden characters, and a text inside a longer string, which may be JSON,
markup or a command to its reader.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import cleandoc
from typing import Final

from mcp_tef.trust.source_documents import SourceLiteral, UnsureSourceError, source_document

_BOM: Final = b"\xef\xbb\xbf"
_UNSEEN_KINDS: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_UNSEEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")


@dataclass(frozen=True, slots=True)
class SourceMatch:
    """Places of a text in one file: how often, and if once, from which byte on.

    `edited` is the file with the new text; where that is not certain it is None, and `reason` is one sentence.
    """

    number: int
    start: int = 0
    edited: bytes | None = None
    reason: str = ""


def matched_source(name: str, data: bytes, before: str, after: str) -> SourceMatch:
    """Look for a text in a source file, and exchange it where it is one string for certain."""
    body = data.removeprefix(_BOM)
    raw = _written_places(body, before)
    if not raw and not _holds_longest_word(body, before):
        return SourceMatch(0)
    number, start = len(raw), min(raw, default=0)
    try:
        held = [one for one in source_document(name, body).literals for _ in range(_count(one, before))]
        number = max(number, len(held))
        if number == 1:
            start = held[0].start if held else start
            return SourceMatch(1, start, data[: len(data) - len(body)] + _edited(name, body, held, before, after))
    except UnsureSourceError as error:
        return SourceMatch(number, start, None, str(error))
    return SourceMatch(number)


def has_hidden_characters(text: str) -> bool:
    """Return True for characters that a reader does not see; those that make a sign a picture are no such ones."""
    return any(_is_hidden(last, one) for last, one in zip(f" {text}", text, strict=False))


def _is_hidden(last: str, one: str) -> bool:
    if one in "\n\t" or one.isascii():
        return not (one in "\n\t" or one.isprintable())
    if one == "\ufe0f":
        return unicodedata.category(last) not in ("So", "Sm")
    is_selector = "\ufe00" <= one <= "\ufe0f" or "\U000e0100" <= one <= "\U000e01ef"
    return is_selector or one in _UNSEEN or unicodedata.category(one) in _UNSEEN_KINDS


def written_forms(text: str) -> set[str]:
    """Return a text as it may stand in source: as it is, or escaped within quotes."""
    escaped = {json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    return {text, *escaped, *(one.replace('\\"', '"').replace("'", "\\'") for one in escaped)}


def _written_places(body: bytes, text: str) -> list[int]:
    return [body.index(form) for form in _bytes_of(written_forms(text)) for _ in range(body.count(form))]


def _holds_longest_word(body: bytes, text: str) -> bool:
    """Return True if its longest word is there, without which a text stands in no file, however it is indented."""
    return any(form in body for form in _bytes_of(written_forms(max(text.split(), key=len, default=""))))


def _bytes_of(forms: set[str]) -> list[bytes]:
    return [form.encode("utf-8", "surrogatepass") for form in forms]


def _count(literal: SourceLiteral, text: str) -> int:
    found = literal.value.count(text) or literal.value.count(_indented(text, literal.margin or ""))
    return found or int(_is_whole(literal, text))


def _is_whole(literal: SourceLiteral, text: str) -> bool:
    """Return True if a text is all of a string; readers of docstrings may have taken the indentation off."""
    return literal.value == text or (literal.margin is not None and _listed(literal.value) == _listed(text))


def _listed(docstring: str) -> str:
    """Return a docstring as most of its readers list it."""
    return cleandoc(docstring).strip()


def _indented(text: str, margin: str) -> str:
    first, *others = text.split("\n")
    return "\n".join([first, *(line and f"{margin}{line}" for line in others)])


def _edited(name: str, body: bytes, held: Sequence[SourceLiteral], before: str, after: str) -> bytes:
    if not held:
        raise UnsureSourceError("The text stands in a comment, a template or an f-string.")
    if not _is_whole(held[0], before):
        raise UnsureSourceError("The text is only a part of a longer string.")
    if has_hidden_characters(after):
        raise UnsureSourceError("The new text holds hidden characters.")
    (literal,), document = held, source_document(name, body)
    expected = _expected(literal, before, after)
    wanted = document.dump(document.literals.index(literal), expected)
    for source in _sources(body, literal, expected):
        edited = body[: literal.start] + source + body[literal.end :]
        with suppress(UnsureSourceError):
            if source_document(name, edited).dump(None, "") == wanted:
                return edited
    raise UnsureSourceError("The text cannot be exchanged without a change of what stands around it.")


def _expected(literal: SourceLiteral, before: str, after: str) -> str:
    """Return the value that a string is to have; a docstring keeps its indentation and the space around it."""
    value = literal.value
    if value == before or literal.margin is None:
        return after
    text = after if before == _listed(value) else after.strip()
    first, last = len(value) - len(value.lstrip()), len(value.rstrip())
    expected = f"{value[:first]}{_indented(text, literal.margin)}{value[last:]}"
    if _listed(expected) != text:
        raise UnsureSourceError("The new text begins or ends with blanks, which a docstring does not keep.")
    return expected


def _sources(body: bytes, literal: SourceLiteral, expected: str) -> Iterator[bytes]:
    """Yield ways to write a literal as one string, a raw one first; each is checked by parsing the file again."""
    if not literal.parts or _holds_comment(body, literal) or has_hidden_characters(expected):
        return  # escapes of hidden characters have to stay escapes
    begin, _, quote = literal.parts[0]
    opening, plain = body[literal.start : begin], quote.removeprefix("r")
    newline = "\r\n" if body.partition(b"\n")[0].endswith(b"\r") else "\n"
    if quote != plain:
        yield opening + _encoded(expected, quote, newline).encode() + plain.encode()
    yield opening.lstrip(b"rR") + _encoded(expected, plain, newline).encode() + plain.encode()


def _holds_comment(body: bytes, literal: SourceLiteral) -> bool:
    pairs = zip(literal.parts, literal.parts[1:], strict=False)
    return any(b"#" in body[last[1] : following[0]] for last, following in pairs)


def _encoded(text: str, quote: str, newline: str) -> str:
    """Return a text as it stands between quotes, which a leading r makes raw."""
    if quote.startswith("r"):
        return text.replace("\n", newline)
    escaped = text.replace("\\", "\\\\")
    if len(quote) == 3:
        return re.sub(f"{quote[0]}(?={quote[0]}|\\Z)", f"\\\\{quote[0]}", escaped).replace("\n", newline)
    return escaped.replace(quote, f"\\{quote}").replace("\n", "\\n").replace("\t", "\\t")
