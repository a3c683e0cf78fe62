"""State of the Prompts tab: templates in versions, unsaved changes, preview, differences and trials; knows no Qt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import CoreCall, needed_variables, selecting_prompts
from app.core_link.refresh import Refresh
from mcp_tef import (
    BUILT_IN_VARIABLES,
    Batch,
    BatchEnded,
    BatchProgressed,
    BatchStarted,
    CaseId,
    CasesChanged,
    DefinitionsChanged,
    DraftId,
    Estimate,
    Event,
    InputError,
    ModelSettings,
    NotFoundError,
    OfferedTool,
    PromptKind,
    PromptTemplate,
    TestCase,
    TrialRequest,
    TrialResult,
    prompt_fault,
    selection_values,
    template_pieces,
    unknown_variables,
    variables_in,
    word_changes,
)

if TYPE_CHECKING:
    from app.core_link.model_requests import ApiKeys
    from mcp_tef import Engine


Pieces = Sequence[tuple[str, str]]
Change = tuple[str, str, str]
NOTHING: Final = PromptTemplate(name="", version=0, kind=PromptKind.SYSTEM, text="")
KIND_TEXTS: Final[Mapping[PromptKind, str]] = {
    PromptKind.SYSTEM: "Selection",
    PromptKind.JSON: "Selection as JSON",
    PromptKind.REVIEW: "Review",
    PromptKind.REWRITING: "Rewriting",
}
FILLED_LATER: Final[Mapping[str, str]] = {
    "definition": "the tool's definition",
    "definitions": "the definitions of both tools",
}
MOST_TRIALS: Final = 3


@dataclass(frozen=True, slots=True)
class PromptFault:
    """Reason why a prompt cannot be saved; `unknown` is a variable that is not declared, `nearest` the meant one."""

    sentence: str
    unknown: str = ""
    nearest: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """Request of a case: the filled text in pieces with the variable of each, the query, and the names of the tools."""

    pieces: Pieces = ()
    query: str = ""
    tools: tuple[str, ...] = ()


@dataclass(slots=True)
class PromptsPresenter:
    """The state of the tab. Everything that is asked of the core goes through `ask`.

    `drafts` holds what was typed and not saved, by name, for as long as the window is open. `version` is the shown one.
    """

    ask: CoreCall
    prompts: dict[str, PromptTemplate] = field(default_factory=dict)
    drafts: dict[str, PromptTemplate] = field(default_factory=dict)
    versions: tuple[PromptTemplate, ...] = ()
    trials: tuple[tuple[Batch, TrialResult], ...] = ()
    shares: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """Correct calls and judged runs by version, without runs of a trial's draft; others are missing."""
    cases: dict[CaseId, TestCase] = field(default_factory=dict)
    offered: tuple[OfferedTool, ...] = ()
    case_id: CaseId | None = None
    name: str = ""
    version: int = 0
    against: int = 0

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes what is shown out of date."""
        match event:
            case DefinitionsChanged() | CasesChanged():
                return Refresh.NOW
            case BatchEnded():
                return Refresh.NOW
            case BatchStarted(batch) if batch.trial is not None:
                return Refresh.NOW
            case BatchProgressed(batch=batch) if batch.trial is not None:
                return Refresh.LATER
            case _:
                return Refresh.NONE

    async def load(self) -> None:
        """Read the templates and the cases of the preview."""
        prompts = await self.ask(lambda core: core.prompts.list())
        cases = await self.ask(lambda core: core.cases.list())
        self.prompts = {one.name: one for one in prompts}
        self.cases = {one.id: one for one in cases}
        self.drafts = {name: one for name, one in self.drafts.items() if name in self.prompts}
        if self.case_id not in self.cases:
            self.case_id = next(iter(self.cases), None)
        await self.choose_case(self.case_id)

    async def select(self, name: str) -> bool:
        """Read versions and trials of a template; False if another one was selected meanwhile."""
        again, self.name = name == self.name, name
        try:
            versions, trials, shares = await self.ask(partial(_read, name=name))
        except NotFoundError:  # deleted elsewhere; the event of that is on its way
            return False
        if self.name != name:
            return False
        newest = self.versions[0].version if again and self.versions else 0
        self.versions, self.trials, self.shares = versions, trials, shares
        if not again or newest != versions[0].version:
            self.show_version(versions[0].version)
        return True

    def show_version(self, version: int) -> None:
        """Show a version, and the differences from the one before it."""
        self.version = version
        earlier = [one.version for one in self.versions if one.version < version]
        self.against = earlier[0] if earlier else 0

    async def choose_case(self, case_id: CaseId | None) -> None:
        """Fill the preview with the tools of a case, as its servers listed them last."""
        self.case_id = case_id
        case = self.cases.get(case_id) if case_id else None
        self.offered = await self.ask(partial(_offered, names=case.draft.servers if case else ()))

    # ------------------------------------------------------------ what is edited

    @property
    def latest(self) -> PromptTemplate:
        """The latest version as it is stored."""
        return self.versions[0] if self.versions else NOTHING

    @property
    def shown(self) -> PromptTemplate:
        """The shown version; with what was typed where it is the latest."""
        if self.version == self.latest.version:
            return self.drafts.get(self.name, self.latest)
        return next((one for one in self.versions if one.version == self.version), self.latest)

    @property
    def can_edit(self) -> bool:
        """True if the shown version is the latest of a template of the user's."""
        return bool(self.versions) and not self.latest.built_in and self.version == self.latest.version

    @property
    def unsaved(self) -> bool:
        """True if the shown template has changes that are not saved."""
        return self.can_edit and self.name in self.drafts

    def type(self, template: PromptTemplate) -> None:
        """Take what was typed; what equals the stored version is no change."""
        if template == self.latest:
            self.drafts.pop(self.name, None)
        else:
            self.drafts[self.name] = template

    def declare(self, variable: str) -> None:
        """Declare a variable of the text, without a value."""
        shown = self.shown
        self.type(replace(shown, variables={**shown.variables, variable: ""}))

    def correct(self, fault: PromptFault) -> None:
        """Write the nearest variable where an unknown one stands."""
        pieces = template_pieces(self.shown.text)
        text = "".join(f"{{{{{fault.nearest}}}}}" if name == fault.unknown else piece for piece, name in pieces)
        self.type(replace(self.shown, text=text))

    def discard(self) -> None:
        """Forget what was typed."""
        self.drafts.pop(self.name, None)

    async def save(self) -> PromptTemplate:
        """Save what was typed as the next version. InputError."""
        draft = self.drafts[self.name]
        kept = await self.ask(lambda core: core.prompts.edit(draft))
        self.drafts.pop(draft.name, None)
        return kept

    async def add(self, name: str, source: str) -> PromptTemplate:
        """Keep a copy of a template under a new name. InputError, ConflictError."""
        start = self.drafts.get(source) or self.prompts[source]
        made = replace(start, name=name, note=f"A copy of {self.prompts[source].label}")
        return await self.ask(lambda core: core.prompts.add(made))

    async def delete(self, name: str) -> None:
        """Delete a template with all its versions."""
        await self.ask(lambda core: core.prompts.remove(name))

    async def restore(self, name: str) -> None:
        """Undo the deletion of a template."""
        await self.ask(lambda core: core.prompts.restore(name))

    # ------------------------------------------------------------ what is shown

    def fault(self) -> PromptFault | None:
        """Return what keeps the shown text from being saved."""
        error = prompt_fault(self.shown)
        if error is None:
            return None
        unknown = next(iter(unknown_variables(self.shown).items()), ("", None))
        at_fault = unknown[0] if f"{{{{{unknown[0]}}}}}" in error.message else ""
        return PromptFault(f"{error.message} {error.hint}".strip(), at_fault, (unknown[1] or "") if at_fault else "")

    def state_text(self) -> str:
        """Return a note about the variables of a text without faults."""
        used, own = set(variables_in(self.shown.text)), self.shown.variables
        empty = [name for name in own if name in used and not own[name].strip()]
        unused = [name for name in own if name not in used]
        if empty:
            return f"Each run must give a value for {', '.join(empty)}."
        if unused:
            return f"Not used in the text: {', '.join(unused)}."
        return "Every variable is declared and filled." if used else "The text has no variables."

    def built_in_values(self) -> dict[str, str]:
        """Return the values of the variables that this program fills, for the case of the preview."""
        found = selection_values(self.offered, datetime.now(UTC).date()) | dict(FILLED_LATER)
        return {name: found.get(name, "") for name in BUILT_IN_VARIABLES[self.shown.kind]}

    def preview(self) -> Preview:
        """Return the request of the chosen case with the shown text."""
        values = self.built_in_values() | {name: one for name, one in self.shown.variables.items() if one.strip()}
        pieces = [(values.get(name, text) if name else text, name) for text, name in template_pieces(self.shown.text)]
        case = self.cases.get(self.case_id) if self.case_id else None
        return Preview(pieces, case.draft.query if case else "", tuple(one.tool.name for one in self.offered))

    def differences(self) -> tuple[Change, ...]:
        """Return the words that differ from the version that is compared; nothing without one."""
        before = next((one for one in self.versions if one.version == self.against), None)
        return word_changes(before.text, self.shown.text) if before else ()


