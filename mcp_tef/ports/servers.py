"""Ports for MCP servers, the contacts with them, tools files and search services."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from datetime import datetime

    from mcp_tef.model.health import ContactSummary, ServerContact
    from mcp_tef.model.json import Json
    from mcp_tef.model.secrets import Secret
    from mcp_tef.model.servers import ServerSpec
    from mcp_tef.model.tools import Listing
    from mcp_tef.model.web_search import SearchAnswer, SearchRequest, SearchTool


class ServerGateway(Protocol):
    """Reaches MCP servers and tools files. It opens, uses and closes one connection in one task."""

    async def list_tools(self, spec: ServerSpec, *, timeout: float) -> Listing:  # noqa: ASYNC109
        """Return every tool that the server lists now; raises ServerError within `timeout` seconds."""
        ...

    async def read_catalogue(self, path: str) -> tuple[Listing, ...]:
        """Return the tools that a file holds, by server: the one that a definition names, else the file's own name.

        Raises ServerError where the file holds no list of tools.
        """
        ...

    async def sort_catalogue(self, name: str, definitions: Sequence[Json]) -> tuple[Listing, ...]:
        """Return given definitions, checked one by one, by server; `name` is the server of those that name none."""
        ...


OpenAddress: TypeAlias = Callable[[str], None]
"""Takes the user to an address in a browser; called on the loop, which it must not block. It may ask first."""


class SignIns(Protocol):
    """Signs in to servers by OAuth, for the session or as the spec says for longer."""

    async def needed(self, spec: ServerSpec) -> bool:
        """Return True if the server uses OAuth and no user has signed in; raises ServerError."""
        ...

    async def sign_in(self, spec: ServerSpec) -> None:
        """Send the user to a browser and wait until they are back; raises ServerError."""
        ...

    async def sign_out(self, spec: ServerSpec) -> None:
        """Forget what the sign-in brought."""
        ...


class SecretVault(Protocol):
    """Secrets of servers in the keychain of the system. Each call may wait for the user; StoreError."""

    def read(self, name: str) -> Secret | None:
        """Return the entry of a name; None where there is none, or no keychain."""
        ...

    def write(self, name: str, secret: Secret) -> None:
        """Keep an entry."""
        ...

    def forget(self, name: str) -> None:
        """Take an entry out; nothing happens where it is not there."""
        ...


class ContactStore(Protocol):
    """Contacts with servers on disk."""

    async def record_contacts(self, contacts: Sequence[ServerContact]) -> None:
        """Keep contacts, and fold those that are older than seven days into hours."""
        ...

    async def contacts(self, since: datetime) -> tuple[ServerContact, ...]:
        """Return the contacts after a moment, oldest first."""
        ...

    async def summary(self, before: datetime) -> ContactSummary:
        """Return the contacts up to a moment in short."""
        ...


class WebSearcher(Protocol):
    """Asks search services."""

    async def search(self, tool: SearchTool, request: SearchRequest, key: Secret | None) -> SearchAnswer:
        """Return the answer of one attempt, no retries; raises ReachError in one sentence."""
        ...
