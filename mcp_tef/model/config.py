"""Settings of the core from environment variables and saved settings, with their defaults."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

from mcp_tef.errors import InputError
from mcp_tef.model import limits
from mcp_tef.model.addresses import Network
from mcp_tef.model.limits import USUAL, Limits
from mcp_tef.model.model_catalogue import parse_model
from mcp_tef.model.runs import Baseline, ModelSettings
from mcp_tef.model.similarity import HIGH_FROM, EmbedderChoice, EmbedderKind, FlagRule, MatrixKind, parse_embedder
from mcp_tef.model.variables import Variable, foreign_note, number, sound, whole

_SQLITE = "sqlite:///"
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_OPENAI = EmbedderChoice(EmbedderKind.LITELLM, "openai/text-embedding-3-small")
_LONGEST_SEPARATOR = 8
_LONGEST_NAME = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings of the core.

    Two tools are flagged from a similarity of `similarity_threshold` (0–1) on; where it is None, from a confusability
    of `confusability_threshold`. From a score of `words_threshold` or `meaning_threshold` (0–1) on, that
    baseline picks a tool; None means one that fits the number of tools.
    Without an `embedder` the best one on this machine is taken; without a `log_level` the program that logs decides.
    `through` is `litellm` where models are asked through it even if they can be asked directly.
    """

    workspace: Path | None = None
    limits: Limits = USUAL
    separator: str = "-"
    similarity_threshold: float | None = None
    confusability_threshold: float = HIGH_FROM
    words_threshold: float | None = None
    meaning_threshold: float | None = None
    embedder: EmbedderChoice | None = None
    default_model: ModelSettings = field(default_factory=ModelSettings)
    log_level: str = ""
    trusted_networks: tuple[Network, ...] = ()
    through: str = ""

    @property
    def flag_rule(self) -> FlagRule:
        """Rule by which pairs of tools are flagged."""
        if self.similarity_threshold is not None:
            return FlagRule(self.similarity_threshold, MatrixKind.SIMILARITY)
        return FlagRule(self.confusability_threshold)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Config":
        """Return the settings of the variables; InputError for an invalid value of our own ones."""
        return cls(
            workspace=WORKSPACE.value(environment, None),
            limits=Limits.from_environment(environment),
            separator=SEPARATOR.value(environment, "-"),
            similarity_threshold=THRESHOLD.value(environment, None),
            confusability_threshold=CONFUSABILITY_THRESHOLD.value(environment, HIGH_FROM),
            words_threshold=WORDS_THRESHOLD.value(environment, None),
            meaning_threshold=MEANING_THRESHOLD.value(environment, None),
            embedder=EMBEDDER.value(environment, None),
            default_model=_default_model(environment),
            log_level=LOG_LEVEL.value(environment, ""),
            trusted_networks=TRUSTED_NETWORKS.value(environment, ()),
            through=THROUGH.value(environment, ""),
        )

    @classmethod
    def chosen(
        cls, environment: Mapping[str, str], settings: Mapping[str, str] | None
    ) -> tuple["Config", tuple[str, ...]]:
        """Read settings as `lenient` does, with notes; without saved settings, an invalid value raises InputError."""
        note = foreign_note(_foreign(environment))
        if settings is None:
            return cls.from_environment(environment), note
        config, problems = cls.lenient(environment, settings)
        return config, (*(f"{one.message} {one.hint}" for one in problems), *note)

    @staticmethod
    def names_a_model(environment: Mapping[str, str]) -> bool:
        """Return True if a variable names the model to ask by default."""
        return bool(MODEL.text(environment)) and MODEL not in _foreign(environment)

    @classmethod
    def lenient(
        cls, environment: Mapping[str, str], settings: Mapping[str, str]
    ) -> tuple["Config", tuple[InputError, ...]]:
        """Read settings from environment variables, then from saved settings of the same names, then from the defaults.

        Invalid values are skipped; those of our own environment variables are returned as errors.
        """
        kept, problems = sound(VARIABLES, environment)
        usable = [one for one in VARIABLES if settings.get(one.name, "") and not one.fault(settings[one.name])]
        remembered = {one.name: settings[one.name] for one in usable}
        said = {**remembered, **{name: text for name, text in kept.items() if text.strip()}}
        try:
            return cls.from_environment(said), problems
        except InputError as error:
            names = (PROVIDER.name, PROVIDER.own_name, MODEL.name, MODEL.own_name)
            return cls.from_environment(said | dict.fromkeys(names, "")), (*problems, error)


