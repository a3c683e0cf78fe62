"""Origins (scheme, host and port), the unit to which keys and variables are bound."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

Network = IPv4Network | IPv6Network
_DEFAULT_PORTS = {"http": 80, "https": 443}


def origin_of(url: str) -> str:
    """Return `scheme://host[:port]` in lower case, without user info and without the scheme's default port.

    Returns:
        The origin, or an empty string if the text is not an http or https address with a host in ASCII letters.
    """
    parts = _split(url)
    if parts is None or not parts.hostname or parts.scheme not in _DEFAULT_PORTS:
        return ""
    host = parts.hostname.rstrip(".")
    if not host.isascii():
        return ""  # Libraries encode such names in different ways (IDNA 2003 and 2008), so none is taken for another.
    shown = f"[{host}]" if ":" in host else host
    port = parts.port
    return f"{parts.scheme}://{shown}" + ("" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}")


def is_loopback(url: str) -> bool:
    """Return True if an address or origin leads to this machine."""
    host = host_of(url)
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


def is_unencrypted(url: str, trusted: Sequence[Network] = ()) -> bool:
    """Return True if a secret sent to this address could be read on the way: plain http to another machine.

    Args:
        url: address or origin.
        trusted: networks that the user chose to trust; hosts given by IP address in them count as safe.
    """
    if not url.lower().startswith("http://") or is_loopback(url):
        return False
    try:
        host = ip_address(host_of(url))
    except ValueError:
        return True
    return not any(host in network for network in trusted)


def host_of(url: str) -> str:
    """Return the host of an address in lower case; an empty string if there is none."""
    parts = _split(url)
    return parts.hostname.rstrip(".") if parts is not None and parts.hostname else ""


def has_user_info(url: str) -> bool:
    """Return True if an address holds a user name or password (`https://user:password@host`)."""
    parts = _split(url)
    return parts is not None and "@" in parts.netloc


def without_user_info(url: str) -> str:
    """Return the address without user name and password; other texts stay as they are."""
    parts = _split(url)
    if parts is None or "@" not in parts.netloc:
        return url
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _split(url: str) -> SplitResult | None:
    """Parse an address; None if it is malformed, its port included."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts
