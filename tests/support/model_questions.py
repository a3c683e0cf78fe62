"""What a selector is asked in tests: to choose between two confusable tools for orders."""

from typing import Any

from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Question
from mcp_tef.prompts.selection_prompt import offer

KEY = "sk-very-secret-key-0123456789"
QUERY = "Cancel order 7"


def question(base_url: str | None = None, key: str | None = KEY, query: str = QUERY, **settings: object) -> Question:
    """A question about orders, to an OpenAI-compatible server unless something else is said."""
    given: dict[str, Any] = {"provider": "openai", "model": "gpt-test", "base_url": base_url} | settings
    return Question(query, offer(tools()), ModelSettings(**given), Secret(key) if key else None)


def tools() -> list[Tool]:
    """Two confusable tools, one with a name that providers refuse."""
    schema = {
        "type": "object",
        "properties": {"order": {"type": "integer", "description": "Its number."}},
        "required": ["order"],
    }
    return [
        Tool(server="shop", name=name, description=f"{name} of the shop.", input_schema=schema, raw={"name": name})
        for name in ("order.cancel", "find_order")
    ]
