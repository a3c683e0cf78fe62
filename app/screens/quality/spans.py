"""Foreign text in which names look like names, and hidden characters stand out: by their number, on a tint."""

import re
from collections.abc import Iterable
from typing import Final

from app.text.text_diff import Stretch
from app.theme import Role
from app.widgets import Span, plain

_SHOWN: Final = re.compile(r"(⟨U\+[0-9A-F]{4,6}⟩)")
_ESCAPED: Final = re.compile(r"(⟨U\+[0-9A-F]{4,6}⟩|\\u[0-9a-f]{4}|\\U[0-9a-f]{8})")
_NAMES: Final = re.compile(r"`([^`\n]+)`")


def revealed(text: str, role: Role = Role.TEXT, *, mono: bool = False, escapes: bool = False) -> tuple[Span, ...]:
    """`text` as plain text, every hidden character as its number on a tint; so are written-out `escapes`."""
    pieces = (_ESCAPED if escapes else _SHOWN).split(plain(text))
    return tuple(
        Span(piece, Role.BAD, mono=True, back=Role.BAD_TINT) if number % 2 else Span(piece, role, mono=mono)
        for number, piece in enumerate(pieces)
        if piece
    )


def sentence(text: str, role: Role = Role.TEXT) -> tuple[Span, ...]:
    """A sentence of a finding: what stands in back quotes is a name, set in mono."""
    pieces = _NAMES.split(text)
    return tuple(
        span for number, piece in enumerate(pieces) for span in revealed(piece, role, mono=bool(number % 2)) if piece
    )


def changed(stretches: Iterable[Stretch], back: Role) -> tuple[Span, ...]:
    """A text with its changes on a tint, and its hidden characters revealed."""
    found: list[Span] = []
    for stretch in stretches:
        for span in revealed(stretch.text):
            tinted = stretch.changed and span.back is None
            found.append(Span(span.text, span.role, mono=span.mono, back=back if tinted else span.back))
    return tuple(found)
