"""How the window looks."""

from collections.abc import Callable

from app.text_size import SIZES, TextSizes
from app.theme import ThemeMode, theme
from app.widgets import Field, MenuButton, Section, Segmented

NOTE = "Ctrl and plus, minus or 0 change it too."


class GeneralSection(Section):
    """What concerns the whole window; `leave` closes the dialog, since a text size has the window built anew."""

    def __init__(self, set_theme: Callable[[str], object], sizes: TextSizes, leave: Callable[[], object]) -> None:
        super().__init__(margins=False)
        self.column.setSpacing(16)
        looks = Segmented([(mode.value, mode.value.capitalize()) for mode in ThemeMode], "Appearance")
        looks.set_current(theme().mode.value)
        looks.changed.connect(set_theme)
        self.add(Field("Appearance", looks))
        size = MenuButton("Text size", [(str(one), f"{one} %") for one in SIZES])
        size.set_current(str(sizes.percent()))
        for take in (lambda percent: sizes.choose(int(percent)), lambda _: leave()):
            size.changed.connect(take)
        self.add(Field("Text size", size, note=NOTE))
        self.column.addStretch(1)
