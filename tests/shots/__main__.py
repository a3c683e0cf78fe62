"""Takes the pictures: `python -m tests.shots FOLDER`, of all scenes or of those that are named.

The files are called `screen-state-theme-scale.png`, with the size of text or of the window at the end where it is
not the usual one.
Each theme and scale has a process of its own, since the scale of a screen is fixed when Qt starts; all of them look at
the same prepared workspaces.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from app.core_link.settings import SIZES

WINDOWS = ("1280x800", "960x640", "2560x1440")
THEMES, SCALES = ("light", "dark"), ("1", "2")
LOOKS = (*THEMES, "light-high", "dark-high")
HELP_PICTURES = "--help-pictures"
PICTURES_FOLDER = Path(__file__).parents[2] / "resources" / "help" / "pictures"
SCREEN = {"name": "shots", "x": 0, "y": 0, "width": 2560, "height": 1600, "logicalDpi": 96, "logicalBaseDpi": 96}


def main() -> int:
    """Prepare the workspaces, take the pictures, and say how many there are."""
    parser = argparse.ArgumentParser(prog="python3 dev.py shots", description="Pictures of the real window.")
    parser.add_argument("folder", type=Path, nargs="?", help="where they go; make it one outside the repository")
    parser.add_argument("scenes", nargs="*", help="names of screens, such as runs; without any, all of them")
    parser.add_argument("--theme", choices=LOOKS, action="append", help="only this theme; -high has more contrast")
    parser.add_argument("--scale", choices=SCALES, action="append", help="only this scale")
    parser.add_argument("--text", choices=[str(size) for size in SIZES], default="100", help="how large text is, in %%")
    parser.add_argument("--window", choices=WINDOWS, default=WINDOWS[0], help="how large the window is")
    parser.add_argument("--help-pictures", action="store_true", help="make the pictures of the help anew, and no other")
    chosen = parser.parse_intermixed_args()
    if chosen.help_pictures:
        return _take(PICTURES_FOLDER, ("light",), ("1",), ["100", WINDOWS[0], HELP_PICTURES])
    if chosen.folder is None:
        parser.error("say in which folder the pictures are to be")
    chosen.folder.mkdir(parents=True, exist_ok=True)
    return _take(
        chosen.folder.resolve(),
        chosen.theme or THEMES,
        chosen.scale or SCALES,
        [chosen.text, chosen.window, *chosen.scenes],
    )


def _take(folder: Path, themes: Sequence[str], scales: Sequence[str], rest: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="shots-") as place:
        surroundings = _surroundings(Path(place))
        _child(surroundings, "prepare", place)
        for theme, scale in product(themes, scales):
            scaled = surroundings | {"QT_SCALE_FACTOR": scale}
            _child(scaled, "take", place, str(folder), theme, scale, *rest)
    return 0


def _child(surroundings: dict[str, str], *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "tests.shots.taking", *arguments], env=surroundings, check=True)


def _surroundings(place: Path) -> dict[str, str]:
    """A home of its own, and a screen that is large enough for a window and all that opens over it."""
    from tests.support.isolation import HOME_VARIABLES, settings_of_this_machine

    screens = place / "screens.json"
    screens.write_text(json.dumps({"screens": [SCREEN]}), "utf-8")
    kept = {name: value for name, value in os.environ.items() if name not in settings_of_this_machine()}
    homes = {name: str(place / "home" / folder) for name, folder in HOME_VARIABLES.items()}
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    return kept | homes | {"PATH": path} | {"QT_QPA_PLATFORM": f"offscreen:configfile={screens}"}


if __name__ == "__main__":
    sys.exit(main())
