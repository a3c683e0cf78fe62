"""Consents in memory, behaving as the file in the data folder does."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from mcp_tef.model.config import Config
from mcp_tef.model.consents import Consent
from mcp_tef.ports import ConsentStore
from mcp_tef.workflows.consent import Consents


class MemoryConsents:
    """Satisfies `ConsentStore`."""

    def __init__(self) -> None:
        self._consents: dict[str, Consent] = {}

    def all(self) -> Mapping[str, Consent]:
        """All of them, oldest first."""
        return dict(self._consents)

    def add(self, consent: Consent) -> None:
        """Keep it, stamped."""
        self._consents[consent.fingerprint] = replace(consent, allowed_at=consent.allowed_at or datetime.now(UTC))

    def remove(self, fingerprint: str) -> None:
        """Forget it."""
        self._consents.pop(fingerprint, None)


def no_consents(
    store: ConsentStore | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    config: Config | None = None,
    workspace: Path | None = None,
) -> Consents:
    """The rules, for a user who has allowed nothing yet."""
    return Consents(store or MemoryConsents(), environment or {}, config or Config(), workspace=workspace)


def loopback_consents(environment: Mapping[str, str] | None = None) -> Consents:
    """The rules, for a user who named the address http://127.0.0.1 in the command and allowed nothing else."""
    consents = no_consents(environment=environment)
    consents.allow_named((), ["=http://127.0.0.1"])
    return consents
