"""dev.py: what it says, and what it does where something is missing."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import dev

ROOT = Path(__file__).parents[2]


def executable(file: Path, script: str) -> Path:
    """Write a shell script that stands in for a program."""
    file.write_text(script, "utf-8")
    file.chmod(0o755)
    return file


@pytest.fixture
def python_script(tmp_path: Path) -> Path:
    """Return a stand-in for an interpreter that fails at everything."""
    return executable(tmp_path / "python3.8", "#!/bin/sh\nexit 1\n")


VERBS = ("run", "test", "check", "coverage", "audit", "bench", "shots", "package", "missing")


def test_it_explains_itself_with_nothing_installed(tmp_path: Path) -> None:
    bare = [sys.executable, "-I", "-S", str(ROOT / "dev.py")]
    for arguments, code in (((), 2), (("dance",), 2), (("--help",), 0)):
        done = subprocess.run([*bare, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert all(f"  {verb} " in done.stdout for verb in VERBS)


def test_options_before_the_verb_are_split_from_it() -> None:
    setup = dev.Setup(python="python3.13", skip_system_packages=True)
    assert dev.parse_setup(["--skip-system-packages", "--python", "python3.13", "test", "-x"]) == (
        setup,
        ["test", "-x"],
    )
    assert dev.parse_setup(["test", "--python", "x"]) == (dev.Setup(), ["test", "--python", "x"])


def test_system_packages_are_named_and_not_installed_without_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    with pytest.raises(dev.SetupError) as stopped:
        dev.install_packages(["libegl1"], "The window needs system packages that are missing", dev.SKIP)
    assert "The window needs" in str(stopped.value)
    assert "sudo apt-get install -y --no-install-recommends libegl1\n" in str(stopped.value)
    assert "--skip-system-packages" in str(stopped.value)


def test_system_packages_are_named_before_root_installs_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(tmp_path / "apt-get", '#!/bin/sh\necho "apt-get $1" >&2\n')
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    dev.install_packages(["libegl1", "libgl1"], "The window needs system packages")
    shown = capfd.readouterr()
    assert shown.out.startswith("The window needs system packages: libegl1, libgl1.\n")
    assert shown.err == "apt-get update\napt-get install\n"
    executable(tmp_path / "apt-get", "#!/bin/sh\nexit 100\n")
    with pytest.raises(dev.SetupError, match="apt-get update failed"):
        dev.install_packages(["libegl1"], "The window needs system packages")


def test_an_unknown_check_is_refused_and_nothing_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.check(Path("no-python"), ["lint", "dance"]) == 2
    assert "lint, format, types, imports" in capsys.readouterr().err


def test_a_python_that_is_too_old_is_refused_in_one_sentence(python_script: Path, tmp_path: Path) -> None:
    with pytest.raises(dev.SetupError, match=r"not a Python 3\.11"):
        dev.make_environment(str(python_script), tmp_path / "environment")
    assert not (tmp_path / "environment").exists()


def test_there_is_no_display_without_a_variable_that_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert dev.has_display() is not sys.platform.startswith("linux")


def test_a_display_that_nobody_serves_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", ":987")
    assert dev.has_display() is not sys.platform.startswith("linux")


def test_a_benchmark_that_is_not_there_is_said_to_be_and_nothing_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.bench(Path("no-python"), ["help_time", "hepl_time"]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("There is no benchmark called hepl_time; there are: ")
    assert "help_time" in said.err
    assert said.out == ""


def test_every_benchmark_explains_itself_and_its_limit() -> None:
    files = (ROOT / "tests" / "benchmarks").glob("*.py")
    assert [file.name for file in files if not file.read_text("utf-8").startswith('"""')] == []


AUDITED = """#!/bin/sh
echo '{"dependencies": [
  {"name": "sound", "version": "1.0", "vulns": []},
  {"name": "skipped", "skip_reason": "not found"},
  {"name": "broken", "version": "2.0", "vulns":
    [{"id": "PYSEC-2026-1", "aliases": ["CVE-2026-1"], "fix_versions": ["2.1"], "description": "Reads too far."}]}]}'
exit 1
"""


class Database(BaseHTTPRequestHandler):
    """A database of advisories that knows of none."""

    def do_POST(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name there)
        """Say nothing."""


@pytest.fixture
def database() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Database) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1/query"
        server.shutdown()
        thread.join()


def test_where_no_advisories_can_be_reached_the_audit_says_so_and_passes(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        assert dev.main(["audit", nobody]) == 0
    assert capsys.readouterr().out == (
        f"The locked libraries were not audited: no advisory database can be reached at {nobody}.\n"
    )


def test_an_advisory_fails_the_audit_until_it_is_accepted(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    python = executable(tmp_path / "python", AUDITED)
    assert dev.audit(python, [database]) == 1
    assert "broken 2.0: PYSEC-2026-1, fixed in 2.1. Reads too far.\n" in capsys.readouterr().out
    monkeypatch.setitem(dev.ACCEPTED_ADVISORIES, "CVE-2026-1", "2026-01-01: not reached from here")
    assert dev.audit(python, [database]) == 0


def test_an_audit_that_fails_by_itself_does_not_pass(database: str, tmp_path: Path) -> None:
    assert dev.audit(executable(tmp_path / "python", "#!/bin/sh\nexit 1\n"), [database]) == 1


def test_every_locked_version_is_audited_each_name_once_at_a_time() -> None:
    assert dev.without_repeated_names(["a==1", "b==1", "b==2", "c==1"]) == [["a==1", "b==1", "c==1"], ["b==2"]]
