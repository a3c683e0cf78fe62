"""A batch whose cost cap is used up: what was spent, what the rest would take, and how much it may cost now."""

from collections.abc import Awaitable, Callable
from math import ceil, isfinite

from PySide6.QtWidgets import QWidget

from app.text.formatting import money
from app.widgets import Action, Field, FlowText, LineEdit, Sheet
from mcp_tef import Batch, InputError

USED_UP = "cost_cap_used_up"
CENTS = 100
Work = Callable[[float | None], Awaitable[Batch | None]]


class CapSheet(Sheet):
    """`cap` is the new one, once the sheet was accepted; what is proposed is enough for the rest."""

    def __init__(self, cap: float, spent: float, left: float, parent: QWidget) -> None:
        super().__init__("The cost cap is used up", parent, width=440)
        self.cap: float | None = None
        self._old = cap
        said = f"{money(spent)} of {money(cap)} was spent. The runs that are left take about {money(left)} more."
        self.body.addWidget(FlowText(said))
        self.edit = LineEdit()
        self.edit.setText(f"{enough(spent, left):g}")
        self.edit.selectAll()
        self._field = Field("New cap in US dollars, for the whole batch", self.edit)
        self.body.addWidget(self._field)
        self.set_buttons([Action(text="Cancel", do=self.reject), Action(text="Resume", do=self._agree, kind="primary")])
        self.edit.typed.connect(lambda _: self._field.tell(self._problem()))
        self.edit.setFocus()

    def _agree(self) -> None:
        if problem := self._problem():
            self._field.set_error(problem)
            return
        self.cap = amount(self.edit.text())
        self.accept()

    def _problem(self) -> str:
        number = amount(self.edit.text())
        return "" if number is not None and number > self._old else f"Write a number above {self._old:g}."


def amount(text: str) -> float | None:
    """Dollars as people type them; nothing where that is no sum, or could be read in two ways, as "1,000" could."""
    try:
        number = float(text.strip().lstrip("$"))
    except ValueError:
        return None
    return number if isfinite(number) else None


def enough(spent: float, left: float) -> float:
    """A cap that the rest fits under with a tenth to spare: whole cents, or finer where it is less than one."""
    wanted = spent + left * 1.1
    unit = CENTS if wanted >= 1 / CENTS else CENTS**3
    return ceil(round(wanted * unit, 6)) / unit


async def past_cap(work: Work, parent: QWidget) -> Batch | None:
    """Do the work with the cap that it has; where that is used up, with what the user allows; None for a no."""
    cap: float | None = None
    while True:
        try:
            return await work(cap)
        except InputError as error:
            if error.code != USED_UP:
                raise
            told = {name: float(str(error.context[name])) for name in ("cap", "spent", "left")}
        sheet = CapSheet(**told, parent=parent)
        if not await sheet.done_with():
            return None
        cap = sheet.cap
