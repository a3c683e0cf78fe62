"""Rule of addresses: agreement is to scheme, host and port, and to the path prefix where a variable is sent.

An address is contacted if the user typed it, the environment sets it, it is a provider's own, or the user was asked,
with a key or without. A name is contacted at the addresses that were checked, and at no others.
"""

import re
import socket
from collections.abc import Sequence
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import unquote, urlsplit

from mcp_tef.errors import ReachError
from mcp_tef.model.addresses import Network, host_of, origin_of

_NUMBERS: Final = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+)){0,3}", re.IGNORECASE)
# NAT64 (RFC 6052, 8215), compatible (RFC 4291) and translated addresses (RFC 2765)
_HOLDS_IPV4: Final = tuple(map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96", "::ffff:0:0:0/96")))
_SITE_LOCAL: Final = IPv6Network("fec0::/10")
# Alibaba, Amazon over IPv6, Oracle, and the wire server of Azure
_METADATA: Final = frozenset(map(ip_address, ("100.100.100.200", "fd00:ec2::254", "192.0.0.192", "168.63.129.16")))
_OWN_ENDINGS: Final = (".local", ".lan", ".internal", ".intranet", ".corp", ".home", ".home.arpa", ".localdomain")
_DECODINGS: Final = 4

IpAddress = IPv4Address | IPv6Address


class UnexpectedAddressError(ReachError):
    """A name leads to another kind of machine than it says; nothing was sent there."""

    default_code = "unexpected_address"


class Reach(StrEnum):
    """Whose machine an address leads to."""

    PUBLIC = "the internet"
    OWN_NETWORK = "a private network"
    THIS_MACHINE = "this machine"
    NEVER = "an address that serves the network itself, such as the metadata of a cloud"


def path_segments(url: str) -> tuple[str, ...]:
    """Return the path of an address as a server may read it: decoded, without empty ones, `.` and `..`."""
    path = urlsplit(url).path
    for _ in range(_DECODINGS):
        path = unquote(path)
    found: list[str] = []
    for segment in re.split(r"[/\\]", path):
        if segment == "..":
            del found[-1:]
        elif segment not in ("", "."):
            found.append(segment)
    return tuple(found)


def place_of(url: str) -> str:
    """Return origin and path of an address in one form, so that two addresses of one place are equal."""
    return "/".join((origin_of(url), *path_segments(url)))


def folder_of(url: str) -> str:
    """Return the place that an address lies in: its own place without the last segment."""
    return "/".join((origin_of(url), *path_segments(url)[:-1]))


def is_within(url: str, place: str) -> bool:
    """Return True if an address lies at a place that was allowed, or below it, segment by segment."""
    allowed, asked = path_segments(place), path_segments(url)
    return bool(origin_of(url)) and origin_of(url) == origin_of(place) and asked[: len(allowed)] == allowed


def literal_address(host: str) -> IpAddress | None:
    """Return the address that a host is written as, in any notation that systems read; None for a name."""
    text = host.strip("[]").partition("%")[0].rstrip(".")
    try:
        return ip_address(text)
    except ValueError:
        pass
    if not _NUMBERS.fullmatch(text):
        return None
    try:
        return IPv4Address(socket.inet_aton(text))  # decimal, octal, hexadecimal and shortened ones
    except OSError:
        return None


def reach_of(address: IpAddress) -> Reach:
    """Return whose machine an address leads to; one that holds another address leads there."""
    address = _innermost(address)
    if address in _METADATA or address.is_link_local or address.is_multicast:
        return Reach.NEVER
    if address.is_loopback or address.is_unspecified:
        return Reach.THIS_MACHINE
    return Reach.PUBLIC if address.is_global and address not in _SITE_LOCAL else Reach.OWN_NETWORK


def _innermost(address: IpAddress) -> IpAddress:
    if isinstance(address, IPv4Address) or address in (IPv6Address(0), IPv6Address(1)):
        return address
    held = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
    if held is None and any(address in network for network in _HOLDS_IPV4):
        held = IPv4Address(int(address) & 0xFFFF_FFFF)
    return held or address


def is_local_name(host: str) -> bool:
    """Return True for names that only this machine or its network knows."""
    name = host.rstrip(".").lower()
    return "." not in name or name.endswith(_OWN_ENDINGS)


def is_own_host(host: str) -> bool:
    """Return True for a host that is written as one of this machine or of a private network."""
    address = literal_address(host)
    return is_local_name(host) if address is None else reach_of(address) is not Reach.PUBLIC


def require_reach(host: str, addresses: Sequence[str], trusted: Sequence[Network] = ()) -> None:
    """Raise UnexpectedAddressError where a name leads to another kind of machine than it says, as in rebinding."""
    if literal_address(host) is not None:
        return  # what was written is what was agreed to
    for text in addresses:
        address = _innermost(ip_address(text.partition("%")[0]))
        if any(address in network for network in trusted) or not _is_odd(host.rstrip(".").lower(), reach_of(address)):
            continue
        raise UnexpectedAddressError(
            f"{host} leads to {text}, {reach_of(address)}, so it was not contacted.",
            hint="If that is meant, use this address itself, or name its network in MCP_TEF_TRUSTED_NETWORKS.",
        )


def _is_odd(name: str, reach: Reach) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return reach is not Reach.THIS_MACHINE
    return reach is Reach.NEVER or (reach is not Reach.PUBLIC and not is_local_name(name))


def callers_reach(url: str) -> Reach:
    """Return whose machine an address leads to that somebody else named; a name counts as its worst address."""
    host = host_of(url)
    if (literal := literal_address(host)) is not None:
        return reach_of(literal)
    try:
        found = {str(one[4][0]) for one in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return Reach.PUBLIC  # it cannot be contacted at all
    order = list(Reach)
    return max((reach_of(ip_address(one.partition("%")[0])) for one in found), key=order.index, default=Reach.PUBLIC)
