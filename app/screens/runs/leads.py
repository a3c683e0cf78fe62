"""Where one run leads to: its case, both tools, the pair of them, what to write instead."""

from collections.abc import Callable, Mapping
from functools import partial

from app.core_link.commands import Command
from app.core_link.links import Go, Lead
from app.screens.runs.verdict import VerdictView

WORDS = {
    "case": "Show the test case of the run",
    "expected": "Show the expected tool",
    "selected": "Show the selected tool",
    "pair": "Compare the expected with the selected tool",
    "advice": "Show what to write instead",
}
UNLESS = dict.fromkeys(("pair", "advice"), "Choose a run that picked another tool than was expected")
KEYS = {"advice": "Ctrl+I"}
Leads = Callable[[], Mapping[str, Lead]]


def run_leads(view: VerdictView) -> Mapping[str, Lead]:
    """Each lead there is; of several pairs of calls, the first that was confused."""
    pair = next((pair for pair in view.pairs if pair.leads), next(iter(view.pairs), None))
    sides = (pair.expected.lead, pair.selected.lead, *(pair.leads or (None, None))) if pair else ()
    return {key: lead for key, lead in zip(WORDS, (view.lead, *sides), strict=False) if lead}


def lead_commands(leads: Leads, go: Go) -> list[Command]:
    """The same as commands, for whichever run is shown."""

    def follow(key: str) -> None:
        lead = leads()[key]
        go(lead.screen, lead.target)

    return [
        Command(
            id=f"runs.to.{key}",
            text=text,
            do=partial(follow, key),
            keys=KEYS.get(key, ""),
            needs=partial(_there, leads, key),
            unless=UNLESS.get(key, "Choose a run first"),
            group="Runs",
        )
        for key, text in WORDS.items()
    ]


def _there(leads: Leads, key: str) -> bool:
    return key in leads()
