"""Recording of a model call as sent and received, without the tool definitions and the key."""

import json
from collections.abc import Mapping, Sequence

from mcp_tef.llm.usage import Completion, Request
from mcp_tef.model.answers import with_notes
from mcp_tef.model.json import Json
from mcp_tef.model.secrets import Secret
from mcp_tef.prompts.answer_parsing import loads_with_notes
from mcp_tef.provider_http.exchange import Exchange

MOST_RECORDED_BYTES = 1024 * 1024
"""So much of a raw answer is kept for each run; honest ones are a few KB."""

_FRAME_BYTES = 1024
TOOLS_LEFT_OUT = "(the tools of this run)"
_TOOL_FIELDS = frozenset({"tools", "functions", "toolConfig", "tool_config"})


def recorded_request(exchange: Exchange, request: Request, tools: Sequence[Json]) -> Json:
    """Return the request's JSON without tool definitions, whether they went as a field or as one of `tools` elsewhere.

    Where the wire was not watched it is what litellm was asked to send.
    """
    sent = _asked(exchange)
    if sent is None:
        sent = {
            "model": request.target.model,
            "messages": list(request.messages),
            "temperature": request.settings.temperature,
        }
    kept = {name: value for name, value in sent.items() if name not in _TOOL_FIELDS}
    for part in tools:
        kept = _without(kept, part, TOOLS_LEFT_OUT)
    return _without(kept, *_secret(request.key))


def recorded_response(exchange: Exchange, outcome: Completion, key: Secret | None) -> Json:
    """Return the answer's JSON as the provider gave it, or as litellm retold it where the wire was not watched.

    Of an answer above 1 MB the beginning is kept, with the length of the whole. Notes on doubtful usage stand beside
    what the provider said.
    """
    if len(exchange.received) > MOST_RECORDED_BYTES:
        return with_notes(_beginning(exchange.received, key), outcome.notes)
    given, notes = _json(exchange.received) if exchange.received else (outcome.raw, ())
    return with_notes(_without(given, *_secret(key)), (*outcome.notes, *notes))


def _beginning(received: bytes, key: Secret | None) -> Json:
    """Return the beginning of a large answer, so much of it that its JSON text stays below 1 MB."""
    secret, mask = _secret(key)
    most = MOST_RECORDED_BYTES - _FRAME_BYTES
    text = received[:most].decode("utf-8", "replace")
    if secret:
        # Part of a key may be left at the end.
        text = text.replace(secret, mask)[: -len(secret)]
    while (size := len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"))) > most:
        text = text[: min(len(text) - 1, len(text) * most // size)]
    return {"truncated": True, "length": len(received), "beginning": text}


def tools_were_dropped(exchange: Exchange) -> bool:
    """Return True if litellm left the tools out of the request because it thinks that the model cannot call any."""
    return bool(exchange.sent) and not any(f'"{name}"'.encode() in exchange.sent for name in _TOOL_FIELDS)


def sent_seed(exchange: Exchange, request: Request) -> int | None:
    """Return the seed of a request; None where litellm left it out, since the provider takes none."""
    sent = _asked(exchange)
    if sent is None:
        return request.settings.seed
    parts = (sent, *(part for part in sent.values() if isinstance(part, Mapping)))
    return request.settings.seed if any("seed" in part for part in parts) else None


def _asked(exchange: Exchange) -> Mapping[str, Json] | None:
    """Return the JSON of the body that was sent; None if it is no object."""
    if exchange.asked is None:
        sent, _ = _json(exchange.sent)
        exchange.asked = sent if isinstance(sent, Mapping) else None
    return exchange.asked


def _json(data: bytes) -> tuple[Json, tuple[str, ...]]:
    """Return the value of a body and notes on its JSON; None if it is no JSON that can be stored."""
    try:
        return loads_with_notes(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None, ()


def _secret(key: Secret | None) -> tuple[str, str]:
    return (key.reveal(), str(key.redact(key.reveal()))) if key else ("", "")


def _without(value: Json, part: Json, instead: str) -> Json:
    """Return `value` with a list, or a text in every string, replaced; unchanged where it is nowhere."""
    if not part or json.dumps(part, ensure_ascii=False)[1:-1] not in json.dumps(value, ensure_ascii=False):
        return value
    return _replaced(value, part, instead)


def _replaced(value: Json, part: Json, instead: str) -> Json:
    if isinstance(value, str) and isinstance(part, str):
        return value.replace(part, instead)
    if isinstance(value, Mapping):
        return {name: _replaced(item, part, instead) for name, item in value.items()}
    if isinstance(value, list):
        return instead if value == part else [_replaced(item, part, instead) for item in value]
    return value
