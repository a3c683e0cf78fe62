"""Signs in to servers for a user who asked for that."""

from collections.abc import Callable, Mapping

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.limits import USUAL, Limits
from mcp_tef.model.servers import AuthType, ServerSpec
from mcp_tef.ports import OpenAddress
from mcp_tef.servers.strongbox import Strongbox
from mcp_tef.servers.visits import Visits


class McpSignIns:
    """Satisfies `ports.SignIns`; what it brings is in the strongbox, for who else visits servers."""

    def __init__(
        self,
        strongbox: Strongbox,
        show: OpenAddress | None = None,
        environment: Mapping[str, str] | None = None,
        limits: Limits = USUAL,
        require_consent: Callable[[ServerSpec], object] = lambda _: None,
    ) -> None:
        self._strongbox = strongbox
        self._require_consent = require_consent
        self._seconds = limits.seconds
        self._visits = Visits(environment, limits, strongbox, show)

    def hold_to(self, limits: Limits) -> None:
        """Other limits from now on."""
        self._seconds = limits.seconds
        self._visits.hold_to(limits)

    async def needed(self, spec: ServerSpec) -> bool:
        """Whether the server is signed in to by OAuth, and there is no grant; ServerError."""
        if spec.auth_type is not AuthType.OAUTH2:
            return False
        url = await self._visits.address(spec)
        return await self._strongbox.grant(url, remembered=spec.oauth.remember) is None

    async def sign_in(self, spec: ServerSpec) -> None:
        """Send the user to a browser and wait until they are back; ServerError, ConsentError."""
        self._require_consent(spec)
        await self._visits.list_tools(spec, self._seconds, afresh=True)
        if await self.needed(spec):
            raise ServerError(
                ServerFault.SETTINGS, f"{spec.name} answers without a sign-in.", hint="Choose no sign-in for it."
            )

    async def sign_out(self, spec: ServerSpec) -> None:
        """Forget what the sign-in brought; StoreError where the keychain refuses."""
        await self._strongbox.drop(await self._visits.address(spec))

    async def close(self) -> None:
        """Leave every server."""
        await self._visits.close()
