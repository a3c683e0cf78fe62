"""The form of a server: each kind of sign-in has its fields, and secrets that are written out are never stored."""

from PySide6.QtWidgets import QAbstractButton, QApplication

from app.screens.servers.page import ServersPage
from app.screens.servers.server_dialog import ServerDialog
from app.screens.servers.server_fields import ServerFields
from app.screens.servers.server_form import ServerForm
from app.widgets import Notice
from mcp_tef import AuthType, KeyRing
from tests.support.fake_engine import SAMPLE_TOOLS, FakeEngine
from tests.support.servers_page import page_over, within
from tests.support.windows import drive, until


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
    await until(lambda: page.findChildren(ServerDialog))
    sheet = page.findChildren(ServerDialog)[0]
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


@within(page_over, {"shop": SAMPLE_TOOLS})
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


def test_a_written_secret_can_be_kept_in_the_keychain(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine({"shop": SAMPLE_TOOLS})
        fake.keys = KeyRing({}, fake.keychain)
        async with page_over(fake) as page:
            sheet = await add_with_secret(page)
            press(sheet, "Keep in keychain")
            await until(lambda: sheet.saved is not None)
            assert sheet.saved is not None
            assert sheet.saved.spec.headers == {"Authorization": "Bearer ${keychain:SHOP_AUTHORIZATION}"}
            assert fake.keychain.kept["mcp-tef", "server:SHOP_AUTHORIZATION"] == PLANTED

    drive(work())
