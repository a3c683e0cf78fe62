"""Tool calls as models write them into their text: five shapes, each in eight notations."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Call: TypeAlias = Mapping[str, Any]

_SHAPES: Mapping[str, Callable[[str, Any], Call]] = {
    "name, arguments": lambda name, arguments: {"name": name, "arguments": arguments},
    "name, parameters": lambda name, arguments: {"name": name, "parameters": arguments},
    "tool": lambda name, arguments: {"tool": name, "arguments": arguments},
    "calls": lambda name, arguments: {"calls": [{"tool": name, "arguments": arguments}]},
    "function": lambda name, arguments: {
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    },
}
_NOTATIONS: Mapping[str, Callable[[Call], str]] = {
    "bare": json.dumps,
    "tags": lambda call: f"I'll look.\n<tool_call>\n{json.dumps(call)}\n</tool_call>",
    "fence": lambda call: f"Here it is:\n```json\n{json.dumps(call, indent=2)}\n```\nThat's all.",
    "prose": lambda call: f"It's clear that {json.dumps(call)} fits, isn't it?",
    "thoughts": lambda call: f'<think>\nMaybe {{"name": "other", "arguments": {{}}}}?\n</think>\n\n{json.dumps(call)}',
    "Python quotes": lambda call: f"Call: {call!r}",
    "[TOOL_CALLS]": lambda call: f"[TOOL_CALLS] [{json.dumps(call)}]",
}


def text_calls(name: str, arguments: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Return one call in all 40 forms, by shape and notation."""
    written = {
        (shape, notation): write(make(name, arguments))
        for shape, make in _SHAPES.items()
        for notation, write in _NOTATIONS.items()
    }
    as_text = {
        (shape, "arguments as text"): json.dumps(make(name, json.dumps(arguments))) for shape, make in _SHAPES.items()
    }
    return written | as_text
