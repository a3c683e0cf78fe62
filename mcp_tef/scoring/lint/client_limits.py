"""Rules about what clients cut from a definition or leave out, by the limits in their profiles."""

from collections.abc import Iterator, Sequence

from mcp_tef.model.clients import ChangeKind, ClientProfile
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.scoring.client_view import LONGEST_QUOTE, instruction_note, presented
from mcp_tef.scoring.lint import poisoning
from mcp_tef.scoring.lint.lint_context import LintContext, LintHit, RuleCheck, warning


def _cut(subject: LintContext) -> Iterator[LintHit]:
    for sentence, lost in _changes(subject, ChangeKind.DESCRIPTION_CUT):
        text = " ".join(lost.split())
        shown = text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"
        yield LintHit("description", f"{sentence} Not seen: “{shown}”", "Shorten it, or say first what matters most.")


def _left_out(subject: LintContext) -> Iterator[LintHit]:
    for sentence, _ in _changes(subject, ChangeKind.LEFT_OUT):
        yield LintHit("name", sentence, "Shorten the name.")


def _changes(subject: LintContext, kind: ChangeKind) -> Iterator[tuple[str, str]]:
    tool = subject.tool
    sound = not subject.why_rejected and isinstance(tool.name, str) and isinstance(tool.description, str)
    for profile in subject.catalogue.clients if sound else ():
        for change in presented(profile, [OfferedTool(tool.name, tool)]).changes:
            if change.kind is kind:
                yield change.sentence, change.lost


CHECKS: tuple[RuleCheck, ...] = (
    warning(
        "client-leaves-out-tool",
        10,
        _left_out,
        title="Left out by a client",
        why="A tool that a client does not show to the model cannot be selected there.",
    ),
    warning(
        "client-cuts-description",
        8,
        _cut,
        title="Cut by a client",
        why="The model does not see what a client cuts, and selects by the rest.",
    ),
)


def set_notes(
    tools: Sequence[Tool], instructions: Sequence[tuple[str, str]], clients: Sequence[ClientProfile]
) -> tuple[str, ...]:
    """Return a sentence for each client that refuses so many tools or cuts instructions of a server, and for orders.

    `instructions` are those of servers, by name.
    """
    full = [one for one in clients if one.most_tools is not None and len(tools) > one.most_tools]
    notes = [f"{one.most_tools:,} of {len(tools):,} tools fit into {one.title}, which refuses more." for one in full]
    return (*notes, *(note for one in instructions for note in _instruction_notes(*one, clients)))


def _instruction_notes(server: str, text: str, clients: Sequence[ClientProfile]) -> Iterator[str]:
    yield from filter(None, (instruction_note(client, server, text) for client in clients))
    subject = LintContext(Tool(server=server, name="", description=text, input_schema={}, raw={}))
    for check in poisoning.CHECKS:
        yield from (f"Instructions of {server}: {hit.sentence}" for hit in check.look(subject))
