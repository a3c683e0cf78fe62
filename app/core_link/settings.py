"""Settings of the window, kept between starts in one JSON file, and the text size, which is one of them.

A bad file or value never blocks the start.
"""

import contextlib
import json
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from PySide6.QtCore import QObject, QTimer

from app.core_link.commands import Command
from app.theme import theme

T = TypeVar("T", str, bool, int, list[Any], dict[str, Any])
Choice = TypeVar("Choice", bound=Enum)

MOST_RECENT = 10
VIEW_STATE = ".view_state"
"""Ending of keys whose values are saved for each workspace."""


class Settings:
    """Values by key. `get` returns the default if the stored value has another type."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self._values: dict[str, Any] = {}
        self.set_aside: Path | None = None
        if file is not None:
            self._values = self._read(file)

    def get(self, key: str, default: T, allowed: Callable[[T], bool] | None = None) -> T:
        """Return the value of a key if it has the default's type and is allowed; else the default."""
        value = self._values.get(key, default)
        if type(value) is not type(default) or (allowed is not None and not allowed(value)):
            return default
        return value

    def choice(self, key: str, kind: type[Choice]) -> Choice:
        """Return the member of an enum that a key names, or the first one."""
        first, *_ = kind
        return next((one for one in kind if one.value == self._values.get(key)), first)

    def set(self, key: str, value: str | bool | int | list[Any] | dict[str, Any]) -> None:
        """Remember a value; `save` writes it."""
        self._values[key] = value

    def take(self, key: str) -> Any:
        """Remove a value and return it; None if there is none."""
        return self._values.pop(key, None)

    def workspace_value(self, key: str, workspace: str) -> dict[str, Any]:
        """Return the part of a value that was saved for one workspace."""
        return dict(self._by_workspace(key)).get(workspace, {})

    def set_workspace_value(self, key: str, workspace: str, value: Mapping[str, Any]) -> None:
        """Save a value for one workspace, and drop those of the workspaces that were changed longest ago."""
        others = [(path, kept) for path, kept in self._by_workspace(key) if path != workspace]
        self._values[key] = [[path, kept] for path, kept in [*others, (workspace, dict(value))][-MOST_RECENT:]]

    def rename_workspace(self, path: str, renamed: str) -> None:
        """Keep what was saved for a workspace when its file is renamed."""
        for key in [key for key in self._values if key.endswith(VIEW_STATE)]:
            known = self._by_workspace(key)
            self._values[key] = [[renamed if place == path else place, kept] for place, kept in known]

    def _by_workspace(self, key: str) -> list[tuple[str, dict[str, Any]]]:
        """Return what is saved under a key by workspace, the one changed last at the end."""
        found: list[tuple[str, dict[str, Any]]] = []
        for one in self.get(key, []):
            match one:
                case [str(path), dict(kept)]:
                    found.append((path, kept))
        return found

    def notices(self) -> list[str]:
        """Return notices about reading the settings, once."""
        aside, self.set_aside = self.set_aside, None
        return [f"The settings of the window could not be read. They were set aside as {aside}."] if aside else []

    def values_without(self, keys: Collection[str]) -> dict[str, Any]:
        """Return all values but those of these keys."""
        return {key: value for key, value in self._values.items() if key not in keys}

    def replace_all_but(self, keys: Collection[str], values: Mapping[str, Any]) -> None:
        """Replace all values but those of these keys."""
        self._values = {key: value for key, value in self._values.items() if key in keys} | dict(values)

    def save(self) -> None:
        """Write the file in one step; a disk error is ignored, because the window works without it."""
        if self.file is None:
            return
        from mcp_tef import tighten, write_private

        with contextlib.suppress(OSError):
            text = json.dumps(self._values, indent=1, sort_keys=True)
            write_private(self.file, text.encode(), durable=False)
            tighten(self.file.parent)

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
        from mcp_tef import rename

        try:
            rename(file, spoilt)
        except OSError:
            return {}
        self.set_aside = spoilt
        return {}


class Recent:
    """The workspaces that were opened last, the latest first."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def paths(self) -> list[Path]:
        """Return the paths of the workspaces."""
        known = self._settings.get("workspaces", [])
        return [Path(name) for name in known if isinstance(name, str) and name.isprintable()][:MOST_RECENT]

    def add(self, path: Path) -> None:
        """Put an opened workspace first."""
        self._set([path, *(other for other in self.paths() if other != path)])

    def remove(self, path: Path) -> None:
        """Remove a workspace from the list."""
        self._set([other for other in self.paths() if other != path])

    def replace(self, path: Path, other: Path) -> None:
        """Replace the path of a renamed workspace."""
        self._settings.rename_workspace(str(path), str(other))
        self._set([other if known == path else known for known in self.paths() if known != other])

    def _set(self, paths: list[Path]) -> None:
        self._settings.set("workspaces", [str(path) for path in paths[:MOST_RECENT]])


SIZES: Final = (80, 90, 100, 110, 125, 150, 175, 200)
NORMAL: Final = 100
KEY: Final = "window.text_size"
QUIET_MS: Final = 250


class TextSizeSetting(QObject):
    """The text size in percent. `changed` is called once, when the user stops changing it."""

    def __init__(self, settings: Settings, changed: Callable[[], object], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._applied = NORMAL
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(changed)

    def percent(self) -> int:
        """Return the chosen size."""
        return self._settings.get(KEY, NORMAL, lambda value: value in SIZES)

    def choose(self, percent: int) -> None:
        """Save a size, for the next time that the window is opened."""
        if percent != self.percent():
            self._settings.set(KEY, percent)
            self._settings.save()
            self._timer.start()

    def apply(self) -> None:
        """Apply the chosen size to everything that is built from now on."""
        self._applied = self.percent()
        theme().set_text_size(self._applied)

    def is_reopening_due(self) -> bool:
        """Return True if the window shows another size than the chosen one."""
        return self._applied != self.percent()

    def commands(self) -> list[Command]:
        """Return the commands that change the size."""
        choices = (
            ("larger", "Make text larger", "Ctrl++", "Ctrl+=", partial(self._step, 1)),
            ("smaller", "Make text smaller", "Ctrl+-", "", partial(self._step, -1)),
            ("normal", "Make text as large as usual", "Ctrl+0", "", partial(self.choose, NORMAL)),
        )
        return [Command(id=f"text.{name}", text=text, keys=keys, other_keys=other, do=do)
                for name, text, keys, other, do in choices]  # fmt: skip

    def _step(self, by: int) -> None:
        place = SIZES.index(self.percent()) + by
        self.choose(SIZES[max(0, min(len(SIZES) - 1, place))])
