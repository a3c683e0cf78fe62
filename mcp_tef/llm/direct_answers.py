"""Answers of OpenAI-compatible servers, read as litellm reads them."""

import json
import re
from collections.abc import Iterator
from typing import Any

from mcp_tef.llm.completions import Completion, shown_name
from mcp_tef.llm.usage import UsageCheck
from mcp_tef.prompts.answer_parsing import WrittenCall
from mcp_tef.provider_http.answer_body import FIRST_REDIRECT
from mcp_tef.provider_http.exchange import Exchange, FailedCall

_NO_COMPLETION = "the answer is not a chat completion"
_BAD_SHAPE = "Invalid response object"
_WRAPPER = "multi_tool_use.parallel"
_CUT_OFF = frozenset({"length", "max_tokens", "MAX_TOKENS", "compaction"})
_THOUGHTS = re.compile(
    r"<(?:think|thinking|budget:thinking)>.*?</(?:think|thinking|budget:thinking)>(?P<rest>.*)", re.DOTALL
)


def read_answer(exchange: Exchange, usage: UsageCheck) -> tuple[Completion, Any] | FailedCall:
    """Return the completion of an answer with the answer's JSON, or why it is none."""
    status = exchange.status or 0
    try:
        answer = json.loads(exchange.received)
    except (ValueError, RecursionError) as error:
        said = exchange.received.decode("utf-8", "replace").strip() or f"Error code: {status}"
        return FailedCall(said if status >= FIRST_REDIRECT else str(error), status, headers=exchange.headers)
    if status >= FIRST_REDIRECT:
        return FailedCall(f"Error code: {status} - {answer}", status, headers=exchange.headers)
    try:
        return _completion(answer, usage), answer
    except _ShapeError as error:
        return FailedCall(str(error), status, headers=exchange.headers)
    except (LookupError, TypeError, AttributeError, ValueError):
        return FailedCall(_BAD_SHAPE, status, headers=exchange.headers)


class _ShapeError(Exception):
    """An answer that is no completion."""


def _completion(answer: Any, usage: UsageCheck) -> Completion:
    choice = _first_choice(answer)
    message = choice["message"]
    reported = usage.checked(answer)
    tokens_in, tokens_out = (usage.count(name, reported.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    called = [call["function"] for call in message.get("tool_calls") or ()]
    return Completion(
        text=_text(message.get("content"), message) or _refusal(message),
        calls=tuple(part for function in called for part in _calls(function)),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=None,
        notes=usage.notes,
        model=shown_name(answer.get("model")),
        fingerprint=shown_name(answer.get("system_fingerprint")),
        cut_off=choice.get("finish_reason") in _CUT_OFF,
    )


def _calls(function: Any) -> Iterator[WrittenCall]:
    """Yield a call, or those that OpenAI's models sometimes wrap in a call of a function that nobody offered."""
    name, arguments = function.get("name") or "", function.get("arguments")
    if not isinstance(name, str):
        raise TypeError
    if name != _WRAPPER:
        yield WrittenCall(name, arguments)
        return
    for use in json.loads(arguments)["tool_uses"]:
        yield WrittenCall(use["recipient_name"].removeprefix("functions."), json.dumps(use["parameters"]))


def _first_choice(answer: Any) -> Any:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(choices, list) or not choices:
        raise _ShapeError(_NO_COMPLETION)
    return choices[0]


def _text(content: Any, message: Any) -> str:
    """Return the text of a message without the thoughts before it."""
    if content is None:
        return ""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    if not isinstance(content, str):
        raise TypeError
    is_apart = not {"reasoning_content", "reasoning"}.isdisjoint(message)
    found = None if is_apart else _THOUGHTS.match(content)
    return found["rest"] if found else content


def _refusal(message: Any) -> str:
    refusal = message.get("refusal")
    return refusal if isinstance(refusal, str) else ""
