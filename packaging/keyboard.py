"""Somebody at a real window with a keyboard and no mouse, who knows of it only what a screen reader says."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from display import Display
from screen_reader import Thing

PATIENCE = 60.0
LOOK_EVERY_S = 0.02
MOST_TABS = 120


class Keyboard:
    """Presses keys and waits for what comes of them. With a folder, a picture is kept of each step."""

    def __init__(self, desk: Display, pictures: Path | None = None) -> None:
        self._desk = desk
        self._pictures = pictures
        self._taken = 0

    def until(self, holds: Callable[[], object], what: str) -> None:
        """Wait until something holds."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > deadline:
                self.keep("stuck")
                raise SystemExit(f"It never came to this: {what}. The window says: {self._names()}")
            time.sleep(LOOK_EVERY_S)

    def keep(self, name: str) -> None:
        """Keep a picture of the screen."""
        if self._pictures:
            self._taken += 1
            self._pictures.mkdir(parents=True, exist_ok=True)
            self._desk.save_picture(self._pictures / f"{self._taken:02}-{name.replace(' ', '-')}.png")

    def focus(self) -> Thing | None:
        """Return the element that has the keyboard focus."""
        return self._desk.reader.focus()

    def press(self, *keys: str) -> None:
        """Press keys, such as `ctrl+r`, once anything has the keyboard at all."""
        self.until(self.focus, "something has the keyboard")
        self._desk.press(*keys)

    def see(self, *texts: str) -> None:
        """Wait until each of these can be read."""
        for text in texts:
            self.until(partial(self._can_read, text), f"{text!r} can be read")

    def tab_to(self, name: str) -> None:
        """Press Tab until something so called has the keyboard."""
        passed: list[str] = []
        for _ in range(MOST_TABS):
            passed.append(self._step("Tab"))
            if name in passed[-1]:
                return
        self.keep("lost")
        raise SystemExit(f"Tab never leads to {name!r}; it leads to {list(dict.fromkeys(passed))}")

    def push(self, name: str) -> None:
        """Tab to a button and push it."""
        self.see(name)
        self.tab_to(name)
        self.press("space")

    def type(self, text: str) -> None:
        """Type text, in place of what is there, and see that it is there."""
        self.press("ctrl+a")
        self._desk.type(text)
        self.until(lambda: (field := self.focus()) and self._desk.reader.text(field) == text, f"{text!r} was typed")

    def walk_to(self, wanted: Callable[[str], bool], *keys: str) -> str:
        """Press these keys in turn until what has the keyboard is called as wanted; its name."""
        for key in keys:
            name = self._step(key)
            if wanted(name):
                return name
        self.keep("lost")
        raise SystemExit("What was looked for is nowhere on the way.")

    def pick(self, field: str, words: str) -> None:
        """Find something in the list that a field opens, and take it."""
        self.tab_to(field)
        self.press("space")
        self.until(self._desk.popups, "the list is open")
        self.type(words)
        self.press("Return")
        self.until(lambda: not self._desk.popups(), "the list is closed")

    def choose(self, number: int) -> None:
        """Take an entry of the menu that opens, by its place: no program's menus can be read by their names."""
        self.until(self._desk.popups, "a menu is open")
        self.press(*["Down"] * number, "Return")
        self.until(lambda: not self._desk.popups(), "the menu is closed")

    def save_as(self, file: str, there: Path) -> None:
        """Name a file in the dialog that is open, and wait until it is there."""
        self.until(lambda: (field := self.focus()) and "name" in field.name.lower(), "a name is asked for")
        self.type(file)
        self.press("Return")
        self.until(there.exists, f"{file} is written")

    def _can_read(self, text: str) -> bool:
        return any(text in name for name in self._names())

    def _step(self, key: str) -> str:
        """Press a key that moves the keyboard elsewhere, and give the name of where."""
        before = self._where()
        self.press(key)
        self.until(lambda: self._where() != before, f"{key} leads on from {before[1]!r}")
        return self._where()[1]

    def _where(self) -> tuple[object, str]:
        found = self.focus()
        return (found.reference, found.name) if found else (None, "")

    def _names(self) -> list[str]:
        return [thing.name for thing in self._desk.reader.things() if thing.name]
