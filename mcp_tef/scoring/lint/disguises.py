"""Rules about texts that are not what they look like: hidden, reversed, look-alike or encoded characters and markup."""

import base64
import binascii
import re
from collections.abc import Iterator
from itertools import groupby

from mcp_tef.scoring.lint.definition_texts import (
    INVISIBLE,
    LOOKALIKES,
    MIXED_WORD,
    TURNING,
    TURNING_MARKS,
    DefinitionText,
    escape,
    excerpt,
)
from mcp_tef.scoring.lint.lint_context import LintContext, LintHit, RuleCheck, error
from mcp_tef.scoring.phrases import counted, listed

_FLAG = "\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f"
_JOINED = "(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])"
_EMOJI = "(?<=[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)"
_HIDDEN = re.compile(f"(?:{_FLAG}|{_JOINED}|{_EMOJI})|(?P<found>[{INVISIBLE}\ufe00-\ufe0f]+)")
_TURNING = re.compile(f"[{TURNING}]+")
_MARKS = re.compile(f"[{TURNING_MARKS}]+")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_TAGS = re.compile("[\U000e0020-\U000e007e]+")


def _hidden(subject: LintContext) -> Iterator[LintHit]:
    for text in subject.foreign_texts:
        found = [match for match in _HIDDEN.finditer(text.text) if match["found"]]
        if found:
            characters = "".join(match["found"] for match in found)
            sentence = f"{_opening(text)} {counted(len(characters), 'character', 'characters')} that cannot be seen: "
            sentence += f"{_named(characters)}.{_spelled(characters)}"
            yield LintHit(
                text.place, sentence, "Take them out, and find out who put them there.", _shown(text, found[0])
            )


def _turning(subject: LintContext) -> Iterator[LintHit]:
    for text in subject.foreign_texts:
        found = [*_TURNING.finditer(text.text)]
        if not _RIGHT_TO_LEFT.search(text.text):
            found += _MARKS.finditer(text.text)
        if found:
            named = _named("".join(match[0] for match in found))
            sentence = f"{_opening(text)} characters that change the direction of text: {named}."
            fix = "Take them out: people read another text than the model."
            yield LintHit(text.place, sentence, fix, _shown(text, found[0]))


def without_hidden(text: str) -> str:
    """Return a text without the characters that cannot be seen."""
    return _HIDDEN.sub(lambda match: "" if match["found"] else match[0], text)


def without_direction(text: str) -> str:
    """Return a text without the characters that change its direction."""
    plain = _TURNING.sub("", text)
    return plain if _RIGHT_TO_LEFT.search(plain) else _MARKS.sub("", plain)


def plain_words(text: str) -> str:
    """Return a text with its words of mixed scripts in the letters that they look like."""
    return MIXED_WORD.sub(lambda word: word[0].translate(LOOKALIKES), text)


def joined_letters(text: str) -> str:
    """Return a text with the words whose letters are set apart written together; wider gaps part words."""
    return _SPACED.sub(lambda found: " ".join(map(_letters, _WIDE_GAP.split(found[0]))), text)


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


def _mixed(subject: LintContext) -> Iterator[LintHit]:
    for text in subject.foreign_texts:
        if found := MIXED_WORD.search(text.text):
            told = (
                f"{_opening(text)} a word that mixes scripts: {_named(_strangers(found[0]))} in “{excerpt(found[0])}”."
            )
            fix = f"Write “{found[0].translate(LOOKALIKES)}” in letters of one script."
            yield LintHit(text.place, told, fix, _shown(text, found))


def _strangers(word: str) -> str:
    return "".join(letter for letter in word if not letter.isascii())


_COMMENT = re.compile(
    r"(?<!`)<!--(?!\s*-->)|^[ \t]{0,3}\[(?://|_|comment|hidden)\]:\s*(?:#|<>)|"
    r"<[a-z][^>]{0,200}\b(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0\b)",
    re.IGNORECASE | re.MULTILINE,
)
_IMAGE = re.compile(
    r"!\[[^\]\n]{0,200}\]\(\s*<?[^)\s?]{1,500}\?[^)\s]|<img\b[^>]{0,300}?\bsrc\s*=\s*[\"']?[^\"'>\s?]{1,500}\?[^\"'>\s]",
    re.IGNORECASE,
)
_WIDE_GAP = re.compile(r"[ \t]{2,}")
_SPACED = re.compile(r"(?<![^\W_])[^\W\d_](?:[ \t.*_·-]{1,3}[^\W\d_](?![^\W_])){7,}")


def _comments(subject: LintContext) -> Iterator[LintHit]:
    for text in subject.texts:
        found = _COMMENT.search(text.text) if "<" in text.text or "]:" in text.text else None
        if found:
            told = "The text has a part that is hidden where it is shown as a page."
            yield LintHit(text.place, told, "Take it out, or write it where people see it.", _shown(text, found))


