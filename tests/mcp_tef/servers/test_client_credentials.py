"""Signing in as a client of its own: by secret or by key, without a person, and only where the client belongs."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.servers import AuthType, OAuthClient, ServerSpec, Transport
from mcp_tef.servers.credential_store import CredentialStore
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.sign_in_server import ACCESS, Desk, signing_in_at

AMPLE = 30.0
SECRET = "hush-4711-and-a-tail-that-is-long-enough-to-be-cut-in-two"
PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@pytest.fixture
def desk() -> Desk:
    return Desk(client_id="build-42", client_secret=SECRET)


@pytest.fixture
def url(desk: Desk) -> Iterator[str]:
    with signing_in_at(desk) as server:
        yield server.url


@pytest.fixture
async def lister() -> AsyncIterator[McpToolLister]:
    lister = McpToolLister({"SHOP_SECRET": SECRET}, credentials=CredentialStore())
    yield lister
    await lister.close()


def spec(url: str, secret: str | None = "${SHOP_SECRET}", client_id: str = "build-42", **oauth: Any) -> ServerSpec:
    return ServerSpec(
        name="Shop",
        transport=Transport.STREAMABLE_HTTP,
        url=url,
        auth_type=AuthType.CLIENT_CREDENTIALS,
        secret=secret,
        oauth=OAuthClient(client_id=client_id, **oauth),
    )


async def names(lister: McpToolLister, asked: ServerSpec) -> list[str]:
    listing = await lister.list_tools(asked, timeout=AMPLE)
    return [tool.name for tool in listing.tools]


async def refusal(lister: McpToolLister, asked: ServerSpec) -> ServerError:
    with pytest.raises(ServerError) as caught:
        await names(lister, asked)
    texts = (caught.value.message, caught.value.hint, repr(caught.value.context))
    assert SECRET[:20] not in "".join(texts)
    return caught.value


def pem(key: PrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def public(key: PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


async def test_a_client_with_a_secret_signs_in_without_a_person(lister: McpToolLister, desk: Desk, url: str) -> None:
    assert await names(lister, spec(url)) == ["first", "second"]
    (form,) = desk.forms
    assert form["grant_type"] == "client_credentials"
    assert form["resource"] == url
    assert form["authorization"].startswith("Basic ")
    assert "client_secret" not in form
    assert "/register" not in desk.asked
    assert "/authorize" not in desk.asked


async def test_the_secret_is_sent_in_the_body_where_it_is_taken_only_there(
    lister: McpToolLister, desk: Desk, url: str
) -> None:
    desk.methods = ["client_secret_post"]
    assert await names(lister, spec(url)) == ["first", "second"]
    assert (desk.forms[0]["client_secret"], desk.forms[0]["authorization"]) == (SECRET, "")


async def test_a_token_is_used_again_and_asked_for_again_once_it_is_refused(
    lister: McpToolLister, desk: Desk, url: str
) -> None:
    await names(lister, spec(url))
    await names(lister, spec(url))
    assert len(desk.forms) == 1
    desk.revoked = True
    assert await names(lister, spec(url)) == ["first", "second"]
    assert [form["grant_type"] for form in desk.forms] == ["client_credentials"] * 2


async def test_another_client_does_not_get_the_token_of_the_first(lister: McpToolLister, desk: Desk, url: str) -> None:
    await names(lister, spec(url))
    error = await refusal(lister, spec(url, client_id="somebody-else"))
    assert error.fault is ServerFault.UNAUTHORIZED
    assert error.message.startswith("Shop gave no token for the sign-in")


@pytest.mark.parametrize("echo", ["{authorization}", "{client_secret}", "x" * 20 + "{client_secret}"])
async def test_a_secret_that_is_sent_back_shows_in_no_error_even_where_the_error_is_cut_short(
    lister: McpToolLister, desk: Desk, url: str, echo: str
) -> None:
    desk.methods = ["client_secret_post" if "client_secret" in echo else "client_secret_basic"]
    desk.client_secret, desk.echo = "another", echo
    error = await refusal(lister, spec(url))
    assert "•••" in error.message
    assert "Basic YnV" not in error.message


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (ec.generate_private_key(ec.SECP256R1()), "ES256"),
        (rsa.generate_private_key(public_exponent=65537, key_size=2048), "RS256"),
    ],
    ids=["elliptic", "rsa"],
)
async def test_a_private_key_signs_for_the_client_and_stays_here(
    lister: McpToolLister, desk: Desk, url: str, tmp_path: Path, key: PrivateKey, algorithm: str
) -> None:
    desk.public_key, desk.client_secret = public(key), None
    file = tmp_path / "client.pem"
    file.write_text(pem(key))
    assert await names(lister, spec(url, None, private_key_file=str(file))) == ["first", "second"]
    (form,) = desk.forms
    assert form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    assert jwt.get_unverified_header(form["client_assertion"])["alg"] == algorithm
    assert "PRIVATE" not in str(desk.forms)


async def test_a_private_key_may_be_in_a_variable(desk: Desk, url: str) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    desk.public_key, desk.client_secret = public(key), None
    lister = McpToolLister({"SHOP_KEY": pem(key).replace("\n", "\\n")}, credentials=CredentialStore())
    assert await names(lister, spec(url, "${SHOP_KEY}")) == ["first", "second"]
    await lister.close()


@pytest.mark.parametrize(
    ("held", "oauth", "why"),
    [
        (None, {}, "which cannot be read: No such file or directory"),
        ("no key", {}, "which holds no private key"),
        ("-----BEGIN PUBLIC KEY-----\nnone", {}, "which holds no private key"),
        ("-----BEGIN PRIVATE KEY-----\nnone", {}, "has a private key that cannot be used"),
        ("elliptic", {"signing_algorithm": "RS256"}, "has a private key that cannot sign with RS256"),
    ],
)
async def test_a_key_that_cannot_sign_is_named_with_the_reason(
    lister: McpToolLister, desk: Desk, url: str, tmp_path: Path, held: str | None, oauth: dict[str, str], why: str
) -> None:
    file = tmp_path / "client.pem"
    if held is not None:
        file.write_text(pem(ec.generate_private_key(ec.SECP256R1())) if held == "elliptic" else held)
    error = await refusal(lister, spec(url, None, private_key_file=str(file), **oauth))
    assert error.fault is ServerFault.SETTINGS
    assert why in error.message
    assert desk.asked == []


async def test_a_folder_is_not_taken_for_a_key(lister: McpToolLister, url: str, tmp_path: Path) -> None:
    error = await refusal(lister, spec(url, None, private_key_file=str(tmp_path)))
    assert "which cannot be read: it is not a file" in error.message


async def test_the_chosen_scopes_are_requested_and_those_that_the_server_demands(
    lister: McpToolLister, desk: Desk, url: str
) -> None:
    desk.scopes = ["everything"]
    await names(lister, spec(url, scope="tools:read"))
    desk.revoked, desk.needed_scope = True, "tools:list tools:read"
    await names(lister, spec(url, scope="tools:read"))
    assert [form["scope"] for form in desk.forms] == ["tools:read", "tools:read tools:list"]


async def test_a_secret_goes_to_no_authorization_server_that_the_user_has_not_named(
    lister: McpToolLister, desk: Desk, url: str
) -> None:
    desk.home = "https://login.elsewhere.example"
    error = await refusal(lister, spec(url))
    assert "wants its client's secret sent to https://login.elsewhere.example" in error.message
    assert error.hint.endswith("--issuer https://login.elsewhere.example")
    assert desk.forms == []


async def test_an_issuer_that_is_not_the_named_one_is_refused(lister: McpToolLister, desk: Desk, url: str) -> None:
    error = await refusal(lister, spec(url, issuer="https://login.shop.example"))
    assert "but its client is registered with https://login.shop.example" in error.message
    assert desk.forms == []
    assert await names(lister, spec(url, issuer=desk.origin)) == ["first", "second"]


async def test_metadata_of_another_issuer_is_refused(lister: McpToolLister, desk: Desk, url: str) -> None:
    desk.issuer = f"{desk.origin}/tenant"
    error = await refusal(lister, spec(url))
    assert "metadata issuer mismatch" in error.message
    assert desk.forms == []


async def test_a_token_that_the_server_refuses_is_told(lister: McpToolLister, desk: Desk, url: str) -> None:
    desk.tokens_work = False
    error = await refusal(lister, spec(url))
    assert error.message == "Shop did not accept the client's token (HTTP 401)."
    assert ACCESS not in error.message
