"""Generator of `resources/models.json`: what litellm knows of chat models, without loading litellm.

`python -m tests.support.model_table` writes it, after every change of litellm's version. How litellm changes requests
to OpenAI's models is read off the requests that it sends to a stand-in server.
"""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_tef.llm.model_table import FILE
from mcp_tef.model.secrets import Secret
from mcp_tef.provider_http.exchange import Exchange, ModelCall
from mcp_tef.provider_http.litellm_loader import new_client
from tests.support.model_stub import ModelStub

if TYPE_CHECKING:
    from mcp_tef.provider_http.litellm_client import LitellmClient

SOURCE = "model_prices_and_context_window_backup.json"
_MODES = ("chat", "responses")
_FIELDS = frozenset({
    "litellm_provider", "mode", "max_input_tokens", "max_tokens", "max_output_tokens", "supports_function_calling",
    "supports_vision", "supports_web_search", "supports_response_schema", "supports_native_streaming",
    "supports_reasoning", "deprecation_date", "input_cost_per_token", "output_cost_per_token",
    "cache_read_input_token_cost", "cache_creation_input_token_cost", "output_cost_per_reasoning_token",
    "input_cost_per_token_cache_hit",
})  # fmt: skip
_TIERED = ("input_cost_per_token_", "output_cost_per_token_", "cache_read_input_token_cost_")
_NOT_SOLD_SO = ("_batches", "_balanced", "_ultrafast", "_decisions")
_SPECIAL = {"tiered_pricing", "off_peak_pricing"}
LITELLM = "litellm"
SCHEMA = {"type": "object", "properties": {"order": {"type": "integer"}}}
_MESSAGES = [{"role": "system", "content": "Choose."}, {"role": "user", "content": "Cancel order 7"}]
_ASKED: Mapping[str, Any] = {
    "model": "",
    "messages": _MESSAGES,
    "temperature": 0.4,
    "seed": 7,
    "max_tokens": 50,
    "tools": [{"type": "function", "function": {"name": "cancel", "description": "Cancels.", "parameters": SCHEMA}}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}},
}


def source_rows() -> dict[str, dict[str, Any]]:
    """The rows of litellm's own table."""
    spec = find_spec("litellm")
    assert spec
    assert spec.submodule_search_locations
    rows: dict[str, dict[str, Any]] = json.loads((Path(spec.submodule_search_locations[0]) / SOURCE).read_text("utf-8"))
    return rows


def rows() -> dict[str, dict[str, Any]]:
    """The rows of chat models with the fields that this program reads."""
    return {
        key: {name: value for name, value in row.items() if _is_kept(name)} | _special(row)
        for key, row in source_rows().items()
        if row.get("mode") in _MODES and key != "sample_spec"
    }


def _special(row: Mapping[str, Any]) -> dict[str, bool]:
    return {"special_prices": True} if _SPECIAL & row.keys() else {}


def _is_kept(name: str) -> bool:
    return name in _FIELDS or (name.startswith(_TIERED) and not name.endswith(_NOT_SOLD_SO))


async def request_rules(client: "LitellmClient", model: str, stub: ModelStub) -> str:
    """How litellm changes a request to a model of OpenAI: names of rules, or `litellm` if no rule says so."""
    stub.requests.clear()
    call = ModelCall("openai", model, stub.url, Secret("sk-key"), 10)
    asked = {name: value for name, value in _ASKED.items() if name != "model"}
    reached = Exchange(origins=frozenset({stub.url.removesuffix("/v1")}))
    await client.complete(call, reached, lambda answer, _cost: answer, json.loads(json.dumps(asked)))
    if not stub.requests or not stub.requests[0].path.endswith("/chat/completions"):
        return LITELLM
    sent = dict(stub.requests[0].body)
    found = [name for name, changed in _RULES.items() if _follow(sent, changed)]
    return " ".join(found) if sent == {**_ASKED, "model": model} else LITELLM


def _follow(sent: dict[str, Any], changed: tuple[str, str]) -> bool:
    """Undo a rule in a request if it was applied."""
    field, by = changed
    if by == "user":
        if sent["messages"][0]["role"] != by:
            return False
        sent["messages"] = _MESSAGES
        return True
    if field in sent or (by and by not in sent):
        return False
    sent.pop(by, None)
    sent[field] = _ASKED[field]
    return True


_RULES = {
    "no_temperature": ("temperature", ""),
    "completion_tokens": ("max_tokens", "max_completion_tokens"),
    "no_response_format": ("response_format", ""),
    "system_as_user": ("messages", "user"),
}


async def openai_rules() -> dict[str, str]:
    """The rules of every model of OpenAI that has any."""
    client = await new_client()
    listed = sorted(key for key, row in rows().items() if row["litellm_provider"] == "openai")
    with ModelStub() as stub:
        found = {key.removeprefix("openai/"): await request_rules(client, key, stub) for key in listed}
    await client.close()
    return {model: rules for model, rules in found.items() if rules}


async def table() -> dict[str, Any]:
    """The whole content of the file."""
    client = await new_client()
    about = {
        "litellm": version("litellm"),
        "date": datetime.now(UTC).date().isoformat(),
        "providers": sorted(client.providers),
        "openai_rules": await openai_rules(),
    }
    await client.close()
    return {"about": about, **rows()}


def main() -> None:
    """Write the file, one row a line."""
    content = asyncio.run(table())
    lines = (f"{json.dumps(key)}: {json.dumps(row, separators=(',', ':'))}" for key, row in content.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
