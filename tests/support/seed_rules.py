"""Rules of the seeds as rows of a table, and the test's way to check one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mcp_tef import Engine
from mcp_tef.errors import InputError

Check = Callable[[Engine], Awaitable[object]]


@dataclass(frozen=True)
class Rule:
    """One rule; `changed` says what was deliberately made otherwise, and why."""

    section: str
    text: str
    check: Check
    changed: str = ""

    @property
    def name(self) -> str:
        """The row for people."""
        return f"{self.section}: {self.text}" + (" (changed)" if self.changed else "")


@dataclass
class SeedRules:
    """The rules of one seed."""

    rows: list[Rule] = field(default_factory=list)

    def add(self, section: str, text: str, check: Check, changed: str = "") -> None:
        """Add a row."""
        self.rows.append(Rule(section, text, check, changed))

    def rule(self, section: str, text: str, changed: str = "") -> Callable[[Check], Check]:
        """Add a row, which the decorated function checks."""

        def add(check: Check) -> Check:
            self.add(section, text, check, changed)
            return check

        return add


async def kept(row: Rule, folder: Path) -> None:
    """Check a rule on an empty workspace."""
    async with await Engine.open(folder / "workspace.db") as engine:
        await row.check(engine)


async def refused(work: Awaitable[object], error: type[InputError] = InputError) -> None:
    """Expect a refusal."""
    with pytest.raises(error):
        await work
