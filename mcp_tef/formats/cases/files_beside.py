"""Files that a case file names: read only where they lie below its folder, and only up to a total size."""

from pathlib import Path, PurePosixPath, PureWindowsPath
from urllib.parse import unquote

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import parse_json, parse_yaml, read_text, require_plain
from mcp_tef.model.files import LARGEST_FILE_BYTES
from mcp_tef.model.json import Json

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
            text = read_text(path)
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
