"""Copies a workspace out of a place that cannot be written."""

import shutil
from datetime import datetime
from pathlib import Path

from mcp_tef.storage.faults import cannot_write


def copy_workspace(path: Path, folder: Path) -> Path:
    """The copy of a workspace in a folder, with all that stands in its journal; StoreError where there can be none."""
    copy = folder / f"{path.stem}-copy-{datetime.now():%Y%m%d-%H%M%S-%f}{path.suffix}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for suffix in ("", "-wal"):
            source, target = (file.with_name(file.name + suffix) for file in (path, copy))
            if not suffix or source.exists():
                shutil.copyfile(source, target)
    except OSError as error:
        raise cannot_write(copy if path.is_file() else path) from error
    return copy
