"""Prompts for tool selection: native tool calling, and structured JSON without it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_tef.model.answers import CallingMode
from mcp_tef.model.tools import OfferedTool


@dataclass(frozen=True, slots=True)
class SelectionPrompt:
    """One prompt: an id that stays, a version that rises with every change of the text."""

    id: str
    version: int
    task: str
    report: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One chat message."""

    role: str
    content: str


_TASK = (
    "You choose tools for a user's request. Compare the request with every tool that you are offered. "
    "Where a tool fits, call it with the arguments that the request gives, and call several where the request "
    "needs several. Leave out optional arguments that the request does not mention, and make up no values. "
    "Where no tool fits, call none. Nobody can answer questions: decide now."
)

NATIVE_PROMPT = SelectionPrompt(
    id="select-native",
    version=1,
    task=_TASK,
    report=(
        "Beside your tool calls, in the text of the same answer, say in one or two short sentences why you chose "
        "as you did. End that text with a line of its own that reads “Confidence: X”, where X is a number from 0 "
        "to 1: how sure you are of your choice."
    ),
)

STRUCTURED_PROMPT = SelectionPrompt(
    id="select-structured",
    version=1,
    task=_TASK,
    report=(
        "Answer with one JSON object and nothing else, in this shape:\n"
        '{"calls": [{"tool": "<name>", "arguments": {<name>: <value>}}], "reasoning": "<one or two short '
        'sentences>", "confidence": <number from 0 to 1>}\n'
        'Write "calls": [] where no tool fits. These are the tools, one JSON object a line:'
    ),
)


def prompt_for(mode: CallingMode) -> SelectionPrompt:
    """Return the prompt of a calling mode; `auto` is asked as `native` is."""
    return STRUCTURED_PROMPT if mode is CallingMode.JSON else NATIVE_PROMPT


def native_messages(query: str, system_prompt: str | None = None) -> tuple[ChatMessage, ...]:
    """Return the messages that go with native tool definitions.

    A system prompt of the user takes the place of the task; the request for a reason and a confidence stays.
    """
    return (ChatMessage("system", f"{_task(NATIVE_PROMPT, system_prompt)}\n\n{NATIVE_PROMPT.report}"), _asked(query))


def structured_messages(
    query: str, offered: Sequence[OfferedTool], system_prompt: str | None = None
) -> tuple[ChatMessage, ...]:
    """Return the messages for a model without tool calling: the tools are part of the prompt."""
    parts = (_task(STRUCTURED_PROMPT, system_prompt), f"{STRUCTURED_PROMPT.report}\n{tool_lines(offered)}")
    return (ChatMessage("system", "\n\n".join(parts)), _asked(query))


def tool_lines(offered: Sequence[OfferedTool]) -> str:
    """Return the tools as the structured prompt lists them, one JSON object a line."""
    return "\n".join(_line(item) for item in offered)


def _task(prompt: SelectionPrompt, system_prompt: str | None) -> str:
    return (system_prompt or "").strip() or prompt.task


def _asked(query: str) -> ChatMessage:
    return ChatMessage("user", query)


def _line(item: OfferedTool) -> str:
    value = {"name": item.offered_name, "description": item.tool.description, "input_schema": item.tool.input_schema}
    return json.dumps(value, ensure_ascii=False, default=dict)
