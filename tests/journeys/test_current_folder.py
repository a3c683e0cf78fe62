"""A folder with modules named as ours and Python's: nothing that we start there imports one of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.dialogs.pdf_export import OWN_FOLDER, command
from mcp_tef.workflows.sample_program import sample_spec
from tests.support.command_line import ROOT

MODULES = ("argparse", "json", "asyncio", "resources", "app", "mcp_tef", "pip", "venv", "pytest", "ensurepip")
OWN = Path(sys.executable).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a stranger's folder, each module of which leaves a marker."""
    place = tmp_path / "clone"
    for name in MODULES:
        package = place / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(f"open({str(tmp_path / 'marker')!r}, 'w').close()\n", "utf-8")
        (package / "__main__.py").write_text("", "utf-8")
    return place


def starts(tmp_path: Path) -> dict[str, tuple[list[str], str]]:
    """Return what we start, with its standard input."""
    sample, dev = sample_spec(), str(ROOT / "dev.py")
    return {
        "console script": ([str(OWN / "mcp-tef"), "--help"], ""),
        "sample server": ([sample.command or "", *sample.args], ""),
        "printer": (command("A batch", tmp_path / "report.pdf"), "<html></html>"),
        "dev.py": ([sys.executable, dev, "--help"], ""),
    }


@pytest.mark.parametrize("name", ["console script", "sample server", "printer", "dev.py"])
def test_no_start_of_ours_imports_from_the_current_folder(name: str, folder: Path, tmp_path: Path) -> None:
    words, text = starts(tmp_path)[name]
    done = subprocess.run(words, cwd=folder, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "marker").exists()


def test_a_start_that_imports_from_there_is_seen(folder: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "app"], cwd=folder, capture_output=True, check=False)
    assert (tmp_path / "marker").exists()


def test_the_printer_starts_in_a_folder_of_ours() -> None:
    assert OWN_FOLDER == ROOT / "resources"
