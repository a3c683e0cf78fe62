"""Source files taken apart for certain: their string literals, and a dump that shows whatever else changes.

Python is read by its own parser, JSON by json, JavaScript and TypeScript by a scanner that gives up wherever a slash,
markup or a template leaves a doubt. All offsets are bytes.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePath
from typing import Any, Final


class UnsureSourceError(Exception):
    """A file whose literals are not known for certain; its text is the reason, one sentence."""


@dataclass(frozen=True, slots=True)
class SourceLiteral:
    """One string of a source file: its place, its value, and the parts of which it consists.

    Each part is where its body begins and ends, and its quote; an expression of several parts is joined by the parser.
    `margin` is the indentation of a docstring, which readers of docstrings take off; None for other strings.
    """

    start: int
    end: int
    value: str
    parts: tuple[tuple[int, int, str], ...]
    margin: str | None = None


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A parsed file. `dump` returns all of its content, with the value of one literal exchanged if it is named."""

    literals: Sequence[SourceLiteral]
    dump: Callable[[int | None, str], object]


def source_document(name: str, data: bytes) -> SourceDocument:
    """Return a source file without its byte order mark, taken apart; UnsureSourceError where that is not certain."""
    parse = _PARSERS.get(PurePath(name).suffix.lower())
    if parse is None:
        raise UnsureSourceError("Only strings in Python, JSON, JavaScript and TypeScript files are changed.")
    try:
        return parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnsureSourceError("The file cannot be parsed.") from error


# ------------------------------------------------------------ Python


