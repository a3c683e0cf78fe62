"""Work in turns, of which none is long; and parts that are painted whole or not at all."""

from PySide6.QtWidgets import QApplication, QWidget

from app.widgets import held, in_turns
from app.widgets.turns import TURN_S
from tests.support.windows import until_spent


def test_many_small_items_share_a_turn_and_a_long_one_ends_it() -> None:
    def work(item: int) -> None:
        if item == 2:
            until_spent(TURN_S)

    assert sum(1 for _ in in_turns(range(100), work)) == 1


def test_what_is_held_paints_again_also_after_an_error(qapp: QApplication) -> None:
    part = QWidget()
    try:
        with held(part):
            assert not part.updatesEnabled()
            raise ValueError
    except ValueError:
        assert part.updatesEnabled()
