"""What can be done on the page, as commands for menus, palette and shortcuts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from app.core_link.commands import Command

GROUP: Final = "Test cases"
CHOOSE: Final = "Choose cases first"
Deed = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDeeds:
    """The page's deeds."""

    new: Deed
    run: Deed
    runs: Deed
    duplicate: Deed
    delete: Deed
    label: Deed
    expect: Deed
    copy: Deed
    rename_suite: Deed
    to_import: Deed
    to_export: Deed

    def commands(self, chosen: Callable[[], bool], suites: Callable[[], bool]) -> tuple[Command, ...]:
        """One command for each; most need chosen cases, and one a suite."""
        return (*self._of_files(), *self._of_chosen(chosen), self._of_suites(suites))

    def _of_files(self) -> Iterator[Command]:
        yield _command("new", "New case", self.new, "Ctrl+N")
        yield _command("import", "Import cases from a file", self.to_import)
        yield _command("export", "Export cases to a file", self.to_export)

    def _of_chosen(self, chosen: Callable[[], bool]) -> Iterator[Command]:
        deeds = (
            ("run", "Run the selected cases", self.run, "Ctrl+Return"),
            ("runs", "Show the runs of the selected cases", self.runs, ""),
            ("duplicate", "Duplicate the selected cases", self.duplicate, "Ctrl+D"),
            ("delete", "Delete the selected cases", self.delete, ""),
            ("label", "Tags, suites and servers of the selected cases", self.label, ""),
            ("expect", "Expected tool of the selected cases", self.expect, ""),
            ("copy", "Copy the selected queries", self.copy, "Ctrl+Shift+C"),
        )
        return (_command(name, text, do, keys, chosen, CHOOSE) for name, text, do, keys in deeds)

    def _of_suites(self, suites: Callable[[], bool]) -> Command:
        unless = "No case is in a suite yet"
        return _command("rename_suite", "Rename a suite", self.rename_suite, "Shift+F2", suites, unless)


def _always() -> bool:
    return True


def _command(
    name: str, text: str, do: Deed, keys: str = "", needs: Callable[[], bool] = _always, unless: str = ""
) -> Command:
    return Command(id=f"cases.{name}", text=text, do=do, keys=keys, needs=needs, unless=unless, group=GROUP)
