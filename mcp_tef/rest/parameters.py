"""Parts that routes share: the engine, pages, the key of a request, and query parameters that exist."""

import string
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from fastapi import Depends, Header, Query, Request
from pydantic import BaseModel

from mcp_tef import (
    SENDS_CREDENTIALS,
    Engine,
    InputError,
    ModelSettings,
    Reach,
    Secret,
    callers_reach,
    origin_of,
    page_within,
)
from mcp_tef.rest.schemas import AnswerPage

S = TypeVar("S")
M = TypeVar("M", bound=BaseModel)
LONGEST_KEY: Final = 8_192
_PRINTABLE: Final = frozenset(string.printable) - frozenset(string.whitespace)


def engine_of(request: Request) -> Engine:
    """Return the engine that the service stands on."""
    engine: Engine = request.app.state.engine
    return engine


EngineOf: TypeAlias = Annotated[Engine, Depends(engine_of)]
Limit: TypeAlias = Annotated[int, Query(ge=1, le=1000, description="the number of items of a page")]
Offset: TypeAlias = Annotated[int, Query(ge=0, le=1_000_000_000, description="the number of items before the page")]
KeyHeader: TypeAlias = Annotated[
    str | None, Header(alias="X-Model-API-Key", description="the provider's key, for this request only")
]


async def require_known_query(request: Request) -> None:
    """Raise InputError for a query parameter that the operation does not have."""
    if not request.query_params:
        return
    known = _known_names(request.app.openapi()["paths"], request.scope["route"].path, request.method.lower())
    if unknown := [name for name in request.query_params if name not in known]:
        hint = f"It has {', '.join(sorted(known)) or 'none'}."
        raise InputError(f"There is no query parameter {unknown[0][:100]} here.", hint=hint, code="unknown_parameter")


def _known_names(paths: Mapping[str, Any], path: str, method: str) -> frozenset[str]:
    parameters = paths.get(path, {}).get(method, {}).get("parameters", ())
    return frozenset(one["name"] for one in parameters if one["in"] == "query")


def page_of(items: Sequence[S], limit: int, offset: int, answer: Callable[[S], M]) -> AnswerPage[M]:
    """Return one page of all items as their answers, which ends before it is larger than 8 MB."""
    answers, _ = page_within(map(answer, items[offset : offset + limit]), json_size)
    return AnswerPage(items=answers, total=len(items), offset=offset, limit=limit)


def json_size(answer: BaseModel) -> int:
    """Return the number of characters of an answer as JSON."""
    return len(answer.model_dump_json())


def require_allowed(engine: Engine, url: str, own: Collection[str] = ()) -> None:
    """Raise InputError for an address of a caller that the service was not started to contact.

    What serves the network itself, such as the metadata of a cloud, is never contacted.
    """
    if origin_of(url) in own:
        return
    if not engine.consents.names_origin(url) or callers_reach(url) is Reach.NEVER:
        hint = "Start the service with --allow-origin and the origin of that address."
        raise InputError("This service may not contact that address.", hint=hint, code="address_not_allowed")


def keys_of(engine: Engine, header: str | None, models: Sequence[ModelSettings]) -> dict[str, Secret]:
    """Return the key of a request by the provider that it is for; it goes to the addresses of the same request.

    Raises InputError for a key that no header can hold, and where several providers are asked.
    """
    _require_models(engine, models)
    if header is None:
        return {}
    key, asked = _key_in(header), [model for model in models if not model.offline]
    providers = {model.provider for model in asked}
    if len(providers) > 1:
        hint = "Start one batch for each provider."
        raise InputError("One key cannot be that of several providers.", hint=hint, code="bad_key")
    for model in asked:
        engine.consents.add_typed_address(model.provider, model.base_url or "", remember=False)
    return dict.fromkeys(providers, key)


def _require_models(engine: Engine, models: Sequence[ModelSettings]) -> None:
    for model in models:
        require_key_alone(model.provider)
        if model.base_url:
            require_allowed(engine, model.base_url, engine.models.own_origins(model.provider))


def require_key_alone(provider: str) -> None:
    """Raise InputError for a provider whose requests carry credentials of this machine, which callers may not use."""
    if provider in SENDS_CREDENTIALS:
        hint = "Ask it from the command line."
        raise InputError(f"{provider} signs in as this machine, so that it is not asked over REST.", hint=hint)


def _key_in(header: str) -> Secret:
    if not 1 <= len(header) <= LONGEST_KEY or not _PRINTABLE.issuperset(header):
        raise InputError("The header X-Model-API-Key holds no key.", hint="Send the key alone.", code="bad_key")
    return Secret(header)
