"""Web addresses that open in the browser once the user agrees."""

from collections.abc import Callable

from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.widgets import ask


class ExternalLinks:
    """Asks over a window before `browse` opens the browser."""

    def __init__(self, frame: QWidget, browse: Callable[[QUrl], object]) -> None:
        self._frame = frame
        self._browse = browse

    def sign_in(self, session: Session, address: str) -> None:
        """Ask whether to open the address of a sign-in."""
        url = QUrl(address)
        words = f"To sign in, {url.host()} is opened in your browser. Come back here when it says that you can."
        self._offer(session, url, "Sign in", words)

    def page(self, session: Session, url: QUrl) -> None:
        """Ask whether to open a web page that the help links to."""
        self._offer(session, url, "Leave the help?", f"{url.toDisplayString()} is opened in your browser.")

    def _offer(self, session: Session, url: QUrl, title: str, words: str) -> None:
        if url.scheme() in ("http", "https"):
            session.spawn(self._browse_if_agreed(url, title, words))

    async def _browse_if_agreed(self, url: QUrl, title: str, words: str) -> None:
        if await ask(self._frame, title, words, yes="Open the browser"):
            self._browse(url)
