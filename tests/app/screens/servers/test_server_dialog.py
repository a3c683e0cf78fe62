"""Form and dialog of a server: fields, errors, and secrets that are never stored."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication

from app.dialogs.consent import ConsentBar
from app.screens.servers.page import ServersPage
from app.screens.servers.server_dialog import ServerDialog
from app.screens.servers.server_fields import ServerFields
from app.screens.servers.server_form import ServerForm, form_from_spec, free_name, read, suggested_name
from app.widgets import ChoiceCard, Notice
from mcp_tef import AuthType, KeyRing, OAuthClient, ServerSpec, Transport
from tests.support.fake_engine import SAMPLE_TOOLS, FakeEngine
from tests.support.servers_page import page_over
from tests.support.windows import opened_dialog, until

SPECS = [
    ServerSpec(
        name="docs",
        transport=Transport.STDIO,
        command="npx",
        args=("-y", "@acme/docs", "my hand book"),
        cwd="/srv",
        env={"REGION": "eu", "URL": "a=b"},
        alias="d",
        allowed_tools=("a",),
        env_file=".env",
        project="/srv",
        origin="/srv/.mcp.json",
        extra={"disabled": True},
    ),
    ServerSpec(name="old", transport=Transport.SSE, url="http://127.0.0.1:8000/sse", headers={"X-Team": "a: b"}),
    ServerSpec(
        name="new",
        transport=Transport.STREAMABLE_HTTP,
        url="https://example.com/mcp",
        auth_type=AuthType.BEARER,
        secret="${ACME_TOKEN}",
    ),
    ServerSpec(
        name="signed",
        transport=Transport.STREAMABLE_HTTP,
        url="https://example.com/mcp",
        auth_type=AuthType.OAUTH2,
        secret="${keychain:acme}",
        oauth=OAuthClient(client_id="us", remember=True),
    ),
    ServerSpec(name="dynamic", transport=Transport.SSE, url="https://example.com/mcp", auth_type=AuthType.OAUTH2),
    ServerSpec(
        name="build",
        transport=Transport.STREAMABLE_HTTP,
        url="https://example.com/mcp",
        auth_type=AuthType.CLIENT_CREDENTIALS,
        oauth=OAuthClient(
            client_id="us",
            scope="a b",
            issuer="https://login.example",
            private_key_file="/home/ines/client.pem",
            signing_algorithm="ES256",
        ),
    ),
    ServerSpec(name="file", transport=Transport.FILE, path="/tmp/tools.json"),
]


def by_client(**typed: Any) -> ServerForm:
    """A form for client credentials, complete but for what is not typed."""
    form = ServerForm(kind="url", name="x", url="https://e.example", auth=AuthType.CLIENT_CREDENTIALS)
    return replace(form, **typed)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_a_spec_that_is_shown_and_read_again_is_the_same(spec: ServerSpec) -> None:
    assert read(form_from_spec(spec)).spec == spec


def test_a_pasted_command_line_is_split_as_a_terminal_would() -> None:
    spec = read(ServerForm(name="x", command="uvx mcp-server-git --repository '/my repo'")).spec
    assert spec is not None
    assert spec.argv == ("uvx", "mcp-server-git", "--repository", "/my repo")


@pytest.mark.parametrize(
    ("form", "field"),
    [
        (ServerForm(command="npx"), "name"),
        (ServerForm(name="x"), "command"),
        (ServerForm(name="x", command="say 'hi"), "command"),
        (ServerForm(name="x", command="npx", environment="REGION"), "environment"),
        (ServerForm(kind="url", name="x", url="example.com"), "url"),
        (ServerForm(kind="url", name="x", url="https://example.com", headers="nonsense"), "headers"),
        (
            ServerForm(kind="url", name="x", url="https://e.example", auth=AuthType.BEARER, variable="my token!"),
            "variable",
        ),
        (by_client(variable="SHOP"), "client_id"),
        (by_client(client_id="us"), "variable"),
        (by_client(client_id="us", variable="SHOP", key_file="/client.pem"), "key_file"),
        (by_client(client_id="us", variable="SHOP", issuer="login"), "issuer"),
        (ServerForm(kind="file", name="x"), "path"),
    ],
)
def test_a_fault_names_its_field(form: ServerForm, field: str) -> None:
    reading = read(form)
    assert reading.spec is None
    assert list(reading.faults) == [field]


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (ServerForm(command="npx -y @acme/docs-server@1.2 ~/handbook"), "docs-server"),
        (ServerForm(command="uvx mcp-server-git"), "git"),
        (ServerForm(command="python /srv/weather.py"), "weather"),
        (ServerForm(command="python srv.py"), "srv"),
        (ServerForm(command="/opt/venv/bin/python3.12 -u 'srv.py'"), "srv"),
        (ServerForm(command="uv run ~/notes/server.py"), "notes"),
        (ServerForm(command="node ./weather/dist/index.js"), "weather"),
        (ServerForm(command="npx -y @scope/server-name"), "server-name"),
        (ServerForm(command="python -P -m mcp_tef sample-server"), "mcp_tef"),
        (ServerForm(kind="url", url="https://mcp.example.com/mcp"), "example"),
        (ServerForm(kind="file", path="/home/me/memory.json"), "memory"),
        (ServerForm(), ""),
    ],
)
def test_a_name_is_suggested(form: ServerForm, name: str) -> None:
    assert suggested_name(form) == name


def address(url: str) -> str:
    """What is said of an address."""
    return read(ServerForm(kind="url", name="x", url=url)).faults.get("url", "")


@pytest.mark.parametrize("url", ["http://", "https:///mcp", "https://a b/mcp", "http://a:port/", "http://[::1"])
def test_half_an_address_is_told(url: str) -> None:
    assert address(url) == "This address is incomplete. Write one such as https://tools.example.com/mcp."


@pytest.mark.parametrize("url", ["http://a", "https://${HOST}:${PORT}/mcp", "http://[::1]:8000/mcp?key=${K}"])
def test_a_whole_address_is_left_in_peace(url: str) -> None:
    assert address(url) == ""


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("X Team: docs", "Line 1 has no valid header name: “X Team” contains a character that is not allowed."),
        ("A: 1\n\na: 2", "Line 3 repeats a."),
    ],
)
def test_headers_that_cannot_be_sent_are_told(lines: str, said: str) -> None:
    assert read(ServerForm(kind="url", name="x", url="https://e.example", headers=lines)).faults == {"headers": said}


def test_variables_may_differ_in_case_alone_but_not_be_named_twice() -> None:
    def faults(lines: str) -> dict[str, str]:
        return read(ServerForm(name="x", command="npx", environment=lines)).faults

    assert faults("path=1\nPATH=2") == {}
    assert faults("A=1\nA=2") == {"environment": "Line 2 repeats A."}
    assert "no valid variable name" in faults("MY KEY=1")["environment"]


def test_names_and_addresses_that_are_taken_are_told_at_their_fields() -> None:
    form = ServerForm(kind="url", name="desk", url="https://e.example")
    faults = read(form, {"desk": None, "mail": "https://e.example"}).faults
    assert faults == {
        "name": "A server named “desk” exists already. Write another name.",
        "url": "The server mail has this address already.",
    }
    assert read(form, {"mail": "https://other.example"}).faults == {}
    assert (free_name("desk", {"desk", "desk-2"}), free_name("mail", {"desk"})) == ("desk-3", "mail")


def test_a_client_that_signs_in_by_itself_has_all_its_fields(qapp: QApplication) -> None:
    form = ServerForm(
        kind="url",
        name="shop",
        url="https://shop.example/mcp",
        auth=AuthType.CLIENT_CREDENTIALS,
        client_id="us",
        key_file="/home/ines/client.pem",
        issuer="https://login.example",
        scope="a b",
    )
    fields = ServerFields({})
    fields.fill(form)
    shown = {key for key, field in fields.fields.items() if not field.isHidden()}
    assert shown >= {"client_id", "variable", "key_file", "issuer", "scope"}
    assert "remember" not in shown
    assert fields.form() == form
    fields.deleteLater()


PLANTED = "hush-4711-planted"


async def add_with_secret(page: ServersPage) -> ServerDialog:
    """Fill in a server with a secret header, and press Add server."""
    page.add()
    sheet = await opened_dialog(page, ServerDialog)
    header = f"Authorization: Bearer {PLANTED}"
    sheet.open_form(ServerForm(kind="url", name="shop", url="https://shop.example/mcp", headers=header))
    sheet.keep()
    await until(lambda: spoken(sheet))
    return sheet


def spoken(sheet: ServerDialog) -> str:
    """What the sheet's notices say."""
    return " ".join(one.accessibleName() for one in sheet.findChildren(Notice) if not one.isHidden())


