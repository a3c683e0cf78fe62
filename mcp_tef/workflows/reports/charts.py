"""Charts as SVG elements, drawn from numbers; names from strangers are escaped."""

import re
from collections.abc import Sequence
from html import escape

from mcp_tef.model.metrics import Calibration, ConfusionMatrix, Rate
from mcp_tef.scoring.lint.texts import INVISIBLE, TURNING
from mcp_tef.workflows.reports.results import legal

LARGEST_MATRIX = 24
_NAME_LENGTH = 24
_HIDDEN = re.compile(f"(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])|(?P<found>[{INVISIBLE}{TURNING}])")


def svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """An image with a name for those who do not see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" width="{width}" '
        f'aria-label="{shown(title)}"><title>{shown(title)}</title>{"".join(parts)}</svg>'
    )


def shown(text: str, limit: int | None = None) -> str:
    """Text that may come from strangers, fit for markup, what it hides made visible, cut after `limit` characters."""
    short = text if limit is None or len(text) <= limit else text[: limit - 1] + "…"
    return escape(legal(_HIDDEN.sub(_named, short)))


def _named(match: "re.Match[str]") -> str:
    """A hidden character by its number; one that joins letters or pictures stays."""
    return f"⟨U+{ord(match[0]):04X}⟩" if match["found"] else match[0]


def intervals(rates: Sequence[tuple[str, Rate]]) -> str:
    """Each rate as a dot on its 95 % interval, from 0 to 100 %; a rate that is not defined has only a dash."""
    left, wide, step = 170, 360, 30
    height = step * len(rates) + 30
    at = [(left + wide * mark / 4, share(mark / 4)) for mark in range(5)]
    parts = [f'<line class="axis" x1="{x:g}" y1="8" x2="{x:g}" y2="{height - 22}"/>' for x, _ in at]
    parts += [f'<text class="dim" x="{x:g}" y="{height - 6}" text-anchor="middle">{mark}</text>' for x, mark in at]
    for row, (name, rate) in enumerate(rates):
        y = 22 + row * step
        parts.append(f'<text x="0" y="{y + 4}">{shown(name)}</text>')
        if rate.value is not None and rate.low is not None and rate.high is not None:
            low, high, dot = (left + wide * value for value in (rate.low, rate.high, rate.value))
            parts.append(f'<line class="interval" x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}"/>')
            parts.append(f'<circle class="dot" cx="{dot:.1f}" cy="{y}" r="5"/>')
        parts.append(f'<text x="{left + wide + 16}" y="{y + 4}">{shown(rate_words(rate))}</text>')
    return svg(left + wide + 200, height, "Rates with their 95 % intervals", parts)


def rate_words(rate: Rate) -> str:
    """`83 % (61–94, n 18)`, or a dash where it is not defined."""
    if rate.value is None:
        return "–"
    return f"{share(rate.value)} ({(rate.low or 0) * 100:.0f}–{(rate.high or 0) * 100:.0f}, n {rate.n})"


def share(value: float | None) -> str:
    """A share from 0 to 1 as `83 %`, or a dash where it is not defined."""
    return "–" if value is None else f"{value * 100:.0f} %"


def shares(counts: Sequence[tuple[str, str, int]]) -> str:
    """One bar in parts: (name, class of its colour, count)."""
    total, width = sum(count for *_, count in counts) or 1, 700
    parts, x, label = [], 0.0, 0
    for name, colour, count in counts:
        part = width * count / total
        parts.append(f'<rect class="{colour}" x="{x:.1f}" y="0" width="{part:.1f}" height="22"/>')
        parts.append(f'<rect class="{colour}" x="{label}" y="34" width="10" height="10"/>')
        parts.append(f'<text x="{label + 15}" y="43">{count} {shown(name)}</text>')
        x, label = x + part, label + 145
    return svg(max(width, label), 50, "How the runs came out", parts)


def heat(matrix: ConfusionMatrix) -> str:
    """Expected (rows) against selected (columns); the darker, the larger its share of the row."""
    rows, columns = len(matrix.rows), len(matrix.columns)
    left, top, size = 190, 150, 28
    names = [shown(matrix.name(label), _NAME_LENGTH) for label in matrix.columns]
    parts = []
    for row in range(rows):
        y = top + row * size
        parts.append(f'<text x="{left - 8}" y="{y + 19}" text-anchor="end">{_row_name(matrix, row)}</text>')
        parts += [_cell(matrix, row, column, left + column * size, y, size) for column in range(columns)]
    for column, name in enumerate(names):
        x = left + column * size + size / 2
        parts.append(f'<text transform="translate({x:g} {top - 8}) rotate(-55)">{name}</text>')
    return svg(left + columns * size + 120, top + rows * size + 8, "Expected tool against selected tool", parts)


def _row_name(matrix: ConfusionMatrix, row: int) -> str:
    return shown(matrix.name(matrix.rows[row]), _NAME_LENGTH)


def _cell(matrix: ConfusionMatrix, row: int, column: int, x: int, y: int, size: int) -> str:
    count, total = matrix.count(row, column), matrix.row_totals[row]
    share = count / total if total else 0
    inside = "on-dark" if share > 0.5 else ""
    words = shown(f"{matrix.name(matrix.rows[row])} → {matrix.name(matrix.columns[column])}: {count}")
    rect = f'<rect class="cell" x="{x}" y="{y}" width="{size - 2}" height="{size - 2}" fill-opacity="{share:.2f}"/>'
    frame = f'<rect class="axis" x="{x}" y="{y}" width="{size - 2}" height="{size - 2}" fill="none"/>'
    text = f'<text class="{inside}" x="{x + size / 2 - 1:g}" y="{y + 18}" text-anchor="middle">{count}</text>'
    return f"<g><title>{words}</title>{rect}{frame}{text if count else ''}</g>"


def calibration(figures: Calibration) -> str:
    """How often runs were right at each level of confidence, beside what perfect confidence would be."""
    left, top, wide = 48, 10, 240
    parts = [f'<line class="diagonal" x1="{left}" y1="{top + wide}" x2="{left + wide}" y2="{top}"/>']
    parts.append(f'<rect class="axis" x="{left}" y="{top}" width="{wide}" height="{wide}" fill="none"/>')
    for mark in (0, 0.5, 1):
        x, y = left + wide * mark, top + wide * (1 - mark)
        parts.append(f'<text class="dim" x="{x:g}" y="{top + wide + 16}" text-anchor="middle">{mark:g}</text>')
        parts.append(f'<text class="dim" x="{left - 6}" y="{y + 4:g}" text-anchor="end">{share(mark)}</text>')
    for one in figures.bins:
        if one.mean is None or one.right.value is None:
            continue
        x, y = left + wide * one.mean, top + wide * (1 - one.right.value)
        low, high = (top + wide * (1 - (edge or 0)) for edge in (one.right.low, one.right.high))
        words = f"Confidence {one.low:g} to {one.high:g}: {rate_words(one.right)}"
        parts.append(f'<line class="interval" x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}"/>')
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{words}</title></circle>')
    legend = ("Up: share of runs that were right.", "Right: how sure they were.", "Dashed: as often right as sure.")
    parts += [
        f'<text class="dim" x="{left + wide + 16}" y="{top + 14 + 18 * at}">{told}</text>'
        for at, told in enumerate(legend)
    ]
    return svg(left + wide + 240, top + wide + 24, "Confidence against the share that was right", parts)
