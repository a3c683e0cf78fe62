"""Texts of strangers as a question shows them: everything that hides, imitates or pushes away is made visible."""

import re
import unicodedata
from typing import Final

_ALNUM: Final = re.compile(r"[^\W_]+")
_BLANKS: Final = re.compile(" {17,}")
_FILLERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0\ufffc\U0001d159")
"""Characters that count as letters or symbols and are drawn as nothing."""
_FULL_STOPS: Final = frozenset("\u3002\uff0e\uff61")
_SHOWN_SYMBOLS: Final = frozenset({"So", "Sc"})
_LATIN: Final = frozenset(chr(code) for code in range(0xC0, 0x180)) - frozenset(
    "\u00d7\u00f7\u0131\u0132\u0133\u013f\u0140\u0149\u017f"
)
"""Letters that no keyboard of a Latin script lacks, and that do not look like ASCII."""


def shown(text: str) -> str:
    """Return a stranger's text with nothing hidden in it.

    Controls, marks of direction, fillers, combining marks, long blanks, and punctuation and symbols of other
    alphabets that imitate ASCII stand as escapes. In a word that mixes scripts, letters that are not Latin stand as
    escapes; a word in another script is followed by the script's name.
    """
    if text.isascii() and text.isprintable() and " " * 17 not in text:
        return text
    pieces, end = list[str](), 0
    for word in _ALNUM.finditer(text):
        pieces += [_between(text[end : word.start()]), _word(word[0])]
        end = word.end()
    return "".join([*pieces, _between(text[end:])])


def shown_host(host: str) -> str:
    """Return a host in ASCII: labels in other scripts as punycode."""
    return shown("".join(map(_label, re.split(r"([.:@\u3002\uff0e\uff61])", host))))


def shown_address(url: str) -> str:
    """Return an address with its host in ASCII and nothing hidden in the rest."""
    scheme, separator, rest = url.partition("://")
    end = next((place for place, character in enumerate(rest) if character in "/?#\\"), len(rest))
    return f"{shown(scheme)}{separator}{shown_host(rest[:end])}{shown(rest[end:])}" if separator else shown(url)


def quoted_argument(text: str) -> str:
    """Return a command line argument in double quotes on one line, with escapes for what cannot be seen."""
    escaped = shown(text.replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{escaped}"'


def visible(text: str) -> str:
    """Return the text with every control, bidirectional and other unprintable character as an escape."""
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _between(text: str) -> str:
    """Return what stands between words: ASCII and pictures as they are, all else as escapes."""
    shown_text = "".join(character if _is_plain(character) else _escape(character) for character in text)
    return _BLANKS.sub(lambda found: "\\x20" * len(found[0]), shown_text)


def _is_plain(character: str) -> bool:
    if character.isascii():
        return character.isprintable()
    return character not in _FILLERS and unicodedata.category(character) in _SHOWN_SYMBOLS and not _imitates(character)


def _imitates(character: str) -> bool:
    """Return True for another form of a character, such as a full-width letter."""
    return unicodedata.normalize("NFKC", character) != character


def _word(word: str) -> str:
    scripts = set(map(_script, word)) - {""}
    if scripts <= {"LATIN"}:
        return word
    if len(scripts) > 1 or scripts == {"OTHER"}:
        return "".join(one if _script(one) in ("", "LATIN") else _escape(one) for one in word)
    return f"{word}⟨{scripts.pop().title()}⟩"


def _script(character: str) -> str:
    """Return the script of a letter; empty for an ASCII digit, OTHER for what only imitates a letter or digit."""
    if character.isascii():
        return "" if character.isdigit() else "LATIN"
    if character in _LATIN:
        return "LATIN"
    if character in _FILLERS or _imitates(character) or unicodedata.category(character)[0] != "L":
        return "OTHER"
    script = re.split("[ -]", unicodedata.name(character, "OTHER"))[0]
    return _latin(character) if script == "LATIN" else _JAPANESE.get(script, script)


def _latin(character: str) -> str:
    """Return LATIN for an ASCII letter with marks, as in Vietnamese, OTHER for one that only looks like ASCII."""
    return "LATIN" if unicodedata.normalize("NFD", character)[0].isascii() else "OTHER"


_JAPANESE: Final = dict.fromkeys(("CJK", "HIRAGANA", "KATAKANA"), "JAPANESE OR CHINESE")


def _label(label: str) -> str:
    """Return a label as it is contacted; the codec `idna` knows the rules of 2003 only, by which `ß` is `ss`."""
    if label.isascii():
        return label
    return "." if label in _FULL_STOPS else f"xn--{label.lower().encode('punycode').decode('ascii')}"
