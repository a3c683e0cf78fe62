"""What is shown of a program before it is started, for every screen that may start one."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.session import Session
from app.text import count
from app.theme import Role, sized
from app.widgets import Action, FittingPane, FlowText, KeyValues, Sheet, Span, one_line
from mcp_tef import ServerSpec, launch_risks

if TYPE_CHECKING:
    from mcp_tef import Engine

MOST_HEIGHT = 180
LABELS = 80
MOST_CHARACTERS = 10_000
WHY = "It runs with your rights, and nobody has agreed to this command yet. Any change of it asks again."
CASES_NEED = "These cases need a server that is a program on this computer."
READING_NEEDS = "To read its tools, this program on your computer has to be started."
Rows = list[tuple[str, str | list[Span]]]


class LaunchView(QWidget):
    """The whole command, its folder, the names of its variables, and what is worth a second look."""

    def __init__(self) -> None:
        super().__init__()
        self._rows, self._risks = KeyValues(label_width=sized(LABELS)), KeyValues(label_width=sized(LABELS))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for part, name in ((self._rows, "What is started"), (self._risks, "Worth a second look")):
            column.addWidget(FittingPane(part, name, MOST_HEIGHT))

    def show_launch(self, spec: ServerSpec) -> None:
        """Show what would be started."""
        self._rows.set_rows(launch_rows(spec))
        self._risks.set_rows(risk_rows(spec))


class ConsentSheet(Sheet):
    """Asks whether a program may be started; accepted where it may. `need` says what for, `no` how to decline."""

    def __init__(self, spec: ServerSpec, parent: QWidget, need: str = CASES_NEED, no: str = "Cancel") -> None:
        super().__init__(f"Start {one_line(spec.name, 60)}?", parent, width=620)
        self.body.addWidget(FlowText(need, strong=True))
        self.body.addWidget(FlowText(WHY, role=Role.DIM))
        view = LaunchView()
        view.show_launch(spec)
        self.body.addWidget(view)
        agree = Action(text="Agree and start", do=self.accept, kind="primary")
        self.set_buttons([Action(text=no, do=self.reject), agree])


async def ask_for_programs(session: Session, parent: QWidget) -> None:
    """Before servers are read: ask for each program that nobody has agreed to; what is declined is left out."""
    for spec in await session.call(_not_agreed_to):
        if await ConsentSheet(spec, parent, READING_NEEDS, "Leave it out").done_with():
            await session.call(partial(_agree, spec=spec))


async def _not_agreed_to(core: "Engine") -> list[ServerSpec]:
    programs = {server.spec.launch_fingerprint: server.spec for server in await core.servers.list()}
    return [spec for spec in programs.values() if await core.servers.needs_consent(spec)]


async def _agree(core: "Engine", spec: ServerSpec) -> None:
    await core.servers.grant_consent(spec)


def launch_rows(spec: ServerSpec) -> Rows:
    """All of it in words; values of variables may be secrets and are left out."""
    rows: Rows = [("Command", list(_words(spec)))]
    rows.append(("Folder", _mono(spec.cwd) if spec.cwd else "the one mcp-tef was started in"))
    if spec.project and spec.project != spec.cwd:
        rows.append(("Project", _mono(spec.project)))
    rows.append(("Variables", _mono(", ".join(spec.env)) if spec.env else "none of its own"))
    if spec.env_file:
        rows.append(("From a file", [*_mono(spec.env_file), Span(" (every variable in it)", Role.DIM)]))
    return rows


def risk_rows(spec: ServerSpec) -> Rows:
    """What is worth a second look; beside the rest, so that no long command can push it out of sight."""
    risks = launch_risks(spec)
    lines = "\n".join(f"• {risk}" for risk in risks)
    return [("Look twice", [Span(lines, Role.WARN)])] if risks else []


def _words(spec: ServerSpec) -> Iterator[Span]:
    room = MOST_CHARACTERS
    for number, word in enumerate(spec.argv):
        if len(word) > room:
            left = sum(map(len, spec.argv[number:])) - room
            yield Span(f"{word[:room]} … ({count(left, 'more character')})", mono=True)
            return
        room -= len(word)
        yield Span(word if word and not any(map(str.isspace, word)) else f"'{word}'", mono=True)
        yield Span(" ", mono=True)


def _mono(text: str) -> list[Span]:
    return [Span(text, mono=True)]
