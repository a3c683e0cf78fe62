"""Rows, tables and the curve of routers."""

from collections.abc import Sequence
from typing import Final

from app.screens.models.routes_presenter import HUNDRED, ROUTED, RoutesPresenter, cost_text, share_text
from app.text.data_tables import DataTable
from app.text.formatting import count, duration, model_name, percent
from app.theme import Role
from app.widgets import CardRow, Cell, CellKind, Column, Row, Segment, Span
from app.widgets.line_chart import Plot, Point
from mcp_tef import ModelRoute, ModelRouter, Rate, RouteArm, RouteComparison, ThresholdPoint

UTTERANCES: Final = (
    Column(key="text", title="Utterances", stretch=True, least=120, tip="Sentences that call for this route"),
    Column(key="score", title="To this query", kind=CellKind.NUMBER, width=120, tip="Similarity to the query"),
)
ARMS: Final = (
    Column(key="way", title="Model", stretch=True, least=90, tip="Which model is asked"),
    Column(key="share", title="Correct call", kind=CellKind.SHARE, width=112, least=70, tip="Share of correct calls"),
    Column(key="cost", title="100 calls", kind=CellKind.NUMBER, width=72, tip="Mean cost of a hundred calls"),
    Column(key="time", title="Time", kind=CellKind.NUMBER, width=66, tip="Mean time of a call"),
)
WENT: Final = (
    Column(key="route", title="Where the cases went", stretch=True, least=110, tip="The route that was taken"),
    Column(key="cases", title="Cases", kind=CellKind.NUMBER, width=60, tip="Cases that took it"),
    Column(key="share", title="Correct", kind=CellKind.NUMBER, width=100, tip="Share of correct calls among them"),
)


def route_card(router: ModelRouter, route: ModelRoute, presenter: RoutesPresenter) -> CardRow:
    """Return a route: with its score for the query as a bar, or its number of utterances before one is asked."""
    threshold, score = router.threshold_of(route), presenter.score_of(route.target)
    if score is None:
        note = f"{count(len(route.utterances), 'utterance')}" + (f" · {route.description}" if route.description else "")
        right = Span(f"at {threshold:.2f}", Role.DIM)
        return CardRow(id=route.target, title=route.target, right=right, sub=(Span(note, Role.DIM),))
    taken = presenter.decision is not None and presenter.decision.route is score
    below = "" if score.score >= threshold else f" · below its {threshold:.2f}"
    role = Role.ACCENT if taken else Role.CONTROL
    return CardRow(
        id=route.target,
        title=route.target,
        right=Span(f"{score.score:.2f}", Role.TEXT if taken else Role.DIM, strong=taken),
        sub=(Span(f"closest: “{score.utterance}”{below}", Role.DIM),),
        bar=(Segment(role=role, value=max(0.0, score.score), name=route.target),),
        bar_total=1.0,
    )


def utterance_rows(route: ModelRoute, presenter: RoutesPresenter) -> list[Row]:
    """Return the utterances of a route with their similarity to the query."""
    score = presenter.score_of(route.target)
    each: Sequence[float | None] = score.each if score and len(score.each) == len(route.utterances) else ()
    each = each or [None] * len(route.utterances)
    best = max((value for value in each if value is not None), default=None)
    return [
        Row(
            str(place),
            (
                Cell(text=text, tip=text),
                Cell(text="" if value is None else f"{value:.2f}", sort=value or 0.0, strong=value == best),
            ),
        )
        for place, (text, value) in enumerate(zip(route.utterances, each, strict=True))
    ]


def arm_rows(found: RouteComparison) -> list[Row]:
    """Return the arms: always small, routed and always large."""
    return [Row(arm.name, _arm_cells(arm)) for arm in _ordered(found)]


def _ordered(found: RouteComparison) -> Sequence[RouteArm]:
    if len(found.arms) != 3:
        return found.arms
    routed, small, large = found.arms
    return small, routed, large


def _arm_name(arm: RouteArm) -> str:
    """Return the name of an arm without the provider, for which there is no room."""
    always, _, label = arm.name.partition(" ")
    return f"{always} {model_name(label)}" if label else arm.name


def _arm_cells(arm: RouteArm) -> tuple[Cell, ...]:
    strong, rate = arm.name == ROUTED, arm.rate
    asked = ", ".join(f"{name}: {number:,}" for name, number in arm.asked.items())
    return (
        Cell(text=_arm_name(arm), strong=strong, tip=f"{arm.name}. {asked}"),
        Cell(
            text=percent(rate.value),
            strong=strong,
            sort=rate.value,
            tip=share_text(arm),
            span=_span(rate),
        ),
        Cell(text=cost_text(arm.cost_usd), strong=strong, sort=arm.cost_usd or 0.0),
        Cell(text=duration(arm.seconds), sort=arm.seconds),
    )


