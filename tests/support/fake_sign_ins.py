"""Sign-ins that need no browser."""

from mcp_tef.model.servers import AuthType, ServerSpec


class FakeSignIns:
    """Whoever asks is signed in at once."""

    def __init__(self) -> None:
        self.signed_in: list[str] = []

    async def needed(self, spec: ServerSpec) -> bool:
        """Whether nobody has signed in yet."""
        return spec.auth_type is AuthType.OAUTH2 and spec.name not in self.signed_in

    async def sign_in(self, spec: ServerSpec) -> None:
        """Sign in."""
        self.signed_in.append(spec.name)

    async def sign_out(self, spec: ServerSpec) -> None:
        """Forget it."""
        self.signed_in.remove(spec.name)
