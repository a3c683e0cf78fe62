"""What is built, from what, and where it goes."""

import platform
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "packaging"
BUILD = ROOT / "build"
DIST = ROOT / "dist"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
REQUIREMENTS = [*PROJECT["dependencies"], *EXTRAS["desktop"], *EXTRAS["embedding"], *EXTRAS["litellm"]]
"""What the installers hold."""

NAME = "mcp-tef"
PACKAGE = PROJECT["name"]
VERSION = PROJECT["version"]
SUMMARY = PROJECT["description"]
LICENCE = PROJECT["license"]

MODEL = BUILD / "model"
NOTICES = BUILD / "licences"
SBOM = BUILD / "sbom.cdx.json"
PAYLOAD = DIST / NAME
MACHINE = {"x86_64": "amd64", "aarch64": "arm64", "AMD64": "amd64"}.get(platform.machine(), platform.machine())
BILL = f"{PACKAGE}-{VERSION}-{sys.platform}-{MACHINE}-sbom.cdx.json"
ENDING = ".exe" if sys.platform == "win32" else ""


def inside() -> Path:
    """Return the folder of the two executables; macOS keeps them in the app bundle."""
    return DIST / f"{NAME}.app" / "Contents" / "MacOS" if sys.platform == "darwin" else PAYLOAD


def executable(name: str) -> Path:
    """One of the two executables of the payload."""
    return inside() / f"{name}{ENDING}"
