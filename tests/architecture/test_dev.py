"""dev.py: what it says, and what it does where something is missing."""

import subprocess
import sys
from pathlib import Path

import pytest

import dev

ROOT = Path(__file__).parents[2]


@pytest.fixture
def python_script(tmp_path: Path) -> Path:
    """A stand-in for an interpreter that says no to everything."""
    script = tmp_path / "python3.8"
    script.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    script.chmod(0o755)
    return script


def test_it_explains_itself_with_nothing_installed(tmp_path: Path) -> None:
    bare = [sys.executable, "-I", "-S", str(ROOT / "dev.py")]
    for arguments, code in (((), 2), (("dance",), 2), (("--help",), 0)):
        done = subprocess.run([*bare, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert all(f"  {verb} " in done.stdout for verb in ("run", "test", "check", "bench", "shots", "package"))


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
