"""Going back and forward through stops."""

from app.core_link.targets import LONGEST, HistoryEntry, NavigationHistory, Screen, ShowScreen

A, B, C = (HistoryEntry(name) for name in "abc")


def walked(*stops: HistoryEntry) -> NavigationHistory:
    """A trail on which each of these was left."""
    trail = NavigationHistory()
    for stop in stops:
        trail.leave(stop)
    return trail


def test_back_goes_through_the_stops_from_the_last_one_and_forward_returns() -> None:
    trail = walked(A, B)
    assert trail.back(C) == B
    assert trail.back(B) == A
    assert trail.forward(A) == B
    assert trail.forward(B) == C
    assert not trail.can_go_forward()


def test_a_new_way_forgets_what_was_ahead() -> None:
    trail = walked(A)
    trail.back(B)
    trail.leave(A)
    assert not trail.can_go_forward()
    assert trail.back(C) == A


def test_a_stop_that_shows_what_is_shown_already_is_passed_over() -> None:
    shown = HistoryEntry("b", ShowScreen(Screen.CASES))
    assert walked(A, shown, shown).back(shown) == A


def test_where_nothing_lies_behind_back_stays() -> None:
    trail = NavigationHistory()
    assert not trail.can_go_back()
    assert trail.back(A) == A


def test_a_long_way_is_forgotten_from_its_beginning() -> None:
    trail = walked(*(HistoryEntry(str(number)) for number in range(LONGEST + 50)))
    here, seen = HistoryEntry("end"), 0
    while trail.can_go_back():
        here, seen = trail.back(here), seen + 1
    assert (here, seen) == (HistoryEntry("50"), LONGEST)
