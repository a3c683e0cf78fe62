"""Dialogs of the Library screen: a new tool, a new category, and how the library is served."""

from collections.abc import Collection, Sequence
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.arguments.values import dumps
from app.screens.library.design_draft import EXECUTORS, new_design
from app.theme import Role
from app.widgets import Action, Dialog, Field, FlowText, GrowingEdit, LineEdit, MenuButton
from app.widgets.text_view import CodeView
from mcp_tef import ExecutorKind, ToolDesign

NAME_NOTE: Final = "Small letters, digits and underscores, such as find_parts."
WHAT_NOTE: Final = "What it does, and when to use it. Models read this."


class NewToolDialog(Dialog):
    """Asks for name, description and executor of a new tool; `design` is set once it is accepted."""

    def __init__(self, taken: Collection[str], parent: QWidget) -> None:
        super().__init__("New tool", parent, width=460)
        self._taken = frozenset(taken)
        self.design: ToolDesign | None = None
        self.name, self.description = LineEdit(), GrowingEdit("Description", least=3, most=8)
        self.executor = MenuButton("Runs as", [(kind.value, text) for kind, text in EXECUTORS.items()])
        self.executor.set_current(ExecutorKind.ANSWER.value)
        self.name_field = Field("Name", self.name, note=NAME_NOTE)
        self.description_field = Field("Description", self.description, note=WHAT_NOTE)
        executor_field = Field("Runs as", self.executor, note="A fixed answer needs nothing. You can change it later.")
        for field in (self.name_field, self.description_field, executor_field):
            self.body.addWidget(field)
        done = Action(text="Create tool", do=self.agree, kind="primary")
        self.set_buttons([Action(text="Cancel", do=self.reject), done])
        self.name.typed.connect(lambda _: self.name_field.tell(self._name_fault()))
        self.description.edited.connect(lambda _: self.description_field.tell(""))
        self.name.setFocus()

    def agree(self) -> None:
        """Accept the tool, unless its name or description is missing."""
        fault = self._name_fault()
        missing = "" if self.description.text().strip() else "Describe the tool in a sentence or two."
        self.name_field.set_error(fault)
        self.description_field.set_error(missing)
        if fault or missing:
            (self.name if fault else self.description).setFocus()
            return
        kind = ExecutorKind(self.executor.current())
        self.design = new_design(self.name.text().strip(), self.description.text().strip(), kind)
        self.accept()

    def _name_fault(self) -> str:
        name = self.name.text().strip()
        if name in self._taken:
            return "A tool of the library has this name."
        plain = name.isascii() and name.replace("_", "a").isalnum() and name == name.lower() and name[:1].isalpha()
        return "" if plain and len(name) <= 100 else f"{NAME_NOTE} Begin with a letter."


class CategoryDialog(Dialog):
    """Asks for a category; `path` is set once it is accepted."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("New category", parent, width=400)
        self.path = ""
        self.edit = LineEdit()
        self.field = Field("Name", self.edit, note="Write “Town/Buses” for a category inside another one.")
        self.body.addWidget(self.field)
        done = Action(text="Add category", do=self.agree, kind="primary")
        self.set_buttons([Action(text="Cancel", do=self.reject), done])
        self.edit.setFocus()

    def agree(self) -> None:
        """Accept the category, unless a part of its name is empty."""
        parts = [part.strip() for part in self.edit.text().split("/")]
        if not all(parts):
            self.field.set_error("Write a name.")
            return
        self.path = "/".join(parts)
        self.accept()


class ServeDialog(Dialog):
    """Explains how clients reach the library: as a program they start, or at an address that the window serves.

    `start_wanted` and `stop_wanted` ask for the address.
    """

    autosaves = True
    start_wanted = Signal()
    stop_wanted = Signal()

    def __init__(self, workspace: str, tools: Sequence[str], parent: QWidget) -> None:
        super().__init__("Serve the library over MCP", parent, width=560)
        served = ", ".join(tools[:6]) + (f" and {len(tools) - 6} more" if len(tools) > 6 else "")
        self.body.addWidget(FlowText(f"Active and deprecated tools are served: {served}.", role=Role.DIM))
        self.body.addWidget(FlowText("As a program that a client starts", strong=True))
        arguments = ["library", "serve", "--workspace", workspace]
        self.config = _code("Configuration", 92)
        command = f'{{"command": "mcp-tef",\n    "args": {dumps(arguments)}}}'
        self.config.show_text(f'{{"mcpServers": {{\n  "library": {command}}}}}')
        self.body.addWidget(self.config)
        self.body.addWidget(FlowText("At an address on this computer", strong=True))
        self.state = FlowText(role=Role.DIM)
        self.address = _code("Address and token", 64)
        self.body.addWidget(self.state)
        self.body.addWidget(self.address)
        self.show_address("", "")

    def show_address(self, address: str, token: str) -> None:
        """Show where the library is served, and the token that clients send; "" while it is not."""
        on = bool(address)
        served = "The window serves the library until you stop it or quit. Clients send the token."
        self.state.set_text(served if on else "Only programs on this computer that send a new token can call it.")
        self.address.show_text(f"{address}\nAuthorization: Bearer {token}" if on else "")
        self.address.setVisible(on)
        action = Action(text="Stop serving", do=self.stop_wanted.emit)
        start = Action(text="Serve at an address", do=self.start_wanted.emit, kind="primary")
        made = self.set_buttons([Action(text="Close", do=self.reject), action if on else start])
        made[-1].setFocus()


def _code(name: str, high: int) -> CodeView:
    view = CodeView(name)
    view.setFixedHeight(high)
    return view