class CurrentConfig:
    """The configuration in force. Parts of the engine read it at each use, so that a change reaches all of them."""

    def __init__(self, config: Config) -> None:
        self.config = config

    @property
    def limits(self) -> Limits:
        """Limits on servers and models."""
        return self.config.limits

    @property
    def separator(self) -> str:
        """Text between server and tool where two servers list a tool of one name."""
        return self.config.separator

    @property
    def default_model(self) -> ModelSettings:
        """The model that is used where none is named."""
        return self.config.default_model

    @property
    def trusted_networks(self) -> tuple[Network, ...]:
        """Networks to which keys may travel unencrypted."""
        return self.config.trusted_networks


def _name(text: str) -> str | None:
    return text if text.isprintable() and len(text) <= _LONGEST_NAME else None


def _file(text: str) -> Path | None:
    """Return the path of `sqlite:///PATH` or of a plain path; None for other schemes, such as file: and postgres:."""
    path = text.removeprefix(_SQLITE)
    scheme = path.partition(":")[0] if ":" in path else ""
    foreign = len(scheme) > 1 and not {"/", "\\"} & {*scheme}
    return None if foreign or not path or path.startswith(":") else Path(os.path.expanduser(path))


def _separator(text: str) -> str | None:
    fits = len(text) <= _LONGEST_SEPARATOR and text.isprintable() and not any(map(str.isspace, text))
    return text if fits else None


def _level(text: str) -> str | None:
    return text.upper() if text.upper() in _LEVELS else None


def _networks(text: str) -> tuple[Network, ...] | None:
    try:
        return tuple(ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip())
    except ValueError:
        return None


def _embedder(text: str) -> EmbedderChoice | None:
    if text == "openai":
        return _OPENAI
    try:
        return parse_embedder(f"http:{text.removeprefix('custom:')}" if text.startswith("custom:") else text)
    except InputError:
        return None


def _foreign(environment: Mapping[str, str]) -> list[Variable[Any]]:
    """Return the variables whose names hold values of other programs, a provider and a model that do not fit too."""
    found = [one for one in VARIABLES if one is not PORT and one.is_foreign(environment)]
    model = [one for one in (PROVIDER, MODEL) if one.text(environment)]
    try:
        _named_model(environment)
    except InputError:
        found += [one for one in model if not environment.get(one.own_name, "").strip()]
    return found


def _default_model(environment: Mapping[str, str]) -> ModelSettings:
    """Return the named model; InputError for one that does not fit, if a name of ours says it."""
    try:
        return _named_model(environment)
    except InputError:
        if any(environment.get(one.own_name, "").strip() for one in (PROVIDER, MODEL)):
            raise
        return ModelSettings()


def _named_model(environment: Mapping[str, str]) -> ModelSettings:
    """Return provider and model, or a model that names its provider."""
    provider, model = PROVIDER.value(environment, ""), MODEL.value(environment, "")
    if provider and not model:
        raise InputError(f"{PROVIDER.own_name} is set, and no model.", hint=f"Set {MODEL.own_name} as well.")
    if model and not provider:
        provider, model = parse_model(model)
    return ModelSettings(provider=provider, model=model) if model else ModelSettings()


