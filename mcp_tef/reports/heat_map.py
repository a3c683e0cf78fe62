"""A square of scores as a picture: drawn cell by cell with names where they can be read, else as one image."""

import struct
import zlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mcp_tef.reports.charts import leaning, leaning_name, shown, svg

LARGEST_NUMBERED = 16
LARGEST_DRAWN = 40
LARGEST_NAMED = 120
LARGEST_IMAGE = 1000
LOWEST = 0.1
_NAME_LENGTH = 30
_STEP, _SMALL_STEP, _TINY_STEP, _LEFT, _TOP = 34, 20, 14, 230, 4
_PALE = 330
# Cividis at 17 even steps (Nuñez, Anderton and Renslow 2018), read alike with and without colour blindness.
_STOPS = np.array(
    [
        *((0, 32, 77), (0, 43, 104), (5, 54, 110), (44, 65, 108), (64, 77, 107), (81, 88, 108)),
        *((96, 100, 111), (110, 111, 115), (124, 123, 120), (139, 135, 121), (155, 148, 119), (172, 161, 116)),
        *((188, 175, 111), (206, 188, 103), (224, 203, 93), (242, 218, 79), (255, 234, 70)),
    ]
)
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Framed:
    """Pairs with a frame, shape (n, n), and the rule that says why."""

    pairs: NDArray[np.bool_]
    rule: str


def heat_map(scores: Scores, names: Sequence[str], framed: Framed, title: str) -> str:
    """Return the square as markup, in the order of the names, with its legend; pairs of the frame are framed.

    Few tools are drawn pair by pair, some as an image beside their names, many as an image alone.
    """
    drawn = _named(scores, names, framed, title) if len(names) <= LARGEST_NAMED else _image(scores, title)
    rule = f"<span>Framed: {framed.rule}</span>" if len(names) <= LARGEST_DRAWN else ""
    return f"{drawn}{_legend(rule)}"


def _legend(framed: str) -> str:
    ramp = data_uri(np.repeat(np.linspace(LOWEST, 1, 192, dtype=np.float32)[np.newaxis], 12, axis=0))
    return f'<p class="legend">{LOWEST} <img alt="Darker is less alike." src="{ramp}"> 1.0 {framed}</p>'


def _image(scores: Scores, title: str) -> str:
    return f'<img class="heat" alt="{shown(title)}" src="{data_uri(shrunk(scores, LARGEST_IMAGE))}">'


def _named(scores: Scores, names: Sequence[str], framed: Framed, title: str) -> str:
    if len(names) > LARGEST_DRAWN:
        return _pictured(scores, names, title)
    places, step = range(len(names)), _STEP if len(names) <= LARGEST_NUMBERED else _SMALL_STEP
    up, right = leaning(names)
    top, size = up + 12, len(names) * step
    parts = [_name(name, top + row * step + step / 2 + 4) for row, name in enumerate(names)]
    parts += [leaning_name(name, _LEFT + (place + 0.5) * step, top - 6) for place, name in enumerate(names)]
    square = _Square(scores, names, framed.pairs, top, step)
    parts += [square.cell(row, column) for row in places for column in places]
    return svg(_LEFT + size + right, top + size + 8, title, parts)


def _pictured(scores: Scores, names: Sequence[str], title: str) -> str:
    size = len(names) * _TINY_STEP
    parts = [_name(name, _TOP + row * _TINY_STEP + 11) for row, name in enumerate(names)]
    place = f'x="{_LEFT}" y="{_TOP}" width="{size}" height="{size}"'
    parts.append(f'<image class="pixels" {place} href="{data_uri(scores)}"/>')
    return svg(_LEFT + size + 8, _TOP + size + 8, title, parts)


def _name(name: str, y: float) -> str:
    return f'<text x="{_LEFT - 8}" y="{y:g}" text-anchor="end">{shown(name, _NAME_LENGTH)}</text>'


@dataclass(frozen=True, slots=True)
class _Square:
    """Cells of a side of `step`, from `top` on; those that are large enough hold their score."""

    scores: Scores
    names: Sequence[str]
    framed: NDArray[np.bool_]
    top: int
    step: int

    def cell(self, row: int, column: int) -> str:
        """One pair; a flagged one is framed."""
        score, side = float(self.scores[row, column]), self.step - 2
        red, green, blue = (int(part) for part in _palette()[_steps(score)])
        x, y = _LEFT + column * self.step, self.top + row * self.step
        words = shown(f"{self.names[row]} and {self.names[column]}: {score:.2f}")
        place = f'x="{x}" y="{y}" width="{side}" height="{side}"'
        frame = f'<rect class="flag" {place} fill="none"/>' if row != column and self.framed[row, column] else ""
        ink = "on-pale" if red + green + blue > _PALE else "on-deep"
        number = (
            f'<text class="{ink}" x="{x + side / 2:g}" y="{y + side / 2 + 4:g}" text-anchor="middle">{score:.2f}</text>'
        )
        told = number if row != column and self.step == _STEP else ""
        return f'<g><title>{words}</title><rect {place} fill="rgb({red},{green},{blue})"/>{frame}{told}</g>'


def shrunk(scores: Scores, most: int) -> Scores:
    """Return the square with at most `most` rows and columns; a block of cells becomes the highest of them."""
    count = len(scores)
    if count <= most:
        return scores
    starts = np.linspace(0, count, most, endpoint=False).astype(int)
    rows: Scores = np.maximum.reduceat(scores, starts, axis=0)
    return np.asarray(np.maximum.reduceat(rows, starts, axis=1), dtype=np.float32)


def data_uri(scores: Scores) -> str:
    """Return the scores as a PNG within an address: one pixel each, in cividis."""
    return "data:image/png;base64," + b64encode(png(_steps(scores), _palette())).decode("ascii")


def _steps(scores: Scores | float) -> NDArray[np.uint8]:
    """Return the place of each score among the 256 colours."""
    return np.asarray(np.clip((np.asarray(scores) - LOWEST) / (1 - LOWEST), 0, 1) * 255, dtype=np.uint8)


@cache
def _palette() -> NDArray[np.uint8]:
    at, stops = np.linspace(0, 1, 256), np.linspace(0, 1, len(_STOPS))
    channels = [np.interp(at, stops, channel) for channel in _STOPS.T]
    return np.asarray(np.rint(np.stack(channels, axis=1)), dtype=np.uint8)


def png(indices: NDArray[np.uint8], palette: NDArray[np.uint8]) -> bytes:
    """Return a PNG of 8-bit colours of a palette (256 × 3), by the PNG specification, third edition."""
    height, width = indices.shape
    lines = np.zeros((height, width + 1), dtype=np.uint8)
    lines[:, 1:] = indices
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = (
        (b"IHDR", head),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
