"""Links from a tool on one screen to the same tool on the others, and web addresses opened once the user agrees."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.session import Session
from app.core_link.targets import ShowRuns, ShowSimilarTools, ShowTool, ShowToolCases, ShowToolQuality, Target
from app.widgets import Action, ask
from mcp_tef import RunFilter, ToolLabel, shown_host

Go = Callable[[Target], object]


@dataclass(frozen=True, slots=True)
class Link:
    """A link: its text, and the target that it shows."""

    text: str
    target: Target


def tool_links(tool: ToolLabel, besides: str) -> tuple[Link, ...]:
    """Return links to a tool on every screen but `besides`."""
    runs = RunFilter(expected=ToolLabel(tool=tool.tool, server=tool.server))
    leads = (
        Link("Definition", ShowTool(tool)),
        Link("Test cases", ShowToolCases(tool)),
        Link("Runs", ShowRuns(runs, f"{tool.text} expected")),
        Link("Look-alikes", ShowSimilarTools((tool,))),
        Link("Quality", ShowToolQuality((tool,))),
    )
    return tuple(lead for lead in leads if lead.target.screen != besides)


def link_actions(leads: Sequence[Link], go: Go) -> list[Action]:
    """Return links as actions."""
    return [Action(text=lead.text, do=partial(go, lead.target), kind="link") for lead in leads]


def tool_commands(page: str, group: str, tool: Callable[[], ToolLabel | None], go: Go) -> list[Command]:
    """Return the links of the selected tool as commands."""

    def follow(place: int) -> None:
        if (chosen := tool()) is not None:
            go(tool_links(chosen, page)[place].target)

    words = [lead.text.lower() for lead in tool_links(ToolLabel(), page)]
    return [
        Command(
            id=f"{page}.tool.{place}",
            text=f"Show the tool’s {word}",
            do=partial(follow, place),
            needs=lambda: tool() is not None,
            unless="Select a tool first",
            group=group,
        )
        for place, word in enumerate(words)
    ]


class ExternalLinks:
    """Asks over a window before `browse` opens the browser."""

    def __init__(self, frame: QWidget, browse: Callable[[QUrl], object]) -> None:
        self._frame = frame
        self._browse = browse

    def sign_in(self, session: Session, address: str) -> None:
        """Ask whether to open the address of a sign-in."""
        url = QUrl(address)
        words = (
            f"To sign in, {shown_host(url.host())} is opened in your browser. Come back here when it says that you can."
        )
        self._offer(session, url, "Sign in", words)

    def page(self, session: Session, url: QUrl) -> None:
        """Ask whether to open a web page that the help links to."""
        self._offer(session, url, "Leave the help?", f"{url.toDisplayString()} is opened in your browser.")

    def _offer(self, session: Session, url: QUrl, title: str, words: str) -> None:
        if url.scheme() in ("http", "https"):
            session.spawn(self._browse_if_agreed(url, title, words))

    async def _browse_if_agreed(self, url: QUrl, title: str, words: str) -> None:
        if await ask(self._frame, title, words, yes="Open the browser"):
            self._browse(url)
