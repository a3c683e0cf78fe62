"""State that the tabs beside the draft share: models, options, estimate, and the batch shown; knows no Qt."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from app.core_link.model_requests import ApiKeys, CoreCall
from app.core_link.refresh import Refresh
from app.text.formatting import clock, count, money
from mcp_tef import (
    Batch,
    BatchEnded,
    BatchesChanged,
    BatchId,
    BatchPaused,
    BatchProgressed,
    BatchStarted,
    BatchStatus,
    CasesChanged,
    CrowdResult,
    Estimate,
    Event,
    ModelSettings,
    RunEnded,
    ServersChanged,
    ServerStateChanged,
    StealResult,
    ToolLabel,
    parse_dollars,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

BASELINE: Final = ModelSettings()
CAP: Final = "cap"
N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionField:
    """One option of a test as a text field."""

    key: str
    label: str
    text: str
    note: str = ""


class CrowdBatches(ABC):
    """The tests of one kind, the one that is shown, and what can be done with it now."""

    stealing = False

    def __init__(self, ask: CoreCall) -> None:
        self._ask = ask
        self.loading = self.planning = 0
        self.tests: tuple[Batch, ...] = ()
        self.result: CrowdResult | StealResult | None = None
        self.batch_id: BatchId | None = None
        self.models: tuple[ModelSettings, ...] = (BASELINE,)
        self.estimate: Estimate | None = None
        self.problem = ""
        self.max_cost_usd: float | None = None

    def choose(self, models: Iterable[ModelSettings]) -> None:
        """Ask these models; the baseline only where there is no other."""
        found = dict.fromkeys(model for model in models if not model.offline)
        self.models = tuple(found) or (BASELINE,)

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event changes what is shown."""
        match event:
            case BatchStarted(batch) | BatchEnded(batch) | BatchPaused(batch) if self._is_mine(batch):
                return Refresh.NOW
            case CasesChanged() | ServersChanged() | ServerStateChanged() | BatchesChanged():
                return Refresh.NOW
            case BatchProgressed(batch=batch) if self._is_mine(batch):
                return Refresh.LATER
            case RunEnded(run) if run.batch_id is not None and run.batch_id == self.batch_id:
                return Refresh.LATER
            case _:
                return Refresh.NONE

    def _is_mine(self, batch: Batch) -> bool:
        return batch.trial is not None and "stealing" in batch.trial and bool(batch.trial["stealing"]) is self.stealing

    @abstractmethod
    async def load(self) -> bool:
        """Read what a test needs and the result that is shown; False if a later call has replaced this one."""

    @abstractmethod
    async def plan(self) -> None:
        """Find out what the test that would start now takes."""

    @abstractmethod
    async def estimate_for(self, model: ModelSettings) -> Estimate:
        """Return the most that the test takes with a model."""

    @abstractmethod
    async def start(self, keys: ApiKeys) -> object:
        """Start the test, or go on with it where it was cut off; it is shown from now on. None: it was not started."""

    @abstractmethod
    async def choose_test(self, batch_id: BatchId) -> None:
        """Show another test."""

    @abstractmethod
    def why_not(self) -> str:
        """Return why no test can start now; "" if one can."""

    @abstractmethod
    def size(self) -> int:
        """Return the number of cases of the test that would start now."""

    @abstractmethod
    def options(self) -> tuple[OptionField, ...]:
        """Return the options as text fields."""

    @abstractmethod
    def set_options(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Take options as typed; return the problems by key, and take nothing where there is one."""

    async def report(self) -> str:
        """Return the report of the test that is shown as an HTML page; "" where there is none."""
        return ""

    @property
    def exportable(self) -> bool:
        """True if there is a result to export."""
        return self.result is not None

    def start_text(self) -> str:
        """Return the text of the button that starts the test."""
        return f"Start with {count(self.size(), 'case')}"

    def take_tests(self, tests: Sequence[Batch]) -> None:
        """Take the tests that there are, newest first; show the newest where none is chosen."""
        self.tests = tuple(tests)
        if self.batch_id not in {one.id for one in tests}:
            self.batch_id = tests[0].id if tests else None

    @property
    def batch(self) -> Batch | None:
        """The test that is shown."""
        return next((one for one in self.tests if one.id == self.batch_id), None)

    def test_names(self) -> list[tuple[str, str]]:
        """Return id and name of each test for a menu."""
        return [(one.id, f"{one.name}, {clock(one.created_at)}") for one in self.tests]

    # ------------------------------------------------------------ running

    @property
    def running(self) -> bool:
        """True while the test asks, or waits to."""
        return self._status() in (BatchStatus.RUNNING, BatchStatus.WAITING)

    @property
    def paused(self) -> bool:
        """True while the test is paused."""
        return self._status() is BatchStatus.PAUSED

    @property
    def under_way(self) -> bool:
        """True while the test can be stopped."""
        return self.running or self.paused

    @property
    def cut_off(self) -> bool:
        """True for a test that was stopped or cut off, and can go on."""
        batch = self.batch
        return batch is not None and (
            batch.status in (BatchStatus.CANCELLED, BatchStatus.INTERRUPTED)
            or (batch.status is BatchStatus.COMPLETED and bool(batch.stopped))
        )

    def _status(self) -> BatchStatus | None:
        return self.batch.status if self.batch else None

    async def stop(self) -> None:
        """Stop the test; what was asked is kept."""
        batch_id = self.batch_id
        if batch_id and self.under_way:
            await self._ask(lambda core: core.runs.cancel(batch_id))

    async def pause_or_proceed(self) -> None:
        """Pause the test, or go on with it."""
        batch_id, paused = self.batch_id, self.paused
        if batch_id and self.under_way:
            await self._ask(lambda core: _paused(core, batch_id, paused=paused))

    async def resume(self, keys: ApiKeys) -> Batch:
        """Go on with a test that was stopped or cut off; nothing that was answered is asked again."""
        batch_id, cap = self.batch_id, self.max_cost_usd
        assert batch_id is not None
        return await self._ask(lambda core: core.runs.resume(batch_id, keys, max_cost_usd=cap, may_pause=True))

    def provider(self) -> str:
        """Return the provider whose key may be missing; "" for the baseline alone."""
        return next((one.provider for one in self.models if not one.offline), "")

    # ------------------------------------------------------------ words

    def plan_text(self) -> str:
        """Return what the test that would start now takes."""
        found = self.estimate
        if self.problem or found is None:
            return self.problem
        if all(model.offline for model in self.models):
            return f"{count(found.runs, 'search', 'searches')}, free"
        cost = "cost unknown" if found.cost_usd is None else money(found.cost_usd)
        cap = "" if self.max_cost_usd is None else f", cap {money(self.max_cost_usd)}"
        return f"up to {count(found.runs, 'call')}, {cost}{cap}"

    def progress_text(self) -> str:
        """Return how far the test is: "paused · 131 of up to 252 calls · $0.04"."""
        result = self.result
        if result is None:
            return ""
        state = "paused" if self.paused else "waiting" if self._status() is BatchStatus.WAITING else ""
        spent = money(result.cost_usd) if result.cost_usd else ""
        calls = f"{result.calls:,} of up to {count(result.planned_calls, 'call')}"
        return " · ".join(filter(None, (state, calls, spent)))

    def ended_text(self) -> str:
        """Return how the test that is shown ended, its calls and its cost; "" while it is under way."""
        batch, result = self.batch, self.result
        if batch is None or result is None or self.under_way:
            return ""
        told = [count(result.calls, "call")]
        told += [money(result.cost_usd)] if result.cost_usd else []
        told += [(batch.stopped or "stopped before its end").rstrip(".")] if self.cut_off else []
        return " · ".join(told)


async def _paused(core: "Engine", batch_id: BatchId, *, paused: bool) -> None:
    (core.runs.proceed if paused else core.runs.pause)(batch_id)


def cap_problem(text: str) -> str:
    """Return why a cost cap cannot be read; "" if it can, or is empty."""
    dollars = parse_dollars(text) if text.strip() else 1.0
    return "" if dollars is not None and dollars > 0 else "Write an amount in dollars, such as 0.50."


@dataclass(frozen=True, slots=True)
class NumbersRule:
    """Rule for numbers as typed with commas between: their range, how many there may be, and if there must be one."""

    least: int
    most: int
    number: int = 20
    needed: bool = True

    def problem(self, text: str) -> str:
        """Return why a text is refused; "" if it is not."""
        parts = _parts(text)
        fine = all(part.isdecimal() and self.least <= int(part) <= self.most for part in parts)
        if fine and len(parts) <= self.number and (parts or not self.needed):
            return ""
        what = "a number" if self.number == 1 else "numbers with commas between, each"
        return f"Write {what} of {self.least:,} to {self.most:,}."


def read_numbers(text: str) -> tuple[int, ...]:
    """Return numbers as typed with commas between; the rule has no problem with them."""
    return tuple(int(part) for part in _parts(text))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def option_problems(texts: Mapping[str, str], rules: Mapping[str, NumbersRule]) -> dict[str, str]:
    """Return by key what is wrong with options as typed; the cost cap is an amount."""
    found = {key: rule.problem(texts[key]) for key, rule in rules.items()}
    return {key: text for key, text in {**found, CAP: cap_problem(texts[CAP])}.items() if text}


def label_text(label: ToolLabel) -> str:
    """Return a tool with its server: "create_issue of GitHub"."""
    return f"{label.tool} of {label.server}" if label.server else label.text
