"""Client of OpenAI-compatible servers by aiohttp, with the guards of litellm's transport; import it lazily."""

import asyncio
import ssl
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import certifi

from mcp_tef.provider_http.answer_body import ACCEPTED, FIRST_REDIRECT, AnswerBodyError, BodyDecoder, read_body
from mcp_tef.provider_http.checked_resolver import CheckedResolver, refusal_of
from mcp_tef.provider_http.exchange import Exchange, FailedCall, under_way

DNS_SECONDS = 300
_NEVER_VERIFIED = ("false", "0", "no", "off")
_FOREIGN_ERRORS = (aiohttp.ClientError, AnswerBodyError, OSError, ValueError)


class DirectClient:
    """One session: kept-alive connections, one to each request under way. It belongs to the loop that makes it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._proxies: dict[str, str | None] = {}
        connector = aiohttp.TCPConnector(limit=0, ttl_dns_cache=DNS_SECONDS, resolver=CheckedResolver())
        self._session = aiohttp.ClientSession(
            connector=connector,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,  # It would read passwords from .netrc as well.
        )
        self._ssl: ssl.SSLContext | bool | None = None

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, exchange: Exchange, seconds: float
    ) -> FailedCall | None:
        """Make one attempt; the answer is in `exchange`, whatever its status. Return the failure without an answer."""
        if not exchange.enter(url):
            return FailedCall(f"A request to {exchange.refused_origin} was refused.")
        try:
            with under_way(exchange):
                async with asyncio.timeout(seconds):
                    await self._send(url, headers, body, exchange)
        except TimeoutError as error:
            return FailedCall(str(error), timed_out=True)
        except aiohttp.ClientSSLError as error:
            return FailedCall(f"SSL: {error}")
        except _FOREIGN_ERRORS as error:
            exchange.refusal = refusal_of(error)
            return FailedCall("Connection error.")
        return None

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def _send(self, url: str, headers: Mapping[str, str], body: bytes, exchange: Exchange) -> None:
        exchange.sent = body
        sent = {"Accept": "application/json", "Accept-Encoding": ACCEPTED, **headers}
        async with self._session.post(
            url, data=body, headers=sent, allow_redirects=False, proxy=self._proxy(url), ssl=self._verification(url)
        ) as response:
            exchange.status = response.status
            exchange.headers = response.headers
            decoder = BodyDecoder(response.headers.get("Content-Encoding", ""))
            is_error = response.status >= FIRST_REDIRECT
            await read_body(response.content.iter_any(), decoder, exchange, is_error=is_error)

    def _proxy(self, url: str) -> str | None:
        """Return the proxy that the environment sets for an address, as litellm finds it."""
        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc}"
        if place not in self._proxies:
            proxies = {} if urllib.request.proxy_bypass(parts.hostname or "") else urllib.request.getproxies()
            proxy = proxies.get(parts.scheme) or proxies.get("all")
            self._proxies[place] = f"http://{proxy}" if proxy and "://" not in proxy else proxy
        return self._proxies[place]

    def _verification(self, url: str) -> ssl.SSLContext | bool:
        """Return how certificates are checked: with the authorities that SSL_CERT_FILE or SSL_VERIFY name, if any."""
        if not url.lower().startswith("https:"):
            return True
        if self._ssl is None:
            verify = self._environment.get("SSL_VERIFY", "")
            if verify.lower() in _NEVER_VERIFIED:
                self._ssl = False
            else:
                named = (path for path in (verify, self._environment.get("SSL_CERT_FILE", "")) if path)
                found = next((path for path in named if Path(path).exists()), None)
                self._ssl = ssl.create_default_context(cafile=found or certifi.where())
        return self._ssl
