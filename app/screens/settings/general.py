"""How the window looks."""

from collections.abc import Callable
from enum import Enum

from app.core_link.text_size import SIZES, TextSizes
from app.theme import theme
from app.widgets import Field, MenuButton, Section, Segmented

NOTE = "Ctrl and plus, minus or 0 change it too."


class GeneralSection(Section):
    """What concerns the whole window; `leave` closes the dialog, since a text size has the window built anew."""

    def __init__(
        self,
        set_theme: Callable[[str], object],
        set_contrast: Callable[[str], object],
        sizes: TextSizes,
        leave: Callable[[], object],
    ) -> None:
        super().__init__(margins=False)
        self.column.setSpacing(16)
        self.add(Field("Appearance", _choice("Appearance", theme().mode, set_theme)))
        self.add(Field("Contrast", _choice("Contrast", theme().contrast, set_contrast)))
        size = MenuButton("Text size", [(str(one), f"{one} %") for one in SIZES])
        size.set_current(str(sizes.percent()))
        for take in (lambda percent: sizes.choose(int(percent)), lambda _: leave()):
            size.changed.connect(take)
        self.add(Field("Text size", size, note=NOTE))
        self.column.addStretch(1)


def _choice(name: str, now: Enum, choose: Callable[[str], object]) -> Segmented:
    made = Segmented([(one.value, one.value.capitalize()) for one in type(now)], name)
    made.set_current(now.value)
    made.changed.connect(choose)
    return made
