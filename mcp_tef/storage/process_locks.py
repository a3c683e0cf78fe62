"""Locks that tell living processes from dead ones: each process holds one beside the workspace while it lives."""

from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from mcp_tef.model.ids import new_id
from mcp_tef.trust.files import make_private_folder
from mcp_tef.trust.held_folder import FILE_MODE


class Owner:
    """This process's mark. Batches carry its token; when the lock is free, the process is gone."""

    def __init__(self, workspace: Path) -> None:
        self.token = new_id()
        self._folder = workspace.with_name(f"{workspace.name}-owners")
        self._lock = _lock(self._file(self.token))

    def acquire(self) -> None:
        """Take the lock; OSError where the folder cannot be written."""
        make_private_folder(self._folder)
        self._lock.acquire()

    def release(self) -> None:
        """Give the lock back and leave nothing behind."""
        _discard(self._file(self.token), self._lock)
        with suppress(OSError):
            self._folder.rmdir()

    def alive(self, token: str) -> bool:
        """Return whether the process with that token still lives; the mark of a dead one is removed."""
        file = self._file(token)
        if token == self.token:
            return True
        if not file.exists():
            return False
        lock = _lock(file)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        _discard(file, lock)
        return False

    def others(self) -> tuple[str, ...]:
        """The tokens of other living processes; marks of dead ones are removed."""
        tokens = [file.stem for file in self._folder.glob("*.lock")]
        return tuple(token for token in tokens if token != self.token and self.alive(token))

    def _file(self, token: str) -> Path:
        return self._folder / f"{token}.lock"


def _lock(file: Path) -> FileLock:
    return FileLock(file, mode=FILE_MODE, thread_local=False)


def _discard(file: Path, lock: FileLock) -> None:
    """Remove the file while it is locked; where the system forbids that (Windows), after."""
    try:
        file.unlink()
    except OSError:
        lock.release()
        file.unlink(missing_ok=True)
    else:
        lock.release()
