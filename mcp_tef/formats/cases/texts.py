"""Bounded reading and writing of files from untrusted sources: sizes, encodings, JSON and YAML.

Files that a case file names are read only where they lie below its folder.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, BinaryIO, TypeAlias
from urllib.parse import unquote

import yaml

from mcp_tef.errors import InputError
from mcp_tef.model.json import MOST_DIGITS, Json, KeyTwiceError, deeper_than, loads_unique
from mcp_tef.model.limits import LARGEST_FILE_BYTES
from mcp_tef.trust.files import (
    open_inside,
    open_regular_file,
    require_no_link,
    write_failed,
    write_file,
    write_inside,
)
from mcp_tef.trust.open_files import is_open_here
from mcp_tef.trust.outputs import document_text, needs_quotes, yaml_text

KeyPath: TypeAlias = tuple[str | int, ...]
"""The keys and positions that lead to a value of a document."""
LARGEST_YAML_CHARACTERS = 10 * 1024 * 1024
UNFOLDED_CHARACTERS = 20_000_000
NODE_CHARACTERS = 8
DEEPEST = 100
TOO_DEEP_HINT = f"Nothing of use nests deeper than {DEEPEST} levels."

# What PyYAML's constructors raise for a value that does not fit the tag in front of it, beside its own errors.
_BROKEN_YAML = (yaml.YAMLError, ValueError, LookupError, AttributeError)

_DATABASE = b"SQLite format 3\x00"
_BESIDE = ("-wal", "-shm", "-journal")
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 with its mark; InputError says what is wrong with it."""
    return _read_text(path, lambda: open_regular_file(path))


def _read_text(path: Path, opened: Callable[[], BinaryIO]) -> str:
    try:
        with opened() as file:
            data = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path} could not be read: {error.strerror}.", hint="Check the path.") from error
    if len(data) > LARGEST_FILE_BYTES:
        raise InputError(f"{path} is larger than 50 MB.", hint="Split it into smaller files.")
    return decoded(data, path)


def decoded(data: bytes, path: Path) -> str:
    """Return the text of a file's content in UTF-8, or in UTF-16 with its mark; InputError for anything else."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    if encoding == "utf-8" and b"\0" in data:
        raise InputError(
            f"{path} is not text, or it is UTF-16 without a mark at its beginning.", hint="Save it as UTF-8."
        )
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = "UTF-16" if encoding == "utf-16" else "UTF-8"
        raise InputError(
            f"{path} is not {what} text: a byte at line {line} does not belong to it.",
            hint="It may be in another encoding, or a mixture of several. Save it as UTF-8.",
        ) from error


def is_database(path: Path) -> bool:
    """Return True if a file is an SQLite database, as workspaces are; raises InputError if it cannot be read."""
    if is_open_here(path):
        return True
    try:
        with open_regular_file(path) as file:
            return file.read(len(_DATABASE)) == _DATABASE
    except OSError as error:
        raise InputError(f"{path} could not be read: {error.strerror}.", hint="Check the path.") from error


def require_replaceable(path: Path) -> None:
    """Raise InputError for a file that is a link or a database, such as a workspace, or that belongs to one."""
    try:
        require_no_link(path)
    except OSError as error:
        raise write_failed(path, error) from error
    beside = [path.with_name(path.name.removesuffix(end)) for end in _BESIDE if path.name.removesuffix(end)]
    if any(file.is_file() and is_database(file) for file in (path, *beside)):
        raise InputError(
            f"{path} is a workspace or another database, which is never replaced.", hint="Use another place."
        )


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write UTF-8; what was there is kept until the new text is whole, and a workspace is kept for good.

    A `private` file, and its folder where that is new, may only be read by this user; that folder may be no link.
    """
    require_replaceable(path)
    content = text.encode("utf-8", "backslashreplace")
    try:
        if private:
            write_inside(path.parents[1], f"{path.parent.name}/{path.name}", content, private=True)
        else:
            write_file(path, content)
    except OSError as error:
        raise write_failed(path, error) from error


