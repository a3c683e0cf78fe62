"""Installs the .deb, and then the .rpm, on a bare Debian, uses it there, takes it away, and looks at what is left.

As root, where debootstrap and rpm are: `python3 dev.py package bare_root`. The bare Debian is kept in `build/`.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from display import Display, desktop
from journey import JOURNEYS, Room
from keyboard import Keyboard
from project import BUILD, DIST, MACHINE, NAME, PACKAGE, VERSION

ROOT = BUILD / "bare-root"
USER, NUMBER = "designer", 1000
HOME = f"/home/{USER}"
OWN = (
    f"{HOME}/.local/share/{NAME}/",
    f"{HOME}/.config/{NAME}/",
    f"{HOME}/.local/state/{NAME}/",
    f"{HOME}/.cache/{NAME}/",
)
BOOKS = ("/var/lib/dpkg/", "/var/lib/rpm/", "/var/log/", "/var/cache/", "/var/lib/apt/")
NOT_FILES = ("/proc/", "/dev/", "/tmp/")
RPM = ("rpm", "--root", str(ROOT), "--dbpath", "/var/lib/rpm")
SYSTEM = "what-this-debian-has"
SUITE = "bookworm"


def try_packages() -> None:
    """Walk the whole way with both, and fail where anything outside the user's own folders is left."""
    _make()
    with _mounted({"/proc": "proc", "/dev": "dev", "/tmp/.X11-unix": "tmp/.X11-unix"}):
        deb = DIST / f"{PACKAGE}_{VERSION}_{MACHINE}.deb"
        needs = _done("dpkg-deb", "-f", str(deb), "Depends").strip()
        _inside("apt-get", "-q", "satisfy", "-y", "--no-install-recommends", f"{needs}, fonts-dejavu-core")
        shutil.copy(deb, ROOT / "tmp")
        _inside("dpkg", "--purge", PACKAGE)
        _try(deb, lambda: _inside("dpkg", "--install", f"/tmp/{deb.name}"), lambda: _inside("dpkg", "--purge", PACKAGE))
        rpm = deb.with_suffix(".rpm")
        _start_books_of_rpm()
        _try(rpm, lambda: _done(*RPM, "--install", str(rpm)), lambda: _done(*RPM, "--erase", PACKAGE))


def _make() -> None:
    if not (ROOT / "etc" / "passwd").is_file():
        _done("debootstrap", "--variant=minbase", SUITE, str(ROOT))
        _done("chroot", str(ROOT), "useradd", "-u", str(NUMBER), "-m", USER)


def _start_books_of_rpm() -> None:
    """RPM's database, with a package that stands for the libraries that this Debian really has."""
    shutil.rmtree(ROOT / "var" / "lib" / "rpm", ignore_errors=True)
    _done(*RPM, "--initdb")
    found = {line.split()[0] for line in _done("chroot", str(ROOT), "ldconfig", "-p").splitlines()[1:]}
    versions = _done("objdump", "-p", str(ROOT / "lib" / f"{os.uname().machine}-linux-gnu" / "libc.so.6")).split()
    provided = [f"{name}()" for name in found], [f"libc.so.6({one})" for one in versions if one.startswith("GLIBC_2")]
    names = ["/bin/sh", *(f"{one}(64bit)" for part in provided for one in part)]
    plan = {"name": SYSTEM, "arch": MACHINE, "version": "1", "maintainer": SYSTEM, "description": SYSTEM}
    (BUILD / "system.json").write_text(json.dumps({**plan, "provides": sorted(set(names))}), "utf-8")
    made = BUILD / f"{SYSTEM}.rpm"
    _done("nfpm", "package", "-f", str(BUILD / "system.json"), "-p", "rpm", "-t", str(made))
    _done(*RPM, "--install", str(made))


@contextmanager
def _mounted(places: dict[str, str]) -> Iterator[None]:
    """Mount the folders that every running system has, and the sockets of this desktop, inside."""
    with ExitStack() as mounted:
        for source, place in places.items():
            (ROOT / place).mkdir(parents=True, exist_ok=True)
            _done("mount", "--bind", source, str(ROOT / place))
            mounted.callback(_done, "umount", "-l", str(ROOT / place))
        yield


def _try(file: Path, install: Callable[[], object], remove: Callable[[], object]) -> None:
    """Install, walk every journey as an ordinary user, remove; nothing but the user's own work may be left."""
    shutil.rmtree(ROOT / HOME[1:])
    _inside("install", "-d", "-o", USER, "-g", USER, HOME)
    before = _files()
    install()
    print(f"  {file.name}: {len(_files() - before)} files", flush=True)
    for journey in JOURNEYS:
        with desktop(NUMBER) as shown_on, _mounted({shown_on.folder: shown_on.folder[1:]}):
            print(f"    {journey(_room(shown_on), Keyboard(shown_on))}", flush=True)
        own = [file for file in _files() - before if file.startswith(HOME) and not file.startswith(OWN)]
        shutil.rmtree(ROOT / HOME[1:] / ".local" / "share" / NAME)
        if own:
            raise SystemExit(f"Using it left what it should not: {own}")
    remove()
    left = sorted(file for file in _files() - before if not file.startswith((*BOOKS, *OWN)))
    if left or before - _files():
        raise SystemExit(f"Removing left or took what it should not: {left or sorted(before - _files())[:20]}")
    print("    removed; nothing is left but the user's own", flush=True)


def _room(shown_on: Display) -> Room:
    as_user = ["chroot", f"--userspec={NUMBER}:{NUMBER}", str(ROOT), "env", f"HOME={HOME}", "PATH=/usr/bin:/bin"]
    return Room([*as_user, f"{NAME}-desktop"], [*as_user, NAME], ROOT / HOME[1:], shown_on, called=HOME)


def _inside(*command: str) -> str:
    return _done("chroot", str(ROOT), *command)


def _done(*command: str) -> str:
    """Return the output of a command; stop everything if it fails."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    done = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def _files() -> set[str]:
    found = (f"/{Path(folder, name).relative_to(ROOT)}" for folder, _, names in os.walk(ROOT) for name in names)
    return {file for file in found if not file.startswith(NOT_FILES)}


if __name__ == "__main__":
    try_packages()
