"""Commands as data: what a user can do, with which keys, when; menus, palette and shortcuts page come from them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


def always() -> bool:
    """For commands that need nothing."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """`id` is stable, `text` starts with a verb, `keys` in Qt's notation, with `other_keys` for a second habit.

    `needs` says whether it can be done now, and `unless` what to do first where it cannot; `now` is a text that
    says more than `text` while things are as they are.
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
    def words(self) -> str:
        """The text as it is now."""
        return self.now() if self.now else self.text

    @property
    def shown_keys(self) -> str:
        """Both ways to press it."""
        return f"{self.keys} or {self.other_keys}" if self.other_keys else self.keys


class Commands:
    """All commands there are now; each owner replaces its own."""

    def __init__(self) -> None:
        self._by_owner: dict[str, tuple[Command, ...]] = {}
        self._listeners: list[Callable[[], None]] = []

    def put(self, owner: str, commands: Sequence[Command]) -> None:
        """These are the owner's commands from now on."""
        self._by_owner[owner] = tuple(commands)
        for listener in self._listeners:
            listener()

    def watch(self, listener: Callable[[], None]) -> None:
        """Hear of every change."""
        self._listeners.append(listener)

    def unwatch(self, listener: Callable[[], None]) -> None:
        """Hear of no more."""
        self._listeners.remove(listener)

    def all(self) -> tuple[Command, ...]:
        """Every command, in the order of their owners."""
        return tuple(command for commands in self._by_owner.values() for command in commands)

    def possible(self) -> tuple[Command, ...]:
        """Those that can be done now."""
        return tuple(command for command in self.all() if command.needs())

    def groups(self) -> dict[str, tuple[Command, ...]]:
        """Commands that have keys, by group, for the shortcuts page."""
        found: dict[str, tuple[Command, ...]] = {}
        for command in self.all():
            if command.keys:
                found[command.group] = (*found.get(command.group, ()), command)
        return found


def find(commands: Iterable[Command], typed: str) -> list[Command]:
    """The commands that hold every typed word."""
    words = typed.casefold().split()
    return [command for command in commands if all(word in command.text.casefold() for word in words)]
