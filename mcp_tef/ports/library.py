"""Port for what carries out library tools; separate, so that evaluation code cannot import it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mcp_tef.model.json import Json, JsonObject
    from mcp_tef.model.library import ToolDesign


class ToolExecutor(Protocol):
    """Carries out a tool whose arguments were checked and whose programs and addresses were agreed to."""

    async def execute(self, design: ToolDesign, arguments: JsonObject) -> Json:
        """Return the output; raises TefError. A cancelled one leaves no process behind."""
        ...
