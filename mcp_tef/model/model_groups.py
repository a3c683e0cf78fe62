"""Groups of models: named deployments that answer in each other's place, and what a group can do as a whole."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from mcp_tef.errors import InputError
from mcp_tef.model.addresses import origin_of
from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.model_catalogue import GROUP_PROVIDER, TARGET_PROVIDERS, ModelInfo, parse_model
from mcp_tef.model.secrets import require_no_credentials

MODES: Final = ("chat", "embedding", "image", "audio", "moderation", "rerank")
_LONGEST_NAME: Final = 80
_MOST_A_MINUTE: Final = 10**9
Value = TypeVar("Value")


def require_name(name: str, what: str) -> None:
    """Raise InputError for a name that cannot stand in `group/NAME`."""
    if not name or len(name) > _LONGEST_NAME or not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        hint = f"Use up to {_LONGEST_NAME} letters, digits, hyphens, underscores and dots."
        raise InputError(f"“{name[:100]}” cannot be the name of a {what}.", hint=hint, code="bad_name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A model at an address (None: the provider's own), with the requests and tokens a minute that it takes."""

    provider: str
    model: str
    base_url: str | None = None
    rpm: int | None = None
    tpm: int | None = None

    def __post_init__(self) -> None:
        if self.provider in TARGET_PROVIDERS:
            raise InputError(f"{self.label} cannot be a deployment.", hint="Name a model as PROVIDER/NAME.")
        if self.base_url and not origin_of(self.base_url):
            raise InputError(f"{self.base_url!a} is no address of a model.", hint="Begin it with https:// or http://.")
        require_no_credentials(self.base_url or "")
        for name in ("rpm", "tpm"):
            value = getattr(self, name)
            if value is not None and not 1 <= value <= _MOST_A_MINUTE:
                raise InputError(f"The {name} of {self.label} is {value}.", hint="Write a whole number from 1.")

    @property
    def label(self) -> str:
        """`provider/model`."""
        return f"{self.provider}/{self.model}"

    @property
    def label_at(self) -> str:
        """The label with its address, if it has one of its own."""
        return f"{self.label} at {self.base_url}" if self.base_url else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelGroup:
    """Deployments that can answer in each other's place; it is run as `group/NAME`."""

    name: str
    deployments: tuple[Deployment, ...]

    def __post_init__(self) -> None:
        require_name(self.name, "group")
        if not self.deployments:
            hint = "Give at least one --deployment PROVIDER/MODEL."
            raise InputError(f"The group {self.name} has no deployment.", hint=hint)
        labels = [one.label_at for one in self.deployments]
        if twice := next((label for label in labels if labels.count(label) > 1), None):
            raise InputError(f"The group {self.name} holds {twice} twice.", hint="Name each deployment once.")


def parse_deployment(text: str) -> Deployment:
    """Return the deployment of `PROVIDER/MODEL[,url=U][,rpm=N][,tpm=N]`; InputError otherwise."""
    label, *settings = (part.strip() for part in text.split(","))
    provider, model = parse_model(label)
    given = dict(part.partition("=")[::2] for part in settings)
    if unknown := next((name for name in given if name not in ("url", "rpm", "tpm")), None):
        raise InputError(f"A deployment has no setting “{unknown}”.", hint="Write url=U, rpm=N or tpm=N.")
    numbers = {name: _number(name, given[name]) for name in ("rpm", "tpm") if name in given}
    return Deployment(provider=provider, model=model, base_url=given.get("url") or None, **numbers)


def _number(name: str, value: object) -> int:
    text = str(value)
    if isinstance(value, bool) or not text.isascii() or not text.isdigit():
        raise InputError(f"The {name} of a deployment is “{text[:40]}”.", hint="Write a whole number from 1.")
    return int(text)


def group_to_json(group: ModelGroup) -> dict[str, Json]:
    """Return a group as it is stored and exported."""
    return {"name": group.name, "deployments": [_deployment_to_json(one) for one in group.deployments]}


def _deployment_to_json(one: Deployment) -> dict[str, Json]:
    known = {"base_url": one.base_url, "rpm": one.rpm, "tpm": one.tpm}
    return {"model": one.label, **{name: value for name, value in known.items() if value is not None}}


