"""Plan of a crowd test or a steal test, as its batch stores it, and the numbers of its cells."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields

from mcp_tef.errors import StoreError
from mcp_tef.model.crowds import CrowdKind
from mcp_tef.model.ids import CaseId
from mcp_tef.model.json import Json
from mcp_tef.model.runs import RunSummary
from mcp_tef.scoring.phrases import counted
from mcp_tef.workflows.trial_record import FRESH_ROUND

ORDER_PASS = 100
"""Number of the pass that asks the largest size in another order; passes of the test have lower ones."""


@dataclass(frozen=True, slots=True)
class CrowdCell:
    """One condition: a pass, a search in front (its place, 0 for none), and the place of a size."""

    turn: int
    search: int
    size: int

    @classmethod
    def of(cls, number: int, searches: int, sizes: int) -> "CrowdCell":
        """Return the cell of a number, among so many searches and sizes."""
        rest, size = divmod(number, sizes)
        turn, search = divmod(rest, searches)
        return cls(turn, search, size)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdPlan:
    """Settings of a test. `tools_hash` is that of all tools; own tools are those of `among`, else of a case's servers.

    `stealing` is the name of the new server of a steal test, "" for a crowd test. `expected` is server and tool by
    case of a steal test. `equivalents` holds the strangers
    that do the same as an expected tool, `fifths` by cell and case where it stands in the list, `tokens` the mean
    size of the tools of a cell: all known when the test begins, so that its result needs no listing.
    """

    kind: CrowdKind
    sizes: tuple[int, ...]
    search: tuple[int, ...]
    passes: int
    cases: tuple[CaseId, ...]
    silence: tuple[CaseId, ...]
    servers: tuple[str, ...]
    files: tuple[str, ...]
    margin: float
    seed: int
    accept: bool
    subject: str
    plural: bool
    among: tuple[str, ...] = ()
    stealing: str = ""
    own: tuple[str, ...] = ()
    tools_hash: str = ""
    equivalents: Mapping[CaseId, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    fifths: Mapping[str, str] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    expected: tuple[tuple[str, str], ...] = ()

    @property
    def searches(self) -> tuple[int | None, ...]:
        """The ways in which tools are offered: all of them, then the first ones that a search finds."""
        return (None, *self.search)

    def number(self, cell: CrowdCell) -> int:
        """Return the number of a cell, which its runs keep as their repeat."""
        return (cell.turn * len(self.searches) + cell.search) * len(self.sizes) + cell.size

    def cell(self, number: int) -> CrowdCell:
        """Return the cell of a number."""
        return CrowdCell.of(number, len(self.searches), len(self.sizes))

    def cells(self) -> Iterator[CrowdCell]:
        """Yield all cells, that of another order last."""
        for turn in range(self.passes):
            for search in range(len(self.searches)):
                yield from (CrowdCell(turn, search, size) for size in range(len(self.sizes)))
        if not self.stealing:
            yield CrowdCell(ORDER_PASS, 0, len(self.sizes) - 1)

    def cases_of(self, cell: CrowdCell) -> tuple[CaseId, ...]:
        """Return the cases that a cell asks; queries for silence are asked in the first pass."""
        return (*self.cases, *self.silence) if cell.turn == 0 else self.cases

    def to_json(self) -> dict[str, Json]:
        """Return the plan as JSON."""
        value = {one.name: getattr(self, one.name) for one in fields(self)}
        lists = {name: list(one) for name, one in value.items() if isinstance(one, tuple)}
        pairs = {case_id: [list(one) for one in found] for case_id, found in self.equivalents.items()}
        return (
            value
            | lists
            | {"expected": [list(one) for one in self.expected], "kind": self.kind.value, "equivalents": pairs}
        )

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> "CrowdPlan":
        """Read a stored plan. StoreError where the file holds another shape."""
        try:
            known = {one.name: value[one.name] for one in fields(cls)}
            lists = {name: tuple(one) for name, one in known.items() if isinstance(one, list)}
            pairs = {
                CaseId(case_id): tuple((str(server), str(tool)) for server, tool in found)
                for case_id, found in known["equivalents"].items()
            }
            lists["expected"] = tuple((str(server), str(tool)) for server, tool in known["expected"])
            return cls(**{**known, **lists, "kind": CrowdKind(known["kind"]), "equivalents": pairs})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreError("The plan of this test cannot be read.", hint="Start a new test.") from error


def is_crowd_plan(value: Mapping[str, Json] | None) -> bool:
    """Return True for the stored plan of a crowd test or a steal test."""
    return value is not None and "stealing" in value


def repeat_text(run: RunSummary, plan: Mapping[str, Json] | None) -> str:
    """Return the repeat that a run is: "repeat 2", "draft, round 2" of a trial, "30 other tools, repeat 2" of a crowd.

    `plan` is that of its batch, if it has one.
    """
    if plan is not None and is_crowd_plan(plan):
        return _crowd_repeat(CrowdCell.of(run.repeat, 1 + len(plan["search"]), len(plan["sizes"])), plan)
    if run.arm is None:
        return f"repeat {run.repeat + 1}"
    fresh = run.repeat >= FRESH_ROUND
    return f"{run.arm.value}, {'asked afresh' if fresh else 'round'} {run.repeat % FRESH_ROUND + 1}"


def _crowd_repeat(cell: CrowdCell, plan: Mapping[str, Json]) -> str:
    if plan["stealing"]:
        return f"{'with' if cell.size else 'without'} {plan['stealing']}, repeat {cell.turn + 1}"
    found = f", first {plan['search'][cell.search - 1]} found" if cell.search else ""
    turn = "another order" if cell.turn == ORDER_PASS else f"repeat {cell.turn + 1}"
    return f"{counted(plan['sizes'][cell.size], 'other tool', 'other tools')}{found}, {turn}"
