"""List of the expected calls, with the parameters of the selected one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from app.screens.cases.calls import CallForm, FindTool, ToolChoice
from app.screens.cases.form import CaseForm, Mode, ParsedCase, with_call, with_call_added, without_call
from app.screens.cases.parameter_form import ParameterForm
from app.theme import Role, Size, sized, theme
from app.widgets import Button, FlowText, IconButton, Label, Picker, PickItem, Rule, column_layout, row_layout

ORDERED = "In this order"


@dataclass(frozen=True, slots=True)
class ToolPick:
    """Tool selected for a call: one of the list, or typed text."""

    number: int
    choice: ToolChoice | str


class CallList(QWidget):
    """Widget for the calls of a CaseForm; `changed` emits the edited form, `picked` a ToolPick."""

    changed = Signal(object)
    picked = Signal(object)

    def __init__(self, find: FindTool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._form = CaseForm()
        self._reading = ParsedCase(None)
        self._choices: tuple[ToolChoice, ...] = ()
        self._active = 0
        self.rows: list[CallRow] = []
        self.add = Button("Add a call", kind="link", icon="plus")
        self.ordered = QCheckBox(ORDERED)
        self._warnings = FlowText(size=Size.SMALL, role=Role.WARN)
        self.parameters = ParameterForm(find)
        self._lay_out()
        self.add.clicked.connect(self._add)
        self.ordered.toggled.connect(self._set_ordered)
        self.parameters.changed.connect(lambda call: self._tell(with_call(self._form, self._active, call)))

    def _lay_out(self) -> None:
        self.ordered.setFont(theme().font())
        self.add.setAccessibleName("Add a call")
        self._list = column_layout(spacing=8)
        self._foot = QWidget()
        foot = row_layout(self._foot, self.add, spacing=None)
        foot.addStretch(1)
        foot.addWidget(self.ordered)
        column = column_layout(self, self._list, self._foot, self._warnings, spacing=8)
        column.addSpacing(4)
        column.addWidget(Rule())
        column.addSpacing(4)
        column.addWidget(self.parameters)

    def show_form(self, form: CaseForm, reading: ParsedCase, choices: Sequence[ToolChoice]) -> None:
        """Show the calls, with the tools that can be picked."""
        offered = tuple(choices) != self._choices
        self._form, self._reading, self._choices = form, reading, tuple(choices)
        several = form.mode in (Mode.SEVERAL, Mode.ANY_ONE)
        shown = form.calls if several else form.calls[:1]
        self._active = min(self._active, len(shown) - 1)
        self._fit_rows(len(shown))
        for number, (row, call) in enumerate(zip(self.rows, shown, strict=True)):
            row.show_call(call, self._choices, offered=offered)
            row.show_place(number, active=number == self._active, several=several)
        self._foot.setVisible(several)
        self.ordered.setVisible(form.mode is Mode.SEVERAL)
        self.ordered.blockSignals(True)
        self.ordered.setChecked(form.ordered)
        self.ordered.blockSignals(False)
        self._show_parameters()

    def show_warnings(self, warnings: Sequence[str]) -> None:
        """Show warnings about possible typing errors."""
        self._warnings.set_text("\n".join(warnings))
        self._warnings.setVisible(bool(warnings))

    def warning(self) -> str:
        """Return the warning text shown."""
        return self._warnings.text()

    def start_over(self) -> None:
        """Select the first call; called when another case is shown."""
        self._active = 0
        self.show_warnings(())

    def _show_parameters(self) -> None:
        call = self._form.calls[self._active]
        several = len(self.rows) > 1
        self.parameters.show_call(call, self._reading, f"call{self._active}", several=several)

    def _fit_rows(self, count: int) -> None:
        while len(self.rows) > count:
            row = self.rows.pop()
            row.hide()
            row.deleteLater()
        while len(self.rows) < count:
            self._add_row(len(self.rows))

    def _add_row(self, number: int) -> None:
        row = CallRow(self)
        row.picked.connect(lambda choice: self.picked.emit(ToolPick(number, choice)))
        row.entered.connect(partial(self._look_at, number))
        row.remove_wanted.connect(lambda: self._tell(without_call(self._form, number)))
        self._list.addWidget(row)
        self.rows.append(row)

    def _look_at(self, number: int) -> None:
        if number != self._active:
            self._active = number
            self.show_form(self._form, self._reading, self._choices)

    def _add(self) -> None:
        self._active = len(self._form.calls)
        self._tell(with_call_added(self._form))
        self.rows[-1].picker.setFocus()

    def _set_ordered(self, on: bool) -> None:
        self._tell(replace(self._form, ordered=on))

    def _tell(self, form: CaseForm) -> None:
        self.changed.emit(form)


class CallRow(QWidget):
    """Row of one call: number, tool and a remove button."""

    picked = Signal(object)
    entered = Signal()
    remove_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choices: dict[str, ToolChoice] = {}
        self._number = Label(role=Role.DIM, tabular=True)
        self._number.setFixedWidth(sized(16))
        self.picker = Picker("Expected tool", "Select the tool that should be called")
        self.picker.allow_other("Expect “{}” as typed")
        self.picker.set_footer("{shown} of {all} tools. Enter to select, Esc to cancel.")
        self.remove = IconButton("x", "Remove this call")
        row = row_layout(self, spacing=8)
        for widget in (self._number, self.picker, self.remove):
            row.addWidget(widget, int(widget is self.picker))
        self.picker.picked.connect(lambda item: self.picked.emit(self._choices[item]))
        self.picker.other.connect(lambda text: self.picked.emit(text))
        self.remove.clicked.connect(self.remove_wanted)
        self.picker.installEventFilter(self)

    def show_call(self, call: CallForm, choices: Sequence[ToolChoice], *, offered: bool) -> None:
        """Show the expected tool among the offered ones."""
        current = _key(call.server or "", call.tool) if call.tool else ""
        if offered or current not in self._choices:
            self._offer(call, choices, current)
        self.picker.set_current(current)
        self.picker.set_note(_offered(sum(one.attached for one in choices)) if call.known else _absent(call))

    def _offer(self, call: CallForm, choices: Sequence[ToolChoice], current: str) -> None:
        self._choices = {_key(choice.server, choice.name): choice for choice in choices}
        items = [_item(choice) for choice in choices]
        if current and current not in self._choices:
            own = ToolChoice(call.server or "", call.tool, "Not found on any server")
            self._choices[current] = own
            items.insert(0, _item(own))
        self.picker.set_items(items)

    def show_place(self, number: int, *, active: bool, several: bool) -> None:
        """Show the number of the call, and highlight it if it is selected."""
        self._number.setText(str(number + 1))
        self._number.set_role(Role.ACCENT if active else Role.DIM)
        self._number.setVisible(several)
        self.remove.setVisible(several)
        self.remove.setAccessibleName(f"Remove call {number + 1}")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn:
            self.entered.emit()
        return super().eventFilter(watched, event)


def _key(server: str, name: str) -> str:
    return f"{server}\n{name}"


def _item(choice: ToolChoice) -> PickItem:
    return PickItem(
        id=_key(choice.server, choice.name),
        title=choice.name,
        detail=choice.sentence if choice.attached else f"Adds {choice.server} to the case. {choice.sentence}",
        right=choice.server,
        lead=choice.server,
    )


def _offered(choices: int) -> str:
    return "the only tool offered" if choices == 1 else f"one of {choices} tools offered"


def _absent(call: CallForm) -> str:
    return "not found on the servers" if call.tool else ""
