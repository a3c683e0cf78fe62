"""Rule of connections: the addresses to which a name resolves are checked, and they are the ones connected to.

Each HTTP library gets its part here or in its adapter: `CheckedBackend` for httpx and httpx2, a resolver for aiohttp.
Behind a proxy the proxy resolves names, so nothing can be checked there.
"""

import asyncio
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from mcp_tef.model.addresses import Network
from mcp_tef.trust.addresses import UnexpectedAddressError, literal_address, require_reach

Resolve: TypeAlias = Callable[[str, int], Sequence[str]]
_FIRST_SECONDS: Final = 3.0
"""The next address of a name is tried when one has not answered for so long."""


def resolved_by_system(host: str, port: int) -> Sequence[str]:
    """Return the addresses that the system knows for a name, best first; OSError for none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(one[4][0]) for one in found))


class CheckedNames:
    """Addresses of names after the check. `trusted` networks are the user's own, whatever name leads there."""

    def __init__(self, resolve: Resolve = resolved_by_system) -> None:
        self.resolve = resolve
        self.trusted: tuple[Network, ...] = ()

    def addresses(self, host: str, port: int) -> Sequence[str]:
        """Return where to connect to; UnexpectedAddressError for a name that leads elsewhere, OSError for none."""
        if literal_address(host) is not None:
            return (host,)
        found = self.resolve(host, port)
        try:
            require_reach(host, found, self.trusted)
        except UnexpectedAddressError:
            if host not in _proxy_hosts():
                raise
        return found


NAMES: Final = CheckedNames()
"""What this process connects by. The engine sets the networks that the user trusts."""


def _proxy_hosts() -> frozenset[str]:
    """Return the hosts of the proxies that the user's environment names."""
    import urllib.request  # loads much, and is seldom needed

    proxies = urllib.request.getproxies().values()
    return frozenset(urlsplit(one if "://" in one else f"http://{one}").hostname or "" for one in proxies)


async def checked_address(host: str, port: int) -> str:
    """Return the address of a name to connect to, for a connection without a library."""
    return (await asyncio.to_thread(NAMES.addresses, host, port))[0]


class CheckedBackend:
    """A network backend of httpcore or httpcore2 that connects to addresses that were checked.

    `failures` are the library's errors for a connection that failed and for one that took too long.
    """

    def __init__(self, inner: Any, failures: tuple[type[Exception], ...]) -> None:
        self._inner = inner
        self._failures = failures

    async def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> Any:  # noqa: ASYNC109
        """Return a stream to the first address of a host that answers; TLS still asks for the name itself."""
        try:
            *others, last = await asyncio.to_thread(NAMES.addresses, host, port)
        except (OSError, UnicodeError) as error:
            raise self._failures[0](str(error)) from error
        for address in others:
            try:
                seconds = min(timeout or _FIRST_SECONDS, _FIRST_SECONDS)
                return await self._inner.connect_tcp(address, port, timeout=seconds, **options)
            except self._failures:
                continue
        return await self._inner.connect_tcp(last, port, timeout=timeout, **options)

    async def sleep(self, seconds: float) -> None:
        """Wait between attempts."""
        await self._inner.sleep(seconds)


class CheckedSyncBackend:
    """The same for the few requests that are made without asyncio."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def connect_tcp(self, host: str, port: int, **options: Any) -> Any:
        """Return a stream to the first address of a host."""
        return self._inner.connect_tcp(NAMES.addresses(host, port)[0], port, **options)

    def sleep(self, seconds: float) -> None:
        """Wait between attempts."""
        self._inner.sleep(seconds)


def check_names(transport: Any) -> None:
    """Have a transport of httpx or httpx2 connect to checked addresses; neither library takes a backend."""
    pool = transport._pool  # noqa: SLF001
    library = sys.modules[type(pool).__module__.partition(".")[0]]  # httpcore or httpcore2
    failures = (library.ConnectError, library.ConnectTimeout)
    pool._network_backend = CheckedBackend(pool._network_backend, failures)  # noqa: SLF001
