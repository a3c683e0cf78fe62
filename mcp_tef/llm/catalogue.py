"""Catalogue of models, read offline from the table of models that litellm knows."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.llm.model_table import bundled_table, read_table
from mcp_tef.llm.providers import KNOWN, LOCAL, key_variables, wants_key
from mcp_tef.model.addresses import origin_of, own_origins
from mcp_tef.model.json import loads_bounded
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.runs import OFFLINE_PROVIDER, Baseline, ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.web_search import PROVIDER_ADDRESSES
from mcp_tef.trust.addresses import UnexpectedAddressError

SECONDS = 10
MOST_BYTES = 1_000_000
MOST_MODELS = 500
_UNAUTHORIZED = (401, 403)


async def served_models(address: str, key: Secret | None) -> tuple[str, ...]:
    """Return the names below `ADDRESS/models`, at most 500, sorted.

    No redirect is followed, and nothing is asked elsewhere. Raises ModelError: the server does not answer within
    10 seconds, refuses the key, or answers with something else than a list of models.
    """
    import httpx  # here, since the command line seldom needs it

    from mcp_tef.provider_http.checked_client import checked_client

    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key.reveal()}"
    place, body = origin_of(address) or address, bytearray()
    try:
        async with (
            checked_client(timeout=SECONDS, follow_redirects=False) as client,
            client.stream("GET", f"{address.rstrip('/')}/models", headers=headers) as answer,
        ):
            async for piece in answer.aiter_raw():
                body += piece
                if len(body) > MOST_BYTES:
                    raise _no_list(place)
    except UnexpectedAddressError as error:
        raise ModelError(ModelFault.ADDRESS_REFUSED, error.message, hint=error.hint) from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError):
        raise ModelError(
            ModelFault.DOWN, f"No model server answers at {place}.", hint="Start it, or correct the address."
        ) from None
    _require_list(answer.status_code, place)
    return _names(body, place)


def _require_list(status: int, place: str) -> None:
    if status in _UNAUTHORIZED:
        raise ModelError(ModelFault.KEY_WRONG, f"The server at {place} refused the request.", hint="Enter its key.")
    if status != HTTPStatus.OK:
        raise _no_list(place)


def _names(body: bytearray, place: str) -> tuple[str, ...]:
    try:
        answer = loads_bounded(body)
    except (ValueError, RecursionError):
        raise _no_list(place) from None
    listed = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise _no_list(place)
    names = {one["id"] for one in listed if isinstance(one, dict) and isinstance(one.get("id"), str) and one["id"]}
    return tuple(sorted(names)[:MOST_MODELS])


def _no_list(place: str) -> ModelError:
    return ModelError(
        ModelFault.NOT_AN_API, f"The server at {place} lists no models.", hint="Most addresses end with /v1."
    )


BASELINES = tuple(
    ModelInfo(
        provider=OFFLINE_PROVIDER,
        model=name.value,
        input_price=0.0,
        output_price=0.0,
        tool_calling=True,
        vision=False,
        structured_output=False,
        extra={"baseline": True},
    )
    for name in (Baseline.WORDS, Baseline.MEANING)
)

_SPOKEN = {"bedrock_converse": "bedrock", "cohere": "cohere_chat", "ollama_chat": "ollama"}
_NOT_MODELS = ("container", "sample_spec")
Value = TypeVar("Value")


class LitellmCatalogue:
    """The built-in baselines, then every chat model of the table, by label. `table` stands in for the file."""

    def __init__(self, table: Path | None = None) -> None:
        self._table = table
        self._models: tuple[ModelInfo, ...] | None = None
        self._by_label: dict[str, ModelInfo] = {}
        self._found: dict[str, ModelInfo | None] = {}
        self._loading = asyncio.Lock()

    async def models(self) -> tuple[ModelInfo, ...]:
        """Return every known model; the baselines first."""
        async with self._loading:
            if self._models is None:
                known = await asyncio.to_thread(_read, self._table)
                self._by_label = {info.label: info for info in (*BASELINES, *known)}
                self._models = tuple(self._by_label.values())
        return self._models

    async def find(self, settings: ModelSettings) -> ModelInfo | None:
        """Return the catalogue entry of a model, or None."""
        if settings.offline:
            return replace(BASELINES[0], model=settings.model)
        label = f"{spoken(settings.provider)}/{settings.model}"
        async with self._loading:
            if self._models is None and label not in self._found:
                self._found |= {label: None, **await asyncio.to_thread(_infos, self._table, settings.model)}
        return self._by_label.get(label) if self._models is not None else self._found[label]

    def providers(self) -> frozenset[str]:
        """Return the names of all providers that can be asked without a base URL."""
        return KNOWN

    def key_variable(self, provider: str) -> str:
        """Return the environment variable that usually holds a provider's key; empty where there is none."""
        return next(iter(key_variables(provider)), "")

    async def served(self, address: str, key: Secret | None) -> tuple[str, ...]:
        """Return the names of the models that the server at an address lists. Raises ModelError."""
        return await served_models(address, key)

    def own_origins(self, provider: str) -> frozenset[str]:
        """Return the origins at which a provider itself is reached; empty where they are not known."""
        found = PROVIDER_ADDRESSES.get(provider)
        return own_origins(provider) or (frozenset({found}) if found else frozenset())

    def asks_for_key(self, settings: ModelSettings) -> bool:
        """Return True if a call to this model is bound to fail without a key."""
        return wants_key(settings)


