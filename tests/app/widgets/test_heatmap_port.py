"""Where cells lie: fitting, zooming, scrolling."""

from hypothesis import given, settings
from hypothesis import strategies as st

from app.widgets.heatmap_layout import LARGEST, HeatmapViewport

PORTS = st.builds(
    lambda n, wide, high: HeatmapViewport(n=n, wide=wide, high=high).fit(),
    st.integers(1, 5_000),
    st.integers(40, 2_000),
    st.integers(40, 2_000),
)


def test_all_cells_are_seen_at_first_and_as_large_as_whole_pixels_allow() -> None:
    port = HeatmapViewport(n=60, wide=560, high=700).fit()
    assert (port.side, port.seen_wide, port.seen_high) == (9.0, 540.0, 540.0)
    assert (port.rows, port.columns) == (range(60), range(60))
    assert port.fitted


def test_few_cells_do_not_grow_without_end() -> None:
    assert HeatmapViewport(n=2, wide=900, high=900).fit().side == 48


def test_thousands_of_cells_are_smaller_than_a_pixel() -> None:
    port = HeatmapViewport(n=2_000, wide=500, high=500).fit()
    assert port.side == 0.25
    assert port.cell(499, 0) == (0, 1_996)


@settings(max_examples=200, deadline=None)
@given(PORTS, st.floats(1.05, 8), st.floats(0, 1), st.floats(0, 1))
def test_what_is_under_the_pointer_stays_there_while_zooming_in(
    port: HeatmapViewport, factor: float, x: float, y: float
) -> None:
    at = x * (port.seen_wide - 1), y * (port.seen_high - 1)
    grown = port.zoomed(factor, *at)
    before = ((at[0] + port.x) / port.side, (at[1] + port.y) / port.side)
    after = ((at[0] + grown.x) / grown.side, (at[1] + grown.y) / grown.side)
    free = grown.seen_wide == port.seen_wide and grown.seen_high == port.seen_high
    assert grown.side >= port.side
    assert not free or all(abs(one - other) < 1e-6 * port.n + 1e-6 for one, other in zip(before, after, strict=True))


@settings(max_examples=200, deadline=None)
@given(PORTS, st.floats(0.2, 50), st.floats(-9_999, 9_999), st.floats(-9_999, 9_999))
def test_nothing_but_cells_is_ever_in_view(port: HeatmapViewport, factor: float, dx: float, dy: float) -> None:
    moved = port.zoomed(factor, 10, 10).moved(dx, dy)
    assert 0 <= moved.x <= moved.n * moved.side - moved.seen_wide + 1e-6
    assert 0 <= moved.y <= moved.n * moved.side - moved.seen_high + 1e-6
    assert moved.rows
    assert moved.rows.stop <= moved.n


def test_zooming_stops_at_everything_and_at_the_largest_cells() -> None:
    port = HeatmapViewport(n=100, wide=500, high=500).fit()
    assert port.zoomed(0.01, 0, 0) == port
    assert port.zoomed(1_000, 0, 0).side == LARGEST


def test_every_step_of_zoom_changes_something() -> None:
    port = HeatmapViewport(n=100, wide=400, high=400).fit()
    assert port.zoomed(1.05, 0, 0).side == port.side + 1
    assert port.zoomed(2, 0, 0).zoomed(0.99, 0, 0).side == 7


def test_a_place_outside_the_cells_is_no_cell() -> None:
    port = HeatmapViewport(n=10, wide=100, high=300).fit()
    assert port.cell(50, 150) is None
    assert port.cell(-1, 0) is None
    assert port.cell(99, 99) == (9, 9)


def test_a_cell_out_of_view_is_scrolled_to_and_no_further() -> None:
    port = HeatmapViewport(n=100, wide=400, high=400).fit().zoomed(4, 0, 0)
    assert (port.x, port.y) == (0, 0)
    there = port.showing(50, 0)
    assert (there.x, there.y) == (0, 51 * 16 - 400)
    assert there.showing(50, 0) == there


def test_a_group_fills_the_view_with_a_margin() -> None:
    port = HeatmapViewport(n=100, wide=400, high=400).fit().on(40, 49)
    assert port.side == 32
    assert 40 in port.rows
    assert 49 in port.rows
    assert port.rows == port.columns


def test_another_size_keeps_the_place_and_what_was_whole_stays_whole() -> None:
    port = HeatmapViewport(n=100, wide=400, high=400).fit()
    assert port.resized(100, 800, 800).side == 8
    zoomed = port.zoomed(4, 0, 0).moved(100, 100)
    assert (zoomed.resized(100, 300, 300).side, zoomed.resized(100, 300, 300).x) == (16, 100)
    assert zoomed.resized(50, 400, 400).fitted
