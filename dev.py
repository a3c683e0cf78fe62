#!/usr/bin/env python3
"""Sets this project up and runs it, with nothing but a Python: `python3 dev.py run|test|check|audit|bench|…`.

The first start makes `.venv` from the hash-locked `requirements.lock` and, as root on Debian, installs
the system libraries that the window needs; later starts find the environment as it is and add nothing.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
LOCK = ROOT / "requirements.lock"
PACKAGING = ROOT / "packaging"
AUDIT_LOCK = PACKAGING / "audit" / LOCK.name
ADVISORIES = "https://api.osv.dev/v1/query"
# Advisories that do not apply here: {id: "YYYY-MM-DD: the reason"}.
ACCEPTED_ADVISORIES: dict[str, str] = {}
PACKAGING_TOOLS = {
    "objdump": "binutils",
    "makensis": "nsis",
    "Xvfb": "xvfb",
    "xdotool": "xdotool",
    "xfwm4": "xfwm4",
    "dbus-daemon": "dbus",
    "/usr/libexec/at-spi-bus-launcher": "at-spi2-core",
}
PROJECT = ROOT / "pyproject.toml"
OLDEST = (3, 11)
PYTHONS = ("python3.13", "python3.12", "python3.11", "python3.14", "python3")
USAGE = """usage: python3 dev.py [--python PYTHON] VERB [ARGUMENTS]

  run     open the window; with no display, evaluate the sample in the terminal
  test    run every test (arguments go to pytest)
  check   formatting, lint, types and import contracts
  audit   look the locked libraries up in a database of advisories (argument: the address of another one)
  bench   run the benchmarks (arguments: names of some of them)
  shots   take pictures of every screen (arguments: a folder, then names of some screens)
  package build the installers for this system (arguments: names of some steps)

--python PYTHON uses that interpreter, in an environment of its own."""

LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb-glx.so.0": "libxcb-glx0",
}
FONTS = Path("/usr/share/fonts")


class SetupError(Exception):
    """The set-up cannot go on; the text says what to do."""


def main(arguments: list[str]) -> int:
    """Do one verb; the exit code."""
    python, arguments = _chosen_python(arguments)
    verbs = {"run": run, "test": test, "check": check, "audit": audit}
    verbs |= {"bench": bench, "shots": shots, "package": package}
    if not arguments or arguments[0] not in verbs:
        print(USAGE)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    database = (*arguments[1:], ADVISORIES)[0]
    if arguments[0] == "audit" and not _answers(database):
        return _not_audited(database)
    try:
        locks = {"package": PACKAGING / LOCK.name, "audit": AUDIT_LOCK}
        environment = prepare(python, locks.get(arguments[0], LOCK))
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    return verbs[arguments[0]](environment, arguments[1:])


def _chosen_python(arguments: list[str]) -> tuple[str, list[str]]:
    if len(arguments) > 1 and arguments[0] == "--python":
        return arguments[1], arguments[2:]
    return "", arguments


def run(environment: Path, arguments: list[str]) -> int:
    """Open the window, or evaluate the sample where there is no display."""
    if has_display():
        return _become([str(environment), "-m", "app", *arguments])
    print("There is no display here, so the sample is evaluated in the terminal instead.", flush=True)
    return _become([str(environment), "-m", "mcp_tef", "demo", *arguments])


def test(environment: Path, arguments: list[str]) -> int:
    """Run the tests: all of them on every core, or what pytest is told."""
    workers = str(min(os.cpu_count() or 2, 8))
    return _call([str(environment), "-m", "pytest", *(arguments or ["-q", "-n", workers, "--dist", "worksteal"])])


def check(environment: Path, _: list[str]) -> int:
    """Run every check, and fail if one of them does."""
    tools = environment.parent
    commands = (
        [str(tools / "ruff"), "check", "."],
        [str(tools / "ruff"), "format", "--check", "."],
        [str(environment), "-m", "mypy"],
        [str(tools / "lint-imports"), "--no-logo"],
    )
    return max([_announced(command) for command in commands])


def audit(environment: Path, arguments: list[str]) -> int:
    """List the known vulnerabilities of all locked libraries; 1 where there are any that were not accepted."""
    database = (*arguments, ADVISORIES)[0]
    locks = [LOCK, PACKAGING / LOCK.name, AUDIT_LOCK]
    pins = sorted({pin for lock in locks for pin in re.findall(r"^[\w.-]+==[^ ;\\]+", lock.read_text("utf-8"), re.M)})
    found: list[str] = []
    for group in without_repeated_names(pins):
        with tempfile.TemporaryDirectory() as folder:
            listed = Path(folder, "requirements.txt")
            listed.write_text("\n".join(group), "utf-8")
            command = ["pip_audit", "-s", "osv", "--osv-url", database, "--disable-pip", "--no-deps", "-r", str(listed)]
            options = ["-f", "json", "--progress-spinner", "off", "--cache-dir", str(Path(folder, "cache"))]
            done = subprocess.run([str(environment), "-m", *command, *options], capture_output=True, text=True)
        if not done.stdout.strip():
            print(done.stderr.strip().rpartition("\n")[2], file=sys.stderr)
            return 1 if _answers(database) else _not_audited(database)
        found += _vulnerabilities(json.loads(done.stdout))
    for line in found:
        print(line)
    print(f"{len(pins)} locked libraries were looked up; {len(found) or 'no'} advisories apply to them.")
    return 1 if found else 0


def _vulnerabilities(report: dict[str, Any]) -> list[str]:
    return [
        f"{library['name']} {library['version']}: {one['id']}, "
        f"fixed in {', '.join(one['fix_versions']) or 'no version'}. {one['description']}"
        for library in report["dependencies"]
        for one in library.get("vulns", [])
        if not ACCEPTED_ADVISORIES.keys() & {one["id"], *one["aliases"]}
    ]


def without_repeated_names(pins: list[str]) -> list[list[str]]:
    """The pins in groups in which no name occurs twice: a lock may hold a version for each Python."""
    groups: list[dict[str, str]] = []
    for pin in pins:
        name = pin.partition("==")[0]
        group = next((group for group in groups if name not in group), None)
        if group is None:
            groups.append(group := {})
        group[name] = pin
    return [list(group.values()) for group in groups]


def _answers(database: str) -> bool:
    """Return True if a database of advisories can be reached: it answers a question with a JSON object."""
    question = json.dumps({"package": {"name": "pip", "ecosystem": "PyPI"}, "version": "1.0"}).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(database, data=question), timeout=20) as answer:
            return isinstance(json.load(answer), dict)
    except (OSError, ValueError):
        return False


def _not_audited(database: str) -> int:
    print(f"The locked libraries were not audited: no database of advisories can be reached at {database}.")
    return 0


def bench(environment: Path, names: list[str]) -> int:
    """Run the benchmarks one after the other, and fail if one of them misses its mark."""
    files = sorted((ROOT / "tests" / "benchmarks").glob("*.py"))
    benchmarks = [file for file in files if not file.stem.endswith("_roles")]
    if unknown := [name for name in names if name not in {file.stem for file in benchmarks}]:
        known = ", ".join(file.stem for file in benchmarks)
        print(f"There is no benchmark called {', '.join(unknown)}; there are: {known}.", file=sys.stderr)
        return 2
    chosen = [file for file in benchmarks if not names or file.stem in names]
    return max(_announced([str(environment), str(file)]) for file in chosen)


def shots(environment: Path, arguments: list[str]) -> int:
    """Take pictures of the real window, offscreen, into a folder."""
    return _call([str(environment), "-m", "tests.shots", *arguments])


def package(environment: Path, steps: list[str]) -> int:
    """Build what is installed, with tools that only this needs, in an environment of their own."""
    missing = [package for tool, package in PACKAGING_TOOLS.items() if shutil.which(tool) is None]
    if missing and sys.platform == "linux" and can_apt():
        apt_install(missing)
    path = os.pathsep.join((str(environment.parent), os.environ.get("PATH", "")))
    return _call([str(environment), str(PACKAGING / "build.py"), *steps], PATH=path)


def _announced(command: list[str]) -> int:
    words = [Path(command[0]).stem, *(part.replace(str(ROOT) + os.sep, "") for part in command[1:])]
    print("\n→ " + " ".join(words), flush=True)
    return _call(command)


def _call(command: list[str], **surroundings: str) -> int:
    try:
        return subprocess.call(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT), **surroundings})
    except KeyboardInterrupt:
        return 130


def _become(command: list[str]) -> int:
    if os.name == "posix":
        sys.stdout.flush()
        os.execv(command[0], command)
    return subprocess.call(command)


def has_display() -> bool:
    """Whether a window can be shown."""
    if not sys.platform.startswith("linux") or os.environ.get("QT_QPA_PLATFORM") or os.environ.get("WAYLAND_DISPLAY"):
        return True
    if not os.environ.get("DISPLAY"):
        return False
    try:
        x11 = ctypes.CDLL("libX11.so.6")
    except OSError:
        return False
    x11.XOpenDisplay.restype = ctypes.c_void_p
    return bool(x11.XOpenDisplay(None))


def prepare(python: str = "", lock: Path = LOCK) -> Path:
    """The interpreter of an environment that has what the lock says; makes or mends it where needed."""
    names = (".venv", "" if lock == LOCK else lock.parent.name, Path(python).name)
    folder = ROOT / "-".join(name for name in names if name)
    environment = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "set-up-for"
    wanted = hashlib.sha256(lock.read_bytes() + PROJECT.read_bytes()).hexdigest()
    if environment.exists() and stamp.exists() and stamp.read_text("utf-8") == wanted:
        return environment
    offer_libraries()
    if not _works(environment, "import pip"):
        make_environment(python or find_python(), folder)
    install(environment, lock)
    stamp.write_text(wanted, "utf-8")
    return environment


def find_python() -> str:
    """An interpreter that is new enough: this one if it is, else the first found on PATH."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for name in PYTHONS:
        found = shutil.which(name)
        if found and _works(found, f"import sys; sys.exit(sys.version_info < {OLDEST})"):
            return found
    raise SetupError("Python 3.11 or newer is needed; install it from python.org or your system's packages.")


