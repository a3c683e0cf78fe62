"""Finds out whether anything listens at an address, where a library's error does not say."""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

PROBE_SECONDS = 3.0
_PORTS = {"http": 80, "https": 443}


async def listens(address: str) -> bool:
    """Whether a connection to the address of this url can be opened within three seconds."""
    try:
        parts = urlsplit(address)
        port = parts.port or _PORTS.get(parts.scheme)
        if not parts.hostname or port is None:
            return False
        async with asyncio.timeout(PROBE_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, TimeoutError, ValueError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
