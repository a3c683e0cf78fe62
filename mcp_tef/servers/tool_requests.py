"""Executors of library tools that send an HTTP request, to the one origin that their template names."""

import json
from typing import Any
from urllib.parse import quote

import httpx2

from mcp_tef.errors import InputError, ReachError
from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.json_patch import value_at
from mcp_tef.model.library import (
    ABSENT,
    MOST_OUTPUT_BYTES,
    PLACEHOLDER,
    ToolDesign,
    as_text,
    fill_template,
)
from mcp_tef.model.secrets import json_without_keys, without_keys
from mcp_tef.servers.credential_store import ServerAccess
from mcp_tef.servers.http_transport import address, proxy_for, trust

_MOST_REDIRECTS = 5


class HttpToolExecutor:
    """Satisfies `ToolExecutor` for requests."""

    def __init__(self, access: ServerAccess) -> None:
        self._access = access

    async def execute(self, design: ToolDesign, arguments: JsonObject) -> Json:
        """Return the answer: JSON where it is, of that the part that `result` points at, else text."""
        resolved = await self._access.resolved(design.request)
        origin = address(resolved)
        headers = {name: str(fill_template(text, arguments)) for name, text in resolved.headers().items()}
        request = _plain(design, arguments)
        transport = httpx2.AsyncHTTPTransport(verify=await trust(origin, signs_in=False), proxy=proxy_for(origin))
        try:
            async with httpx2.AsyncClient(transport=transport, headers=headers, timeout=None) as client:
                text = await _answer(design, client, origin, **request)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            place = f"{origin.scheme}://{origin.netloc.decode('ascii', 'replace')}"
            hint = "Look at its address, and at whether the service runs."
            raise ReachError(f"{design.name} could not reach {place}.", hint=hint) from error
        except ReachError as error:
            raise ReachError(without_keys(error.message, resolved.secrets), hint=error.hint) from None
        found = json_without_keys(_parsed(text), resolved.secrets)
        return _part(design, found)


def _part(design: ToolDesign, found: Json) -> Json:
    pointer = design.config.get("result", "")
    try:
        return value_at(found, pointer)
    except LookupError as error:
        said = f"The answer to {design.name} has nothing at {pointer}."
        raise ReachError(said, hint="Correct the JSON Pointer in its config.") from error


def _plain(design: ToolDesign, arguments: JsonObject) -> dict[str, Any]:
    body = fill_template(design.config.get("body"), arguments)
    method = str(design.config.get("method", "POST" if body is not None else "GET")).upper()
    sent: dict[str, Any] = {} if body is None or body is ABSENT else {"json": body}
    return {"method": method, "url": _filled_url(design, arguments), **sent}


def _filled_url(design: ToolDesign, arguments: JsonObject) -> str:
    """Return the address with the inputs in it, each quoted, so that none of them changes the path around it."""

    def value(name: str) -> str:
        text = as_text(arguments.get(name, ""))
        if text in (".", ".."):
            raise InputError(f"“{text}” cannot be a part of an address.", hint="Give another value.")
        return quote(text, safe="")

    return PLACEHOLDER.sub(lambda found: value(found[1]), str(design.config["url"]))


async def _answer(design: ToolDesign, client: httpx2.AsyncClient, origin: httpx2.URL, **request: Any) -> str:
    """Send a request, follow redirects within its origin, and return the text of the answer."""
    for _ in range(_MOST_REDIRECTS + 1):
        async with client.stream(**request) as response:
            there = response.headers.get("location") if 300 <= response.status_code < 400 else None
            if there is None:
                body = await _bounded(design, response)
                if response.status_code >= 400:
                    said = f"{design.name} was answered with HTTP {response.status_code}"
                    raise ReachError(f"{said}: {body[:200]}" if body else f"{said}.", hint="Look at its request.")
                return body
            url = response.url.join(there)
        if (url.scheme, url.netloc) != (origin.scheme, origin.netloc):
            said = f"{design.name} was redirected to {url.scheme}://{url.host}, which is another address"
            raise ReachError(f"{said}.", hint="Nothing was sent there. Write that address if you trust it.")
        request = {"method": "GET", "url": str(url)}
    raise ReachError(f"{design.name} was redirected too often.", hint="Look at its address.")


async def _bounded(design: ToolDesign, response: httpx2.Response) -> str:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MOST_OUTPUT_BYTES:
            raise ReachError(f"{design.name} was answered with more than 1 MB.", hint="Ask for less.")
    return body.decode("utf-8", "replace")


def _parsed(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
