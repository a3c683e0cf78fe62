"""What a connection to a server is made with: the environment, the secrets of servers, and perhaps a person."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mcp_tef.errors import ServerError, ServerFault, StoreError
from mcp_tef.model.servers import ReferenceKind, ServerSpec, references
from mcp_tef.ports import OpenAddress
from mcp_tef.servers.launch import Surroundings
from mcp_tef.servers.strongbox import Strongbox


@dataclass(frozen=True, slots=True)
class Access:
    """The means of one connection. `show` is there where somebody is who can sign in; `afresh` forgets who did."""

    environment: Mapping[str, str]
    strongbox: Strongbox
    show: OpenAddress | None = None
    afresh: bool = False

    async def surroundings(self, spec: ServerSpec) -> Surroundings:
        """What fills in the references of a spec; ServerError where the keychain refuses."""
        named = (found for text in _texts(spec) for found in references(text))
        names = {found.name for found in named if found.kind is ReferenceKind.KEYCHAIN}
        try:
            return Surroundings(spec, self.environment, await self.strongbox.entries(names))
        except StoreError as error:
            message = f"{spec.name} needs the system keychain. {error.message}"
            raise ServerError(ServerFault.SETTINGS, message, hint=error.hint) from None


def _texts(spec: ServerSpec) -> Iterator[str]:
    yield from (*spec.argv, *spec.env.values(), *spec.headers.values())
    yield from (spec.url or "", spec.cwd or "", spec.env_file or "", spec.secret or "")
