"""Contents of a Git repository, read without its configuration: objects only, never a checkout.

The repository may have come from somebody else with its `.git`, whose configuration names programs: filters, hooks, a
file system monitor, a pager. So Git is run in an empty repository of ours whose folder of objects shows those of the
other one, alternates left out; a name is turned into a commit here, from the files of the other one.
"""

import hashlib
import os
import stat
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from mcp_tef.errors import InputError
from mcp_tef.trust.files import open_inside, write_failed, write_inside

_SECONDS: Final = 60
_LARGEST_REFS: Final = 50_000_000
_LARGEST_POINTER: Final = 10_000
_DEEPEST: Final = 5
_HEXADECIMAL: Final = frozenset("0123456789abcdef")
_HASHES: Final = {40: "sha1", 64: "sha256"}
_SHORTEST_HASH: Final = 4
_FORBIDDEN: Final = frozenset("~^:?*[\\ \t\n")
_HINT: Final = "Name a branch, tag or commit of this repository."
_BLOB, _PROGRAM, _LINK = "100", "100755", "120000"
_BLOBS_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class GitObjects:
    """The objects of a repository: its work tree, the folder with its own files, and an empty repository of ours."""

    work_tree: Path
    folder: Path
    shared: Path
    ours: Path
    algorithm: str

    def commit(self, name: str) -> str:
        """Return the hash of the commit that a branch, tag, hash or `HEAD~1` names; InputError for anything else."""
        base, suffix = _split("HEAD" if name == "@" else name)
        found = _resolved(self.folder, self.shared, base) or (base if _is_hash(base) else "")
        if not found or set(suffix) - set("~^0123456789"):
            raise InputError(f"{name} is no commit of this repository.", hint=_HINT, code="bad_usage")
        return self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{found}{suffix}^{{commit}}").strip()

    def content(self, commit: str, path: str) -> bytes | None:
        """Return what a commit holds at a path of the work tree; None where there is no file."""
        found = [entry for entry in self._entries(commit, [path]) if entry[2] == path and entry[0].startswith(_BLOB)]
        return self._run("cat-file", "blob", found[0][1]) if found else None

    def write_files(self, commit: str, folder: Path) -> None:
        """Write the files of a commit into a new folder as they are stored, through no filter.

        Links, other repositories and what is named `.git` are left out. Raises InputError, StoreError.
        """
        entries = [
            one for one in self._entries(commit, []) if one[0].startswith(_BLOB) and ".git" not in _parts(one[2])
        ]
        for start in range(0, len(entries), _BLOBS_AT_ONCE):
            some = entries[start : start + _BLOBS_AT_ONCE]
            for (mode, _, path), data in zip(some, self._blobs([name for _, name, _ in some]), strict=True):
                try:
                    write_inside(folder, path, data, executable=mode == _PROGRAM)
                except OSError as error:
                    raise write_failed(folder / path, error) from error

    def _blobs(self, names: Sequence[str]) -> Iterator[bytes]:
        found, place = self._run("cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode()), 0
        for _ in names:
            start = found.index(b"\n", place) + 1
            size = found[place:start].split()[-1]
            if not size.isdigit():
                raise InputError("An object of this repository is missing.", hint="Fetch the whole commit.")
            place = start + int(size) + 1
            yield found[start : place - 1]

    def differs(self, commit: str, paths: Sequence[str]) -> bool:
        """Return True if files or folders of the work tree are not what a commit holds; ignored files do not count.

        Content is compared as it stands on the disk, but for line ends: what a filter of Git changes counts as changed.
        """
        paths = [] if "." in paths else paths
        entries = self._entries(commit, paths)
        known = {path for _, _, path in entries}
        listed = self._git("ls-files", "--others", "--exclude-standard", "-z", "--", *paths, work_tree=True)
        present = {*listed.split("\0")} - {""}
        is_proven = all(_is_there(path, known | present) for path in paths) and present <= known
        return not is_proven or any(self._has_changed(*entry) for entry in entries)

    def _entries(self, commit: str, paths: Sequence[str]) -> list[tuple[str, str, str]]:
        """Return mode, hash and path of every file below the paths."""
        listed = self._git("ls-tree", "-r", "-z", "--full-tree", commit, "--", *paths).split("\0")
        parts = [(line.partition("\t")[0].split(), line.partition("\t")[2]) for line in listed if line]
        return [(fields[0], fields[2], path) for fields, path in parts]

    def _has_changed(self, mode: str, expected: str, path: str) -> bool:
        try:
            if mode == _LINK:
                return self._blob(os.fsencode(os.readlink(self.work_tree / path))) != expected
            with open_inside(self.work_tree, path) as file:
                data = file.read()
        except OSError:
            return True
        return not mode.startswith(_BLOB) or expected not in (
            self._blob(data),
            self._blob(data.replace(b"\r\n", b"\n")),
        )

    def _blob(self, data: bytes) -> str:
        return hashlib.new(self.algorithm, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()

    def _git(self, *words: str, work_tree: bool = False) -> str:
        return self._run(*words, work_tree=work_tree).decode("utf-8", "surrogateescape")

    def _run(self, *words: str, work_tree: bool = False, given: bytes = b"") -> bytes:
        environment = _environment(self.ours) | ({"GIT_WORK_TREE": str(self.work_tree)} if work_tree else {})
        try:
            return subprocess.run(
                [_program(), *words],
                cwd=self.work_tree if work_tree else self.ours,
                env=environment,
                input=given,
                capture_output=True,
                timeout=_SECONDS,
                check=True,
            ).stdout
        except (OSError, subprocess.SubprocessError) as error:
            raise InputError("Git cannot tell what has changed.", hint=_HINT, code="bad_usage") from error


@contextmanager
def git_objects(place: Path) -> Iterator[GitObjects]:
    """Read the repository of a folder, in which nothing of its own is run. Raises InputError."""
    work_tree = next((one for one in (place, *place.parents) if os.path.lexists(one / ".git")), None)
    if work_tree is None:
        raise InputError(f"{place} is in no repository of Git.", hint=_HINT)
    folder = _own_folder(work_tree)
    shared = _shared_folder(folder, work_tree)
    algorithm = _HASHES.get(len(_resolved(folder, shared, "HEAD")), "sha1")
    with TemporaryDirectory(prefix="mcp-tef-") as ours:
        _make_empty(Path(ours), algorithm)
        _show_objects(Path(ours, "objects"), shared / "objects")
        yield GitObjects(work_tree, folder, shared, Path(ours), algorithm)


def _own_folder(work_tree: Path) -> Path:
    """Return the folder that holds HEAD: `.git`, or where that file leads, if that place names the work tree too."""
    pointer = work_tree / ".git"
    mode = pointer.lstat().st_mode
    if stat.S_ISDIR(mode):
        return pointer
    lead = _read(work_tree, ".git", _LARGEST_POINTER) if stat.S_ISREG(mode) else ""
    folder = Path(os.path.realpath(work_tree / lead.removeprefix("gitdir:").strip()))
    if not lead.startswith("gitdir:") or not _knows(folder, pointer):
        raise InputError(f"{pointer} leads to a repository that does not know it.", hint=_HINT)
    return folder


def _knows(folder: Path, pointer: Path) -> bool:
    """Return True if a repository names the work tree that leads to it, or lies in the one around that work tree."""
    back = _read(folder, "gitdir", _LARGEST_POINTER).strip()
    around = (one / ".git" / "modules" for one in pointer.parent.parents)
    is_submodule = any(folder.is_relative_to(one.resolve()) for one in around if one.is_dir())
    return is_submodule or (bool(back) and os.path.realpath(back) == os.path.realpath(pointer))


def _shared_folder(folder: Path, work_tree: Path) -> Path:
    """Return the folder that holds objects and branches: of a work tree beside the first, that of the first."""
    if folder == work_tree / ".git":
        return folder
    lead = _read(folder, "commondir", _LARGEST_POINTER).strip()
    return Path(os.path.realpath(folder / lead)) if lead else folder


def _resolved(folder: Path, shared: Path, name: str, depth: int = 0) -> str:
    """Return the hash that a name stands for, in the order of `git help revisions`; empty for none."""
    if depth > _DEEPEST or not _is_name(name):
        return ""
    found = _first_found(folder, shared, name)
    if found.startswith("ref:"):
        return _resolved(folder, shared, found.removeprefix("ref:").strip(), depth + 1)
    return found if _is_hash(found) else ""


def _first_found(folder: Path, shared: Path, name: str) -> str:
    packed = _packed(shared)
    candidates = (_loose(folder, one) or _loose(shared, one) or packed.get(one, "") for one in _places(name))
    return next((one for one in candidates if one.startswith("ref:") or len(one) in _HASHES), "")


def _places(name: str) -> Iterator[str]:
    if name.replace("_", "").isupper():
        yield name
    yield from (f"{start}{name}" for start in ("refs/", "refs/tags/", "refs/heads/", "refs/remotes/"))
    yield f"refs/remotes/{name}/HEAD"
    if name.startswith("refs/"):
        yield name


def _parts(path: str) -> list[str]:
    return path.lower().split("/")


def _is_there(path: str, known: Iterable[str]) -> bool:
    return any(one == path or one.startswith(f"{path}/") for one in known)


def _loose(folder: Path, place: str) -> str:
    text = _read(folder, place, _LARGEST_POINTER).strip()
    return text if text.startswith("ref:") else text.partition("\t")[0].partition(" ")[0]


def _packed(shared: Path) -> dict[str, str]:
    lines = (line.split(" ", 1) for line in _read(shared, "packed-refs", _LARGEST_REFS).splitlines())
    return {parts[1]: parts[0] for parts in lines if len(parts) == 2 and _is_hash(parts[0])}


def _is_name(name: str) -> bool:
    parts = name.split("/")
    plain = all(part and not part.startswith((".", "-")) and not part.endswith(".lock") for part in parts)
    return plain and ".." not in name and "@{" not in name and not _FORBIDDEN & set(name) and name.isprintable()


def _is_hash(text: str) -> bool:
    return _SHORTEST_HASH <= len(text) <= max(_HASHES) and set(text) <= _HEXADECIMAL


def _split(name: str) -> tuple[str, str]:
    end = min((name.index(sign) for sign in "~^" if sign in name), default=len(name))
    return name[:end], name[end:]


def _read(folder: Path, name: str, most: int) -> str:
    """Return the text of a file of the repository; empty where it is missing, too large, a link or no text."""
    with suppress(OSError, UnicodeDecodeError), open_inside(folder, name) as file:
        data = file.read(most + 1)
        return data.decode("utf-8") if len(data) <= most and b"\0" not in data else ""
    return ""


def _make_empty(ours: Path, algorithm: str) -> None:
    for name in ("objects/info", "objects/pack", "refs"):
        (ours / name).mkdir(parents=True)
    (ours / "HEAD").write_text("ref: refs/heads/none\n", "utf-8")
    extension = "[extensions]\n\tobjectFormat = sha256\n" if algorithm == "sha256" else ""
    config = f"[core]\n\trepositoryformatversion = 1\n\tbare = false\n{extension}"
    (ours / "config").write_text(config, "utf-8")


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _show_objects(ours: Path, theirs: Path) -> None:
    """Have our folder of objects show those of the repository, but not `info`, which names alternates elsewhere."""
    if not _is_folder(theirs):
        raise InputError(f"{theirs} is no folder.", hint=_HINT)
    if os.name == "nt":
        if (theirs / "info" / "alternates").exists():
            raise InputError("The repository borrows objects from another one.", hint="Clone it without --shared.")
        (ours / "info" / "alternates").write_text(f"{theirs}\n", "utf-8")
        return
    (ours / "pack").rmdir()
    for entry in os.scandir(theirs):
        if entry.is_dir(follow_symlinks=False) and (entry.name == "pack" or len(entry.name) == 2):
            (ours / entry.name).symlink_to(Path(entry.path).resolve())


def _environment(ours: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP", "TMP") if name in os.environ}
    return kept | {
        "GIT_DIR": str(ours),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": str(ours),
        "LC_ALL": "C",
    }


def _program() -> str:
    """Return the path of Git on the absolute part of PATH: Windows would look in the current folder first."""
    name = "git.exe" if os.name == "nt" else "git"
    folders = [Path(one) for one in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(one)]
    found = next((one / name for one in folders if os.access(one / name, os.X_OK) and (one / name).is_file()), None)
    if found is None:
        raise InputError("Git is not installed, so nothing tells what has changed.", hint="Install it.")
    return str(found)
