"""Runs the Windows installer around a stand-in under Wine: install, a newer version over it, remove, silently."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from display import display
from project import NAME, VERSION
from windows import make_stand_in

OLDER = "0.0.0"
PROGRAMS = f"AppData/Local/Programs/{NAME}"
SHORTCUT = f"AppData/Roaming/Microsoft/Windows/Start Menu/Programs/{NAME}.lnk"
WORK = f"AppData/Local/{NAME}/workspace.db"
INSTALLED = {f"{NAME}.exe", f"{NAME}-desktop.exe", "uninstall.exe", "_internal/base_library.zip"}
KEYS = (
    rf"Software\Microsoft\Windows\CurrentVersion\Uninstall\{NAME}",
    rf"Software\Classes\.{NAME}",
    rf"Software\Classes\{NAME}.workspace\shell\open\command",
)


def try_installer() -> None:
    """Go the whole way; what is not as it should be ends it."""
    if shutil.which("wine") is None:
        print("wine is not here (apt-get install wine); the Windows installer was compiled, not run.")
        return
    with tempfile.TemporaryDirectory() as folder, display() as shown_on:
        machine = Machine(Path(folder), shown_on.name)
        (old,) = machine.install(OLDER, "_internal/of_the_older.dll")
        assert old == "_internal/of_the_older.dll", old
        machine.write(WORK)
        assert machine.install(VERSION) == set(), "the older version left something"
        assert machine.is_there(SHORTCUT), "there is no entry in the start menu"
        said = machine.registry()
        assert [key for key in KEYS if key not in said] == [], said[-4000:]
        assert f'"DisplayVersion"="{VERSION}"' in said
        assert rf"{NAME}-desktop.exe\" \"%1\"" in said
        machine.run(machine.home / PROGRAMS / "uninstall.exe")
        left = [key for key in KEYS if key in machine.registry()]
        assert (left, machine.is_there(PROGRAMS), machine.is_there(SHORTCUT)) == ([], False, False)
        assert machine.is_there(WORK), "the user's work is gone"
    print(f"  installed under Wine, over {OLDER} too, and removed; the user's work stayed")


class Machine:
    """A Windows with a user who has nothing yet."""

    def __init__(self, folder: Path, shown_on: str) -> None:
        self._folder = folder
        self._prefix = folder / "prefix"
        quiet = {"WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe="}
        own = {"WINEPREFIX": str(self._prefix), "HOME": str(folder), "DISPLAY": shown_on}
        self._environment = {"PATH": os.environ["PATH"], "USER": "designer", **quiet, **own}

    @property
    def home(self) -> Path:
        """The folder of the user."""
        return self._prefix / "drive_c" / "users" / "designer"

    def run(self, program: Path) -> None:
        """Run a program silently, and wait until it and all that it started have ended."""
        for command in (["wine", str(program), "/S"], ["wineserver", "-w"]):
            subprocess.run(command, env=self._environment, check=True, stderr=subprocess.DEVNULL)

    def install(self, version: str, *more: str) -> set[str]:
        """Install a version; the files that are there beside those that every version has."""
        setup = self._folder / f"setup-{version}.exe"
        make_stand_in(setup, version, more)
        self.run(setup)
        place = self.home / PROGRAMS
        found = {file.relative_to(place).as_posix() for file in place.rglob("*") if file.is_file()}
        assert found >= INSTALLED, found
        return found - INSTALLED

    def write(self, name: str) -> None:
        """Let the user make a file."""
        (self.home / name).parent.mkdir(parents=True)
        (self.home / name).write_bytes(b"work")

    def is_there(self, name: str) -> bool:
        """Whether the user has a file or folder."""
        return (self.home / name).exists()

    def registry(self) -> str:
        """Return this user's registry as text."""
        return (self._prefix / "user.reg").read_text("utf-8").replace("\\\\", "\\")
