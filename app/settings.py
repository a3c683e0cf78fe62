"""What the window remembers between starts, in one JSON file; a bad file or value never blocks the start."""

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T", str, bool, int, list[Any], dict[str, Any])


class Settings:
    """Values by key. `get` gives the default where the stored value is of another type."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._values: dict[str, Any] = {}
        self.set_aside: Path | None = None
        if file is not None:
            self._values = self._read(file)

    def get(self, key: str, default: T, allowed: Callable[[T], bool] | None = None) -> T:
        """The value of a key, if it is of the default's type and allowed."""
        value = self._values.get(key, default)
        if type(value) is not type(default) or (allowed is not None and not allowed(value)):
            return default
        return value

    def set(self, key: str, value: str | bool | int | list[Any] | dict[str, Any]) -> None:
        """Remember a value; `save` writes it."""
        self._values[key] = value

    def save(self) -> None:
        """Write the file in one step; a disk that refuses is no reason to complain."""
        if self._file is None:
            return
        fresh = self._file.with_suffix(".new")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(self._values, indent=1, sort_keys=True), encoding="utf-8")
            os.replace(fresh, self._file)
        except OSError:
            with contextlib.suppress(OSError):
                fresh.unlink()

    def _read(self, file: Path) -> dict[str, Any]:
        try:
            values = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError):
            return self._put_aside(file)
        return values if isinstance(values, dict) else self._put_aside(file)

    def _put_aside(self, file: Path) -> dict[str, Any]:
        spoilt = file.with_suffix(".unreadable")
        try:
            os.replace(file, spoilt)
        except OSError:
            return {}
        self.set_aside = spoilt
        return {}