def _span(rate: Rate) -> tuple[float, float, float] | None:
    if rate.value is None or rate.low is None or rate.high is None:
        return None
    return rate.value, rate.low, rate.high


def went_rows(found: RouteComparison, default: str) -> list[Row]:
    """Return how many cases took each route and how often it was right, the most frequent first."""
    parts = sorted(found.went, key=lambda arm: -sum(arm.asked.values()))
    routed = next((arm.rate.value for arm in found.arms), None)
    return [Row(arm.name or "default", _went_cells(arm, default, routed)) for arm in parts]


def _went_cells(arm: RouteArm, default: str, routed: float | None) -> tuple[Cell, ...]:
    """Return a route; one whose interval lies below the share of all cases is marked."""
    cases, share, high = sum(arm.asked.values()), arm.rate.value, arm.rate.high
    weak = None not in (routed, high) and (high or 0.0) < (routed or 0.0)
    return (
        Cell(text=arm.name or f"otherwise, to {default}"),
        Cell(text=f"{cases:,}", sort=cases),
        Cell(text=percent(share), sort=share, tip=share_text(arm), strong=weak, role=Role.BAD if weak else Role.TEXT),
    )


def is_flat(found: RouteComparison) -> bool:
    """Return True if every threshold of the router gives the same."""
    return len({(point.share, point.cost_usd) for point in found.curve}) < 2


def curve_plot(found: RouteComparison) -> Plot:
    """Plot the share of correct calls against the cost of a hundred calls, or the threshold where costs are unknown."""
    priced = all(point.cost_usd is not None for point in found.curve)
    points = _by_cost(found.curve) if priced else found.curve
    drawn = [_point(one, priced=priced) for one in points]
    top = max([point.x for point in drawn] or [0.0]) or 1.0
    floor = _floor(drawn)
    return Plot(
        points=tuple(drawn),
        x_ticks=_ticks(top, priced=priced),
        y_ticks=tuple((share / 4, percent(share / 4)) for share in range(int(4 * floor), 5)),
        x=(0.0, top),
        y=(floor, 1.0),
        band=True,
        marks=tuple(_marks(found, points, drawn)),
        mark_role=Role.ACCENT,
    )


def _floor(points: Sequence[Point]) -> float:
    """Return the start of the axis: a quarter below every interval."""
    lowest = min((point.y if point.low is None else point.low for point in points), default=0.0)
    return min(int(4 * lowest) / 4, 0.75)


def _ticks(top: float, *, priced: bool) -> tuple[tuple[float, str], ...]:
    return tuple((at, _tick(at, priced=priced)) for at in (step * top / 4 for step in range(5)))


def _tick(value: float, *, priced: bool) -> str:
    return (f"${value:.2g}" if value else "$0") if priced else f"{value:.2f}"


def _by_cost(curve: Sequence[ThresholdPoint]) -> list[ThresholdPoint]:
    """Return the points by cost; of thresholds that ask the same models, only the lowest is kept."""
    known: dict[tuple[float, float], ThresholdPoint] = {}
    for point in curve:
        known.setdefault((point.cost_usd or 0.0, point.share), point)
    return [known[key] for key in sorted(known)]


def _point(one: ThresholdPoint, *, priced: bool) -> Point:
    at = HUNDRED * (one.cost_usd or 0.0) if priced else one.threshold
    cost = "" if one.cost_usd is None else f", {cost_text(one.cost_usd)} for 100 calls"
    words = f"Threshold {one.threshold:.2f}: {percent(one.share)} correct calls{cost}"
    return Point(x=at, y=one.share, low=one.low, high=one.high, tip=words, id=f"{one.threshold:.2f}")


def _marks(found: RouteComparison, points: Sequence[ThresholdPoint], drawn: Sequence[Point]) -> list[tuple[float, str]]:
    best = found.suggested
    if best is None:
        return []
    same = (
        point.x
        for one, point in zip(points, drawn, strict=True)
        if (one.share, one.cost_usd) == (best.share, best.cost_usd)
    )
    return [(at, f"{best.threshold:.2f} suggested") for at in list(same)[:1]]


def comparison_table(found: RouteComparison) -> DataTable:
    """Return the arms, then the points of the curve, as plain values."""
    columns = ("Way", "Threshold", "Correct call", "Low", "High", "Runs", "USD a call", "Seconds")
    arms = tuple(
        (arm.name, None, arm.rate.value, arm.rate.low, arm.rate.high, arm.rate.n, arm.cost_usd, arm.seconds)
        for arm in _ordered(found)
    )
    curve = tuple(
        (ROUTED, one.threshold, one.share, one.low, one.high, None, one.cost_usd, None) for one in found.curve
    )
    return DataTable(name=f"Comparison of {found.router}", columns=columns, rows=(*arms, *curve))
