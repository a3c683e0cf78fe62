"""A desktop that nobody sees: keys go in, and what is there can be read, as pixels and as a screen reader reads it."""

import mmap
import os
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from project import NAME

if TYPE_CHECKING:
    from screen_reader import ScreenReader

HEADER_BYTES = 4096
SIZE = (1400, 900)
NEEDS = ("Xvfb", "xdotool", "xfwm4", "dbus-daemon", "/usr/libexec/at-spi-bus-launcher")


class Display:
    """One Xvfb, by its name and the file that holds its pixels.

    If it has a desktop, `session` is the address of its bus, `folder` is where its sockets are, and `reader` reads it.
    """

    reader: "ScreenReader"

    def __init__(self, name: str, pixels: Path) -> None:
        self.name = name
        self.session = self.folder = ""
        self._pixels = pixels

    def environment(self) -> dict[str, str]:
        """Return the variables with which a program opens its window on this display only."""
        bus = {"DBUS_SESSION_BUS_ADDRESS": self.session} if self.session else {}
        return {"DISPLAY": self.name, "QT_QPA_PLATFORM": "xcb", **bus}

    def press(self, *keys: str) -> None:
        """Press keys, such as `ctrl+r`, in whatever window has the keyboard."""
        self._tool("key", "--clearmodifiers", *keys)

    def type(self, text: str) -> None:
        """Type a text."""
        self._tool("type", "--clearmodifiers", "--delay", "2", text)

    def popups(self) -> list[str]:
        """Return the open menus and lists: windows of the app that no window manager has framed."""
        search = ["xdotool", "search", "--onlyvisible", "--maxdepth", "1", "--class", NAME]
        done = subprocess.run(search, env=self._surroundings(), capture_output=True, text=True, check=False)
        return done.stdout.split()

    def await_manager(self, limit: float = 30.0) -> None:
        """Wait until windows are managed; one that opened before would not be given the keyboard."""
        deadline = time.monotonic() + limit
        asked = ["xdotool", "get_num_desktops"]
        while subprocess.run(asked, env=self._surroundings(), capture_output=True, check=False).returncode != 0:
            if time.monotonic() > deadline:
                raise SystemExit("The window manager never began.")
            time.sleep(0.05)

    def _tool(self, *arguments: str) -> None:
        subprocess.run(["xdotool", *arguments], env=self._surroundings(), check=True)

    def _surroundings(self) -> dict[str, str]:
        return {**os.environ, "DISPLAY": self.name}

    def seconds_to_paint(self, limit: float = 30.0) -> float:
        """How long it takes until anything is painted on the empty display."""
        began = time.monotonic()
        with self._pixels.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as memory:
            while not any(memory[HEADER_BYTES :: 4 * 97]):
                if time.monotonic() - began > limit:
                    raise SystemExit(f"Nothing was painted within {limit:g} seconds.")
                time.sleep(0.005)
        return time.monotonic() - began

    def save_picture(self, file: Path) -> None:
        """Keep a picture of all that is shown."""
        from PIL import Image

        content = self._pixels.read_bytes()
        head, colours, line = (struct.unpack_from(">I", content, place)[0] for place in (0, 76, 48))
        Image.frombuffer("RGB", SIZE, content[head + 12 * colours :], "raw", "BGRX", line).save(file)


@contextmanager
def display() -> Iterator[Display]:
    """Run a display of its own, and end it afterwards."""
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        size = f"{SIZE[0]}x{SIZE[1]}x24"
        command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", size, "-fbdir", folder, "-nolisten", "tcp"]
        with _started(command, pass_fds=[writing]):
            os.close(writing)
            with os.fdopen(reading) as said:
                name = f":{said.readline().strip()}"
            yield Display(name, Path(folder, "Xvfb_screen0"))


@contextmanager
def desktop(user: int | None = None) -> Iterator[Display]:
    """Run a display with a window manager and a user's bus, on which a screen reader works."""
    from screen_reader import ScreenReader

    with tempfile.TemporaryDirectory() as folder, display() as shown_on:
        shown_on.folder = folder
        if user is not None:
            os.chown(folder, user, user)
        home = {"PATH": os.environ["PATH"], "HOME": folder, "XDG_RUNTIME_DIR": folder, "DISPLAY": shown_on.name}
        bus = ["dbus-daemon", "--session", "--nofork", f"--address=unix:path={folder}/bus", "--print-address"]
        with _started(bus, env=home, user=user, stdout=subprocess.PIPE) as started:
            assert started.stdout
            with started.stdout as said:
                shown_on.session = said.readline().decode().strip()
            surroundings = {**home, "DBUS_SESSION_BUS_ADDRESS": shown_on.session, "NO_AT_BRIDGE": "1"}
            with _being(user):
                shown_on.reader = ScreenReader(shown_on.session)
            with closing(shown_on.reader), _started(["xfwm4", "--compositor=off"], env=surroundings, user=user):
                shown_on.await_manager()
                yield shown_on


@contextmanager
def _being(user: int | None) -> Iterator[None]:
    """Be a user for a moment: a bus lets nobody else in, not even the superuser."""
    if user is not None:
        os.setresuid(user, user, 0)
    try:
        yield
    finally:
        if user is not None:
            os.setresuid(0, 0, 0)


@contextmanager
def _started(command: list[str], **how: Any) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program in the background, and end it afterwards."""
    program = subprocess.Popen(command, stderr=subprocess.DEVNULL, **how)
    try:
        yield program
    finally:
        program.terminate()
        program.wait(10)
