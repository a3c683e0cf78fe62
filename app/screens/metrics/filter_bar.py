"""Filter menus in the header, and chips of the active filters below it."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.screens.kit import NO_FILTERS
from app.screens.metrics.filters import FIELDS, TITLES, Dimension, FilterChoice, button_text, toggled
from app.screens.metrics.presenter import MetricsPresenter
from app.theme import sized
from app.widgets import Action, PageHeader, PickItem, PickPopup, show_menu_under
from app.widgets.actions import MenuOpener
from app.widgets.tokens_edit import ChipRow

QUICK = {Dimension.SUITE: "All suites", Dimension.MODEL: "All models", Dimension.PERIOD: "Any time"}
MAX_MENU_ITEMS = 8
ROOM_FOR_QUICK = (1040, 1040, 1180)


class FilterBar(ChipRow):
    """Chips of the filters in force, and the filter menus of a header. `changed` gives the new `FilterValues`."""

    changed = Signal(object)

    def __init__(self, presenter: MetricsPresenter, header: PageHeader) -> None:
        super().__init__("Filter")
        self._presenter = presenter
        self._header = header
        self._popups: dict[Dimension, PickPopup] = {}
        self._useful, self._wide = True, 0
        self.quick = {dimension: self._opener(dimension) for dimension in QUICK}
        header.set_filter(self._all_dimensions)
        self.removed.connect(lambda key: self.changed.emit(FIELDS.without_chip(presenter.filters, key)))
        self.cleared.connect(lambda: self.changed.emit(NO_FILTERS))

    def toggle(self, dimension: Dimension, value: str) -> None:
        """Set a value, or clear it if it is set."""
        self.changed.emit(toggled(self._presenter.filters, dimension, value))

    def show_filters(self) -> None:
        """Show the filters in force."""
        filters = self._presenter.filters
        for dimension, opener in self.quick.items():
            opener.setText(button_text(dimension, filters, QUICK[dimension], self._presenter.batches))
        shown = self._presenter.chips()
        self.set_chips([(chip.key, chip.text) for chip in shown])
        self._header.mark_filter(len(shown))
        self.setVisible(self._useful and bool(shown))

    def make_room(self, wide: int) -> None:
        """Hide quick menus in a narrow header, the last one first."""
        self._wide = wide
        self._place_menus()

    def set_useful(self, useful: bool) -> None:
        """Hide everything on a view that ignores filters."""
        self._useful = useful
        self.setVisible(useful and bool(self.chips()))
        self._place_menus()

    def _place_menus(self) -> None:
        for opener, room in zip(self.quick.values(), ROOM_FOR_QUICK, strict=True):
            opener.setVisible(self._useful and self._wide >= sized(room))
        if self._header.filter is not None:
            self._header.filter.setVisible(self._useful)

    def open(self, dimension: Dimension, field: QWidget) -> None:
        """Show the values of a filter under a button: a few as a menu, many in a searchable popup."""
        choices = self._presenter.filter_choices(dimension)
        if len(choices) <= MAX_MENU_ITEMS and not any(choice.detail for choice in choices):
            show_menu_under(self._choices(dimension, choices), field)
            return
        chosen = next(iter(self._presenter.filters.of(dimension)), "")
        self._popup(dimension).open_at(field, [_item(choice) for choice in choices], chosen)

    def _opener(self, dimension: Dimension) -> MenuOpener:
        opener = MenuOpener(QUICK[dimension])
        opener.setAccessibleName(f"Filter by {TITLES[dimension].lower()}")
        opener.clicked.connect(lambda: self.open(dimension, opener))
        self._header.place(opener)
        return opener

    def _choices(self, dimension: Dimension, choices: Sequence[FilterChoice]) -> list[Action]:
        if not choices:
            return [Action(text=f"No {TITLES[dimension].lower()} yet", do=lambda: None, enabled=False)]
        filters = self._presenter.filters
        values = filters.of(dimension)
        actions = [
            Action(text=one.text, do=partial(self.toggle, dimension, one.value), checked=one.value in values)
            for one in choices
        ]
        clear = partial(self.changed.emit, filters.with_values(dimension))
        return [*actions, Action(text=QUICK.get(dimension, "Any"), do=clear, checked=not values, apart=True)]

    def _popup(self, dimension: Dimension) -> PickPopup:
        if dimension not in self._popups:
            popup = PickPopup(TITLES[dimension], self)
            popup.footer = "{shown} of {all} · Enter to select · Esc to close"
            popup.picked.connect(partial(self.toggle, dimension))
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
        """Open the values after the menu that was clicked has closed."""
        QTimer.singleShot(0, self, lambda: self.open(dimension, self._header.filter or self))


def _item(choice: FilterChoice) -> PickItem:
    return PickItem(id=choice.value, title=choice.text, detail=choice.detail, mono=choice.mono)
