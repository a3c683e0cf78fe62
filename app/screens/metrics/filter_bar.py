"""Filter menus in the header, and chips of the active filters below it."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.screens.metrics.filters import TITLES, Dimension, Offer, button_words
from app.screens.metrics.presenter import MetricsPresenter
from app.theme import sized
from app.widgets import Action, PageHeader, PickItem, PickPopup, show_menu_under
from app.widgets.actions import MenuOpener
from app.widgets.tokens_edit import ChipRow

QUICK = {Dimension.SUITE: "All suites", Dimension.MODEL: "All models", Dimension.PERIOD: "Any time"}
MOST_IN_A_MENU = 8
ROOM_FOR_QUICK = (1040, 1040, 1180)


class FilterBar(ChipRow):
    """Chips of the filters in force; puts its menus into a header. `toggled` and `cleared_one` tell what is wanted."""

    toggled = Signal(object, str)
    cleared_one = Signal(object)

    def __init__(self, presenter: MetricsPresenter, header: PageHeader) -> None:
        super().__init__("Filter")
        self._presenter = presenter
        self._header = header
        self._popups: dict[Dimension, PickPopup] = {}
        self._useful, self._wide = True, 0
        self.quick = {dimension: self._opener(dimension) for dimension in QUICK}
        header.set_filter(self._all_dimensions)

    def show_filters(self) -> None:
        """Show what is in force now."""
        filters = self._presenter.filters
        for dimension, opener in self.quick.items():
            opener.setText(button_words(dimension, filters, QUICK[dimension], self._presenter.batches))
        shown = self._presenter.chips()
        self.set_chips([(f"{chip.dimension.value}\n{chip.value}", chip.text) for chip in shown])
        self._header.mark_filter(len(shown))
        self.setVisible(self._useful and bool(shown))

    def make_room(self, wide: int) -> None:
        """Leave quick menus out where the header is narrow, the last one first."""
        self._wide = wide
        self._place_menus()

    def set_useful(self, useful: bool) -> None:
        """Hide everything on a view that no filter narrows."""
        self._useful = useful
        self.setVisible(useful and bool(self.chips()))
        self._place_menus()

    def _place_menus(self) -> None:
        for opener, room in zip(self.quick.values(), ROOM_FOR_QUICK, strict=True):
            opener.setVisible(self._useful and self._wide >= sized(room))
        if self._header.filter is not None:
            self._header.filter.setVisible(self._useful)

    def open(self, dimension: Dimension, field: QWidget) -> None:
        """Offer the values of a dimension under a button: few as a menu, many to be searched."""
        found = self._presenter.offers(dimension)
        if len(found) <= MOST_IN_A_MENU and not any(offer.detail for offer in found):
            show_menu_under(self._choices(dimension, found), field)
            return
        chosen = next(iter(self._presenter.filters.of(dimension)), "")
        self._popup(dimension).open_at(field, [_item(offer) for offer in found], chosen)

    def _opener(self, dimension: Dimension) -> MenuOpener:
        opener = MenuOpener(QUICK[dimension])
        opener.setAccessibleName(f"Filter by {TITLES[dimension].lower()}")
        opener.clicked.connect(lambda: self.open(dimension, opener))
        self._header.place(opener)
        return opener

    def _choices(self, dimension: Dimension, found: Sequence[Offer]) -> list[Action]:
        chosen = self._presenter.filters.of(dimension)
        choose: Callable[[str], None] = partial(self.toggled.emit, dimension)
        actions = [
            Action(text=offer.text, do=partial(choose, offer.value), checked=offer.value in chosen) for offer in found
        ]
        nothing = Action(text=f"No {TITLES[dimension].lower()} is known yet", do=lambda: None, enabled=False)
        every = Action(
            text=QUICK.get(dimension, "Any"),
            do=lambda: self.cleared_one.emit(dimension),
            checked=not chosen,
            apart=True,
        )
        return [*actions, every] if actions else [nothing]

    def _popup(self, dimension: Dimension) -> PickPopup:
        if dimension not in self._popups:
            popup = PickPopup(TITLES[dimension], self)
            popup.footer = "{shown} of {all}. Enter picks, Esc closes."
            popup.picked.connect(partial(self.toggled.emit, dimension))
            self._popups[dimension] = popup
        return self._popups[dimension]

    def _all_dimensions(self) -> list[Action]:
        return [
            Action(
                text=f"{title}…",
                do=partial(self._open_soon, dimension),
                apart=dimension in (Dimension.EXPECTED, Dimension.EXPECTED_SERVER),
            )
            for dimension, title in TITLES.items()
        ]

    def _open_soon(self, dimension: Dimension) -> None:
        """Once the menu that was clicked is gone."""
        QTimer.singleShot(0, self, lambda: self.open(dimension, self._header.filter or self))


def _item(offer: Offer) -> PickItem:
    return PickItem(id=offer.value, title=offer.text, detail=offer.detail, mono=offer.mono)


def chip_of(key: str) -> tuple[Dimension, str]:
    """The filter that a chip stands for."""
    dimension, _, value = key.partition("\n")
    return Dimension(dimension), value
