"""What the surroundings say: environment variables, and the defaults where they are silent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.model.limits import USUAL, Limits
from mcp_tef.model.runs import ModelSettings

_SQLITE = "sqlite:///"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings of the core.

    From a similarity of `similarity_threshold` (0–1) on, two tools are flagged.
    """

    workspace: Path | None = None
    limits: Limits = USUAL
    separator: str = "-"
    similarity_threshold: float = 0.85
    default_model: ModelSettings = field(default_factory=ModelSettings)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Config":
        """Read the variables that seed 002 names and those of limits; InputError where a value cannot be meant."""
        return cls(
            workspace=_workspace(environment.get("DATABASE_URL", "")),
            limits=Limits.from_environment(environment),
            separator=environment.get("MCP_TOOL_PREFIX_SEPARATOR") or "-",
            similarity_threshold=_share(environment, "SIMILARITY_THRESHOLD", 0.85),
            default_model=_default_model(environment),
        )


def _workspace(url: str) -> Path | None:
    if "://" in url and not url.startswith(_SQLITE):
        raise InputError(f"DATABASE_URL is {url}, which is no SQLite file.", hint="Write sqlite:///PATH or a path.")
    return Path(url.removeprefix(_SQLITE)).expanduser() if url else None


def _share(environment: Mapping[str, str], name: str, default: float) -> float:
    text = environment.get(name, "")
    try:
        value = float(text) if text else default
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise InputError(f"{name} is “{text}”, not a similarity.", hint=f"Set {name} from 0 to 1.")
    return value


def _default_model(environment: Mapping[str, str]) -> ModelSettings:
    provider = environment.get("DEFAULT_LLM_PROVIDER", "")
    model = environment.get("DEFAULT_LLM_MODEL", "")
    return ModelSettings(provider=provider, model=model) if provider and model else ModelSettings()
