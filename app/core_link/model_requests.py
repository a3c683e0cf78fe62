"""Requests to a language model: the form for one, problems of what was typed, its key, and prompts for runs."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from mcp_tef import (
    SELECTING_KINDS,
    WRITING_TIMEOUT_S,
    InputError,
    ModelInfo,
    ModelSettings,
    PromptTemplate,
    Secret,
    parse_dollars,
    parse_model,
    parse_prices,
    variables_in,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")


class CoreCall(Protocol):
    """Runs a function with the engine on the core's thread and returns its result; errors of the core pass through."""

    def __call__(self, work: Callable[["Engine"], Awaitable[T]], /) -> Awaitable[T]: ...


class ModelFormField(StrEnum):
    """A field of the form that can be wrong."""

    MODEL = "model"
    BASE_URL = "base_url"
    KEY = "key"
    COST = "cost"
    PRICE = "price"


@dataclass(frozen=True, slots=True)
class ModelForm:
    """The text of the form's fields; `price` is two numbers with a comma."""

    model: str = ""
    base_url: str = ""
    cost_cap: str = ""
    price: str = ""


@dataclass(frozen=True, slots=True)
class ParsedModelRequest:
    """The model of a form with the cost cap in US dollars, or one sentence per field that is wrong."""

    model: ModelSettings | None
    problems: Mapping[ModelFormField, str] = field(default_factory=dict)
    max_cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyNeed:
    """The key that a model needs: its provider, the environment variable for it, and whether it is still missing."""

    provider: str = ""
    variable: str = ""
    needed: bool = False
    can_remember: bool = True
    """False for a model at another address than its provider's own: the keychain holds keys by provider."""

    @property
    def hint(self) -> str:
        """A sentence that names the other source of the key."""
        return f"Kept in memory until you quit. The environment variable {self.variable} would do too."

    def missing(self, typed: str) -> str:
        """Return one sentence if a key is needed and none was typed; empty if all is well."""
        if not self.needed or typed.strip():
            return ""
        return f"A key for {self.provider} is missing. Type one, or set {self.variable}."


def parse_model_form(form: ModelForm) -> ParsedModelRequest:
    """Check a form and return its model or its problems."""
    problems: dict[ModelFormField, str] = {}
    address, model = form.base_url.strip(), None
    try:
        _check_address(address)
    except InputError as error:
        address, problems[ModelFormField.BASE_URL] = "", f"{error.message} {error.hint}".strip()
    try:
        model = _parse_writing_model(form.model, address)
    except InputError as error:
        problems[ModelFormField.MODEL] = f"{error.message} {error.hint}".strip()
    cap = parse_dollars(form.cost_cap)
    if form.cost_cap.strip() and (cap is None or cap <= 0):
        problems[ModelFormField.COST] = CAP_PROBLEM
    return ParsedModelRequest(_priced(model, form.price, problems), problems, cap)


CAP_PROBLEM: Final = "Write a cost cap above 0, or leave it empty for none."


def _priced(model: ModelSettings | None, price: str, problems: dict[ModelFormField, str]) -> ModelSettings | None:
    """Return the model with its prices; None if there is a problem."""
    try:
        price_in, price_out = parse_prices(price)
    except InputError as error:
        problems[ModelFormField.PRICE] = f"{error.message} {error.hint}"
        return None
    return None if problems or not model else replace(model, input_price=price_in, output_price=price_out)


def _check_address(address: str) -> None:
    if address and not address.startswith(("http://", "https://")):
        raise InputError("The address does not start with http:// or https://.")
    ModelSettings(base_url=address)


def _parse_writing_model(text: str, address: str) -> ModelSettings:
    if not text.strip():
        raise InputError("Select a model, or write PROVIDER/NAME.")
    provider, name = parse_model(text)
    model = ModelSettings(provider=provider, model=name, timeout=WRITING_TIMEOUT_S, base_url=address or None)
    if model.offline:
        raise InputError("The offline baseline ranks tools and cannot write. Select a language model.")
    return model


ApiKeys = Mapping[str, Secret]


class ModelKeys:
    """Keys for models. Keys pass through here; only the core's key ring holds them."""

    def __init__(self, ask: CoreCall) -> None:
        self._ask = ask

    async def key_need(self, model: ModelSettings) -> KeyNeed:
        """Return which key the model needs that is not known yet."""
        return KeyNeed() if model.offline else await self._ask(lambda core: _need(core, model))

    async def hold(self, provider: str, key: Secret, *, address: str | None = None, remember: bool = False) -> None:
        """Keep a key for the session, for the address that it was typed with; in the keychain only where asked for."""
        await self._ask(lambda core: _hold(core, provider, key, address or "", remember=remember))

    async def add_typed_address(self, model: ModelSettings) -> None:
        """Note that the user typed the address of a model, which allows sending its key there."""
        if address := model.base_url:
            await self._ask(lambda core: _add_typed_address(core, model.provider, address))

    async def check_consents(self, model: ModelSettings) -> None:
        """Raise ConsentError where the model's key may not be sent to its address yet."""
        await self._ask(lambda core: _check_consents(core, model))


class WritingModels(ModelKeys):
    """Calls of the core for every form that asks a model to write."""

    async def models(self) -> tuple[ModelInfo, ...]:
        """Return every model of the catalogue that can write."""
        known = await self._ask(lambda core: core.models.catalogue())
        return tuple(one for one in known if not ModelSettings(provider=one.provider, model=one.model).offline)


async def _need(core: "Engine", model: ModelSettings) -> KeyNeed:
    variable = core.models.key_variable(model.provider)
    usual = core.models.is_usual_address(model)
    needed = core.models.needs_key(model)
    return KeyNeed(provider=model.provider, variable=variable, needed=needed, can_remember=usual)


async def _add_typed_address(core: "Engine", provider: str, address: str) -> None:
    core.consents.add_typed_address(provider, address)


async def _check_consents(core: "Engine", model: ModelSettings) -> None:
    core.models.keys_at([model.destination], {})


async def _hold(core: "Engine", provider: str, key: Secret, address: str, *, remember: bool) -> None:
    core.keys.set(provider, key, address)
    if remember:
        core.keys.remember(provider, key)


async def selecting_prompts(core: "Engine") -> dict[str, PromptTemplate]:
    """Return every version of the prompts that select tools, by label, newest first."""
    latest = [one for one in await core.prompts.list() if one.kind in SELECTING_KINDS]
    return {one.label: one for each in latest for one in await core.prompts.versions(each.name)}


def needed_variables(template: PromptTemplate) -> tuple[str, ...]:
    """Return the variables of a prompt that each run must give."""
    used = variables_in(template.text)
    return tuple(dict.fromkeys(name for name in used if not template.variables.get(name, "-").strip()))