def parse_json(text: str, name: str) -> Json:
    """Return a JSON document; InputError names the line that is wrong, or says that it nests too deep."""
    try:
        value = loads_unique(text)
        if deeper_than(value, 2 * DEEPEST):  # how deep `json` itself reads differs between Pythons
            raise RecursionError
        return value
    except RecursionError as error:
        raise InputError(f"{name} nests too deep.", hint=TOO_DEEP_HINT) from error
    except KeyTwiceError as error:
        raise InputError(f"{name} has the key “{error}” twice in one object.", hint="Keep one of the two.") from error
    except ValueError as error:
        line = getattr(error, "lineno", None)
        where = f" at line {line}" if line else ""
        raise InputError(f"{name} is not valid JSON{where}.", hint="Correct that line and try again.") from error


def parse_yaml(text: str, name: str) -> Json:
    """Return a YAML document, read as JSON would be; one that unfolds out of all proportion is refused unread."""
    if len(text) > LARGEST_YAML_CHARACTERS:
        raise InputError(f"{name} holds more than 10 MB of YAML.", hint="Save it as JSON, or split it.")
    try:
        _require_bounded(yaml.parse(text, Loader=_Loader), name)
        return yaml.load(text, Loader=_Loader)  # noqa: S506
    except RecursionError as error:
        raise InputError(f"{name} nests too deep.", hint=TOO_DEEP_HINT) from error
    except _BROKEN_YAML as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = f" at line {line + 1}" if line is not None else ""
        raise InputError(f"{name} is not valid YAML{where}.", hint="Correct that line and try again.") from error


def lines_of(text: str, paths: Sequence[KeyPath]) -> list[int | None]:
    """Return the line of each path in a document that `parse_json` or `parse_yaml` has read; None where unknown."""
    try:
        root = yaml.compose(text.replace("\t", " "), Loader=_Loader)
    except (*_BROKEN_YAML, RecursionError):
        return [None] * len(paths)
    return [_line_of(root, path) for path in paths]


def _line_of(node: yaml.Node | None, path: KeyPath) -> int | None:
    """Return the line of the key that a path ends with, or of the item of a list."""
    line = None
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pairs = [pair for pair in node.value if pair[0].value == step]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            pairs = [(item, item) for item in node.value[step : step + 1]]
        else:
            return line
        if not pairs:
            return line
        line, node = pairs[0][0].start_mark.line + 1, pairs[0][1]
    return line


def _require_bounded(events: Iterable[yaml.Event], name: str) -> None:
    """Add up what aliases stand for, without unfolding them; InputError for too much, too deep, or endless."""
    weights: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = [(None, 0)]
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, NODE_CHARACTERS))
            if len(open_nodes) > DEEPEST:  # libyaml takes time with the square of the depth
                raise InputError(f"{name} nests too deep.", hint=TOO_DEEP_HINT)
            continue
        anchor, weight = None, 0
        match event:
            case yaml.CollectionEndEvent():
                anchor, weight = open_nodes.pop()
            case yaml.ScalarEvent():
                anchor, weight = event.anchor, NODE_CHARACTERS + len(event.value)
            case yaml.AliasEvent():
                weight = weights.get(event.anchor or "", UNFOLDED_CHARACTERS)
        weights |= {anchor: weight} if anchor else {}
        parent, so_far = open_nodes[-1]
        open_nodes[-1] = (parent, so_far + weight)
        if so_far + weight > UNFOLDED_CHARACTERS:
            raise InputError(
                f"{name} unfolds into far more than it holds: its aliases repeat too much.",
                hint="Write the values out, without aliases.",
            )


def require_plain(value: Json, level: int = 0) -> None:
    """InputError for what JSON has no word for: other names than text, other types, endless numbers, deep nests."""
    if level > DEEPEST:
        raise InputError("It nests too deep.", hint=TOO_DEEP_HINT)
    if isinstance(value, dict):
        _require_text_names(value)
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            require_plain(item, level + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError("It has a number that is not finite.", hint="Write a number, or text.")
    elif not isinstance(value, str | int | float | None):
        raise InputError(f"It has a value of a kind that JSON has not: {type(value).__name__}.", hint="Write text.")


def _require_text_names(value: Mapping[Json, Json]) -> None:
    if not all(isinstance(key, str) for key in value):
        raise InputError("It has a name that is not text.", hint="Put quotes around names that are numbers.")


def to_json(document: Json) -> str:
    """Return a JSON document for people."""
    return document_text(document)


def to_yaml(document: Json) -> str:
    """Return a YAML document whose text means the same to readers of YAML 1.1 and 1.2."""
    return yaml_text(yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100))


