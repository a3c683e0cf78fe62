"""Chooses the server or the tool that another screen asked for."""

from collections.abc import Callable

from app.screens.servers.presenter import ServersPresenter
from app.screens.servers.server_pane import ServerPane
from app.widgets import RailList
from mcp_tef import ToolLabel


def choose_server(server_id: str, rail: RailList, show_all: Callable[[], object], say: Callable[[str], object]) -> None:
    """Choose a server, whatever filters say, or say that it is not there any more."""
    if not rail.select(server_id):
        show_all()
        if not rail.select(server_id):
            say("That server is not there any more")


def choose_tool(
    aim: ToolLabel,
    presenter: ServersPresenter,
    rail: RailList,
    pane: ServerPane,
    show_all: Callable[[], object],
    say: Callable[[str], object],
) -> None:
    """Choose a tool and give it the keyboard, or say that it is not there any more."""
    server = next((one for one in presenter.servers.values() if one.name == aim.server), None)
    if server is None:
        say(f"{aim.server or aim.text} is not among the servers any more")
        return
    rail.select(server.id)
    pane.tools.setFocus()
    if aim.tool and not pane.tools.select(aim.tool):
        show_all()
    if aim.tool and not pane.tools.select(aim.tool):
        say(f"{server.name} does not list {aim.tool} any more")
