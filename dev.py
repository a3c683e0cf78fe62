#!/usr/bin/env python3
"""Set this project up and run it, with nothing but a Python: `python3 dev.py run|test|check|audit|bench|…`.

The first start makes `.venv` from the hash-locked `requirements.lock`. Missing system packages are named first: as
root on Debian they are installed, elsewhere the command to install them is printed. Later starts change nothing.
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
from dataclasses import dataclass, replace
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
USAGE = """usage: python3 dev.py [--python PYTHON] [--skip-system-packages] VERB [ARGUMENTS]

  run       open the window; without a display, evaluate the sample in the terminal
  test      run all tests, or only the fast ones (--fast); other arguments go to pytest
  check     check everything but behavior (arguments: lint, format, types or imports for some of it)
  coverage  run all tests and report the lines that none of them runs
  audit     look up the locked libraries in an advisory database (argument: the address of another one)
  bench     run the benchmarks (arguments: names of some of them)
  shots     take pictures of every screen (arguments: a folder, then names of some screens)
  package   build the installers for this system (arguments: names of some steps)
  missing   list the system packages that are missing here

--python PYTHON          use that interpreter, in an environment of its own
--skip-system-packages   set up without the system packages that are missing"""
PARALLEL = ["-q", "-n", str(min(os.cpu_count() or 2, 8)), "--dist", "worksteal"]
# Without Qt, whose plugin would load it; the settings of that plugin are unknown then.
FAST = ["-p", "no:pytest-qt", "-W", "ignore::pytest.PytestConfigWarning", "-m", "unit and not hypothesis"]

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
SKIP = "\nTo set up without them: python3 dev.py --skip-system-packages VERB"


class SetupError(Exception):
    """A reason why the set-up stopped; the text says what to do."""


@dataclass(frozen=True)
class Setup:
    """Options that come before the verb."""

    python: str = ""
    skip_system_packages: bool = False


def main(arguments: list[str]) -> int:
    """Run one verb and return its exit code."""
    setup, arguments = parse_setup(arguments)
    verbs = {"run": run, "test": test, "check": check, "coverage": coverage, "audit": audit}
    verbs |= {"bench": bench, "shots": shots, "package": package}
    if arguments == ["missing"]:
        print(" ".join(missing_packages()))
        return 0
    if not arguments or arguments[0] not in verbs:
        print(USAGE)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    database = (*arguments[1:], ADVISORIES)[0]
    if arguments[0] == "audit" and not _answers(database):
        return _not_audited(database)
    try:
        locks = {"package": PACKAGING / LOCK.name, "audit": AUDIT_LOCK}
        environment = prepare(setup, locks.get(arguments[0], LOCK))
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    return verbs[arguments[0]](environment, arguments[1:])


def parse_setup(arguments: list[str]) -> tuple[Setup, list[str]]:
    """Split the options before the verb from the verb and its arguments."""
    setup, rest = Setup(), list(arguments)
    while rest:
        if rest[0] == "--python" and len(rest) > 1:
            setup, rest = replace(setup, python=rest[1]), rest[2:]
        elif rest[0] == "--skip-system-packages":
            setup, rest = replace(setup, skip_system_packages=True), rest[1:]
        else:
            break
    return setup, rest


def run(environment: Path, arguments: list[str]) -> int:
    """Open the window, or evaluate the sample where there is no display."""
    if has_display():
        return _become([str(environment), "-P", "-m", "app", *arguments])
    print("There is no display here, so the sample is evaluated in the terminal instead.", flush=True)
    return _become([str(environment), "-P", "-m", "mcp_tef", "demo", *arguments])


def test(environment: Path, arguments: list[str]) -> int:
    """Run all tests on every core, only the fast ones, or those that pytest's arguments name."""
    if "--fast" in arguments:
        arguments = [*PARALLEL, *FAST, *(word for word in arguments if word != "--fast")]
    return _call([str(environment), "-P", "-m", "pytest", *(arguments or PARALLEL)])


def check(environment: Path, names: list[str]) -> int:
    """Run every check, or those that are named, and fail if one of them does."""
    tools = environment.parent
    commands = {
        "lint": [str(tools / "ruff"), "check", "."],
        "format": [str(tools / "ruff"), "format", "--check", "."],
        "types": [str(environment), "-P", "-m", "mypy"],
        "imports": [str(tools / "lint-imports"), "--no-logo"],
    }
    if not set(names) <= set(commands):
        print(f"The checks are: {', '.join(commands)}.", file=sys.stderr)
        return 2
    return max([_announced(command) for name, command in commands.items() if not names or name in names])


def coverage(environment: Path, arguments: list[str]) -> int:
    """Run the tests, report the lines that none of them runs, and fail below the floor in pyproject.toml."""
    measure = [str(environment), "-P", "-m", "coverage"]
    failed = _call([*measure, "erase"]) or _call([*measure, "run", "-m", "pytest", *(arguments or PARALLEL)])
    return max(failed, _call([*measure, "combine", "-q"]), _call([*measure, "report"]))


def audit(environment: Path, arguments: list[str]) -> int:
    """List the known vulnerabilities of all locked libraries, and fail if any is not accepted."""
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
            done = subprocess.run(
                [str(environment), "-I", "-m", *command, *options], capture_output=True, text=True, check=False
            )
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
    """Group pins so that no name repeats within a group: a lock may pin one version per Python."""
    groups: list[dict[str, str]] = []
    for pin in pins:
        name = pin.partition("==")[0]
        group = next((group for group in groups if name not in group), None)
        if group is None:
            groups.append(group := {})
        group[name] = pin
    return [list(group.values()) for group in groups]


