"""Commands as data; menus, palette and shortcuts page come from them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


def always() -> bool:
    """Return True, for commands that can always be used."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of the user.

    `id` is stable, `text` starts with a verb, `keys` and `other_keys` are in Qt's notation. `needs` returns True if the
    command can be used now; `unless` says what to do first if not. `now` returns a more specific text than `text`.
    """

    id: str
    text: str
    do: Callable[[], object]
    keys: str = ""
    other_keys: str = ""
    needs: Callable[[], bool] = always
    unless: str = ""
    now: Callable[[], str] | None = None
    group: str = "Everywhere"

    @property
    def current_text(self) -> str:
        """The text that fits the present state."""
        return self.now() if self.now else self.text

    @property
    def shown_keys(self) -> str:
        """Both shortcuts, as one text."""
        return f"{self.keys} or {self.other_keys}" if self.other_keys else self.keys


class Commands:
    """All commands that exist now; each owner replaces its own."""

    def __init__(self) -> None:
        self._by_owner: dict[str, tuple[Command, ...]] = {}
        self._listeners: list[Callable[[], None]] = []

    def put(self, owner: str, commands: Sequence[Command]) -> None:
        """Replace the owner's commands."""
        self._by_owner[owner] = tuple(commands)
        for listener in self._listeners:
            listener()

    def watch(self, listener: Callable[[], None]) -> None:
        """Call a listener at every change."""
        self._listeners.append(listener)

    def all(self) -> tuple[Command, ...]:
        """Return every command, in the order of their owners."""
        return tuple(command for commands in self._by_owner.values() for command in commands)

    def possible(self) -> tuple[Command, ...]:
        """Return the commands that can be used now."""
        return tuple(command for command in self.all() if command.needs())

    def groups(self) -> dict[str, tuple[Command, ...]]:
        """Return the commands that have keys, by group, for the shortcuts page."""
        found: dict[str, tuple[Command, ...]] = {}
        for command in self.all():
            if command.keys:
                found[command.group] = (*found.get(command.group, ()), command)
        return found


def find(commands: Iterable[Command], typed: str) -> list[Command]:
    """Return the commands that contain every typed word."""
    words = typed.casefold().split()
    return [command for command in commands if all(word in command.text.casefold() for word in words)]
