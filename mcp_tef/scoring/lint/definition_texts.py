"""All texts of a definition with their places, found without recursion, and escaping for display."""

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mcp_tef.model.json import Json
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.phrases import cut

LONGEST_EXCERPT = 160
LONGEST_PLACE = 80
AROUND = 40

Trail: TypeAlias = "tuple[Trail, str] | None"

INVISIBLE = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d"
    "\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff"
)
TURNING = "\u202a-\u202e\u2066-\u2069"
TURNING_MARKS = "\u061c\u200e\u200f"

_UNSEEN = re.compile(f"[{INVISIBLE}{TURNING}{TURNING_MARKS}]+")
_UNSHOWN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_SCHEMAS = ("inputSchema", "outputSchema")
_NAMES_BELOW = frozenset({"properties", "patternProperties"})


@dataclass(frozen=True, slots=True)
class DefinitionText:
    """A text and the keys that lead to it, innermost first; `key` where it is a key itself."""

    text: str
    trail: Trail
    key: bool = False

    @property
    def place(self) -> str:
        """Return its place: `description`, `parameter city`, `enum of parameter city`, `outputSchema: title`."""
        return place_of(_unrolled(self.trail))

    @property
    def read(self) -> str:
        """As a model reads it: what is invisible left out, compatible forms folded, joined names in words."""
        text = self.text.replace("_", " ") if self.key else self.text
        return text if text.isascii() else unicodedata.normalize("NFKC", _UNSEEN.sub("", text))


LOOKALIKES = str.maketrans(
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c"
    "\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bd\u03bf\u03c1\u03c5"  # Greek
    "\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425"  # Cyrillic capitals
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u04bb\u04cf\u051b\u051d"  # Cyrillic
    "\u0555\u0570\u0578\u057d\u0585",  # Armenian
    "ABEZHIKMNOPTYXvopuSIJABEKMHOPCTYXaeopcyxsijhlqwOhnuo",
)
_LOOKS = "".join(map(chr, LOOKALIKES))
MIXED_WORD = re.compile(
    rf"(?<![^\W\d_])(?=[A-Za-z]*[{_LOOKS}])(?=[{_LOOKS}]*[A-Za-z])[A-Za-z{_LOOKS}]{{3,}}(?![^\W\d_])"
)


def plain_letters(name: str) -> str:
    """Return a name in the Latin letters that its letters look like."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name).translate(LOOKALIKES)


_SMALL_CAPITALS = str.maketrans("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz")
_ACCENTS = re.compile("[\u0300-\u036f\u20d0-\u20ff\ufe00-\ufe0f]+")
_WRAPPED = re.compile(r"\n(?=[ \t]*[a-z(])")
_LEET = re.compile(r"[013457@$!](?=[013457@$]{0,2}[a-z])(?<=[a-z].)")
_LETTERS = str.maketrans("013457@$!", "oieastasi")


def folded(text: str) -> str:
    """Return a text as an attentive reader understands it: small letters without accents, wrapped lines joined.

    Letters of other scripts within a Latin word are read as the Latin ones that they look like, and a text with
    figures for letters (`pr3v10us`) is followed by its reading in letters.
    """
    text = html.unescape(text) if "&#" in text else text
    if not text.isascii():
        text = unicodedata.normalize("NFC", without_accents(_UNSEEN.sub("", text)).translate(_SMALL_CAPITALS))
        text = MIXED_WORD.sub(lambda word: word[0].translate(LOOKALIKES), text)
    text = _WRAPPED.sub(" ", text).lower()
    if not _LEET.search(text):
        return text
    return f"{text}\n{text.replace('11', 'll').translate(_LETTERS)}"


def without_accents(text: str) -> str:
    """Return a text in compatible, decomposed forms without accents, strokes and variation selectors."""
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", text))


def texts_of(tool: Tool) -> Iterator[DefinitionText]:
    """Yield the texts of name, title, description, annotations and schemas, in no particular order."""
    raw = tool.raw if isinstance(tool.raw, Mapping) else {}
    waiting: list[tuple[Trail, Json]] = [
        ((None, "name"), tool.name),
        ((None, "description"), tool.description),
        ((None, "title"), raw.get("title")),
        ((None, "annotations"), raw.get("annotations")),
        ((None, "inputSchema"), tool.input_schema),
        ((None, "outputSchema"), tool.output_schema),
    ]
    while waiting:
        trail, value = waiting.pop()
        if isinstance(value, str):
            yield DefinitionText(value, trail)
        elif isinstance(value, Mapping):
            yield from (DefinitionText(key, (trail, key), key=True) for key in value if isinstance(key, str))
            waiting.extend(((trail, str(key)), child) for key, child in value.items())
        elif isinstance(value, list):
            waiting.extend((trail, child) for child in value)


def _unrolled(trail: Trail) -> list[str]:
    keys: list[str] = []
    while trail is not None:
        trail, key = trail
        keys.append(key)
    return keys[::-1]


def place_of(keys: Sequence[str]) -> str:
    """Return a place in a definition for people, by the keys that lead there, outermost first."""
    return shown_name(_place(keys), LONGEST_PLACE)


def _place(keys: Sequence[str]) -> str:
    field, *rest = keys
    if field not in _SCHEMAS or not rest:
        return ": ".join(filter(None, (field, ".".join(rest))))
    names, rest = _parameter(rest)
    what = ".".join(key for key in rest if key != "description")
    if not names:
        return f"{field}: {'.'.join(rest)}"
    owner = f"{'parameter' if field == 'inputSchema' else 'output'} {'.'.join(names)}"
    return f"{what} of {owner}" if what else owner


def _parameter(keys: list[str]) -> tuple[list[str], list[str]]:
    """Return the names of the nested parameters that keys lead through, and the keywords after the last of them."""
    names: list[str] = []
    last = 0
    position = 0
    while position < len(keys):
        if keys[position] in _NAMES_BELOW and position + 1 < len(keys):
            names.append(keys[position + 1])
            position += 1
            last = position + 1
        position += 1
    return names, keys[last:]


def visible(text: str) -> str:
    """Return the text with everything that does not show, or turns others around, written as an escape."""
    if text.isprintable() and not _UNSEEN.search(text):
        return text
    return "".join(character if shows(character) else escape(character) for character in text)


def shows(character: str) -> bool:
    """Return True if a character can be seen, or is an everyday space."""
    return character in " \n\t\r" or (unicodedata.category(character) not in _UNSHOWN and not _UNSEEN.match(character))


def escape(character: str) -> str:
    """Return a character as an escape of Python, such as U+200B with four hexadecimal digits."""
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def shown_name(text: str, longest: int) -> str:
    """Return a foreign name on one short line, with nothing hidden in it."""
    return cut(visible(text[:longest]), longest) if len(text) <= longest else f"{visible(text[: longest - 1])}…"


def excerpt(text: str, start: int = 0, end: int | None = None) -> str:
    """Return the text around what was found, on one line, with nothing hidden in it."""
    end = start if end is None else end
    first, last = max(0, start - AROUND), min(end, start + LONGEST_EXCERPT) + AROUND
    middle = " ".join(visible(text[first:last]).split())
    return f"{'…' if first else ''}{middle}{'…' if last < len(text) else ''}"
