"""Links from a tool on one screen to the same tool on the others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from app.core_link.commands import Command
from app.core_link.targets import ShowRuns, ShowSimilarTools, ShowTool, ShowToolCases, ShowToolQuality, Target
from app.widgets import Action
from mcp_tef import RunFilter, ToolLabel

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