async def _read(
    core: "Engine", name: str
) -> tuple[tuple[PromptTemplate, ...], tuple[tuple[Batch, TrialResult], ...], Mapping[int, tuple[int, int]]]:
    """Return the versions of a template, the newest trials that it took part in, and correct calls by version."""
    arms = [(batch, (batch.trial or {}).get("prompts") or ()) for batch in await core.runs.batches()]
    tried = [batch for batch, labels in arms if any(one.rpartition("@")[0] == name for one in labels)]
    results = [(batch, await core.trials.result(batch.id)) for batch in tried[:MOST_TRIALS]]
    return await core.prompts.versions(name), tuple(results), await _correct_calls(core, name)


async def _correct_calls(core: "Engine", name: str) -> dict[int, tuple[int, int]]:
    """Return correct calls and judged runs by version of a template, over all models that were asked with it."""
    found: dict[int, tuple[int, int]] = {}
    for one in await core.metrics.models():
        prompt, _, version = one.model.rpartition(" with ")[2].rpartition("@")
        if prompt == name and version.isdecimal() and (rate := one.metrics.correct_call).n:
            correct, judged = found.get(int(version), (0, 0))
            found[int(version)] = correct + rate.successes, judged + rate.n
    return found


async def _offered(core: "Engine", names: Sequence[str]) -> tuple[OfferedTool, ...]:
    """Return the tools that servers listed last; no server is started."""
    servers = {one.name: one.id for one in await core.servers.list()}
    listings = [await core.servers.known_tools(servers[name]) for name in names if name in servers]
    return tuple(OfferedTool(tool.name, tool) for listing in listings if listing for tool in listing.tools)


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
