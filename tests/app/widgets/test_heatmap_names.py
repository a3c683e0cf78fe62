"""Which names stand beside the map."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from app.widgets.heatmap_layout import LEAST, Taken, apart, thinned


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 3_000), st.floats(0.1, 40), st.lists(st.integers(0, 3_000), max_size=50))
def test_no_name_ever_touches_another(n: int, step: float, then: list[int]) -> None:
    chosen = thinned(range(n), step, 0.0, Taken(), then)
    assert all((b - a) * step >= LEAST - 1e-6 for a, b in pairwise(chosen))
    assert chosen
    assert all(0 <= place < n for place in chosen)


def test_wide_rows_all_have_their_names() -> None:
    assert thinned(range(10), 20.0, 0.0, Taken()) == list(range(10))


def test_important_names_come_before_their_neighbours() -> None:
    assert thinned(range(10), 7.0, 0.0, Taken(), then=(3,)) == [0, 3, 5, 7, 9]


def test_names_that_are_already_there_keep_their_room() -> None:
    taken = Taken()
    assert taken.take(0, 20)
    assert not taken.take(10, 30)
    assert 0 not in thinned(range(5), 15.0, 0.0, taken)


def test_neighbours_are_pushed_apart_by_the_same_and_never_out_of_view() -> None:
    assert apart([100.0, 104.0], 14) == [95.0, 109.0]
    assert apart([1.0, 2.0], 14) == [0.0, 14.0]
    assert apart([5.0], 14) == [5.0]
    assert apart([], 14) == []
