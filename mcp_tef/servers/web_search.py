"""Client of search services: bounded answers, no redirects, and one sentence for each way of failing."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx2

from mcp_tef.errors import ReachError
from mcp_tef.model.json import Json, loads_bounded
from mcp_tef.model.secrets import Secret
from mcp_tef.model.web_search import SearchAnswer, SearchRequest, SearchResult, SearchTool
from mcp_tef.servers.http_transport import checked_transport
from mcp_tef.servers.search_requests import SearchCall, calls_for, ignored_fields, refusal_in, results_of

SECONDS: Final = 15.0
MOST_BYTES: Final = 2 * 1024 * 1024
_KEY_REFUSED = (401, 403)
_KEY_WORDS = ("token_invalid", "api key not valid", "api_key_invalid", "invalid api key", "40100")
_QUOTA = (402, 432, 433)


class HttpWebSearcher:
    """Satisfies `WebSearcher`. A key is only sent to the address of its tool."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds

    async def search(self, tool: SearchTool, request: SearchRequest, key: Secret | None) -> SearchAnswer:
        """Return the results of one attempt; see `WebSearcher`."""
        found: list[SearchResult] = []
        try:
            async with asyncio.timeout(self._seconds):
                for call in calls_for(tool, request, key):
                    page = await self._page(tool, call)
                    found += page
                    if not page:
                        break
        except TimeoutError:
            said = f"{tool.title} did not answer within {self._seconds:g} seconds."
            raise _failed(tool, said, "Try again.", "search_timeout") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError):
            said = f"No search service answers at {tool.address}."
            raise _failed(tool, said, "Look at the address, and at whether it runs.", "search_unreachable") from None
        except ReachError as error:
            if key is None:
                raise
            raise ReachError(key.redact(error.message), hint=error.hint, code=error.code) from None
        return SearchAnswer(tuple(found[: request.count]), ignored_fields(tool, request))

    async def _page(self, tool: SearchTool, call: SearchCall) -> Sequence[SearchResult]:
        url = httpx2.URL(call.url)
        transport = await checked_transport(url, signs_in=False)
        headers = {"Accept": "application/json", **call.headers}
        sent = {} if call.body is None else {"json": call.body}
        async with (
            httpx2.AsyncClient(transport=transport, headers=headers, timeout=None, follow_redirects=False) as client,
            client.stream("POST" if sent else "GET", url, params=dict(call.params) or None, **sent) as response,
        ):
            body = await _bounded(tool, response)
        _require_success(tool, response, body)
        try:
            answer: Json = loads_bounded(body)
            if refusal := refusal_in(tool, answer):
                raise _refused(tool, refusal)
            return results_of(tool, answer)
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
            said = f"{tool.title} answered with something else than search results."
            raise _failed(tool, said, "Look at its address.", "search_unreadable") from None


async def _bounded(tool: SearchTool, response: httpx2.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MOST_BYTES:
            said = f"{tool.title} answered with more than 2 MB."
            raise _failed(tool, said, "Ask for fewer results.", "search_unreadable")
    return bytes(body)


def _require_success(tool: SearchTool, response: httpx2.Response, body: bytes) -> None:
    status, said = response.status_code, body[:2000].decode("utf-8", "replace")
    if status == httpx2.codes.OK:
        return
    if status == httpx2.codes.TOO_MANY_REQUESTS:
        raise _limited(tool, response)
    if status in _KEY_REFUSED or any(words in said.casefold() for words in _KEY_WORDS):
        raise _wrong_key(tool, said)
    if status in _QUOTA:
        message = f"The plan of your {tool.title} account is used up."
        raise _failed(tool, message, "Raise its limit, or wait for the next period.", "search_quota")
    if 300 <= status < 400:
        message = f"{tool.title} redirects to another address, which was not followed."
        raise _failed(tool, message, "Correct the base URL.", "search_redirected")
    raise _failed(tool, f"{tool.title} answered with HTTP {status}.", "Try again later.", "search_failed")


def _wrong_key(tool: SearchTool, said: str) -> ReachError:
    if not tool.needs_key and "api" not in said.casefold():
        hint = "Let its settings list json under search.formats."
        return _failed(tool, f"{tool.title} refuses to answer in JSON.", hint, "search_refused")
    hint = f"Set it anew with: mcp-tef keys set {tool.provider}"
    return _failed(tool, f"{tool.title} refused the key.", hint, "search_key_wrong")


def _refused(tool: SearchTool, refusal: str) -> ReachError:
    """Return the error of a task that was refused within an answer, by the codes of DataForSEO."""
    code = refusal.partition(" ")[0]
    if code in ("40100", "40101", "40104"):
        return _wrong_key(tool, "api")
    if code in ("40202", "40209"):
        return _failed(tool, f"{tool.title} limits how often it is asked.", "Wait a minute.", "search_limited")
    if code in ("40200", "40203", "40210"):
        message = f"The plan of your {tool.title} account is used up."
        return _failed(tool, message, "Raise its limit, or wait for the next period.", "search_quota")
    return _failed(tool, f"{tool.title} refused the search: {refusal[:200]}", "Change the request.", "search_failed")


def _limited(tool: SearchTool, response: httpx2.Response) -> ReachError:
    seconds = _wait(response)
    hint = f"Wait {seconds:,.0f} seconds." if seconds else "Wait a minute."
    error = _failed(tool, f"{tool.title} limits how often it is asked.", hint, "search_limited")
    error.context["retry_after"] = seconds
    return error


def _wait(response: httpx2.Response) -> float | None:
    """Return the seconds of Retry-After, or of Brave's reset of its shortest limit; None where neither is there."""
    given = response.headers.get("retry-after") or response.headers.get("x-ratelimit-reset", "").partition(",")[0]
    if given.strip().isascii() and given.strip().isdigit():
        return float(given)
    try:
        return max(0.0, (parsedate_to_datetime(given) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _failed(tool: SearchTool, message: str, hint: str, code: str) -> ReachError:
    return ReachError(message[:1].upper() + message[1:], hint=hint, code=code, context={"tool": tool.name})
