"""How the disk image looks when it is opened; dmgbuild reads these names, and gives `defines`."""

from pathlib import PurePosixPath

app = defines["app"]  # type: ignore[name-defined]  # noqa: F821
icon = defines["icon"]  # type: ignore[name-defined]  # noqa: F821
files = [app]
symlinks = {"Applications": "/Applications"}
format = "UDZO"  # noqa: A001
window_rect = ((200, 200), (560, 340))
icon_size = 112
icon_locations = {PurePosixPath(app).name: (150, 150), "Applications": (410, 150)}
