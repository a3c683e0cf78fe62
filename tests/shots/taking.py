"""One process of the pictures: prepares the workspaces, or takes every scene in one theme, scale and size of text."""

import asyncio
import gc
import shutil
import sys
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from app.core_link.settings import NORMAL
from app.theme import theme
from tests.shots.__main__ import HELP_PICTURES, WINDOWS
from tests.shots.scenes import PICTURES, SCENES, Scene
from tests.shots.stage import Stage, looks, staged
from tests.shots.workspaces import prepare, workspace
from tests.support.workspace_files import made_own


def main(arguments: Sequence[str]) -> None:
    """`prepare PLACE`, or `take PLACE FOLDER THEME SCALE TEXT WINDOW [SCENE…]`."""
    verb, place, *rest = arguments
    if verb == "prepare":
        asyncio.run(prepare(Path(place)))
    else:
        folder, mode, scale, text, window, *names = rest
        _run(take(Path(place), Path(folder), Look(mode, scale, int(text), window), names), mode)


@dataclass(frozen=True, slots=True)
class Look:
    """How the window looks in all pictures of a process; `text` is the size of text in per cent.

    `window` is the size of the window, such as 1280x800.
    """

    mode: str
    scale: str
    text: int
    window: str


async def take(place: Path, folder: Path, look: Look, names: Sequence[str]) -> None:
    """Every scene, one window for each workspace; of the scenes only those with one of the names, if there are any."""
    for state, scenes in groupby(SCENES, lambda scene: scene.state):
        files = {scene: file for scene in scenes if (file := _file(scene, look, names))}
        if files:
            copy = _copied(place, state, f"{look.mode}-{look.scale}-{look.text}-{look.window}")
            async with staged(copy, look.mode, look.text, look.window) as stage:
                for scene, file in files.items():
                    await _take_one(stage, scene, folder / file, small=HELP_PICTURES in names)


def _copied(place: Path, state: str, look: str) -> Path:
    """A workspace of one's own, so that what scenes change in it is in no other picture."""
    shutil.copytree(place / state, place / look / state)
    copy = workspace(place / look, state)
    return made_own(copy) if copy.exists() else copy


def _file(scene: Scene, look: Look, names: Sequence[str]) -> str:
    """What the picture of a scene is called; nothing where it is not wanted."""
    if HELP_PICTURES in names:
        return next((f"{name}.png" for name, shown in PICTURES.items() if shown == (scene.name, scene.state)), "")
    wanted = not names or scene.name in names
    size = "" if look.text == NORMAL else f"-{look.text}%"
    size += "" if look.window == WINDOWS[0] else f"-{look.window}"
    return f"{scene.name}-{scene.state}-{look.mode}-{look.scale}x{size}.png" if wanted else ""


async def _take_one(stage: Stage, scene: Scene, file: Path, *, small: bool) -> None:
    await scene.show(stage)
    picture = await stage.picture()
    if not (in_few_colours(picture) if small else picture).save(str(file), quality=0):
        raise OSError(f"{file} could not be written.")
    print(file.name, flush=True)
    await stage.clear()


def in_few_colours(picture: QImage) -> QImage:
    """The picture with its 256 commonest colours: a third of the bytes, and the same to the eye."""
    plain = picture.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(plain.constBits(), np.uint32)
    colours, counts = np.unique(pixels, return_counts=True)
    commonest = [int(colour) for colour in colours[np.argsort(-counts)[:256]]]
    return plain.convertToFormat(QImage.Format.Format_Indexed8, commonest, Qt.ImageConversionFlag.ThresholdDither)


def _run(work: Coroutine[object, object, None], mode: str) -> None:
    from qasync import QEventLoop  # type: ignore[import-untyped]  # it ships no types

    running = QApplication(["shots"])
    running.setQuitOnLastWindowClosed(False)
    running.setCursorFlashTime(0)
    theme().install(*looks(mode), application_wide=False)
    gc.disable()  # a Qt object must not die on the core's thread
    with QEventLoop(running) as loop:
        loop.run_until_complete(work)


if __name__ == "__main__":
    main(sys.argv[1:])
