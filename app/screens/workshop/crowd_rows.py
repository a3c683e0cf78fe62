"""Results of crowd tests as curves, tables and rows of lists."""

import math
from collections.abc import Callable, Sequence
from typing import Final

from app.text.data_tables import DataTable
from app.text.formatting import count, model_name, money, percent
from app.theme import Role
from app.widgets import Cell, CellKind, Column, Mark, Row
from app.widgets.line_chart import Curve, Plot, Point
from mcp_tef import (
    CrowdLoss,
    CrowdPoint,
    CrowdResult,
    OrderEffect,
    Rate,
    RateDifference,
    RetrievalPoint,
    RunSummary,
    SilencePoint,
    interval_text,
)

FOUND: Final = 5
BY_SEARCH: Final = f"search alone, first {FOUND}"
WRONG_COLUMNS: Final = (
    Column(key="case", title="Case", stretch=True, least=100, tip="The test case"),
    Column(key="tool", title="Selected instead", kind=CellKind.MONO, width=150, least=80, tip="The selected tool"),
    Column(key="server", title="Of", width=90, least=50, role=Role.DIM, tip="The server of the selected tool"),
)
PICK_COLUMNS: Final = (
    Column(key="times", title="Times", kind=CellKind.NUMBER, width=56, tip="How often it was selected instead"),
    Column(key="tool", title="Selected instead", kind=CellKind.MONO, stretch=True, least=80, tip="The selected tool"),
    Column(key="server", title="Of", width=90, least=50, role=Role.DIM, tip="The server of the selected tool"),
    Column(key="model", title="Model", width=110, least=60, role=Role.DIM, tip="The model that selected it"),
)
ORDER_COLUMNS: Final = (
    Column(key="what", title="Order and silence", stretch=True, least=120, tip="What was measured"),
    Column(key="among", title="Others", kind=CellKind.NUMBER, width=60, tip="Number of other tools"),
    Column(key="share", title="Share", kind=CellKind.SHARE, width=120, tip="Share with its 95 % interval"),
)
NOT_FOUND: Final = "The search in front did not find the expected tool"
SHARE, TOKENS, COST = "share", "tokens", "cost"
MEASURES: Final = ((SHARE, "Correct"), (TOKENS, "Tokens"), (COST, "Cost"))
CALLS: Final = 1_000
PLACES: Final = ("first", "second", "third", "fourth", "last")


def curve_name(model: str, search: int | None) -> str:
    """Return the name of a curve."""
    return model_name(model) if search is None else f"{model_name(model)}, first {search} found"


def losses(result: CrowdResult) -> list[tuple[Mark, str, str]]:
    """Return mark, its word and sentence of each curve without a search, or of all where there are no others."""
    own = [one for one in result.lost_at if one.search is None]
    return [(*_loss_mark(one, result), plain(one.sentence)) for one in own]


def plain(sentence: str) -> str:
    """Return a sentence without the marks around names of tools."""
    return sentence.replace("`", "")


def searched_texts(result: CrowdResult) -> list[str]:
    """Return what each search in front makes of the largest number of tools: "… first 5 found: 61 % instead of …"."""
    largest = max((one.strangers for one in result.points), default=0)
    ends = {(one.model, one.search): one.rate.value for one in result.points if one.strangers == largest}
    return [
        f"{curve_name(model, search)}: {percent(value)} instead of {percent(ends[model, None])} among {largest:,}"
        for (model, search), value in ends.items()
        if search is not None and value is not None
    ]


def _loss_mark(loss: CrowdLoss, result: CrowdResult) -> tuple[Mark, str]:
    if loss.high is not None:
        return Mark.CROSS, "lost"
    largest = max((one.strangers for one in result.points), default=0)
    return (Mark.CHECK, "not lost") if largest and loss.low == largest else (Mark.UNDECIDED, "cannot tell yet")


def measures(result: CrowdResult | None) -> tuple[tuple[str, str], ...]:
    """Return what curves can show: the cost only where one is known."""
    costs = any(one.cost_usd is not None for one in result.points) if result else False
    return MEASURES if costs else MEASURES[:2] if result else MEASURES[:1]


def crowd_plot(result: CrowdResult | None, line: Sequence[RetrievalPoint]) -> Plot:
    """Plot the curves of all models against the number of other tools, and the line of a search without a model.

    Numbers stand at equal distances. A curve with a search in front is dashed in the colour of its model.
    """
    points = _judged(result)
    sizes = sorted({*map(_strangers, points), *map(_strangers, line)})
    curves = list(dict.fromkeys((one.model, one.search) for one in points))
    drawn = [_plotted(one, sizes.index(one.strangers), curves, result) for one in points]
    drawn += [_line_point(one, sizes.index(one.strangers), len(curves)) for one in line]
    floor = _floor(drawn)
    return Plot(
        points=tuple(drawn),
        x_ticks=_size_ticks(sizes),
        y_ticks=_quarters(floor),
        x=(0.0, max(1.0, len(sizes) - 1.0)),
        y=(floor, 1.0),
        band=True,
        curves=_named(curves, by_search=bool(line)),
        marks=_marks(result, sizes),
    )


