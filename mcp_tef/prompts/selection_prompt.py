"""Prompts for tool selection (native tool calling, and structured JSON without it), and the names of tools in them."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_tef.model.answers import ActualCall, CallingMode
from mcp_tef.model.cases import EarlierMessage
from mcp_tef.model.json import fingerprint
from mcp_tef.model.tools import OfferedTool, Tool

DEFAULT_SEPARATOR = "-"
LONGEST_NAME = 64

_ACCEPTED = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")
_NO_ALIASES: Mapping[str, str] = {}


def offer(
    tools: Sequence[Tool], separator: str = DEFAULT_SEPARATOR, *, aliases: Mapping[str, str] = _NO_ALIASES
) -> tuple[OfferedTool, ...]:
    """Name each tool for the model: bare, or `{alias or server}{separator}{tool}` where servers share a name.

    Every name is unique and matches `^[a-zA-Z0-9_-]{1,64}$`, which all providers accept; equal tools get
    equal names every time. `aliases` maps a server's name to its short form.
    """
    shared = _shared_names(tools)
    wanted = [_wanted(tool, shared, separator, aliases) for tool in tools]
    counts = Counter(wanted)
    used = {name for name in wanted if counts[name] == 1 and _ACCEPTED.fullmatch(name)}
    names = [name if name in used else _safe(name, tool, used) for name, tool in zip(wanted, tools, strict=True)]
    return tuple(OfferedTool(name, tool) for name, tool in zip(names, tools, strict=True))


def resolve(
    offered_name: str, offered: Iterable[OfferedTool], arguments: Mapping[str, Any] | None = None
) -> ActualCall:
    """Return the call of the real tool behind an offered name; a name that was not offered stays as it was written."""
    given = dict(arguments or {})
    for item in offered:
        if item.offered_name == offered_name:
            return ActualCall(tool=item.tool.name, arguments=given, server=item.tool.server or None)
    return ActualCall(tool=offered_name, arguments=given)


def _shared_names(tools: Iterable[Tool]) -> set[str]:
    pairs = {(tool.server, tool.name) for tool in tools}
    counts = Counter(name for _, name in pairs)
    return {name for name, count in counts.items() if count > 1}


def _wanted(tool: Tool, shared: set[str], separator: str, aliases: Mapping[str, str]) -> str:
    if tool.name not in shared:
        return tool.name
    return f"{aliases.get(tool.server) or tool.server}{separator}{tool.name}"


def _safe(name: str, tool: Tool, used: set[str]) -> str:
    """Return an accepted name that is not in `used`, which it joins."""
    plain = _REFUSED.sub("_", name) or "tool"
    candidate = plain if len(plain) <= LONGEST_NAME else _marked(plain, tool, 0)
    attempt = 0
    while candidate in used:
        candidate = _marked(plain, tool, attempt)
        attempt += 1
    used.add(candidate)
    return candidate


def _marked(plain: str, tool: Tool, attempt: int) -> str:
    mark = fingerprint([tool.server, tool.name, attempt])[:8]
    return f"{plain[: LONGEST_NAME - len(mark) - 1]}_{mark}"


TOOLS_VARIABLE = "tools"
"""Variable of templates that list the tools themselves; such a template is the whole system message."""


@dataclass(frozen=True, slots=True)
class SelectionPrompt:
    """One prompt: a name that stays, a version that rises with every change of the text."""

    name: str
    version: int
    task: str
    report: str
    lists_tools: bool = False

    @property
    def label(self) -> str:
        """`name@version`, as a run records it."""
        return f"{self.name}@{self.version}"

    def messages(
        self,
        query: str,
        offered: Sequence[OfferedTool],
        system_prompt: str | None = None,
        before: Sequence[EarlierMessage] = (),
        whole: bool = False,
        instructions: str = "",
    ) -> tuple["ChatMessage", ...]:
        """Return the messages of a request: the task, the earlier messages of the conversation, the query.

        A system prompt of the user takes the place of the task; the request for a reason and a confidence stays, unless
        the prompt is `whole`. `instructions` of servers stand first.
        """
        task = (system_prompt or "").strip() or self.task
        report = f"{self.report}\n{tool_lines(offered)}" if self.lists_tools else self.report
        earlier = (ChatMessage(message.role.value, message.content) for message in before)
        system = "\n\n".join(filter(None, (instructions, task, "" if whole else report)))
        return ChatMessage("system", system), *earlier, ChatMessage("user", query)


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
    name="select-native",
    version=1,
    task=_TASK,
    report=(
        "Beside your tool calls, in the text of the same answer, say in one or two short sentences why you chose "
        "as you did. End that text with a line of its own that reads “Confidence: X”, where X is a number from 0 "
        "to 1: how sure you are of your choice."
    ),
)

STRUCTURED_PROMPT = SelectionPrompt(
    name="select-structured",
    version=1,
    task=_TASK,
    report=(
        "Answer with one JSON object and nothing else, in this shape:\n"
        '{"calls": [{"tool": "<name>", "arguments": {<name>: <value>}}], "reasoning": "<one or two short '
        'sentences>", "confidence": <number from 0 to 1>}\n'
        'Write "calls": [] where no tool fits. These are the tools, one JSON object a line:'
    ),
    lists_tools=True,
)


def answer_schema(offered: Sequence[OfferedTool]) -> dict[str, Any]:
    """Return the JSON Schema of a structured answer.

    Arguments stay open: a server that keeps a model to a tool's parameters would hide its mistakes.
    """
    names = {"enum": offered_names(offered)} if offered else {}
    call = {
        "type": "object",
        "properties": {
            "tool": {"type": "string", **names},
            "arguments": {"type": "object", "additionalProperties": True},
        },
        "required": ["tool", "arguments"],
    }
    return {
        "type": "object",
        "properties": {
            "calls": {"type": "array", "items": call},
            "reasoning": {"type": "string"},
            "confidence": {"type": "number"},
        },
        "required": ["calls", "reasoning", "confidence"],
    }


class BundledPrompts:
    """The prompts of this program; satisfies `SelectionPrompts`."""

    def prompt_for(self, mode: CallingMode) -> SelectionPrompt:
        """Return the prompt of a calling mode; `auto` is asked as `native` is."""
        return STRUCTURED_PROMPT if mode is CallingMode.JSON else NATIVE_PROMPT


def offered_names(offered: Sequence[OfferedTool]) -> list[str]:
    """Return the names that the schema of an answer allows."""
    return [item.offered_name for item in offered]


def tool_lines(offered: Sequence[OfferedTool]) -> str:
    """Return the tools as the structured prompt lists them, one JSON object a line."""
    return "\n".join(_line(item) for item in offered)


def _line(item: OfferedTool) -> str:
    value = {"name": item.offered_name, "description": item.tool.description, "input_schema": item.tool.input_schema}
    return json.dumps(value, ensure_ascii=False, default=dict)
