"""The fields of a server: each kind of sign-in shows those that it needs."""

from PySide6.QtWidgets import QApplication

from app.screens.servers.form import ServerForm
from app.screens.servers.server_fields import ServerFields
from mcp_tef import AuthType


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
