"""The options of verbs that read a project file, and how that file may set each: an allow-list.

A project file comes with a repository, so somebody else may have written it. It may set what this table says and
nothing else: an option that is missing here is refused, and a test fails for one that a parser has and this table
has not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class ProjectUse(StrEnum):
    """One option of the command line: the way in which a project file sets it, or the reason why it cannot."""

    VALUE = "text, a number, or a list or table of them"
    MODEL = "a model at its provider's own address; no group or router of the user's workspace"
    CAP = "a number that only lowers the one that was typed"
    INPUT = "a file in the folder of the project file"
    TEXT_OR_INPUT = "text, or @ and a file in the folder of the project file"
    TOOLS = "a source of tools: a file in the folder of the project file"
    PROGRAM = "a source of tools: a command, which asks"
    ADDRESS = "a source of tools: an address, which asks"
    MODEL_ADDRESS = "the address of models, which asks"
    RESULT = "the name of a file in the folder of results"
    CONSENT = "refused: a project file never allows anything for itself"
    USER = "refused: only the user decides where results, keys and work go"
    COMMAND = "refused: it belongs to one command"

    @property
    def is_refused(self) -> bool:
        """True if a project file may not hold the option."""
        return self in (ProjectUse.CONSENT, ProjectUse.USER, ProjectUse.COMMAND)


@dataclass(frozen=True, slots=True)
class VerbOption:
    """An option by its long name, how a project file sets it, and for a result the ending of its file."""

    name: str
    use: ProjectUse
    ending: str = ""

    @property
    def dest(self) -> str:
        """The name that a parser keeps the value under."""
        return self.name.replace("-", "_")


def _options() -> Iterable[VerbOption]:
    for use, names in _NAMES.items():
        yield from (VerbOption(name, use) for name in names.split())
    yield from (VerbOption(name, ProjectUse.RESULT, ending) for name, ending in _RESULTS.items())


_NAMES: Final = {
    ProjectUse.VALUE: (
        "suite tag case client mode tool-choice repeats seed concurrency timeout temperature retries max-tokens "
        "fail-under fail-if-surely-under case-pass-rate prompt var name shard"
    ),
    ProjectUse.MODEL: "model",
    ProjectUse.CAP: "max-cost",
    ProjectUse.INPUT: "cases baseline",
    ProjectUse.TEXT_OR_INPUT: "system-prompt",
    ProjectUse.TOOLS: "tools-file",
    ProjectUse.PROGRAM: "server-command",
    ProjectUse.ADDRESS: "url",
    ProjectUse.MODEL_ADDRESS: "base-url",
    ProjectUse.CONSENT: "yes allow-program allow-origin no-key key-stdin insecure-cluster",
    ProjectUse.USER: "workspace cluster through price",
    ProjectUse.COMMAND: "help all changed-from recover json quiet verbose debug",
}
_RESULTS: Final = {
    "junit": ".xml",
    "html": ".html",
    "csv": ".csv",
    "sarif": ".sarif",
    "markdown": ".md",
    "verdict": ".json",
}
OPTIONS: Final[Mapping[str, VerbOption]] = MappingProxyType({option.name: option for option in _options()})
SOURCE_USES: Final = (ProjectUse.PROGRAM, ProjectUse.ADDRESS, ProjectUse.TOOLS)
"""Uses of the options that name a source of tools."""
