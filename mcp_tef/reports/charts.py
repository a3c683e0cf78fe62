"""Charts as SVG elements, drawn from numbers; names from strangers are escaped."""

import re
from collections.abc import Sequence
from html import escape

from mcp_tef.model.metrics import ConfusionMatrix, Rate, SourceCalibration
from mcp_tef.model.rates import percent_text, priced_text, share_text
from mcp_tef.reports.results import legal
from mcp_tef.scoring.lint.definition_texts import INVISIBLE, TURNING
from mcp_tef.trust.outputs import markup_text

LARGEST_MATRIX = 24
_NAME_LENGTH = 24
_LETTER = 7.2
_DASHED = "On the dashed line they are as often right as sure."
_HIDDEN = re.compile(f"(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])|(?P<found>[{INVISIBLE}{TURNING}])")


def svg(width: int, height: int, title: str, parts: Sequence[str], worn: str = "") -> str:
    """Render an image with an accessible name; `worn` are further attributes."""
    return (
        f'<div class="wide"><svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        f'width="{width}" {worn}aria-label="{shown(title)}"><title>{shown(title)}</title>{"".join(parts)}</svg></div>'
    )


def shown(text: str, limit: int | None = None) -> str:
    """Text that may come from strangers, fit for markup, what it hides made visible, cut after `limit` characters."""
    short = text if limit is None or len(text) <= limit else text[: limit - 1] + "…"
    return markup_text(escape(visible(short)))


def visible(text: str) -> str:
    """Text with what it hides made visible, and without what no document may hold."""
    return legal(_HIDDEN.sub(_named, text))


def _named(match: "re.Match[str]") -> str:
    """Replace a hidden character by its number; one that joins letters or pictures stays."""
    return f"⟨U+{ord(match[0]):04X}⟩" if match["found"] else match[0]


def intervals(rates: Sequence[tuple[str, Rate]]) -> str:
    """Each rate as a dot on its 95 % interval, from 0 to 100 %; a rate that is not defined has only a dash."""
    told, left, wide, step = 165, 325, 360, 30
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
        parts.append(f'<text x="{told}" y="{y + 4}">{shown(rate_words(rate))}</text>')
    return svg(left + wide + 24, height, "Rates with their 95 % intervals", parts)


share = percent_text


def dollars(amount: float | None, priced: int, unpriced: int) -> str:
    """Return a cost with the runs that it stands for, if those are not all."""
    return "–" if amount is None else priced_text(f"${amount:.4f}" if amount else "$0", priced, unpriced)


def rate_words(rate: Rate) -> str:
    """`83 % (61 % to 94 %, n 18)`, or a dash where it is not defined."""
    if rate.value is None:
        return "–"
    return f"{share_text(rate.value, rate.low, rate.high)[:-1]}, n {rate.n})"


def shares(counts: Sequence[tuple[str, str, int]], title: str = "How the runs came out") -> str:
    """One bar in parts: (name, class of its colour, count), and below it what each is."""
    total, width = sum(count for *_, count in counts) or 1, 700
    parts, keys, x = [], [], 0.0
    for name, colour, count in counts:
        part = width * count / total
        parts.append(f'<rect class="{colour}" x="{x:.1f}" y="0" width="{part:.1f}" height="22"/>')
        keys.append(f'<span><span class="key {colour}">■</span> {count:,}&nbsp;{shown(name)}</span>')
        x += part
    bar = svg(width, 22, title, parts, 'class="bar" preserveAspectRatio="none" ')
    return f'{bar}<p class="legend">{" &ensp; ".join(keys)}</p>'


def heat(matrix: ConfusionMatrix) -> str:
    """Draw expected (rows) against selected (columns); the darker, the larger the share of the row."""
    rows, columns = len(matrix.rows), len(matrix.columns)
    names = [matrix.name(label) for label in matrix.columns]
    left, size = 190, 28
    up, right = leaning(names)
    top = up + 12
    parts = []
    for row in range(rows):
        y = top + row * size
        parts.append(f'<text x="{left - 8}" y="{y + 19}" text-anchor="end">{_row_name(matrix, row)}</text>')
        parts += [_cell(matrix, row, column, left + column * size, y, size) for column in range(columns)]
    for column, name in enumerate(names):
        x = left + column * size + size / 2
        parts.append(leaning_name(name, x, top - 8))
    return svg(left + columns * size + right, top + rows * size + 8, "Expected tool against selected tool", parts)


def leaning(names: Sequence[str]) -> tuple[int, int]:
    """Return the height and width that the longest slanted column name needs."""
    longest = min(_NAME_LENGTH, max(map(len, names), default=0)) * _LETTER
    return round(longest * 0.82) + 8, round(longest * 0.57) + 8


def leaning_name(name: str, x: float, y: float) -> str:
    """Render the slanted name of a column, from its foot."""
    return f'<text transform="translate({x:g} {y:g}) rotate(-55)">{shown(name, _NAME_LENGTH)}</text>'


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


def calibration(figures: SourceCalibration) -> str:
    """Draw the calibration chart: accuracy at each level of confidence, beside perfect calibration."""
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
    drawn = svg(left + wide + 16, top + wide + 24, "Confidence against the share that was right", parts)
    return f"{drawn}<p>Up: the share of runs that were right. To the right: how sure they were. {_DASHED}</p>"
