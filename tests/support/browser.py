"""A browser for tests: it opens the address of a sign-in, and goes where that sends it."""

import threading
import urllib.request
from contextlib import suppress
from urllib.error import HTTPError


class Browser:
    """Each address is opened in a thread of its own, as by somebody who agrees to everything."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.page = ""
        self._threads: list[threading.Thread] = []

    def show(self, url: str) -> None:
        """Open an address."""
        self.shown.append(url)
        thread = threading.Thread(target=self._open, args=(url,))
        self._threads.append(thread)
        thread.start()

    def _open(self, url: str) -> None:
        with suppress(HTTPError, OSError), urllib.request.urlopen(url, timeout=10) as answer:
            self.page = answer.read().decode()

    def close(self) -> None:
        """Wait until every page is there."""
        for thread in self._threads:
            thread.join()
