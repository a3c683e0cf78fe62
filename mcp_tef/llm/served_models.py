"""Names of the models that a server with an OpenAI-compatible interface lists."""

import json

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.model.addresses import origin_of
from mcp_tef.model.secrets import Secret

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

    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key.reveal()}"
    place, body = origin_of(address) or address, bytearray()
    try:
        async with (
            httpx.AsyncClient(timeout=SECONDS, follow_redirects=False) as client,
            client.stream("GET", f"{address.rstrip('/')}/models", headers=headers) as answer,
        ):
            async for piece in answer.aiter_raw():
                body += piece
                if len(body) > MOST_BYTES:
                    raise _no_list(place)
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError):
        raise ModelError(
            ModelFault.DOWN, f"No model server answers at {place}.", hint="Start it, or correct the address."
        ) from None
    if answer.status_code in _UNAUTHORIZED:
        raise ModelError(ModelFault.KEY_WRONG, f"The server at {place} refused the request.", hint="Enter its key.")
    if answer.status_code != httpx.codes.OK:
        raise _no_list(place)
    return _names(body, place)


def _names(body: bytearray, place: str) -> tuple[str, ...]:
    try:
        answer = json.loads(body)
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