_PLAIN_SCALARS = (
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    (
        "tag:yaml.org,2002:float",
        r"^[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)$",
        "-+.0123456789",
    ),
    ("tag:yaml.org,2002:merge", r"^(?:<<)$", "<"),
)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the fast one where it was built
    """YAML as JSON would read it: dates, times, yes and no stay the text that was typed."""


class _Dumper(yaml.SafeDumper):
    """Quotes whatever either version of YAML would take for something else than text; repeats instead of aliases."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002  # the signature is PyYAML's
        """Never alias."""
        return True


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Text with a command of a build service, or a line separator but a line feed, in quotes that escape it."""
    style = '"' if any(mark in text for mark in "\x85\u2028\u2029\ufeff") or needs_quotes(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _whole_number(loader: Any, node: yaml.ScalarNode) -> int:
    if len(node.value) > MOST_DIGITS:
        raise ValueError(f"a number has more than {MOST_DIGITS} digits")
    return int(loader.construct_yaml_int(node))


_Loader.add_constructor("tag:yaml.org,2002:int", _whole_number)
_Dumper.add_representer(str, _text_node)
_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in _PLAIN_SCALARS:
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))
    _Dumper.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))

SCHEME = "file://"
MOST_FILES = 500
_WILDCARDS = frozenset("*?")
_HINT = "Name a file beside this one, relative to its folder."


class FilesBeside:
    """Reader of the files below the folder of a case file; each is read once.

    A path that is absolute or leads out of the folder, also by a link, is refused: a case file may come from
    somebody else, and its cases are sent to a model.
    """

    def __init__(self, case_file: Path | None) -> None:
        self._folder = case_file.parent.resolve() if case_file else None
        self._texts: dict[Path, str] = {}

    @property
    def folder(self) -> Path:
        """The folder that relative paths start from; InputError where the case file is pasted text."""
        if self._folder is None:
            raise InputError("It names another file, and pasted text has no folder.", hint="Import it as a file.")
        return self._folder

    def matching(self, reference: str, base: Path | None = None) -> list[Path]:
        """Return the file that a reference names, or those that its wildcards match, by name. Raises InputError."""
        name = reference.removeprefix(SCHEME)
        _require_relative(name)
        folder = base or self.folder
        if not _WILDCARDS & set(name):
            return [self._inside(folder / name, name)]
        found = [self._inside(path, name) for path in sorted(folder.glob(name)) if path.is_file()]
        if not found:
            raise InputError(f"It names {name}, which matches no file.", hint=_HINT)
        return found

    def text(self, path: Path) -> str:
        """Return the text of a file that `matching` returned. Raises InputError."""
        if path not in self._texts:
            place = path.relative_to(self.folder).as_posix()
            text = _read_text(path, lambda: open_inside(self.folder, place))  # no link that is put there by now
            if len(self._texts) >= MOST_FILES or sum(map(len, self._texts.values())) + len(text) > LARGEST_FILE_BYTES:
                raise InputError(f"It names more than {MOST_FILES} files or 50 MB in all.", hint="Split the case file.")
            self._texts[path] = text
        return self._texts[path]

    def document(self, path: Path) -> Json:
        """Return what a JSON or YAML file holds. Raises InputError."""
        parse = parse_json if path.suffix.lower() == ".json" else parse_yaml
        document = parse(self.text(path), path.name)
        require_plain(document)
        return document

    def _inside(self, path: Path, name: str) -> Path:
        resolved = path.resolve()
        if not resolved.is_relative_to(self.folder):
            raise InputError(f"It names {name}, which lies outside the folder of the case file.", hint=_HINT)
        if not resolved.is_file():
            raise InputError(f"It names {name}, which is not there.", hint=_HINT)
        return resolved


def _require_relative(name: str) -> None:
    """Raise InputError for an absolute path, and for wildcards that could match files anywhere."""
    names = (name, unquote(name))
    if "\0" in name or any(PurePosixPath(one).is_absolute() or PureWindowsPath(one).anchor for one in names):
        raise InputError(f"It names {name}, which is not a relative path.", hint=_HINT)
    if _WILDCARDS & set(name) and ("**" in name or ".." in PurePosixPath(name).parts):
        raise InputError(f"It names {name}, which may match files anywhere.", hint=_HINT)
