"""Crowd tests and steal tests as HTML pages, with the curves as one chart."""

from collections.abc import Sequence

from mcp_tef.model.comparison import RateDifference
from mcp_tef.model.crowds import CrowdPoint, CrowdResult, RetrievalPoint, StealResult
from mcp_tef.model.rates import percent_text
from mcp_tef.reports.charts import rate_words, shown, svg
from mcp_tef.reports.page import counted, page, paragraphs, section, table

LEFT, TOP, WIDE, HIGH = 60, 12, 560, 240
APART, EDGE = 7, 24
COLOURS = ("f-info", "f-good", "f-warn", "f-bad", "f-none")


def crowd_html(result: CrowdResult, retrieval: Sequence[RetrievalPoint] = ()) -> str:
    """Return one page: sentence, curves, figures of each point, order, silence, and what was selected instead."""
    lead = paragraphs(*(one.sentence for one in result.lost_at), _how(result))
    parts = (
        ("Correct tool among other tools", _chart(result.points) + _points_table(result)),
        ("Order of the tools", _order_table(result)),
        ("A tool was called though none fits", _silence_table(result)),
        ("Selected instead", _picks_table(result)),
        ("Found by search; no model asked", _retrieval_table(retrieval) if retrieval else ""),
    )
    return page("Crowd test", lead, [section(*part) for part in parts])


def _points_table(result: CrowdResult) -> str:
    heads = ("Curve", "Other tools", "Correct tool", "Change", "Lost", "Tokens", "$ a call", "Equivalent", "Not found")
    return table(heads, [_point_row(one) for one in result.points], figures=(1, 5, 6, 7, 8))


def _order_table(result: CrowdResult) -> str:
    heads = ("Model", "Other tools", "Choice changes", "First fifth", "2nd", "3rd", "4th", "Last")
    rows = [
        (one.model, f"{one.strangers:,}", rate_words(one.changed), *(percent_text(rate.value) for rate in one.fifths))
        for one in result.order
    ]
    return table(heads, rows, figures=(1, 3, 4, 5, 6, 7))


def _silence_table(result: CrowdResult) -> str:
    rows = [(_curve(one.model, one.search), f"{one.strangers:,}", rate_words(one.called)) for one in result.silence]
    return table(("Curve", "Other tools", "Called"), rows, figures=(1,))


def _picks_table(result: CrowdResult) -> str:
    rows = [
        (one.model, one.server, one.tool, f"{one.times:,}", "yes" if one.equivalent else "") for one in result.picks
    ]
    return table(("Model", "Server", "Tool", "Times", "Does the same"), rows, figures=(3,))


def _retrieval_table(retrieval: Sequence[RetrievalPoint]) -> str:
    most = [f"Among the first {k}" for k, _ in retrieval[0].recall]
    rows = [
        (f"{one.strangers:,}", *(percent_text(share) for _, share in one.recall), percent_text(one.silent))
        for one in retrieval
    ]
    return table(("Other tools", *most, "Silent where none fits"), rows, figures=range(5))


def steal_html(result: StealResult) -> str:
    """Return one page: sentence, loss of each tool, takers, and tools without cases."""
    rows = [
        (
            f"{one.server} / {one.tool}",
            f"{one.cases:,}",
            percent_text(one.without.value),
            percent_text(one.with_new.value),
            _points(one.taken),
            "–" if one.p is None else f"{one.p:.3f}",
            "worse" if one.worse else "",
            ", ".join(f"{tool} ({times:,})" for tool, times in one.takers),
        )
        for one in result.tools
    ]
    heads = ("Tool", "Cases", "Without", "With", "Taken (95 %)", "p, Holm", "Verdict", "Taken by")
    how = f"{result.model}; {counted(result.calls, 'call')}; margin {100 * result.margin:.0f} points."
    return page(
        f"Steal test of {result.server}",
        paragraphs(result.sentence, how),
        [
            section("What it takes from each tool", table(heads, rows, figures=(1, 2, 3, 5))),
            section("Unknown, since they have no case", table(("Tool",), [(name,) for name in result.unknown])),
        ],
    )


