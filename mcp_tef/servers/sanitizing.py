"""Repair of JSON that would cost a whole answer: a mark replaces each part that cannot be read.

Half characters, bytes that are no UTF-8 and what nests too deep become a mark that no sound text holds, so that only
the tool that has it is bad.
"""

import re
from collections.abc import Iterator

MARK = "\ufdd0"  # a place in Unicode that never is a character
DEEPEST = 150  # our own limits end at 100 within a definition, the SDK's reader at 200 within a message

_PAIR = rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALVES = re.compile(rb"\\\\|" + _PAIR + rb"|\\u[dD]([89a-fA-F][0-9a-fA-F]{2})")
_STRING = rb'"[^"\\\r\n]*+(?:\\[^\r\n][^"\\\r\n]*+)*+"?'
"""A string up to its end or that of its line: one without an end is not looked through once more from each quote."""
_STRINGS = re.compile(_STRING)
_TOKENS = re.compile(_STRING + rb"|[\[{]|[\]}]")
_BRACKETS = b"[]{}"
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))


def sanitized(data: bytes) -> bytes:
    """Whole lines of JSON that every reader takes."""
    return shallow(_in_utf8(_without_halves(data)))


def _without_halves(data: bytes) -> bytes:
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    repaired = bytearray(data)
    for found in _HALVES.finditer(data):
        if found[1]:
            repaired[found.start(1) - 1 : found.end()] = b"fdd0"
    return bytes(repaired)


def _in_utf8(data: bytes) -> bytes:
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").replace("\ufffd", MARK).encode()
    return data


def shallow(data: bytes) -> bytes:
    """JSON without what lies too deep in it."""
    return b"".join(_pieces(data)) if _too_deep(data) else data


def _too_deep(data: bytes) -> bool:
    """Return whether the nesting may be too deep; each round takes away one level or two."""
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return False
    brackets = _STRINGS.sub(b"", data).translate(None, _NO_BRACKETS)
    for _ in range(DEEPEST // 2):
        inner = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(inner) == len(brackets):
            return False
        brackets = inner
    return bool(brackets)


def _pieces(data: bytes) -> Iterator[bytes]:
    depth, start = 0, 0
    for token in _TOKENS.finditer(data):
        if token[0] in b"[{":
            depth += 1
            if depth == DEEPEST + 1:
                yield data[start : token.start()] + f'"{MARK}"'.encode()
                start = len(data)
        elif token[0] in b"]}":
            if depth == DEEPEST + 1:
                start = token.end()
            depth -= 1
    yield data[start:]


class WholeLines:
    """Bytes in whole lines, as they come in; what grows beyond `most` is not waited for any longer."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._begun = bytearray()

    def feed(self, data: bytes) -> bytes:
        """Return the lines that are complete now."""
        end = len(self._begun) + 1 + max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._begun += data
        if end == len(self._begun) - len(data):
            end = len(self._begun) if len(self._begun) > self._most else 0
        lines = bytes(self._begun[:end])
        del self._begun[:end]
        return lines

    def rest(self) -> bytes:
        """The line that never ended."""
        return bytes(self._begun)
