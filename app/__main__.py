"""`python -m app` and `mcp-tef-desktop` open the window; without its libraries they say how to install them."""

import sys

from mcp_tef import how_to_install, missing_library, protect_process


def main() -> int:
    """Open the window; return the exit code, which is 3 where a library is missing."""
    if library := missing_library("PySide6", "pyqtgraph", "qasync", "qtawesome"):
        sys.stderr.write(f"The window needs {library}, which is not installed. {how_to_install(library)}\n")
        return 3
    from app.main import main as open_window

    protect_process()
    return open_window()


if __name__ == "__main__":
    sys.exit(main())