def press(sheet: ServerDialog, text: str) -> None:
    next(one for one in sheet.findChildren(QAbstractButton) if one.text() == text).click()


@pytest.mark.parametrize("engine", [partial(FakeEngine, {"shop": SAMPLE_TOOLS})])
async def test_a_written_secret_can_be_used_until_the_program_quits(page: ServersPage, fake: FakeEngine) -> None:
    sheet = await add_with_secret(page)
    assert "The header Authorization contains a secret. It is not stored" in spoken(sheet)
    assert "SHOP_AUTHORIZATION" in spoken(sheet)
    assert PLANTED not in spoken(sheet)
    assert "Keep in keychain" not in [one.text() for one in sheet.findChildren(QAbstractButton)]
    assert await fake.servers.list() == ()
    press(sheet, "Use until I quit")
    await until(lambda: sheet.saved is not None)
    assert sheet.saved is not None
    assert sheet.saved.spec.headers == {"Authorization": "Bearer ${SHOP_AUTHORIZATION}"}
    assert fake.written_secrets.variables["SHOP_AUTHORIZATION"] == PLANTED


async def test_a_written_secret_can_be_kept_in_the_keychain(qapp: QApplication) -> None:
    fake = FakeEngine({"shop": SAMPLE_TOOLS})
    fake.keys = KeyRing({}, fake.keychain)
    async with page_over(fake) as page:
        sheet = await add_with_secret(page)
        press(sheet, "Keep in keychain")
        await until(lambda: sheet.saved is not None)
        assert sheet.saved is not None
        assert sheet.saved.spec.headers == {"Authorization": "Bearer ${keychain:SHOP_AUTHORIZATION}"}
        assert fake.keychain.kept["mcp-tef", "server:SHOP_AUTHORIZATION"] == PLANTED


