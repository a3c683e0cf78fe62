"""Origins are compared exactly, so equal addresses must have equal origins and no other address may."""

from ipaddress import ip_network

import pytest

from mcp_tef.model.addresses import has_user_info, is_loopback, is_unencrypted, origin_of, without_user_info


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://API.openai.com/v1", "https://api.openai.com"),
        ("https://api.openai.com:443/v1", "https://api.openai.com"),
        ("https://api.openai.com.:443", "https://api.openai.com"),
        ("https://api.openai.com:8443/v1", "https://api.openai.com:8443"),
        ("https://api.openai.com@evil.example/v1", "https://evil.example"),
        ("https://user:password@host.example:80/", "https://host.example:80"),
        ("http://[::1]:8080/v1", "http://[::1]:8080"),
        ("https://аpi.openai.com", ""),
        ("ftp://host.example", ""),
        ("https://", ""),
        ("https://host.example:99999", ""),
        ("host.example", ""),
        ("", ""),
    ],
)
def test_origin_is_scheme_host_and_port(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:1",
        "http://127.0.0.9",
        "http://[::1]:8",
        "http://0.0.0.0:8000",
        "http://[::ffff:127.0.0.1]",
        "http://a.localhost/x",
    ],
)
def test_addresses_of_this_machine_are_loopback(url: str) -> None:
    assert is_loopback(url)
    assert not is_unencrypted(url)


@pytest.mark.parametrize("url", ["http://localhost.example", "http://127.0.0.1.example", "http://10.0.0.1", "http://x"])
def test_other_addresses_are_not_loopback(url: str) -> None:
    assert not is_loopback(url)
    assert is_unencrypted(url)


def test_networks_that_the_user_trusts_count_as_safe() -> None:
    trusted = (ip_network("10.0.0.0/8"),)
    assert not is_unencrypted("http://10.1.2.3:8000", trusted)
    assert is_unencrypted("http://192.168.0.1", trusted)
    assert not is_unencrypted("https://192.168.0.1")


def test_user_info_is_found_and_removed() -> None:
    assert has_user_info("https://user:pw@host.example/x")
    assert without_user_info("https://user:pw@host.example:8/x?y=@") == "https://host.example:8/x?y=@"
    assert without_user_info("https://host.example/@x") == "https://host.example/@x"