def _answers(database: str) -> bool:
    """Return True if an advisory database can be reached and answers a query with a JSON object."""
    question = json.dumps({"package": {"name": "pip", "ecosystem": "PyPI"}, "version": "1.0"}).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(database, data=question), timeout=20) as answer:
            return isinstance(json.load(answer), dict)
    except (OSError, ValueError):
        return False


def _not_audited(database: str) -> int:
    print(f"The locked libraries were not audited: no advisory database can be reached at {database}.")
    return 0


def bench(environment: Path, names: list[str]) -> int:
    """Run the benchmarks one after the other, and fail if one of them misses its limit."""
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
    return _call([str(environment), "-P", "-m", "tests.shots", *arguments])


def package(environment: Path, steps: list[str]) -> int:
    """Build the installers, with tools that only this needs, in an environment of their own."""
    missing = [package for tool, package in PACKAGING_TOOLS.items() if shutil.which(tool) is None]
    if missing and sys.platform == "linux":
        try:
            install_packages(missing, "Building the installers needs tools that are missing")
        except SetupError as error:  # Steps that need none of them still work.
            print(error, file=sys.stderr)
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
    """Return True if a window can be shown."""
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


def prepare(setup: Setup, lock: Path = LOCK) -> Path:
    """Return the interpreter of an environment with the locked libraries; make or repair it if needed."""
    names = (".venv", "" if lock == LOCK else lock.parent.name, Path(setup.python).name)
    folder = ROOT / "-".join(name for name in names if name)
    environment = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "set-up-for"
    wanted = hashlib.sha256(lock.read_bytes() + PROJECT.read_bytes()).hexdigest()
    if environment.exists() and stamp.exists() and stamp.read_text("utf-8") == wanted:
        return environment
    if lock != AUDIT_LOCK and not setup.skip_system_packages and (missing := missing_packages()):
        install_packages(missing, "The window needs system packages that are missing", SKIP)
    if not _works(environment, "import pip"):
        make_environment(setup.python or find_python(), folder)
    install(environment, lock)
    stamp.write_text(wanted, "utf-8")
    return environment


def find_python() -> str:
    """Return this interpreter if it is new enough, else the first on PATH that is."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for name in PYTHONS:
        found = shutil.which(name)
        if found and _works(found, f"import sys; sys.exit(sys.version_info < {OLDEST})"):
            return found
    raise SetupError("Python 3.11 or newer is needed; install it from python.org or your system's packages.")


def _works(python: str | Path, code: str) -> bool:
    try:
        return (
            subprocess.call([str(python), "-I", "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
        )
    except OSError:
        return False


def make_environment(python: str, folder: Path) -> None:
    """Make the virtual environment. Debian keeps what this needs in a package of its own."""
    if not _works(python, f"import sys; sys.exit(sys.version_info < {OLDEST})"):
        raise SetupError(f"{python} is not a Python 3.11 or newer; give --python one that is.")
    if not _works(python, "import ensurepip, venv"):
        install_packages(["python3-venv"], "This Python needs a system package to make environments")
    print(f"Building the environment in {folder.name} (once; it takes a few minutes) …", flush=True)
    _must([python, "-I", "-m", "venv", "--clear", str(folder)], "The environment could not be made")


def install(environment: Path, lock: Path = LOCK) -> None:
    """Install the locked libraries, checked by hash, and this project itself in place."""
    pip = [str(environment), "-I", "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    pip += ["-qq", "--no-deps"]
    if os.name == "posix" and os.geteuid() == 0:
        pip.append("--root-user-action=ignore")
    print("Installing the locked libraries …", flush=True)
    _must([*pip, "--require-hashes", "-r", str(lock)], "The libraries could not be installed")
    if lock != AUDIT_LOCK:
        _must([*pip, "--no-build-isolation", "-e", str(ROOT)], "The project could not be installed")


def _must(command: list[str], otherwise: str) -> None:
    if subprocess.call(command, cwd=ROOT) != 0:
        raise SetupError(f"{otherwise}; the lines above say why.")


def missing_packages() -> list[str]:
    """Return Debian's names of the packages whose library cannot be loaded here; none on other systems than Linux."""
    if not sys.platform.startswith("linux"):
        return []
    missing = [package for library, package in LIBRARIES.items() if not _loads(library)]
    return missing if any(FONTS.rglob("*.ttf")) else [*missing, "fonts-dejavu-core"]


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def install_packages(packages: list[str], reason: str, otherwise: str = "") -> None:
    """Say which Debian packages are needed and why; as root install them, else stop with the command to run."""
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        elsewhere = (
            "On Debian or Ubuntu run this, elsewhere install the packages with the same libraries; then start again"
        )
        raise SetupError(f"{reason}. {elsewhere}:\n\n    sudo {' '.join(command)}\n{otherwise}")
    print(f"{reason}: {', '.join(packages)}.\nInstalling them: {' '.join(command)}", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["apt-get", "update", "-q"], command):
        if subprocess.call(step, env=quiet, stdout=subprocess.DEVNULL) != 0:
            raise SetupError(f"{' '.join(step[:2])} failed; the lines above say why.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
