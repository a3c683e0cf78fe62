"""Questions before a run starts: missing consents, and a missing API key."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from PySide6.QtWidgets import QWidget

from app.core_link.model_requests import ModelKeys
from app.core_link.session import Session
from app.dialogs.api_key import ApiKeyField
from app.dialogs.consent import with_consent
from app.text.formatting import error_text
from app.widgets import Action, Dialog, Field
from mcp_tef import ModelError, ModelFault, Secret

ApiKeys = Mapping[str, Secret]
T = TypeVar("T")


class Preflight:
    """Start of a batch that asks for a missing consent or key and tries again; other errors are raised."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        self._session = session
        self._parent = parent

    async def run(self, work: Callable[[ApiKeys], Awaitable[T]], provider: str) -> T | None:
        """Start the batch, asking for missing consents and one key; return None if the user cancels."""
        keys: dict[str, Secret] = {}
        while True:
            try:
                return await with_consent(self._session, self._parent, lambda: work(keys))
            except ModelError as error:
                wanted = str(error.context.get("provider") or provider)  # a group asks several providers
                if error.fault is not ModelFault.KEY_MISSING or wanted in keys:
                    raise
                key = await self._key(wanted, error)
                if key is None:
                    return None
                keys[wanted] = key

    async def _key(self, provider: str, error: ModelError) -> Secret | None:
        sheet = ApiKeyDialog(provider, error_text(error).hint, self._parent)
        if not await sheet.done_with() or not sheet.key:
            return None
        key, remember = sheet.key, sheet.kept
        await ModelKeys(self._session.call).hold(provider, key, remember=remember)
        return key


class ApiKeyDialog(Dialog):
    """Field for one key; once accepted, `key` is the key and `kept` True if the keychain should remember it."""

    def __init__(self, provider: str, hint: str, parent: QWidget) -> None:
        super().__init__(f"A key for {provider} is needed", parent, width=440)
        self.key: Secret | None = None
        self.kept = False
        self.input = ApiKeyField()
        self.edit = self.input.edit
        self.body.addWidget(Field("Key", self.input, note=hint or "Kept in memory until you quit."))
        self.set_buttons(
            [Action(text="Cancel", do=self.reject), Action(text="Use this key", do=self._take, kind="primary")]
        )
        self.edit.setFocus()

    def _take(self) -> None:
        self.key = self.input.take()
        self.kept = self.input.remember.isChecked()
        self.accept()
