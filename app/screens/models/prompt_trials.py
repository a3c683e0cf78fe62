"""Trials of two prompts: what can be compared, the values that runs need, and the start; knows no Qt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import CoreCall
from app.dialogs.prompt_choice import needed_variables, selecting_prompts
from mcp_tef import (
    Batch,
    CaseId,
    DraftId,
    Estimate,
    InputError,
    ModelSettings,
    PromptTemplate,
    TestCase,
    TrialRequest,
)

if TYPE_CHECKING:
    from app.dialogs.consent import ApiKeys
    from mcp_tef import Engine

PROBE: Final = ModelSettings(provider="any", model="any")
"""A model that stands for the one that is asked, to check values before somebody names one."""


@dataclass(slots=True)
class PromptTrials:
    """Two prompts on the same cases; `prompts` are the versions that select tools, by label."""

    ask: CoreCall
    prompts: dict[str, PromptTemplate] = field(default_factory=dict)
    cases: tuple[TestCase, ...] = ()
    suites: tuple[str, ...] = ()

    async def load(self) -> None:
        """Read every version of the prompts that select tools, the cases and their suites."""
        self.prompts = await self.ask(selecting_prompts)
        self.cases = await self.ask(lambda core: core.cases.list())
        self.suites = await self.ask(lambda core: core.cases.suites())

    def before(self, label: str) -> str:
        """Return the label to compare one with: the version before, else the built-in prompt."""
        name, version = self.prompts[label].name, self.prompts[label].version
        earlier = [one for one in self.prompts.values() if one.name == name and one.version < version]
        others = [one.label for one in (*earlier, *self.prompts.values()) if one.label != label and one.built_in]
        return max(earlier, key=lambda one: one.version).label if earlier else next(iter(others), "")

    def needed(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Return the variables of these prompts that each run must give."""
        found = [self.prompts[label] for label in labels if label in self.prompts]
        return tuple(dict.fromkeys(name for one in found for name in needed_variables(one)))

    def chosen(self, suite: str) -> tuple[TestCase, ...]:
        """Return the cases of a suite, all of them for ""."""
        return tuple(one for one in self.cases if not suite or suite in one.draft.suites)

    async def problem(self, labels: tuple[str, str], values: Mapping[str, str], suite: str) -> str:
        """Return what keeps the trial from being started; "" if nothing does."""
        if labels[0] == labels[1]:
            return "Select two different versions."
        if not self.chosen(suite):
            return "There is no test case to ask. Write one first."
        try:
            await self.ask(partial(_arms, model=PROBE, labels=labels, values=values))
        except InputError as error:
            return error.message
        return ""

    async def request(
        self, model: ModelSettings, labels: tuple[str, str], values: Mapping[str, str], suite: str, cap: float | None
    ) -> TrialRequest:
        """Return the trial of the first prompt against the second. InputError."""
        before, after = await self.ask(partial(_arms, model=model, labels=labels, values=values))
        return TrialRequest(
            draft=DraftId(""),
            settings=after,
            against_settings=before,
            cases=tuple[CaseId, ...](one.id for one in self.chosen(suite)),
            max_cost_usd=cap,
            name=f"{after.prompt} against {before.prompt}",
        )

    async def estimate(self, request: TrialRequest) -> Estimate:
        """Return the most that a trial takes."""
        return await self.ask(lambda core: core.trials.estimate(request))

    async def start(self, request: TrialRequest, keys: "ApiKeys") -> Batch:
        """Start the trial; returns at once."""
        return await self.ask(lambda core: core.trials.start(request, keys, may_pause=True))


async def _arms(
    core: "Engine", model: ModelSettings, labels: tuple[str, str], values: Mapping[str, str]
) -> tuple[ModelSettings, ModelSettings]:
    return await core.prompts.arms(model, *labels, {name: one for name, one in values.items() if one.strip()})