def group_from_json(document: JsonObject) -> ModelGroup:
    """Return the group of a document; InputError that says what is wrong with it."""
    name, listed = document.get("name"), document.get("deployments")
    if not isinstance(name, str) or not isinstance(listed, list):
        raise InputError("A group needs a name and a list of deployments.", hint="Export one to see the format.")
    return ModelGroup(name=name, deployments=tuple(_deployment_from_json(name, one) for one in listed))


def _deployment_from_json(group: str, item: Json) -> Deployment:
    known = {"model", "base_url", "rpm", "tpm"}
    if not isinstance(item, Mapping) or not isinstance(item.get("model"), str) or set(item) - known:
        hint = "Write model: PROVIDER/NAME, and if you like base_url, rpm and tpm."
        raise InputError(f"A deployment of the group {group} cannot be read.", hint=hint)
    provider, model = parse_model(item["model"])
    numbers = {name: _number(name, item[name]) for name in ("rpm", "tpm") if item.get(name) is not None}
    return Deployment(provider=provider, model=model, base_url=item.get("base_url") or None, **numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAbilities:
    """Abilities of a group as a whole. Prices are US dollars per token; None means that no deployment says it."""

    model_group: str
    providers: tuple[str, ...]
    max_input_tokens: int | None
    max_output_tokens: int | None
    input_cost_per_token: float | None
    output_cost_per_token: float | None
    mode: str
    supports_vision: bool | None
    supports_function_calling: bool | None
    supports_streaming: bool | None
    supports_web_search: bool | None
    supported_params: tuple[str, ...]
    rpm: int | None
    tpm: int | None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InputError(
                f"{self.mode or 'Nothing'} is no mode of a model.", hint=f"It is one of {', '.join(MODES)}."
            )

    @property
    def as_model(self) -> ModelInfo:
        """The group as a row of the catalogue: its prices are the highest, so that no cap is passed."""
        return ModelInfo(
            provider=GROUP_PROVIDER,
            model=self.model_group,
            context_tokens=self.max_input_tokens,
            input_price=self.input_cost_per_token,
            output_price=self.output_cost_per_token,
            tool_calling=self.supports_function_calling,
            vision=self.supports_vision,
        )


def group_abilities(group: ModelGroup, infos: Sequence[ModelInfo | None], mode: str = "chat") -> GroupAbilities:
    """Return what a group can do, from the catalogue entry of each deployment; None where one is unknown.

    Booleans are united by OR, numbers by MAX, requests and tokens a minute by SUM, lists without repeats (seed 001,
    Discovery). A price is None where a deployment's is not known, so that a cost cap is never computed too low.
    """
    known = [info for info in infos if info]

    def over(unite: Callable[[Iterable[Any]], Any], name: str) -> Any:
        return _over(unite, (getattr(info, name, info.extra.get(name)) for info in known))

    return GroupAbilities(
        model_group=group.name,
        providers=tuple(dict.fromkeys(one.provider for one in group.deployments)),
        max_input_tokens=over(max, "context_tokens"),
        max_output_tokens=over(max, "output_tokens"),
        input_cost_per_token=_price([getattr(info, "input_price", None) for info in infos]),
        output_cost_per_token=_price([getattr(info, "output_price", None) for info in infos]),
        mode=mode,
        supports_vision=over(any, "vision"),
        supports_function_calling=over(any, "tool_calling"),
        supports_streaming=over(any, "streaming"),
        supports_web_search=over(any, "web_search"),
        supported_params=_united(map(request_fields, known)),
        rpm=_over(sum, (one.rpm for one in group.deployments)),
        tpm=_over(sum, (one.tpm for one in group.deployments)),
    )


def _over(unite: Callable[[Iterable[Any]], Value], values: Iterable[Value | None]) -> Value | None:
    known = [value for value in values if value is not None]
    return unite(known) if known else None


def _price(prices: Sequence[float | None]) -> float | None:
    return None if None in prices else _over(max, prices)


def _united(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for one in lists for item in one))


def request_fields(info: ModelInfo) -> tuple[str, ...]:
    """Return the optional fields of a request that a model takes by what the catalogue says of its abilities."""
    fields = {
        "tools": info.tool_calling,
        "tool_choice": info.tool_calling,
        "response_format": info.structured_output,
        "reasoning_effort": info.extra.get("reasoning"),
        "stream": info.extra.get("streaming"),
        "web_search_options": info.extra.get("web_search"),
    }
    return tuple(name for name, has in fields.items() if has)
