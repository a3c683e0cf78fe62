"""State of the model catalogue: every known model, filters, local servers, and checks by one call; knows no Qt."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import CoreCall, ModelKeys
from app.text.formatting import count, model_name
from mcp_tef import CheckState, CheckStep, LocalServer, ModelCheck, ModelFault, ModelInfo, ModelSettings, is_baseline

if TYPE_CHECKING:
    from mcp_tef import Engine

MILLION: Final = 1_000_000
UNKNOWN: Final = "unknown"
READY: Final = "\0ready"
"""Choice of the providers that can be asked now."""
PRICES: Final = {
    "": "Any price",
    "0": "Free",
    "1": "Up to $1 per M",
    "5": "Up to $5 per M",
    UNKNOWN: "Unknown price",
}
CONTEXTS: Final = {
    "": "Any context",
    "32000": "32 k and more",
    "128000": "128 k and more",
    "1000000": "1 M and more",
}
TOOLS: Final = {"": "Tools or not", "yes": "Calls tools", "no": "Calls no tools", UNKNOWN: "Not known"}
STEPS: Final = {
    CheckStep.ADDRESS: "Address",
    CheckStep.KEY: "Key",
    CheckStep.MODEL: "Model",
    CheckStep.TOOLS: "Tool calling",
}
STATES: Final = {CheckState.OK: "ok", CheckState.FAILED: "failed", CheckState.UNCHECKED: "not checked"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueRow:
    """A model as the catalogue shows it; `address` is that of a local server which serves it.

    One that is `ready` can be asked now: its key is at hand, it is served here, or it is a baseline. `id` is the label,
    with the address of a local server; `searched` is what a search matches. Both are made once, since there are
    thousands of rows.
    """

    info: ModelInfo
    id: str
    searched: str
    ready: bool = False
    address: str = ""

    @classmethod
    def of(cls, info: ModelInfo, *, ready: bool, address: str = "") -> "CatalogueRow":
        """Return the row of a model."""
        name = f"{info.label} at {address}" if address else info.label
        return cls(info=info, id=name, searched=name.casefold(), ready=ready, address=address)

    @property
    def settings(self) -> ModelSettings:
        """The model with its address, for a call."""
        return ModelSettings(provider=self.info.provider, model=self.info.model, base_url=self.address or None)


Condition = Callable[[CatalogueRow], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueFilter:
    """Conditions on models: words of the name, a provider, and keys of `PRICES`, `CONTEXTS` and `TOOLS`."""

    text: str = ""
    provider: str = ""
    price: str = ""
    context: str = ""
    tools: str = ""

    def fitting(self, rows: Iterable[CatalogueRow]) -> list[CatalogueRow]:
        """Return the models that fit."""
        words, least = self.text.casefold().split(), int(self.context or 0)
        conditions: tuple[tuple[str, Condition], ...] = (
            (self.text, lambda row: all(word in row.searched for word in words)),
            (self.provider, lambda row: row.ready if self.provider == READY else row.info.provider == self.provider),
            (self.price, lambda row: _price_fits(row.info.input_price, self.price)),
            (self.context, lambda row: (row.info.context_tokens or 0) >= least),
            (self.tools, lambda row: ability(row.info.tool_calling) == self.tools),
        )
        found = list(rows)
        for wanted, fits in conditions:
            found = [row for row in found if fits(row)] if wanted else found
        return found


def _price_fits(price: float | None, wanted: str) -> bool:
    if wanted in ("", UNKNOWN) or price is None:
        return not wanted or (wanted == UNKNOWN) is (price is None)
    return price * MILLION <= float(wanted)


def ability(known: bool | None) -> str:
    """Return “yes”, “no” or “unknown”."""
    return UNKNOWN if known is None else "yes" if known else "no"


def million(price: float | None) -> str:
    """Return US dollars per million tokens, “$0.40”."""
    if price is None:
        return UNKNOWN
    amount = price * MILLION
    return f"${amount:.2f}" if amount >= 0.01 or not amount else f"${amount:.2g}"


def tokens(number: int | None) -> str:
    """Return a number of tokens, “128 k” or “1 M”."""
    if not number:
        return UNKNOWN
    if number >= MILLION:
        return f"{number / MILLION:.3g} M"
    return f"{number / 1000:.3g} k" if number >= 1000 else str(number)


@dataclass(slots=True)
class CataloguePresenter:
    """The catalogue as it was read last, with the local servers that were found and the last check of each model.

    `variables` are the environment variables of keys by provider.
    """

    ask: CoreCall
    models: tuple[CatalogueRow, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    local: tuple[CatalogueRow, ...] = ()
    rows: dict[str, CatalogueRow] = field(default_factory=dict)
    filter: CatalogueFilter = field(default_factory=CatalogueFilter)
    checks: dict[str, ModelCheck] = field(default_factory=dict)
    checking: str = ""

    @property
    def keys(self) -> ModelKeys:
        """Keys for models."""
        return ModelKeys(self.ask)

    async def load(self) -> None:
        """Read every known model, those that can be asked now first."""
        self.models, self.variables = await self.ask(_read)
        self.rows = {row.id: row for row in (*self.local, *self.models)}

    def shown(self) -> tuple[CatalogueRow, ...]:
        """Return the models that fit the filter, those of local servers first."""
        return tuple(self.filter.fitting((*self.local, *self.models)))

    def row(self, row_id: str) -> CatalogueRow | None:
        """Return a model by the id of its row."""
        return self.rows.get(row_id)

    async def find_local(self) -> tuple[LocalServer, ...]:
        """Look for model servers on this machine, and add their models."""
        servers = await self.ask(lambda core: core.model_checks.local_servers())
        known = {row.info.label: row.info for row in self.models}
        self.local = tuple(_served(server, name, known) for server in servers for name in server.models)
        return servers

    async def check(self, row: CatalogueRow) -> ModelCheck:
        """Ask a model hello, and keep the result; ConsentError where its key may not go to its address."""
        self.checking = row.id
        try:
            await self.keys.add_typed_address(row.settings)
            (found,) = await self.ask(lambda core: core.model_checks.check(row.settings, {}))
        finally:
            self.checking = ""
        self.checks[row.id] = found
        return found


async def _read(core: "Engine") -> tuple[tuple[CatalogueRow, ...], dict[str, str]]:
    known = await core.models.catalogue()
    variables = {name: core.models.key_variable(name) for name in sorted({info.provider for info in known})}
    at_hand = core.models.with_key(variables)
    rows = (CatalogueRow.of(info, ready=info.provider in at_hand or is_baseline(info.label)) for info in known)
    return tuple(sorted(rows, key=lambda row: not row.ready)), variables


def _served(server: LocalServer, name: str, known: Mapping[str, ModelInfo]) -> CatalogueRow:
    """Return a model of a local server: the catalogue's facts hold, but not its prices."""
    found = ModelInfo(provider=server.provider, model=name)
    info = replace(known.get(found.label, found), input_price=None, output_price=None)
    return CatalogueRow.of(info, ready=True, address=server.address)


