"""Rules about the size of a definition: its token cost with its largest parts, and what clients cut or leave out."""

from collections.abc import Iterator, Mapping, Sequence

from mcp_tef.model.clients import ChangeKind, ClientProfile
from mcp_tef.model.json import Json, canonical, deeper_than
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.scoring.client_view import LONGEST_QUOTE, instruction_note, presented
from mcp_tef.scoring.lint import poisoning
from mcp_tef.scoring.lint.definition_texts import shown_name, texts_of
from mcp_tef.scoring.lint.lint_context import SOUND_DEPTH, LintContext, LintHit, RuleCheck, note, warning
from mcp_tef.scoring.phrases import counted

HEAVY = 500
VERY_HEAVY = 1_500
MOST_PARAMETERS = 15
DEEPEST = 4


def _heavy(subject: LintContext) -> Iterator[LintHit]:
    if HEAVY < subject.tokens <= VERY_HEAVY:
        yield _weight(subject, HEAVY)


def _very_heavy(subject: LintContext) -> Iterator[LintHit]:
    if subject.tokens > VERY_HEAVY:
        yield _weight(subject, VERY_HEAVY)


def _weight(subject: LintContext, bound: int) -> LintHit:
    part, share = heaviest_part(subject)
    sentence = (
        f"The definition takes {subject.tokens:,} tokens, more than {bound:,}; {share * 100:.0f} % of it is {part}."
    )
    return LintHit("definition", sentence, f"Shorten {part} first.")


def heaviest_part(subject: LintContext) -> tuple[str, float]:
    """Return the longest part of a definition as text, and its share of all characters (0–1)."""
    sizes = {"the description": len(subject.description)}
    if isinstance(subject.schema, Mapping):
        sizes |= {f"`inputSchema.{shown_name(key, 40)}`": size_of(part) for key, part in subject.schema.items()}
    root = subject.nodes[0] if subject.nodes else None
    for name, schemas in root.properties.items() if root else ():
        sizes[f"parameter `{shown_name(name, 60)}`"] = sum(map(size_of, schemas))
    sizes.pop("`inputSchema.properties`", None)
    whole = len(subject.name) + len(subject.description) + size_of(subject.schema)
    size, part = max((size, part) for part, size in sizes.items())
    return part, min(size / max(whole, 1), 1.0)


def size_of(value: Json) -> int:
    """About how many characters a JSON value has; walks without recursion."""
    size = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            size += sum(len(str(key)) + 4 for key in item)
            waiting.extend(item.values())
        elif isinstance(item, list):
            size += 2 * len(item)
            waiting.extend(item)
        else:
            size += len(item) + 2 if isinstance(item, str) else 4
    return size


def _too_many(subject: LintContext) -> Iterator[LintHit]:
    count = len(subject.nodes[0].properties) if subject.nodes else 0
    if count > MOST_PARAMETERS:
        sentence = f"The tool takes {counted(count, 'parameter', 'parameters')}, more than {MOST_PARAMETERS}."
        yield LintHit("inputSchema", sentence, "Split the tool by task, or group parameters that belong together.")


def _too_deep(subject: LintContext) -> Iterator[LintHit]:
    deepest = max(subject.nodes, key=lambda node: (node.depth, node.path), default=None)
    if deepest and deepest.depth > DEEPEST:
        first = next(node for node in subject.nodes if node.depth > DEEPEST)
        sentence = f"Parameters nest {deepest.depth} levels deep, more than {DEEPEST}."
        yield LintHit(
            f"parameter {shown_name(first.path, 80)}", sentence, "Lift inner parameters to the top, with plain names."
        )


CHECKS: tuple[RuleCheck, ...] = (
    warning(
        "weight-very-heavy",
        12,
        _very_heavy,
        title="Very heavy definition",
        why="Every request that offers the tool pays for all of it, and long lists of tools are read less well.",
    ),
    note(
        "weight-heavy",
        4,
        _heavy,
        title="Heavy definition",
        why="Every request that offers the tool pays for all of it.",
    ),
    note(
        "parameters-too-many",
        6,
        _too_many,
        title="Too many parameters",
        why="The more parameters there are, the more often a model fills in one that nobody asked for.",
    ),
    note(
        "parameters-too-deep",
        6,
        _too_deep,
        title="Parameters nested too deeply",
        why="Models lose track of deeply nested arguments, and some providers refuse them.",
    ),
)


def definition_text(tool: Tool) -> str:
    """Return the JSON that a request sends to offer a tool; only its pieces if it nests absurdly deep."""
    definition = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    if not deeper_than(definition, SOUND_DEPTH):
        return canonical(definition)
    return f"{tool.name} {tool.description} {' '.join(sorted(text.text for text in texts_of(tool)))}"


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


CLIENT_CHECKS: tuple[RuleCheck, ...] = (
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
