"""Instructions of a server have a row below its tools, and are shown as plain text."""

from app.screens.servers.server_pane import INSTRUCTIONS, tool_rows
from app.screens.servers.tool_pane import ToolPane
from mcp_tef import Listing
from tests.support.displayed_text import drawn
from tests.support.run_factories import tool

MARKUP = "<b>Look</b> things up before you book."


def test_instructions_are_a_row_and_a_page_of_plain_text(qtbot: object) -> None:
    known = tool("find", "Find.").tool
    rows = tool_rows([known], Listing(server="desk", tools=(known,), instructions=MARKUP), None)
    assert [row.id for row in rows][-1] == INSTRUCTIONS
    assert [row.id for row in tool_rows([known], Listing(server="desk", tools=(known,)), None)] == ["find"]
    pane = ToolPane()
    pane.show_instructions(MARKUP)
    pane.resize(600, 400)
    pane.show()
    assert MARKUP in drawn(pane)
    pane.close()