def found_text(servers: Sequence[LocalServer]) -> str:
    """Return what a look for local servers found, in one sentence."""
    if not servers:
        return "No model server answers at the usual ports of this computer. Start one, and look again."
    told = (f"{one.provider} with {count(len(one.models), 'model')}" for one in servers)
    return f"Found {', '.join(told)} on this computer."


def step_texts(check: ModelCheck) -> tuple[tuple[CheckState, str], ...]:
    """Return each step of a check with its state in words: “Key: ok”."""
    return tuple((state, f"{STEPS[step]}: {STATES[state]}") for step, state in check.states.items())


def check_text(check: ModelCheck) -> str:
    """Return the result of a check in one sentence."""
    if check.failed is None:
        return f"{check.answered_model or check.model} answered in {check.milliseconds:,} ms and called the tool."
    hint = "Type a key, or set its environment variable." if check.code == ModelFault.KEY_MISSING else check.hint
    return f"{check.reason} {hint}".strip()


def facts(row: CatalogueRow, variable: str) -> tuple[tuple[str, str], ...]:
    """Return what is known of a model as pairs; `variable` is the environment variable of its key."""
    info = row.info
    priced = f"{million(info.input_price)} in, {million(info.output_price)} out per million tokens"
    return (
        ("Provider", info.provider),
        ("Model", model_name(info.label)),
        *([("Address", row.address)] if row.address else ()),
        ("Context", _tokens_text(info.context_tokens)),
        ("Answer limit", _tokens_text(info.extra.get("output_tokens"))),
        ("Price", UNKNOWN if info.input_price is None else priced),
        ("Abilities", _abilities(info)),
        ("Key", _key(row, variable)),
    )


def _tokens_text(number: int | None) -> str:
    return f"{tokens(number)} tokens" if number else UNKNOWN


def _abilities(info: ModelInfo) -> str:
    able = {"calls tools": info.tool_calling, "reads images": info.vision, "answers by schema": info.structured_output}
    able |= {"streams": info.extra.get("streaming"), "searches the web": info.extra.get("web_search")}
    return ", ".join(name for name, has in able.items() if has) or UNKNOWN


def _key(row: CatalogueRow, variable: str) -> str:
    if row.address or not variable or is_baseline(row.info.label):
        return "not needed"
    return "at hand" if row.ready else f"set {variable}, or type it"