def tokens_plot(result: CrowdResult) -> Plot:
    """Plot the tokens of the tools in a call, which are the same for each model."""
    first = result.points[0].model
    values = [(one, float(one.tokens)) for one in result.points if one.model == first]
    searches = dict.fromkeys(one.search for one, _ in values)
    names = [Curve(name="all tools" if one is None else f"first {one} found", dashed=bool(one)) for one in searches]
    return _size_plot(result, values, names, "{:,.0f}".format)


def cost_plot(result: CrowdResult) -> Plot:
    """Plot the cost of a thousand calls; a point whose cost is not known is left out."""
    values = [(one, CALLS * one.cost_usd) for one in result.points if one.cost_usd is not None]
    curves = dict.fromkeys((one.model, one.search) for one, _ in values)
    return _size_plot(result, values, _named(list(curves), by_search=False), money)


def _size_plot(
    result: CrowdResult,
    values: Sequence[tuple[CrowdPoint, float]],
    names: Sequence[Curve],
    label: Callable[[float], str],
) -> Plot:
    """Plot values of points from 0 against the number of other tools."""
    sizes = sorted(set(map(_strangers, result.points)))
    curves = list(dict.fromkeys((one.model, one.search) for one, _ in values))
    most, ticks = _round_ticks(max((value for _, value in values), default=0.0))
    drawn = (
        Point(
            x=float(sizes.index(one.strangers)),
            y=value,
            tip=point_text(one),
            id=str(result.points.index(one)),
            curve=curves.index((one.model, one.search)),
        )
        for one, value in values
    )
    return Plot(
        points=tuple(drawn),
        x_ticks=_size_ticks(sizes),
        y_ticks=tuple((tick, label(tick)) for tick in ticks),
        x=(0.0, max(1.0, len(sizes) - 1.0)),
        y=(0.0, most),
        band=True,
        curves=tuple(names),
    )


def _size_ticks(sizes: Sequence[int]) -> tuple[tuple[float, str], ...]:
    return tuple((float(place), f"{size:,}") for place, size in enumerate(sizes))


def _round_ticks(most: float) -> tuple[float, tuple[float, ...]]:
    """Return the end of an axis from 0 that holds a value, and four or five round numbers on it."""
    if most <= 0:
        return 1.0, (0.0,)
    rough = most / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough)
    steps = math.ceil(most / step)
    return steps * step, tuple(place * step for place in range(steps + 1))


def _strangers(one: CrowdPoint | RetrievalPoint) -> int:
    return one.strangers


def _quarters(floor: float) -> tuple[tuple[float, str], ...]:
    return tuple((quarter / 4, percent(quarter / 4)) for quarter in range(int(4 * floor), 5))


def _judged(result: CrowdResult | None) -> list[CrowdPoint]:
    return [one for one in result.points if one.rate.value is not None] if result else []


def _floor(points: Sequence[Point]) -> float:
    """Return the start of the axis: a quarter below every interval, and no more than a half."""
    lowest = min((one.y if one.low is None else one.low for one in points), default=0.0)
    return min(int(4 * lowest) / 4, 0.5)


def _named(curves: Sequence[tuple[str, int | None]], *, by_search: bool) -> tuple[Curve, ...]:
    models = list(dict.fromkeys(model for model, _ in curves))
    names = [Curve(name=curve_name(*one), colour=models.index(one[0]), dashed=one[1] is not None) for one in curves]
    return (*names, *([Curve(name=BY_SEARCH, colour=len(models), dashed=True)] if by_search else []))


def _marks(result: CrowdResult | None, sizes: Sequence[int]) -> tuple[tuple[float, str], ...]:
    """Return the numbers among which tools are lost, without those of curves with a search in front."""
    lost = [one.high for one in result.lost_at if one.search is None] if result else []
    return tuple((float(sizes.index(one)), f"lost among {one:,}") for one in dict.fromkeys(lost) if one in sizes)


def _plotted(
    one: CrowdPoint, place: int, curves: Sequence[tuple[str, int | None]], result: CrowdResult | None
) -> Point:
    rate = one.rate
    number = result.points.index(one) if result else 0
    return Point(
        x=float(place),
        y=rate.value or 0.0,
        low=rate.low,
        high=rate.high,
        tip=point_text(one),
        id=str(number),
        curve=curves.index((one.model, one.search)),
    )


def _line_point(one: RetrievalPoint, place: int, curve: int) -> Point:
    found = ", ".join(f"{percent(share)} among the first {most}" for most, share in one.recall)
    silent = "" if one.silent is None else f"\nFinds nothing at {percent(one.silent)} of the queries that no tool fits."
    tip = f"Search alone, {count(one.strangers, 'other tool')}: the expected tool is found at {found}.{silent}"
    return Point(x=float(place), y=dict(one.recall)[FOUND], tip=tip, curve=curve)