PROVIDER: Final[Variable[str]] = Variable(
    name="DEFAULT_LLM_PROVIDER",
    title="Provider",
    reason="The provider of runs that name no model.",
    allowed="the name of a provider, such as openai",
    read=_name,
    default="offline",
)
MODEL: Final[Variable[str]] = Variable(
    name="DEFAULT_LLM_MODEL",
    title="Model",
    reason="The model of runs that name none; PROVIDER/NAME if no provider is set.",
    allowed="the name of a model, such as gpt-4.1-mini",
    read=_name,
    default="retrieval",
)
WORKSPACE: Final[Variable[Path | None]] = Variable(
    name="DATABASE_URL",
    title="Workspace",
    reason="The SQLite file to open if none is named.",
    allowed="a path, or sqlite:///PATH",
    read=_file,
    default="workspace.db in the data folder",
)
LOG_LEVEL: Final[Variable[str]] = Variable(
    name="LOG_LEVEL",
    title="Log",
    reason="The level of detail of the log. DEBUG includes every step of the libraries.",
    allowed="one of DEBUG, INFO, WARNING and ERROR",
    read=_level,
    default="INFO",
)
EMBEDDER: Final[Variable[EmbedderChoice | None]] = Variable(
    name="EMBEDDING_MODEL_TYPE",
    title="Embedder",
    reason="Compares descriptions. By default the best embedder on this computer.",
    allowed="fastembed, fastembed:MODEL, folder:DIR, litellm:PROVIDER/MODEL, openai, custom:URL or tfidf",
    read=_embedder,
    default="the best on this computer",
)
FOLDER: Final[Variable[str]] = Variable(
    name="MCP_TEF_EMBEDDING_FOLDER",
    title="Folder of a model",
    reason="A local embedding model (model.onnx and tokenizer.json), preferred to any other.",
    allowed="a folder",
    read=_name,
    default="none",
)
THRESHOLD: Final[Variable[float | None]] = Variable(
    name="SIMILARITY_THRESHOLD",
    title="Threshold of similarity",
    reason="Commands flag two tools whose descriptions are this similar, instead of those of high confusability.",
    allowed="a number from 0 to 1",
    read=number(0, 1),
    default="none",
)
CONFUSABILITY_THRESHOLD: Final[Variable[float]] = Variable(
    name="CONFUSABILITY_THRESHOLD",
    title="Threshold for look-alikes",
    reason="Two tools are flagged from this confusability on. From 0.5 it is high, from 0.25 medium.",
    allowed="a number from 0 to 1",
    read=number(0, 1),
    default=str(HIGH_FROM),
)


def _pick_threshold(name: Baseline) -> Variable[float | None]:
    return Variable(
        name=f"OFFLINE_{name.upper()}_THRESHOLD",
        title=f"Threshold of offline/{name}",
        reason="The baseline selects the best tool from this score on. By default it grows with the number of tools.",
        allowed="a number from 0 to 1",
        read=number(0, 1),
        default="by the number of tools",
    )


WORDS_THRESHOLD: Final = _pick_threshold(Baseline.WORDS)
MEANING_THRESHOLD: Final = _pick_threshold(Baseline.MEANING)
SEPARATOR: Final[Variable[str]] = Variable(
    name="MCP_TOOL_PREFIX_SEPARATOR",
    title="Separator of server and tool",
    reason="Joins server and tool if two servers have a tool of the same name.",
    allowed=f"at most {_LONGEST_SEPARATOR} characters without a space",
    read=_separator,
    default="-",
)
TRUSTED_NETWORKS: Final[Variable[tuple[Network, ...]]] = Variable(
    name="MCP_TEF_TRUSTED_NETWORKS",
    title="Trusted networks",
    reason="Any name may lead to these networks, and keys are sent there over plain http without asking.",
    allowed="networks separated by commas, such as 192.168.0.0/16, 10.0.0.0/8",
    read=_networks,
    default="none",
)
THROUGH: Final[Variable[str]] = Variable(
    name="MCP_TEF_THROUGH",
    title="Ask models through",
    reason="By default, models with an OpenAI-compatible interface are asked directly, and others through litellm.",
    allowed="litellm",
    read=lambda text: text if text == "litellm" else None,
    default="none",
)
PORT: Final[Variable[int]] = Variable(
    name="PORT",
    title="Port of REST",
    reason="The port of `mcp-tef serve` if none is named.",
    allowed="a whole number from 0 to 65535",
    read=whole(0, 65_535),
    default="8000",
)
TOKEN: Final[Variable[str]] = Variable(
    name="MCP_TEF_TOKEN",
    title="Token of REST",
    reason="Clients of `mcp-tef serve` have to send it.",
    allowed="random text of 128 bits or more, such as 32 hexadecimal digits",
    read=lambda text: text,  # never refused here, since the refusal would repeat it
    default="a new one",
)
VARIABLES: Final[tuple[Variable[Any], ...]] = (
    *(PROVIDER, MODEL, WORKSPACE, LOG_LEVEL, EMBEDDER, FOLDER, THRESHOLD, SEPARATOR, TRUSTED_NETWORKS, THROUGH),
    *(CONFUSABILITY_THRESHOLD, WORDS_THRESHOLD, MEANING_THRESHOLD, PORT, TOKEN),
    *limits.VARIABLES.values(),
)
"""Every variable that this program reads for itself; those of keys belong to their providers."""
