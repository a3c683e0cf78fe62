"""State of the Groups tab: groups of models, what each can do as a whole, and which deployments answer; no Qt."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import CoreCall, ModelKeys
from app.core_link.refresh import Refresh
from app.screens.models.catalogue_presenter import STEPS, UNKNOWN, ability, check_text, million, tokens
from app.text.formatting import count
from mcp_tef import (
    CheckStep,
    DefinitionKind,
    DefinitionsChanged,
    Deployment,
    Event,
    GroupAbilities,
    InputError,
    ModelCheck,
    ModelGroup,
    ModelSettings,
    parse_deployment,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

OR, MAX, SUM, UNION = "any deployment (OR)", "the highest (MAX)", "all together (SUM)", "all, each once"
DOWN: Final = "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentForm:
    """The text of a form about a deployment."""

    model: str = ""
    base_url: str = ""
    rpm: str = ""
    tpm: str = ""

    @classmethod
    def of(cls, one: Deployment) -> "DeploymentForm":
        """Return the form of a deployment."""
        numbers = {name: "" if value is None else str(value) for name, value in (("rpm", one.rpm), ("tpm", one.tpm))}
        return cls(model=one.label, base_url=one.base_url or "", **numbers)

    def parsed(self) -> Deployment:
        """Return the deployment; InputError says what is wrong with it."""
        if not self.model.strip():
            raise InputError("No model is selected.", hint="Select one, or type PROVIDER/NAME.")
        numbers = ((name, text.strip().replace(",", "")) for name, text in (("rpm", self.rpm), ("tpm", self.tpm)))
        parts = (self.model, *(f"{name}={text}" for name, text in numbers if text))
        return replace(parse_deployment(",".join(parts)), base_url=self.base_url.strip() or None)


@dataclass(slots=True)
class GroupsPresenter:
    """The groups as they were read last, with the last check of each deployment."""

    ask: CoreCall
    groups: dict[str, ModelGroup] = field(default_factory=dict)
    abilities: dict[str, GroupAbilities] = field(default_factory=dict)
    checks: dict[tuple[str, str], ModelCheck] = field(default_factory=dict)
    known: tuple[str, ...] = ()

    @property
    def keys(self) -> ModelKeys:
        """Keys for models."""
        return ModelKeys(self.ask)

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes what is shown out of date."""
        changed = isinstance(event, DefinitionsChanged) and event.kind is DefinitionKind.GROUP
        return Refresh.NOW if changed else Refresh.NONE

    async def load(self) -> None:
        """Read the groups, and what each can do."""
        found = await self.ask(_read)
        self.groups = {group.name: group for group, _ in found}
        self.abilities = {group.name: abilities for group, abilities in found}

    async def load_known(self) -> None:
        """Read the names of all known models, for forms."""
        self.known = tuple(info.label for info in await self.ask(lambda core: core.models.catalogue()))

    async def save(self, group: ModelGroup, seen: ModelGroup | None = None) -> ModelGroup:
        """Keep what differs from the group seen (None: none was there); ChangedMeanwhileError, NotFoundError."""
        return await self.ask(lambda core: core.targets.edit_group(group, seen))

    async def add(self, name: str, form: DeploymentForm) -> ModelGroup:
        """Keep a new group with its first deployment; InputError where its name is taken or anything is wrong."""
        if name.strip() in self.groups:
            raise InputError(f"There is a group named {name.strip()} already.", hint="Use another name.")
        return await self.save(ModelGroup(name=name.strip(), deployments=(form.parsed(),)))

    @staticmethod
    def with_deployment(group: ModelGroup, form: DeploymentForm, place: int | None = None) -> ModelGroup:
        """Return a group with one deployment more, or another one at a place; InputError."""
        made = form.parsed()
        kept = list(group.deployments)
        if place is None:
            kept.append(made)
        else:
            kept[place] = made
        return replace(group, deployments=tuple(kept))

    @staticmethod
    def without_deployment(group: ModelGroup, place: int) -> ModelGroup:
        """Return a group without one of its deployments; InputError for the last one."""
        kept = tuple(one for at, one in enumerate(group.deployments) if at != place)
        if not kept:
            hint = "Delete the group, or add another deployment first."
            raise InputError(f"{group.deployments[place].label} is the only deployment.", hint=hint)
        return replace(group, deployments=kept)

    async def remove(self, name: str) -> ModelGroup:
        """Remove a group and return it; ConflictError while a router asks it."""
        await self.ask(lambda core: core.targets.remove_group(name))
        return self.groups[name]

    async def check(self, name: str) -> None:
        """Ask each deployment of a group hello; ConsentError where a key may not go to an address."""
        group = self.groups[name]
        for one in group.deployments:
            address = ModelSettings(provider=one.provider, model=one.model, base_url=one.base_url)
            await self.keys.add_typed_address(address)
        settings = ModelSettings(provider="group", model=name)
        checks = await self.ask(lambda core: core.model_checks.check(settings, {}))
        self.checks |= {(name, one.label_at): found for one, found in zip(group.deployments, checks, strict=True)}

    def state(self, name: str, one: Deployment) -> ModelCheck | None:
        """Return the last check of a deployment."""
        return self.checks.get((name, one.label_at))

    def failed(self, name: str) -> int:
        """Return the number of deployments that failed their last check."""
        states = (self.state(name, one) for one in self.groups[name].deployments)
        return sum(one is not None and one.failed is not None for one in states)

    def summary(self, name: str) -> str:
        """Return deployments and failures of a group: “3 deployments, 1 failed”."""
        failed = self.failed(name)
        return count(len(self.groups[name].deployments), "deployment") + (f", {failed} failed" if failed else "")


async def _read(core: "Engine") -> list[tuple[ModelGroup, GroupAbilities]]:
    return [(group, await core.targets.abilities(group)) for group in await core.targets.groups()]


def state_text(check: ModelCheck | None) -> str:
    """Return the state of a deployment by its last check."""
    if check is None:
        return "not asked yet"
    if check.failed is None:
        return f"answered in {check.milliseconds:,} ms"
    what = DOWN if check.failed is CheckStep.ADDRESS else f"{STEPS[check.failed].lower()} failed"
    return f"{what}: {check_text(check)}"


def ability_rows(one: GroupAbilities) -> tuple[tuple[str, str, str], ...]:
    """Return what a group can do: name, value, and the rule by which its deployments are united (seed 001)."""
    numbers: Mapping[str, int | None] = {"Requests a minute": one.rpm, "Tokens a minute": one.tpm}
    return (
        ("Tool calling", ability(one.supports_function_calling), OR),
        ("Images", ability(one.supports_vision), OR),
        ("Streaming", ability(one.supports_streaming), OR),
        ("Web search", ability(one.supports_web_search), OR),
        ("Context", tokens(one.max_input_tokens), MAX),
        ("Answer limit", tokens(one.max_output_tokens), MAX),
        ("$ in per million", million(one.input_cost_per_token), MAX),
        ("$ out per million", million(one.output_cost_per_token), MAX),
        *((label, UNKNOWN if value is None else f"{value:,}", SUM) for label, value in numbers.items()),
        ("Providers", ", ".join(one.providers), UNION),
        ("Request fields", ", ".join(one.supported_params) or UNKNOWN, UNION),
    )