def _images(subject: LintContext) -> Iterator[LintHit]:
    for text in subject.texts:
        found = _IMAGE.search(text.text) if "?" in text.text and ("![" in text.text or "<" in text.text) else None
        if found:
            told = "The text holds a picture whose address carries data."
            yield LintHit(text.place, told, "Take the picture out: showing it sends the data.", _shown(text, found))


def _spaced(subject: LintContext) -> Iterator[LintHit]:
    for text, plain in subject.readings if _SPACED.search(subject.all_said) else ():
        found = next((match for match in _SPACED.finditer(plain) if not _is_alphabet(match[0])), None)
        if found:
            told = f"The text spells words letter by letter: “{excerpt(_letters(found[0]))}”."
            yield LintHit(text.place, told, "Write words without gaps.", excerpt(plain, *found.span()))


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text))


def _is_alphabet(text: str) -> bool:
    letters = list(_letters(text).lower())
    return letters == sorted(letters)


LEAST_BETWEEN_SLASHES = 12
LEAST_ENCODED = 32
LEAST_RANDOM = 60
LEAST_HEXADECIMAL = 80
LEAST_WORDS = 3

_HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")
_ENCODED = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{32,}={0,2}(?![\w+/=-])")
_TURNED = ("vtaber", "qvfertneq", "vafgehpgvba", "erongi", "snoitcurtsni")  # by rot13, or read backwards
_ESCAPED = re.compile(
    r"(?:(?:\\x[2-7][0-9a-f]|%[2-7][0-9a-f]|\\u00[2-7][0-9a-f])\s?){8,}|(?:\b[01]{8}\b ?){8,}|"
    r"\b(?:vtaber|qvfertneq|vafgehpgvbaf?|erongi|snoitcurtsni)\b",
    re.IGNORECASE,
)


def _encoded(subject: LintContext) -> Iterator[LintHit]:
    for text, plain in subject.readings if _may_be_encoded(subject.all_said) else ():
        found = next((match for match in _ENCODED.finditer(plain) if _looks_encoded(match[0])), _ESCAPED.search(plain))
        if found:
            sentence = f"The text holds {len(found[0])} encoded characters.{_told(_decoded(found[0]))}"
            fix = "Take it out, or write in plain words what it says."
            yield LintHit(text.place, sentence, fix, excerpt(plain, *found.span()))


def _may_be_encoded(said: str) -> bool:
    """Return False where nothing can be encoded, in a fraction of the time that the patterns take."""
    longest = max(map(len, said.split()), default=0)
    return longest >= LEAST_ENCODED or any(sign in said for sign in ("\\", "%", "010", "011", *_TURNED))


def _looks_encoded(text: str) -> bool:
    """Return True for what decodes to words, and for what is too long and too mixed to be a name or a hash."""
    if len(_decoded(text).split()) >= LEAST_WORDS:
        return True
    if _HEXADECIMAL.fullmatch(text):
        return len(text) >= LEAST_HEXADECIMAL
    is_path = text.count("/") * LEAST_BETWEEN_SLASHES > len(text) or "_" in text or "-" in text
    kinds = (any(map(str.isupper, text)), any(map(str.islower, text)), any(map(str.isdigit, text)))
    return len(text) >= LEAST_RANDOM and all(kinds) and not is_path


def _decoded(text: str) -> str:
    """Return what hexadecimal or base64 stands for; empty unless it is plain text."""
    try:
        padded = text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4)
        raw = bytes.fromhex(text) if _HEXADECIMAL.fullmatch(text) else base64.b64decode(padded, altchars=b"-_")
        plain = raw.decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
    return plain if plain.isprintable() else ""


def _told(plain: str) -> str:
    return f" Decoded it says “{excerpt(plain, 0, len(plain))}”." if plain else ""


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
    error(
        "hidden-mixed-script",
        40,
        _mixed,
        title="Word of mixed scripts",
        why="Letters that look alike hide a word from people and from filters, while a model still reads it.",
    ),
    error(
        "hidden-markup",
        40,
        _comments,
        title="Part that pages do not show",
        why="A model reads comments and invisible elements; people who approve the tool do not see them.",
    ),
    error(
        "poisoning-image",
        50,
        _images,
        title="Picture that sends data",
        why="A client that shows the picture asks for its address, and hands out what the address carries.",
    ),
    error(
        "hidden-spaced-letters",
        40,
        _spaced,
        title="Words letter by letter",
        why="Letters set apart hide a sentence from filters; a model puts them together.",
    ),
    error(
        "poisoning-encoded",
        20,
        _encoded,
        title="Encoded text",
        why="Nobody who reviews the tool can read it; a model may decode it and follow.",
    ),
)