def _python(data: bytes) -> SourceDocument:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    if encoding != "utf-8":
        raise UnsureSourceError(f"The file is written in {encoding}, and only UTF-8 is changed.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a user's file may hold escapes that Python only warns about
        tree = ast.parse(data)
    starts = [0, *(found.end() for found in re.finditer(rb"\r\n|\r|\n", data))]
    docstrings = {id(node) for node in _docstrings(tree)}
    nodes = list(_constants(tree))
    literals = [_python_literal(data, starts, node, is_docstring=id(node) in docstrings) for node in nodes]

    def dump(number: int | None, value: str) -> object:
        if number is None:
            return ast.dump(tree)
        before, nodes[number].value = nodes[number].value, value
        shown = ast.dump(tree)
        nodes[number].value = before
        return shown

    return SourceDocument(literals, dump)


def _constants(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield the plain strings; f-strings, templates, and annotations in quotes, which are evaluated, are code."""
    annotations = (getattr(node, "annotation", None), getattr(node, "returns", None))
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            if child not in annotations:
                yield child
        elif type(child).__name__ not in ("JoinedStr", "TemplateStr"):
            yield from _constants(child)


def _docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


def _python_literal(data: bytes, starts: Sequence[int], node: ast.Constant, *, is_docstring: bool) -> SourceLiteral:
    value, line = str(node.value), starts[node.lineno - 1]
    start = line + node.col_offset
    end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
    margin = (_margin(value) if value.strip().count("\n") else data[line:start].decode()) if is_docstring else None
    return SourceLiteral(start, end, value, _python_parts(data[start:end], start), margin)


def _margin(text: str) -> str:
    """Return the white space that all lines but the first begin with."""
    lines = [line for line in text.split("\n")[1:] if line.strip()]
    first, last = min(lines, default=""), max(lines, default="")
    pairs = takewhile(lambda pair: pair[0] == pair[1] and pair[0].isspace(), zip(first, last, strict=False))
    return "".join(one for one, _ in pairs)


_PYTHON_STRING = re.compile(rb"""([rRuU]?)("{3}|'{3}|"|')""")
_PYTHON_BETWEEN = re.compile(rb"(?:[ \t\f\r\n]|\\\r?\n|#[^\r\n]*)*")


def _python_parts(source: bytes, offset: int) -> tuple[tuple[int, int, str], ...]:
    """Return the parts of a string, raw ones with an r before the quote; none where they are not all understood."""
    parts, place = list[tuple[int, int, str]](), 0
    while found := _PYTHON_STRING.match(source, place):
        quote, place = found[2], found.end()
        while place < len(source) and not source.startswith(quote, place):
            place += 2 if source.startswith(b"\\", place) else 1
        raw = "r" if found[1] in (b"r", b"R") else ""
        parts.append((offset + found.end(), offset + place, raw + quote.decode()))
        between = _PYTHON_BETWEEN.match(source, place + len(quote))
        place = between.end() if between else len(source)
    return tuple(parts) if place == len(source) else ()


# ------------------------------------------------------------ JSON

_JSON_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"(\s*:)?')


def _json(data: bytes) -> SourceDocument:
    text = data.decode()
    found = _json_content(text)
    strings = [one for one in _JSON_STRING.finditer(data) if not one[1]]
    literals = [
        SourceLiteral(*one.span(), json.loads(one[0]), ((one.start() + 1, one.end() - 1, '"'),)) for one in strings
    ]

    def dump(number: int | None, value: str) -> object:
        return _with_string(found, [-1 if number is None else number], value)

    return SourceDocument(literals, dump)


def _json_content(text: str) -> Any:
    """Return a document with every key in its order, and with numbers as written."""
    plain: dict[str, Any] = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), lambda number: (number,))
    return json.loads(text, object_pairs_hook=lambda pairs: ("object", pairs), **plain)


def _with_string(value: Any, left: list[int], text: str) -> Any:
    """Return a copy in which the string is exchanged that comes when `left` is counted down; keys do not count."""
    if isinstance(value, str):
        left[0] -= 1
        return text if left[0] == -1 else value
    if isinstance(value, tuple) and len(value) == 2:
        return ("object", [(key, _with_string(inner, left, text)) for key, inner in value[1]])
    return [_with_string(inner, left, text) for inner in value] if isinstance(value, list) else value


# ------------------------------------------------------------ JavaScript and TypeScript

_SCRIPT_TOKEN = re.compile(
    rb"(?P<space>[ \t]+)|(?P<end>[\r\n]+)|(?P<line>//[^\r\n]*)|(?P<block>/\*.*?\*/)"
    rb"|(?P<string>\"(?:[^\"\\\r\n]|\\(?:\r\n|.))*\"|'(?:[^'\\\r\n]|\\(?:\r\n|.))*')"
    rb"|(?P<word>[A-Za-z0-9_$]+)|(?P<other>.)",
    re.DOTALL,
)
_SCRIPT_TEMPLATE = re.compile(rb"(?:[^`\\$]|\\.|\$(?!\{))*(?P<end>`|\$\{)", re.DOTALL)
_SCRIPT_REGEX = re.compile(rb"/(?:[^/\\\[\r\n]|\\[^\r\n]|\[(?:[^\]\\\r\n]|\\[^\r\n])*\])+/[A-Za-z]*")
_DIVIDED = re.compile(rb"[A-Za-z0-9_$]+|\]")
_BEFORE_REGEX = frozenset({b"(", b",", b"=", b":", b"[", b"&", b"|", b"?", b";", b"{"})
_SCRIPT_MARKUP = ("</", "/>", "<!--", "-->", "\u2028", "\u2029")
_SCRIPT_KEYWORDS = frozenset(
    b"await case delete do else extends in instanceof new of return throw typeof void yield default".split()
)


def _script(data: bytes) -> SourceDocument:
    text = data.decode()
    if any(mark in text for mark in _SCRIPT_MARKUP):
        raise UnsureSourceError("The file holds markup, in which strings follow other rules.")
    tokens = list(_script_tokens(data))
    strings = [(place, one) for place, (kind, _, one) in enumerate(tokens) if kind == "string"]
    literals = [_script_literal(tokens[place][1], one) for place, one in strings]
    values = {place: literal.value for (place, _), literal in zip(strings, literals, strict=True)}

    def dump(number: int | None, value: str) -> object:
        shown = values if number is None else values | {strings[number][0]: value}
        return [shown.get(place, one) for place, (_, _, one) in enumerate(tokens)]

    return SourceDocument(literals, dump)


def _script_tokens(data: bytes) -> Iterator[tuple[str, int, bytes]]:
    """Yield kind, place and bytes of each token; UnsureSourceError where a slash may mean two things."""
    place = len(data.partition(b"\n")[0]) if data.startswith(b"#!") else 0
    before, open_braces = b";", list[bool]()
    while place < len(data):
        kind, found = _script_token(data, place, before)
        if found == b"`" or (found == b"}" and open_braces and open_braces.pop()):
            kind, found = "template", found + _template(data, place + 1, open_braces)
        elif found == b"{":
            open_braces.append(False)
        yield kind, place, found
        place += len(found)
        before = _last_meant(before, kind, found)


def _last_meant(before: bytes, kind: str, found: bytes) -> bytes:
    """Return what a slash that comes next would follow: nothing, where a line may have ended a statement."""
    if kind in ("space", "line"):
        return before
    if kind in ("end", "block"):
        return b"" if _DIVIDED.fullmatch(before) else before
    return found


def _script_token(data: bytes, place: int, before: bytes) -> tuple[str, bytes]:
    found = _SCRIPT_TOKEN.match(data, place)
    assert found is not None
    if found[0] not in (b"/", b'"', b"'"):
        return str(found.lastgroup), found[0]
    regex = _SCRIPT_REGEX.match(data, place) if before in _BEFORE_REGEX else None
    if regex:
        return "regex", regex[0]
    if found[0] != b"/" or not _DIVIDED.fullmatch(before) or before in _SCRIPT_KEYWORDS:
        raise UnsureSourceError("The file holds a slash or a quote that may mean two things.")
    return "other", found[0]


def _template(data: bytes, place: int, open_braces: list[bool]) -> bytes:
    found = _SCRIPT_TEMPLATE.match(data, place)
    if found is None:
        raise UnsureSourceError("The file holds a template that does not end.")
    if found["end"] == b"${":
        open_braces.append(True)
    return found[0]


_SCRIPT_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_SCRIPT_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def _script_literal(start: int, source: bytes) -> SourceLiteral:
    value = _SCRIPT_ESCAPE.sub(_unescaped, source[1:-1].decode())
    joined = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    end = start + len(source)
    return SourceLiteral(start, end, joined, ((start + 1, end - 1, source[:1].decode()),))


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        return chr(int(code, 16))
    digits = found.string[found.start() + 1 : found.end() + 1]
    if found[4] in "123456789ux" or (digits.isdigit() and len(digits) == 2):
        raise UnsureSourceError("The file holds an escape of an old form.")
    return "" if found[4] in ("\r\n", "\n", "\r") else _SCRIPT_LETTERS.get(found[4], found[4])


_PARSERS: Final[Mapping[str, Callable[[bytes], SourceDocument]]] = {
    **dict.fromkeys((".py", ".pyi"), _python),
    ".json": _json,
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"), _script),
}
