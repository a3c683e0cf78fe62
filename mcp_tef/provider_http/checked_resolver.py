"""Resolver of aiohttp that gives checked addresses only; import it lazily."""

import asyncio
import socket

from aiohttp.abc import AbstractResolver, ResolveResult

from mcp_tef.trust.addresses import UnexpectedAddressError
from mcp_tef.trust.connections import NAMES


class UncheckedNameError(OSError):
    """A name that was not contacted; `reason` is the error for the user."""

    def __init__(self, reason: UnexpectedAddressError) -> None:
        super().__init__(reason.message)
        self.reason = reason


def refusal_of(error: BaseException | None) -> UnexpectedAddressError | None:
    """Return why a name was not contacted, from an error of aiohttp or of what stands on it."""
    while error is not None and not isinstance(error, UncheckedNameError):
        error = error.__cause__
    return error.reason if error else None


class CheckedResolver(AbstractResolver):
    """Satisfies aiohttp's resolver."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a name; UncheckedNameError for one that leads elsewhere than it says."""
        try:
            found = await asyncio.to_thread(NAMES.addresses, host, port)
        except UnexpectedAddressError as error:
            raise UncheckedNameError(error) from error
        return [_result(host, port, one) for one in found if family in (socket.AF_UNSPEC, _family(one))]

    async def close(self) -> None:
        """Do nothing: nothing is open."""


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def _result(host: str, port: int, address: str) -> ResolveResult:
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=_family(address), proto=0, flags=flags)
