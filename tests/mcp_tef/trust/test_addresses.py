"""Addresses: one form for one place, odd notations, agreements by path prefix, and questions about stored ones."""

from pathlib import Path

import pytest

from mcp_tef import Engine
from mcp_tef.errors import ReachError
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.trust.addresses import Reach, is_within, literal_address, place_of, reach_of, require_reach
from mcp_tef.workflows.consent import matches_options
from tests.support.command_line import say
from tests.support.workspace_files import case, case_file, tools_file

PLACE = "https://host.test/tenant-a"


@pytest.mark.parametrize(
    "path",
    ["/tenant-a", "/tenant-a/", "//tenant-a", "/x/../tenant-a", "/./tenant-a/mcp", "/%74enant-a/v1", "/tenant-a/b/.."],
)
def test_a_place_covers_what_lies_below_it_however_it_is_written(path: str) -> None:
    assert is_within(f"https://HOST.test:443{path}", PLACE)


@pytest.mark.parametrize(
    "url",
    [
        *("https://host.test/", "https://host.test/tenant-ab", "https://host.test/tenant-a/../tenant-b"),
        *("https://host.test/tenant-a/%2e%2e/tenant-b", "https://host.test/tenant-a/..%2ftenant-b"),
        *("https://host.test/tenant-a/%252e%252e/tenant-b", "https://host.test/tenant-a\\..\\tenant-b"),
        *(
            "http://host.test/tenant-a",
            "https://host.test:444/tenant-a",
            "https://host.test.evil/tenant-a",
            "",
            "file:///a",
        ),
    ],
)
def test_nothing_beside_a_place_is_covered(url: str) -> None:
    assert not is_within(url, PLACE)


REACHES = {
    Reach.THIS_MACHINE: (
        *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "0.0.0.0", "::1", "::"),
        *("::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1"),
    ),
    Reach.OWN_NETWORK: (
        "10.0.0.1",
        "192.168.1.1",
        "172.16.0.9",
        "100.64.0.1",
        "fd00::1",
        "fec0::1",
        "::ffff:10.0.0.1",
        "0xa000001",
    ),
    Reach.NEVER: (
        *(
            "169.254.169.254",
            "2852039166",
            "0xa9fea9fe",
            "fe80::1%eth0",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
        ),
        *("100.100.100.200", "fd00:ec2::254", "224.0.0.1", "::ffff:0:169.254.169.254", "168.63.129.16"),
    ),
    Reach.PUBLIC: ("1.1.1.1", "16843009", "2606:4700::1111", "::ffff:1.1.1.1"),
}


@pytest.mark.parametrize(("text", "reach"), [(text, reach) for reach, texts in REACHES.items() for text in texts])
def test_each_notation_leads_where_systems_go(text: str, reach: Reach) -> None:
    address = literal_address(text)
    assert address is not None
    assert reach_of(address) is reach


@pytest.mark.parametrize(
    ("host", "address"),
    [
        *(("shop.example", "127.0.0.1"), ("shop.example", "10.0.0.1"), ("shop.example", "::ffff:192.168.0.1")),
        *(("shop.example", "169.254.169.254"), ("gpu-box", "169.254.169.254"), ("localhost", "10.0.0.1")),
        *(("x.localhost", "1.1.1.1"), ("shop.example", "64:ff9b::7f00:1"), ("shop.example", "0.0.0.0")),
    ],
)
def test_a_name_that_leads_elsewhere_than_it_says_is_not_contacted(host: str, address: str) -> None:
    with pytest.raises(ReachError, match="was not contacted"):
        require_reach(host, ["1.1.1.1", address] if "localhost" not in host else [address])


def test_names_that_lead_where_they_say_are_contacted() -> None:
    for host, address in (("shop.example", "1.1.1.1"), ("gpu-box", "10.0.0.1"), ("nas.lan", "192.168.0.2")):
        require_reach(host, [address])
    require_reach("localhost", ["127.0.0.1", "::1"])
    require_reach("10.0.0.1", ["10.0.0.1"])
    assert place_of("HTTPS://host.test:443//a/./b/") == "https://host.test/a/b"


async def test_a_variable_goes_to_the_path_that_was_allowed_and_no_other(tmp_path: Path) -> None:
    def spec(path: str, secret: str | None = "${TOKEN}") -> ServerSpec:
        url = f"https://host.test{path}"
        return ServerSpec(
            name="s", transport=Transport.STREAMABLE_HTTP, url=url, headers={"X": secret} if secret else {}
        )

    async with await Engine.open(tmp_path / "work.db", environment={"TOKEN": "a-token"}) as engine:
        await engine.consents.allow_server(spec("/tenant-a/mcp"))
        assert not engine.consents.needed(spec("//tenant-a/./mcp"))
        for path in ("/tenant-b/mcp", "/tenant-a/mcp/../../tenant-b", "/", "/tenant-a/%2e%2e/tenant-b/mcp"):
            (request,) = engine.consents.missing([spec(path)])
            assert request.target == place_of(f"https://host.test{path}")
            assert matches_options(request, (), [f"TOKEN={request.target}"])
            assert not matches_options(request, (), ["TOKEN=https://host.test/tenant-a", "https://host.test"])
        await engine.consents.allow_server(spec("/one", None))
        assert not engine.consents.needed(spec("/two", None))  # nothing is sent, so the origin decides


def stored(folder: Path, url: str) -> tuple[str, Path]:
    """A workspace of somebody else: a group, a router and a search tool at an address, a failed batch there."""
    at = ("--workspace", folder / "work.db")
    assert say("servers", "add", "city", "--tools-file", tools_file(folder), *at).code == 0
    cases = [case("Weather in Lisbon?", [{"tool": "weather_report"}])]
    assert say("cases", "import", case_file(folder, cases), *at).code == 0
    assert say("models", "groups", "add", "fast", "--deployment", f"openai/x,url={url}", *at).code == 0
    assert say("search", "add", "web", "searxng", "--base-url", url, *at).code == 0
    assert say("run", "--model", "openai/x", "--base-url", url, "--no-key", "--retries", "0", *at).code == 3
    moved = folder / "moved.db"  # the same rows at another place are not this user's typing
    moved.write_bytes((folder / "work.db").read_bytes())
    return str(folder / "work.db"), moved


DOORS = (("runs", "retry", "BATCH"), ("run", "--model", "group/fast", "--no-key"), ("search", "run", "web", "rain"))


def test_stored_addresses_ask_without_a_key_and_typed_loopback_does_not(tmp_path: Path) -> None:
    own, moved = stored(tmp_path, "http://127.0.0.1:9")
    batch = say("runs", "list", "--workspace", own, "--json").document["batches"][0]["id"]
    for door in DOORS:
        words = [batch if word == "BATCH" else word for word in door]
        asked = say(*words, "--workspace", moved)
        assert (asked.code, "--allow-origin http://127.0.0.1:9" in asked.err) == (2, True), (door, asked.err)
        assert "which you have not allowed" in asked.err
        allowed = say(*words, "--allow-origin", "http://127.0.0.1:9", "--workspace", moved)
        typed = say(*words, "--workspace", own)
        assert "have not allowed" not in allowed.err + typed.err, door