LONG = " ".join(["--folder", "/srv/papers"] * 20)


@pytest.mark.parametrize(
    ("typed", "added", "is_named"),
    [
        ("node shop.js", "node shop.js", True),
        (f"node shop.js {LONG}", f"node shop.js {LONG}", False),
        ("node shop.js", "node other.js", False),
    ],
    ids=["shown whole", "too long to be shown", "changed after it was shown"],
)
async def test_adding_a_server_allows_its_program_only_if_the_dialog_named_it(
    qapp: QApplication, typed: str, added: str, is_named: bool
) -> None:
    fake = FakeEngine({"shop": SAMPLE_TOOLS})
    async with page_over(fake) as page:
        page.add()
        sheet = await opened_dialog(page, ServerDialog)
        sheet.open_form(ServerForm(kind="command", name="shop", command=typed))
        if LONG not in typed:
            await until(lambda: '"shop.js"' in spoken(sheet))
        sheet.fields.command.setText(added)
        press(sheet, "Add and start")
        await until(lambda: page.pane.tools.rows.rowCount() == 3 if is_named else page.pane.consent.isVisible())
        assert page.pane.consent.isVisible() is not is_named
        assert fake.gateway.asked == (["shop"] if is_named else [])
        page.activateWindow()
        await until(page.server_list.hasFocus)


async def test_a_command_that_is_worth_a_second_look_says_so_before_it_is_added(qapp: QApplication) -> None:
    async with page_over(FakeEngine({"shop": SAMPLE_TOOLS})) as page:
        page.add()
        sheet = await opened_dialog(page, ServerDialog)
        sheet.open_form(ServerForm(kind="command", name="shop", command="npx -y shop-server"))
        await until(lambda: "Name an exact version" in spoken(sheet))
        sheet.fields.command.setText("node shop.js")
        await until(lambda: "Name an exact version" not in spoken(sheet))
        sheet.reject()


async def test_esc_on_the_question_about_consent_puts_only_that_away(qapp: QApplication) -> None:
    async with page_over(FakeEngine({"shop": SAMPLE_TOOLS})) as page:
        page.add()
        sheet = await opened_dialog(page, ServerDialog)
        card = next(one for one in sheet.findChildren(ChoiceCard) if one.text() == "A command")
        card.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(card, Qt.Key.Key_Return)
        assert sheet.fields.isVisible(), "Enter opens the kind that has the focus"
        sheet.open_form(ServerForm(kind="command", name="shop", command="node"))
        press(sheet, "Test connection")
        bar = sheet.findChildren(ConsentBar)[0]
        await until(bar.isVisible)
        next(one for one in bar.findChildren(QAbstractButton) if one.isVisible()).setFocus()
        QTest.keyClick(QApplication.focusWidget() or bar, Qt.Key.Key_Escape)
        assert (sheet.isVisible(), bar.isVisible()) == (True, False)
        assert sheet.fields.form().command == "node"
        assert sheet.fields.isAncestorOf(QApplication.focusWidget() or bar)
        sheet.reject()
