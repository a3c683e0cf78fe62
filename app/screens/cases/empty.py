"""What the screen says where there is nothing to show, and what to do next."""

from dataclasses import dataclass

from app.screens.cases.rows import Wanted


@dataclass(frozen=True, slots=True)
class Emptiness:
    """Words for an empty place; `first` and `second` are the verbs on its buttons."""

    icon: str
    title: str
    sentence: str
    first: str
    second: str = ""


NO_SERVERS = Emptiness(
    "hard-drives",
    "No servers yet",
    "A test case names the tool that should be called, so a server comes first. "
    "The sample brings one with cases that run at once, without a key or a network.",
    "Add server",
    "Open the sample",
)
NO_CASES = Emptiness(
    "check-square",
    "No test cases yet",
    "A case is what a user might say, and the tool that should be called for it. "
    "Write the first one, or import cases from a YAML or JSON file.",
    "New case",
    "Import…",
)


def nothing_matches(wanted: Wanted) -> Emptiness:
    """The words for a table that search or filters have emptied."""
    if wanted.text and wanted.filters:
        sentence = f"No case holds “{wanted.text}” and passes the filters that are set."
    elif wanted.text:
        sentence = f"No case holds “{wanted.text}” in its query, name, expected tool, suite or tag."
    else:
        sentence = "No case passes the filters that are set."
    return Emptiness("magnifying-glass", "Nothing matches", sentence, "Show all cases")