def point_text(one: CrowdPoint) -> str:
    """Return the figures of a point in words."""
    head = f"{curve_name(one.model, one.search)}, {count(one.strangers, 'other tool')}"
    if one.rate.value is None:
        return f"{head}: no run was judged yet"
    lines = [f"{head}: {share(one.rate)} of {count(one.runs, 'run')} select the expected tool"]
    if one.strangers and one.difference.value is not None:
        lines.append(f"{points_text(one.difference)} from no other tools")
    cost = "" if one.cost_usd is None else f", {money(one.cost_usd)}"
    lines.append(f"{count(one.tokens, 'token')} of tools a call{cost}")
    apart = (
        (one.equivalents, "selected a tool that does the same"),
        (one.not_found, "not found by the search"),
        (one.left_out, "left out, since they failed"),
    )
    lines += [f"{number:,} {text}" for number, text in apart if number]
    return "\n".join(lines)


def share(rate: Rate) -> str:
    """Return a share with its interval: "82 % (71–90)"."""
    interval = interval_text(rate.low, rate.high)
    return f"{percent(rate.value)} ({interval})" if interval else percent(rate.value)


def points_text(gap: RateDifference) -> str:
    """Return a change in points with its interval: "−11 points (−19 to −3)"."""
    if gap.value is None:
        return "–"
    value, *ends = (f"{100 * one:+.0f}".replace("-", "−") for one in (gap.value, gap.low, gap.high) if one is not None)
    return f"{value} points ({' to '.join(ends)})" if len(ends) == 2 else f"{value} points"


def crowd_table(result: CrowdResult | None, line: Sequence[RetrievalPoint]) -> DataTable:
    """Return the values behind the curves."""
    columns = ("Curve", "Other tools", "Correct tool", "Low", "High", "Runs", "Change", "Lost", "Tokens", "USD a call")
    rows = [
        (
            curve_name(one.model, one.search),
            one.strangers,
            one.rate.value,
            one.rate.low,
            one.rate.high,
            one.runs,
            one.difference.value,
            "lost" if one.lost else "",
            one.tokens,
            one.cost_usd,
            one.equivalents,
            one.not_found,
            one.left_out,
        )
        for one in (result.points if result else ())
    ]
    found = [(BY_SEARCH, one.strangers, dict(one.recall)[FOUND], *[None] * 4, "", *[None] * 5) for one in line]
    return DataTable(
        name="Correct tool among other tools",
        columns=(*columns, "Equivalent", "Not found", "Left out"),
        rows=(*rows, *found),
    )


def wrong_rows(runs: Sequence[RunSummary]) -> list[Row]:
    """Return the wrong runs of a point."""
    return [Row(run.id, _wrong_cells(run)) for run in runs]


def _wrong_cells(run: RunSummary) -> tuple[Cell, ...]:
    nothing = "not found" if run.failure else "no tool"
    case = Cell(text=run.case_name, tip=run.query)
    if not run.selected_tool:
        return case, Cell(text=nothing, prose=True, role=Role.DIM, tip=NOT_FOUND if run.failure else nothing), Cell()
    return case, Cell(text=run.selected_tool, tip=run.selected_tool), Cell(text=run.selected_server or "")


def pick_rows(result: CrowdResult | None) -> list[Row]:
    """Return the strangers that were selected in place of expected tools."""
    return [
        Row(
            str(place),
            (
                Cell(text=f"{one.times:,}", sort=one.times, strong=True),
                Cell(text=one.tool, tip="Does the same as the expected tool" if one.equivalent else one.tool),
                Cell(text=one.server),
                Cell(text=one.model),
            ),
        )
        for place, one in enumerate(result.picks if result else ())
    ]


def order_rows(result: CrowdResult | None) -> list[Row]:
    """Return the effects of the order by model, then how often a tool is called though none fits."""
    if result is None:
        return []
    cells = [row for one in result.order for row in _order_cells(one)]
    cells += [_silence_cells(one) for one in result.silence if one.called.n]
    return [Row(str(place), row) for place, row in enumerate(cells)]


def _order_cells(one: OrderEffect) -> list[tuple[Cell, ...]]:
    changed = "the choice changes when only the order does"
    rows = [_share_cells(f"{model_name(one.model)}: {changed}", one.strangers, one.changed)]
    places = zip(PLACES, one.fifths, strict=True)
    return rows + [
        _share_cells(f"{model_name(one.model)}: correct, expected tool in the {place} fifth", None, rate)
        for place, rate in places
        if rate.n
    ]


def _silence_cells(one: SilencePoint) -> tuple[Cell, ...]:
    text = f"{curve_name(one.model, one.search)}: a tool is called though none fits"
    return _share_cells(text, one.strangers, one.called)


def _share_cells(text: str, among: int | None, rate: Rate) -> tuple[Cell, ...]:
    known = None not in (rate.value, rate.low, rate.high)
    return (
        Cell(text=text, tip=text),
        Cell(text="" if among is None else f"{among:,}", sort=among),
        Cell(
            text=share(rate),
            sort=rate.value,
            span=(rate.value or 0.0, rate.low or 0.0, rate.high or 0.0) if known else None,
        ),
    )