def spoken(provider: str) -> str:
    """Return the name by which people call a provider that the table lists under several."""
    return _SPOKEN.get(provider, "vertex_ai" if provider.startswith("vertex_ai") else provider)


def _read(file: Path | None) -> list[ModelInfo]:
    return sorted(_infos(file).values(), key=lambda info: info.label.lower())


def _infos(file: Path | None, model: str = "") -> dict[str, ModelInfo]:
    """Return models by label: all, or only those whose name ends alike, which takes a fiftieth of the time."""
    table = read_table(file) if file else bundled_table()
    found: dict[str, ModelInfo] = {}
    for key, row in table.rows.items():
        if key.endswith(model) and row.get("mode") == "chat" and not key.endswith(_NOT_MODELS):
            info = _info(key, row)
            found[info.label] = _merged(found[info.label], info) if info.label in found else info
    return found


def _info(key: str, row: Mapping[str, Any]) -> ModelInfo:
    listed = str(row["litellm_provider"])
    provider = spoken(listed)
    model = key.removeprefix(f"{listed}/").removeprefix(f"{provider}/")
    return ModelInfo(
        provider=provider,
        model=model,
        context_tokens=_whole(row.get("max_input_tokens") or row.get("max_tokens")),
        input_price=_price(provider, row.get("input_cost_per_token")),
        output_price=_price(provider, row.get("output_cost_per_token")),
        tool_calling=row.get("supports_function_calling"),
        vision=row.get("supports_vision"),
        structured_output=row.get("supports_response_schema"),
        extra=_extra(row),
    )


def _extra(row: Mapping[str, Any]) -> dict[str, Any]:
    given = {
        "output_tokens": _whole(row.get("max_output_tokens")),
        "streaming": row.get("supports_native_streaming"),
        "reasoning": row.get("supports_reasoning"),
        "web_search": row.get("supports_web_search"),
        "deprecated_on": row.get("deprecation_date"),
    }
    return {name: value for name, value in given.items() if value is not None}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _price(provider: str, value: object) -> float | None:
    """US dollars per token. The table's 0 means unknown, except for models that run on the user's own machine."""
    if not isinstance(value, int | float):
        return None
    return float(value) if value > 0 or provider in LOCAL else None


def _merged(one: ModelInfo, other: ModelInfo) -> ModelInfo:
    """Return two rows of one model: an ability that either has, and the larger of two numbers."""
    return ModelInfo(
        provider=one.provider,
        model=one.model,
        context_tokens=_either(one.context_tokens, other.context_tokens, max),
        input_price=_either(one.input_price, other.input_price, max),
        output_price=_either(one.output_price, other.output_price, max),
        tool_calling=_either(one.tool_calling, other.tool_calling, _any),
        vision=_either(one.vision, other.vision, _any),
        structured_output=_either(one.structured_output, other.structured_output, _any),
        extra={**one.extra, **other.extra},
    )


def _either(one: Value | None, other: Value | None, choose: Callable[[Iterable[Value]], Value]) -> Value | None:
    known = [value for value in (one, other) if value is not None]
    return choose(known) if known else None


def _any(values: Iterable[bool]) -> bool:
    return any(values)
