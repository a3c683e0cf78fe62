"""The palette: every command, the latest first, the reason if one cannot be used, and search results."""

from collections.abc import Sequence
from typing import Final, assert_never

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.session import Session
from app.core_link.targets import ShowBatch, ShowCase, ShowServer, ShowTool, Target
from app.shell.presenter import ShellPresenter
from app.theme import sized, theme
from app.widgets import PickItem, PickPopup, one_line
from mcp_tef import BatchId, CaseId, SearchHit, SearchHitKind, ServerId, ToolLabel

RECENT: Final = "palette.recent"
MOST_RECENT: Final = 8
ASIDE: Final = "text."
ANYWHERE: Final = "Everywhere"
WIDTH: Final = 560
TOP: Final = 72
SIDE: Final = 16
FOOT: Final = "{shown} found · Enter to open · Esc to close"


def palette_order(commands: Sequence[Command], recent: Sequence[str]) -> list[Command]:
    """Return commands in order: used lately, usable, text size, not usable."""
    places = {command_id: place for place, command_id in enumerate(recent)}
    return sorted(
        commands, key=lambda one: (not one.needs(), places.get(one.id, len(places)), one.id.startswith(ASIDE))
    )


def command_item(command: Command) -> PickItem:
    """Return the row of a command, with its keys or the reason that it cannot be used."""
    possible = command.needs()
    where = "" if command.group == ANYWHERE else command.group
    right = command.shown_keys or where if possible else command.unless or "Not possible now"
    return PickItem(
        id=command.id, title=command.current_text, right=right, mono=False, keywords=command.group, off=not possible
    )


def hit_item(number: int, found: SearchHit) -> PickItem:
    """Return the row of a server, tool, case or batch."""
    where = f"{found.kind} of {found.server}" if found.server else f"{found.kind}"
    title = one_line(found.name, 90)
    return PickItem(id=f"found:{number}", title=title, right=where, mono=found.kind is SearchHitKind.TOOL)


def target_of(hit: SearchHit) -> Target:
    """Return the target that shows a search hit."""
    match hit.kind:
        case SearchHitKind.TOOL:
            return ShowTool(ToolLabel(tool=hit.name, server=hit.server))
        case SearchHitKind.BATCH:
            return ShowBatch(BatchId(hit.id))
        case SearchHitKind.CASE:
            return ShowCase(CaseId(hit.id))
        case SearchHitKind.SERVER:
            return ShowServer(ServerId(hit.id))
        case _:
            assert_never(hit.kind)


class Palette(PickPopup):
    """A popup over the window that closes with the selected row; `commands` replace those of the session."""

    def __init__(self, session: Session, parent: QWidget, commands: Sequence[Command] | None = None) -> None:
        super().__init__("commands", parent, row_height=sized(32))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        theme().apply_to(self)
        self._session = session
        self._recent = [str(one) for one in session.settings.get(RECENT, [])][:MOST_RECENT]
        offered = session.commands.all() if commands is None else commands
        self._commands = {one.id: one for one in palette_order(offered, self._recent) if one.id != "palette"}
        self._found: Sequence[SearchHit] = ()
        self.footer = FOOT
        self.search.setPlaceholderText("Type a command, or the name of a server, tool, case or batch")
        self.picked.connect(self._do)
        self.searched.connect(lambda typed: session.spawn(self._look_up(typed), of=self))

    def open_centred(self, host: QWidget) -> None:
        """Open near the top of the window."""
        items = [command_item(command) for command in self._commands.values()]
        wide = min(sized(WIDTH), host.width() - 2 * SIDE)
        self.open_over(host, items, QPoint((host.width() - wide) // 2, TOP), wide)

    async def _look_up(self, typed: str) -> None:
        found = await ShellPresenter(self._session).search(typed)
        if typed == self.search.text():
            self._found = found
            self.add_below([hit_item(number, one) for number, one in enumerate(found)])

    def _do(self, key: str) -> None:
        if key.startswith("found:"):
            found = self._found[int(key.partition(":")[2])]
            self._session.go(target_of(found))
            return
        command = self._commands[key]
        if command.needs():
            recent = [key, *(one for one in self._recent if one != key)]
            self._session.settings.set(RECENT, recent[:MOST_RECENT])
            self._session.do(command.do)
