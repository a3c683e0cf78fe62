"""Requests to OpenAI-compatible servers: bodies and headers as litellm sends them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from mcp_tef.llm.providers import Target
from mcp_tef.llm.recent_values import RecentValues
from mcp_tef.llm.usage import Request
from mcp_tef.model.answers import ToolChoiceMode

NO_KEY = "no-key"
_Tools: TypeAlias = Sequence[Mapping[str, Any]]


def options(request: Request) -> dict[str, Any]:
    """Return the settings of a request by the names of OpenAI's protocol; None is not sent."""
    settings = request.settings
    tools: dict[str, Any] = {"tools": list(request.tools)} if request.tools else {}
    if tools and settings.tool_choice is not ToolChoiceMode.AUTO:
        tools["tool_choice"] = settings.tool_choice.value
    return {
        "messages": list(request.messages),
        "temperature": settings.temperature,
        "seed": settings.seed,
        "max_tokens": settings.max_tokens,
        "response_format": None if request.response_format is None else dict(request.response_format),
        **tools,
    }


class DirectRequests:
    """Bodies of requests. The tools of a batch are serialised once, so that each of its runs sends the same bytes."""

    def __init__(self) -> None:
        self._tools = RecentValues[Sequence[Mapping[str, Any]], bytes](_json)
        self._mistrals_tools = RecentValues[Sequence[Mapping[str, Any]], bytes](
            lambda tools: _json(_without_ids(tools))
        )

    def body(self, request: Request) -> tuple[dict[str, Any], bytes]:
        """Return the body of a request without its tools, and the bytes of the whole body."""
        target = request.target
        whole = {"model": target.model, **options(request)}
        given = {name: value for name, value in whole.items() if value is not None and name != "tools"}
        given = _adapted(given, target)
        if not request.tools:
            return given, _json(given)
        tools = self._mistrals_tools if target.provider == "mistral" else self._tools
        return given, b"".join((_json(given)[:-1], b',"tools":', tools.of(request.tools), b"}"))


def _json(value: object) -> bytes:
    """Return compact JSON. A lone surrogate becomes its escape, which JSON allows."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def headers(request: Request, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a request, with those that the user sets for OpenAI in the environment.

    Servers without keys get a made-up one, since some refuse requests without.
    """
    key = request.key.reveal() if request.key else NO_KEY
    sent = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    if request.target.provider != "openai":
        return sent
    lines = (line.partition(":") for line in environment.get("OPENAI_CUSTOM_HEADERS", "").splitlines())
    custom = {name.strip(): value.strip() for name, colon, value in lines if colon}
    stated = {name: environment.get(variable) for name, variable in _OPENAI_HEADERS.items()}
    return {**sent, **{name: value for name, value in stated.items() if value}, **custom}


_OPENAI_HEADERS = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}


def _adapted(given: dict[str, Any], target: Target) -> dict[str, Any]:
    """Return the body of a request as the provider wants it."""
    if target.provider == "openai":
        return _for_openai(given, target.rules)
    if target.provider == "mistral":
        return _for_mistral(given)
    if target.provider == "openrouter":
        given["usage"] = {"include": True}
    return given


def _for_openai(given: dict[str, Any], rules: str) -> dict[str, Any]:
    """Apply the rules that the table of models has for one of OpenAI's."""
    if "no_temperature" in rules and given.get("temperature") != 1:
        given.pop("temperature", None)
    if "completion_tokens" in rules and "max_tokens" in given:
        given["max_completion_tokens"] = given.pop("max_tokens")
    if "no_response_format" in rules:
        given.pop("response_format", None)
    if "system_as_user" in rules:
        roles = {"system": "user"}
        given["messages"] = [{**one, "role": roles.get(one["role"], one["role"])} for one in given["messages"]]
    return given


def _for_mistral(given: dict[str, Any]) -> dict[str, Any]:
    """Rename what Mistral names otherwise."""
    if "seed" in given:
        given["random_seed"] = given.pop("seed")
    if given.get("tool_choice") == ToolChoiceMode.REQUIRED:
        given["tool_choice"] = "any"
    return given


def _without_ids(value: Any) -> Any:
    """Return schemas without the ids and references that Mistral refuses."""
    if isinstance(value, Mapping):
        return {name: _without_ids(part) for name, part in value.items() if name not in ("$id", "$schema", "$ref")}
    return [_without_ids(part) for part in value] if isinstance(value, list | tuple) else value
