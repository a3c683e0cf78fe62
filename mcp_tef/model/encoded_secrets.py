"""Keys that come back in another form: found in a text whatever its encoding, in linear time, and masked.

A form is: upper or lower case, reversed, hexadecimal, base64 (standard and URL-safe, at each of three alignments),
percent codes, escapes of JSON and of HTML, split by blanks, quotes, commas or unseen characters. Four characters may
be missing at the ends; of a key of 19 bytes or more, the longer part is found where four are replaced in the middle.
Keys of fewer than 8 bytes are not looked for, nor any that is compressed, encrypted or spelled out in words.
"""

import re
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

GRAM: Final = 8
"""Bytes that a text and a form of a key must share before the text is examined."""
_DROPPED: Final = b" \t\r\n\f\v\"'`,\\"
_ESCAPE = (
    rb"%(?:25){0,3}([0-9a-fA-F]{2})|\\{1,8}(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))|&#[xX]0{0,6}([0-9a-fA-F]{1,6});?"
    rb"|&#0{0,6}([0-9]{1,6});?|&(amp|lt|gt|quot|apos|sol|plus|equals);"
    rb"|\xc2\xad|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf"
)
_ESCAPES = re.compile(_ESCAPE)
_TOKENS = re.compile(_ESCAPE + rb"|[ \t\r\n\f\v\"'`,\\]")
_CONTINUED: Final = bytes(range(0x80, 0xC0))
_NAMED: Final = {
    b"amp": b"&",
    b"lt": b"<",
    b"gt": b">",
    b"quot": b'"',
    b"apos": b"'",
    b"sol": b"/",
    b"plus": b"+",
    b"equals": b"=",
}


@dataclass(frozen=True, slots=True)
class KeyForm:
    """One form of a key as it stands in a plain view, and how many bytes of it in a row are taken for the key."""

    text: bytes
    least: int


def key_forms(key: str) -> tuple[KeyForm, ...]:
    """Return the forms in which a key is looked for; none for a short one."""
    raw = key.encode("utf-8", "surrogatepass")
    plain = _plain_view(raw)
    size = len(plain)
    if size < GRAM:
        return ()
    least = max(GRAM, size - 4 if size < 19 else (size - 3) // 2)
    texts = [(plain, least), (plain[::-1], least), (raw.hex().encode(), 2 * least)]
    for shift in range(3):
        bits = 8 * (shift + len(raw))
        core = b64encode(b"\0" * shift + raw)[(8 * shift + 5) // 6 : bits // 6]
        texts += [(one.lower(), max(GRAM, len(one) - 6)) for one in {core, core.translate(_URL_SAFE)}]
    return tuple(KeyForm(text, wanted) for text, wanted in texts if len(text) >= wanted)


_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def grams(forms: Iterable[KeyForm]) -> Counter[int]:
    """Return the 8 bytes in a row that occur in forms, as numbers."""
    found = (form.text[place : place + GRAM] for form in forms for place in range(len(form.text) - GRAM + 1))
    return Counter(int.from_bytes(gram, sys.byteorder) for gram in found)


def may_hold(text: str, known: Counter[int]) -> bool:
    """Return True if a text shares 8 bytes in a row with the forms of a key, which is rare without one."""
    if not known or len(text) < GRAM:
        return False
    view = memoryview(_plain_view(text.encode("utf-8", "surrogatepass")))
    starts = range(min(GRAM, len(view) - GRAM + 1))
    return any(
        not known.keys().isdisjoint(view[start : len(view) - (len(view) - start) % GRAM].cast("Q")) for start in starts
    )


def masked(text: str, forms: Iterable[KeyForm], mask: str) -> str:
    """Return a text with a mask instead of each form of a key."""
    data = text.encode("utf-8", "surrogatepass")
    view = _plain_view(data)
    ranges = _joined(sorted(place for form in forms for place in _occurrences(view, form)))
    pieces, end = list[bytes](), 0
    for low, high in _places(data, ranges):
        pieces += [data[end : max(low, end)], mask.encode()]
        end = max(high, end)
    return b"".join([*pieces, data[end:]]).decode("utf-8", "surrogatepass") if pieces else text


def _plain_view(data: bytes) -> bytes:
    """Return a text without escapes, blanks and quotes, in lower case."""
    return _ESCAPES.sub(_meant, data).translate(None, _DROPPED).lower()


def _meant(found: re.Match[bytes]) -> bytes:
    kind = found.lastindex
    if kind is None or kind == 6:
        return _NAMED.get(found[6], b"")
    number = int(found[kind], 10 if kind == 5 else 16)
    if kind == 1 or number > sys.maxunicode:
        return bytes([number & 0xFF])
    return chr(number).encode("utf-8", "surrogatepass")


def _occurrences(view: bytes, form: KeyForm) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a view that hold enough of a form."""
    for place in range(0, len(form.text) - GRAM + 1, form.least - GRAM + 1):
        seed = form.text[place : place + GRAM]
        at = view.find(seed)
        while at >= 0:
            low, high = _extended(view, form.text, at, place)
            if high - low >= form.least:
                yield low, high
            at = view.find(seed, max(high, at + 1) if high - low >= form.least else at + 1)


def _extended(view: bytes, text: bytes, at: int, place: int) -> tuple[int, int]:
    """Return how far a view and a form agree around a place of both."""
    low, high, shift = at, at + GRAM, place - at
    while low > 0 and low + shift > 0 and view[low - 1] == text[low + shift - 1]:
        low -= 1
    while high < len(view) and high + shift < len(text) and view[high] == text[high + shift]:
        high += 1
    return low, high


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined = list[tuple[int, int]]()
    for low, high in ranges:
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


def _places(data: bytes, ranges: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a text for those of its view, whole characters only."""
    spans = _spans(data, [edge for low, high in ranges for edge in (low, high - 1)])
    for (low, _), (_, high) in zip(spans, spans, strict=True):
        continued = len(data[high : high + 3]) - len(data[high : high + 3].lstrip(_CONTINUED))
        yield next(place for place in range(low, -1, -1) if not place or data[place] & 0xC0 != 0x80), high + continued


def _spans(data: bytes, offsets: list[int]) -> Iterator[tuple[int, int]]:
    """Yield for ascending offsets of a view where in the text they come from."""
    waiting = iter(offsets)
    wanted = next(waiting, None)
    seen = end = 0
    for start, stop, size in _widths(data):
        while wanted is not None and wanted < seen + start - end:
            yield end + wanted - seen, end + wanted - seen + 1
            wanted = next(waiting, None)
        seen += start - end
        while wanted is not None and wanted < seen + size:
            yield start, stop
            wanted = next(waiting, None)
        seen, end = seen + size, stop
        if wanted is None:
            return


def _widths(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield where what is not plain begins and ends, and its bytes in the view."""
    for found in _TOKENS.finditer(data):
        meant = b"" if found[0] in _DROPPED_ONES else _meant(found)
        yield found.start(), found.end(), len(meant.translate(None, _DROPPED))
    yield len(data), len(data), 0


_DROPPED_ONES: Final = frozenset(_DROPPED[place : place + 1] for place in range(len(_DROPPED)))
