"""The protocols that workflows speak to; adapters satisfy them, tests stand in for them."""

from mcp_tef.ports.models import (
    KeySource,
    ModelCatalogue,
    Question,
    Selector,
    Selectors,
    TokenCounter,
    Writer,
    WritingTask,
    Written,
)
from mcp_tef.ports.servers import ServerGateway, Show, SignIns, Vault
from mcp_tef.ports.storage import (
    CaseStore,
    CheckResult,
    MetricsStore,
    RunStore,
    ServerStore,
    Step,
    Store,
    ToolCallStore,
    unwatched,
)
from mcp_tef.ports.texts import Embedder, Embedders, Lexicon, Progress, TextIndex

__all__ = [
    "CaseStore",
    "CheckResult",
    "Embedder",
    "Embedders",
    "KeySource",
    "Lexicon",
    "MetricsStore",
    "ModelCatalogue",
    "Progress",
    "Question",
    "RunStore",
    "Selector",
    "Selectors",
    "ServerGateway",
    "ServerStore",
    "Show",
    "SignIns",
    "Step",
    "Store",
    "TextIndex",
    "TokenCounter",
    "ToolCallStore",
    "Vault",
    "Writer",
    "WritingTask",
    "Written",
    "unwatched",
]
