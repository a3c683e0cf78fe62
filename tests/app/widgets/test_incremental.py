"""Work in turns, of which none is long; and parts that are painted whole or not at all."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.widgets import IncrementalBuild, at_once, frozen_updates, in_turns
from app.widgets.incremental import TURN_S
from tests.support.windows import shown, until, until_spent


def test_many_small_items_share_a_turn_and_a_long_one_ends_it() -> None:
    def work(item: int) -> None:
        if item == 2:
            until_spent(TURN_S)

    assert sum(1 for _ in in_turns(range(100), work)) == 1


def test_what_is_made_in_parts_is_the_same_made_at_once() -> None:
    def parts() -> IncrementalBuild[list[str]]:
        made = ["rail"]
        yield
        made.append("list")
        yield
        return made

    assert at_once(parts()) == ["rail", "list"]


async def test_what_is_held_is_laid_out_before_it_is_painted(qapp: QApplication) -> None:
    part, late = QWidget(), QWidget()
    column = QVBoxLayout(part)
    column.setContentsMargins(0, 0, 0, 0)
    shown(part, 300, 200)
    painted = Paints(part)
    await until(lambda: painted.count)
    before = painted.count
    async with frozen_updates(part):
        column.addWidget(late)
    assert (late.width(), painted.count) == (300, before)
    await until(lambda: painted.count > before)
    part.deleteLater()


async def test_what_is_held_paints_again_also_after_an_error(qapp: QApplication) -> None:
    part = QWidget()
    try:
        async with frozen_updates(part):
            assert not part.updatesEnabled()
            raise ValueError
    except ValueError:
        pass
    assert part.updatesEnabled()


class Paints(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False
