"""Opener of the settings dialog; applies changes of appearance and limits, and resets everything."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.core_link.settings import Settings, TextSizeSetting
from app.theme import Contrast, ThemeMode, theme


class SettingsController:
    """Opens the dialog over `frame`; `show_folder` opens a folder, `resize` applies another text size."""

    def __init__(
        self,
        frame: QWidget,
        settings: Settings,
        sizes: TextSizeSetting,
        *,
        resize: Callable[[], object],
        log_file: Path | None,
        show_folder: Callable[[Path], object],
    ) -> None:
        self._frame = frame
        self._settings = settings
        self._sizes = sizes
        self._resize = resize
        self._log_file = log_file
        self._show_folder = show_folder

    def open(self, session: Session, workspace: Path | None) -> None:
        """Open the settings dialog."""
        from app.screens.settings.dialog import SettingsDialog
        from app.screens.settings.presenter import SettingsPaths

        paths = SettingsPaths(
            workspace=workspace, settings=self._settings.file, log=self._log_file, show=self._show_folder
        )
        dialog = SettingsDialog(
            session,
            self._frame,
            set_theme=self.set_theme,
            set_contrast=self.set_contrast,
            sizes=self._sizes,
            reset=partial(self._reset, session),
            paths=paths,
        )
        dialog.open()

    def set_theme(self, mode: str) -> None:
        """Apply and save a colour scheme."""
        theme().set_mode(ThemeMode(mode))
        self._keep("theme", mode)

    def set_contrast(self, contrast: str) -> None:
        """Apply and save a contrast."""
        theme().set_contrast(Contrast(contrast))
        self._keep("contrast", contrast)

    def _keep(self, key: str, value: str) -> None:
        self._settings.set(key, value)
        self._settings.save()

    def _reset(self, session: Session) -> None:
        before = session.preferences.state()
        session.preferences.reset()
        undo = partial(self._put_back, session, before)
        again = partial(self._put_back, session, session.preferences.state())
        session.toast("All settings have their defaults again", undo, again, action="reset the settings")
        session.spawn(self._apply(session))

    async def _put_back(self, session: Session, before: Mapping[str, Any]) -> None:
        session.preferences.restore(before)
        await self._apply(session)

    async def _apply(self, session: Session) -> None:
        theme().set_mode(self._settings.choice("theme", ThemeMode))
        theme().set_contrast(self._settings.choice("contrast", Contrast))
        await session.configure()
        self._resize()
