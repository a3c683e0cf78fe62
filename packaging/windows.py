"""The installer for Windows; elsewhere the same script is compiled and run around a stand-in, so that it cannot rot."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from project import BUILD, DIST, HERE, MACHINE, NAME, PACKAGE, PAYLOAD, VERSION

SCRIPT = HERE / "windows" / f"{NAME}.nsi"


def make_installer() -> None:
    """Make the installer of the payload."""
    _compile(given(PAYLOAD, DIST / f"{PACKAGE}-{VERSION}-windows-{MACHINE}-setup.exe"))


def try_script() -> None:
    """Compile the script around files that only have the right names, where makensis is at hand."""
    if shutil.which("makensis") is None:
        print("makensis is not here (apt-get install nsis); the Windows installer was not tried.")
        return
    from wine import try_installer

    make_stand_in(BUILD / "stand-in-setup.exe", VERSION)
    try_installer()


def make_stand_in(output: Path, version: str, more: Sequence[str] = ()) -> None:
    """Make an installer around files that only have the right names; elsewhere of 64 bits, which any Wine can run."""
    target = () if sys.platform == "win32" else ("XTarget amd64-unicode",)
    with tempfile.TemporaryDirectory() as folder:
        for name in (f"{NAME}.exe", f"{NAME}-desktop.exe", "_internal/base_library.zip", *more):
            file = Path(folder, name)
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(b"stand-in")
        _compile(given(Path(folder), output, version), *target)


def given(payload: Path, output: Path, version: str = VERSION) -> dict[str, object]:
    """Return the definitions that the script is compiled with."""
    return {"VERSION": version, "PAYLOAD": payload, "OUTPUT": output, "ICON": BUILD / f"{NAME}.ico"}


def _compile(names: dict[str, object], *more: str) -> None:
    sign = "/" if sys.platform == "win32" else "-"
    said = [f"{sign}{word}" for word in ("V2", "WX", *(f"D{name}={value}" for name, value in names.items()), *more)]
    subprocess.run(["makensis", *said, str(SCRIPT)], check=True)