def _works(python: str | Path, code: str) -> bool:
    try:
        return subprocess.call([str(python), "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def make_environment(python: str, folder: Path) -> None:
    """Make the virtual environment; Debian keeps the means for it in a package of its own."""
    if not _works(python, f"import sys; sys.exit(sys.version_info < {OLDEST})"):
        raise SetupError(f"{python} is not a Python 3.11 or newer; give --python one that is.")
    if not _works(python, "import ensurepip, venv"):
        if not can_apt():
            raise SetupError("This Python cannot make environments; install python3-venv, then start again.")
        apt_install(["python3-venv"])
    print(f"Making the environment in {folder.name} (once; it takes a few minutes) …", flush=True)
    _must([python, "-m", "venv", "--clear", str(folder)], "The environment could not be made")


def install(environment: Path, lock: Path = LOCK) -> None:
    """Install the locked libraries, checked by hash, and this project itself in place."""
    pip = [str(environment), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "-qq", "--no-deps"]
    if os.name == "posix" and os.geteuid() == 0:
        pip.append("--root-user-action=ignore")
    print("Installing the locked libraries …", flush=True)
    _must([*pip, "--require-hashes", "-r", str(lock)], "The libraries could not be installed")
    if lock != AUDIT_LOCK:
        _must([*pip, "--no-build-isolation", "-e", str(ROOT)], "The project could not be installed")


def _must(command: list[str], otherwise: str) -> None:
    if subprocess.call(command, cwd=ROOT) != 0:
        raise SetupError(f"{otherwise}; the lines above say why.")


def offer_libraries() -> None:
    """On Linux: install the system libraries that are missing, or name them in one sentence."""
    missing = missing_packages() if sys.platform.startswith("linux") else []
    if not missing:
        return
    if can_apt():
        apt_install(missing)
    else:
        print(f"The window needs system libraries; install them with: sudo apt-get install {' '.join(missing)}")


def missing_packages() -> list[str]:
    """Debian's names of the packages whose library cannot be loaded here."""
    missing = [package for library, package in LIBRARIES.items() if not _loads(library)]
    return missing if any(FONTS.rglob("*.ttf")) else [*missing, "fonts-dejavu-core"]


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def can_apt() -> bool:
    """Whether packages can be installed without asking: root, where apt-get is."""
    return os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install(packages: list[str]) -> None:
    """Install Debian packages."""
    print(f"Installing {' '.join(packages)} …", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", *packages]):
        if subprocess.call(["apt-get", *command], env=quiet, stdout=subprocess.DEVNULL) != 0:
            raise SetupError(f"apt-get {command[0]} failed; the lines above say why.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
