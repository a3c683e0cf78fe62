"""Rows of the Library screen: tools with their filters and orders, and the tree of categories; knows no Qt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.screens.kit import FilterField, FilterFields, SortOrder
from app.screens.library.design_draft import EXECUTORS
from app.text.formatting import percent
from mcp_tef import (
    Arm,
    ExecutionStatus,
    LibraryTool,
    RunSummary,
    ToolCategory,
    ToolStatus,
    ToolVersion,
    interval_text,
    is_baseline,
    wilson,
)

NO_CATEGORY: Final = "-"
STATUSES: Final[Mapping[ToolStatus, str]] = {
    ToolStatus.ACTIVE: "Active",
    ToolStatus.DRAFT: "Draft",
    ToolStatus.DISABLED: "Disabled",
    ToolStatus.DEPRECATED: "Deprecated",
}
EXECUTION_STATUSES: Final[Mapping[ExecutionStatus, str]] = {
    ExecutionStatus.PENDING: "Waiting",
    ExecutionStatus.RUNNING: "Running",
    ExecutionStatus.SUCCESS: "Answered",
    ExecutionStatus.FAILED: "Failed",
    ExecutionStatus.TIMEOUT: "Timed out",
    ExecutionStatus.CANCELLED: "Cancelled",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryRow:
    """A tool with the categories that it is in, from its own upwards."""

    tool: LibraryTool
    categories: tuple[str, ...] = ()


STATUS: Final[FilterField[LibraryRow]] = FilterField(
    name="status",
    texts={status.value: text for status, text in STATUSES.items()},
    fits=lambda row, value: row.tool.status.value == value,
)
EXECUTOR: Final[FilterField[LibraryRow]] = FilterField(
    name="executor",
    texts={kind.value: text for kind, text in EXECUTORS.items()},
    fits=lambda row, value: row.tool.design.executor.value == value,
)
CATEGORY: Final[FilterField[LibraryRow]] = FilterField(
    name="category",
    label="Category",
    fits=lambda row, value: value in (row.categories or (NO_CATEGORY,)),
)
FIELDS: Final = FilterFields((STATUS, EXECUTOR, CATEGORY))
ORDERS: Final[Sequence[SortOrder[LibraryRow]]] = (
    SortOrder(name="name", text="Sort by name", key=lambda row: row.tool.name),
    SortOrder(name="newest", text="Changed last first", key=lambda row: row.tool.updated_at, descending=True),
    SortOrder(name="status", text="Sort by status", key=lambda row: list(STATUSES).index(row.tool.status)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryRow:
    """A category in its tree, with the number of tools in it and below."""

    key: str
    title: str
    depth: int = 0
    tools: int = 0


def category_path(category: str | None, parents: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return a category and its ancestors; a chain that leads back to itself ends there."""
    found: list[str] = []
    while category is not None and category not in found:
        found.append(category)
        category = parents.get(category)
    return tuple(found)


def category_tree(
    categories: Sequence[ToolCategory], counted: Mapping[str, int], parent: str | None, depth: int
) -> list[CategoryRow]:
    """Return the categories in a parent, each followed by those below it."""
    rows: list[CategoryRow] = []
    for one in categories:
        if one.parent == parent:
            rows.append(CategoryRow(key=one.name, title=one.name, depth=depth, tools=counted[one.name]))
            rows += category_tree(categories, counted, one.name, depth + 1)
    return rows


@dataclass(frozen=True, slots=True)
class PickedShare:
    """Number of judged runs that expect a tool, and in how many of them it was selected."""

    picked: int = 0
    runs: int = 0

    @property
    def text(self) -> str:
        """The share as a cell shows it: "85 % of 20"."""
        return f"{percent(self.picked / self.runs)} of {self.runs:,}" if self.runs else "not run"

    @property
    def counts(self) -> str:
        """The counts: "17 of 20"."""
        return f"{self.picked:,} of {self.runs:,}"

    @property
    def detail(self) -> str:
        """The counts and the interval: "selected in 17 of 20 (64–95 %)"."""
        rate = wilson(self.picked, self.runs)
        return f"selected in {self.counts} ({interval_text(rate.low, rate.high)} %)"


def picked_shares(
    name: str, server: str, versions: Sequence[ToolVersion], runs: Sequence[RunSummary]
) -> Mapping[int, PickedShare]:
    """Return the share of each version; a run counts for the version that was the newest when it was planned.

    Runs of a baseline count only where no model was asked; those of a draft in the Workshop have other texts.
    """
    shares = {one.version: PickedShare() for one in versions}
    for run in _counted(runs):
        version = _newest_version(versions, run.created_at)
        if version is not None:
            picked = run.selected_tool == name and run.selected_server in (None, server)
            before = shares[version]
            shares[version] = PickedShare(before.picked + picked, before.runs + 1)
    return shares


def _counted(runs: Sequence[RunSummary]) -> Sequence[RunSummary]:
    judged = [run for run in runs if run.mark and run.arm is not Arm.DRAFT]
    return [run for run in judged if not is_baseline(run.model)] or judged


def _newest_version(versions: Sequence[ToolVersion], at: datetime | None) -> int | None:
    """Return the version that was the newest at a moment; None before the first one."""
    return max((one.version for one in versions if at and one.created_at <= at), default=None)