def _how(result: CrowdResult) -> str:
    crowds = counted(result.crowds, "crowd") if result.kind.value == "servers" else "one fixed crowd"
    return f"{counted(result.cases, 'case')}, {result.kind.value}, {crowds}; {counted(result.calls, 'call')}."


def _curve(model: str, search: int | None) -> str:
    return model if search is None else f"{model}, first {search} found by search"


def _point_row(one: CrowdPoint) -> tuple[str, ...]:
    return (
        _curve(one.model, one.search),
        f"{one.strangers:,}",
        rate_words(one.rate),
        _points(one.difference),
        "lost" if one.lost else "",
        f"{one.tokens:,}",
        "–" if one.cost_usd is None else f"{one.cost_usd:.4f}",
        f"{one.equivalents:,}",
        f"{one.not_found:,}",
    )


def _points(gap: RateDifference) -> str:
    if gap.value is None or gap.low is None or gap.high is None:
        return "–"
    texts = [f"{100 * one:+.0f}".replace("-", "−") for one in (gap.value, gap.low, gap.high)]
    value, low, high = ("0" if text in ("+0", "−0") else text for text in texts)
    return f"{value} points ({low} to {high})"


def _chart(points: Sequence[CrowdPoint]) -> str:
    """Draw each curve with its intervals, beside those of the others; sizes stand at equal distances."""
    sizes = list(dict.fromkeys(one.strangers for one in points))
    step = (WIDE - 2 * EDGE) / max(1, len(sizes) - 1)
    places = {size: LEFT + EDGE + step * at for at, size in enumerate(sizes)}
    parts = [_scale(share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    below = f'y="{TOP + HIGH + 18}" text-anchor="middle"'
    parts += [f'<text class="dim" x="{x:.1f}" {below}>{size:,}</text>' for size, x in places.items()]
    curves: dict[str, list[tuple[CrowdPoint, float]]] = {}
    for one in points:
        curves.setdefault(_curve(one.model, one.search), []).append((one, places[one.strangers]))
    for number, name in enumerate(curves):
        colour, aside = COLOURS[number % len(COLOURS)], APART * (number - (len(curves) - 1) / 2)
        parts += [_legend(name, number, colour), _line(curves[name], aside, colour)]
    return svg(LEFT + WIDE + 30, TOP + HIGH + 50 + 18 * len(curves), "Correct tool against other tools", parts)


def _legend(name: str, number: int, colour: str) -> str:
    y = TOP + HIGH + 40 + 18 * number
    return (
        f'<circle class="{colour}" cx="{LEFT}" cy="{y}" r="5"/><text x="{LEFT + 12}" y="{y + 4}">{shown(name)}</text>'
    )


def _line(points: Sequence[tuple[CrowdPoint, float]], aside: float, colour: str) -> str:
    """Draw one curve through the points that are known, each that far aside of its place."""
    known = [(one, x + aside) for one, x in points if one.rate.value is not None]
    ends = " ".join(f"{x:.1f},{_height(one.rate.value or 0.0):.1f}" for one, x in known)
    line = f'<polyline class="axis" fill="none" stroke-width="2" points="{ends}"/>'
    return line + "".join(_dot(one, x, colour) for one, x in known)


def _scale(share: float) -> str:
    y = _height(share)
    line = f'<line class="axis" x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDE}" y2="{y:.1f}"/>'
    return f'{line}<text class="dim" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{percent_text(share)}</text>'


def _dot(one: CrowdPoint, x: float, colour: str) -> str:
    low, high = _height(one.rate.low or 0.0), _height(one.rate.high or 0.0)
    band = f'<line class="interval" x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}"/>'
    return f'{band}<circle class="{colour}" cx="{x:.1f}" cy="{_height(one.rate.value or 0.0):.1f}" r="6"/>'


def _height(share: float) -> float:
    return TOP + HIGH * (1 - share)
