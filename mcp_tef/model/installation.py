"""The installation: its version, and libraries that it may do without, with the sentence about one that is missing."""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

VERSION = "0.1.0"

PACKAGE: Final = "mcp-tef-desktop"
EXTRAS: Final = {
    "PySide6": "desktop",
    "pyqtgraph": "desktop",
    "qasync": "desktop",
    "qtawesome": "desktop",
    "fastembed": "embedding",
    "onnxruntime": "embedding",
    "litellm": "litellm",
    "openai": "litellm",
    "fastapi": "serve",
    "distributed": "cluster",
    "opentelemetry": "otel",
}
"""Optional libraries by the name under which they are imported, each with the extra that installs it."""


def data_folder() -> Path:
    """Return the folder of this program among the user's data."""
    import platformdirs

    return Path(platformdirs.user_data_dir("mcp-tef", appauthor=False))


def missing_library(*names: str) -> str:
    """Return the first of some optional libraries that is not installed; empty where all are. None is imported."""
    return next((name for name in names if find_spec(name) is None), "")


def how_to_install(library: str) -> str:
    """Return the hint that names the command by which an optional library is installed."""
    return f'Install it with: pip install "{PACKAGE}[{EXTRAS[library]}]"'
