"""Proposals for the issues of a pair: one change to one tool each, with candidate texts."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from mcp_tef.model.similarity import DifferentiationIssue, IssueType, Priority
from mcp_tef.scoring.differentiation.descriptions import (
    Draft,
    example_drafts,
    parameter_drafts,
    plain_drafts,
    pointer_to,
    scope_drafts,
    shared_sentences,
)
from mcp_tef.scoring.differentiation.text_terms import (
    clearer_name,
    distinct_phrase,
    joined,
    lead,
    meanings,
    name_words,
    sentences,
    terms,
)
from mcp_tef.scoring.differentiation.tool_pair import (
    PairedTool,
    PairedTools,
    called,
    own_parameters,
    own_phrase,
    shared_parameters,
)
from mcp_tef.scoring.lint.vocabulary import ACTIONS
from mcp_tef.scoring.phrases import cut, listed, ticked


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One change to one tool.

    `drafts` are descriptions of which the first that helps is taken; `name` and `parameter` (old, new) are renamings.
    """

    issue: IssueType
    side: PairedTool
    action: str
    rationale: str
    priority: Priority
    drafts: tuple[Draft, ...] = ()
    name: str | None = None
    parameter: tuple[str, str] | None = None


def proposals(
    pair: PairedTools, found: tuple[DifferentiationIssue, ...], taken: Collection[str]
) -> tuple[Proposal, ...]:
    """Return proposals for the issues, in their order. `taken` are names that a new one must not have."""
    if copies(pair):
        return (_merge(pair, found[0]),) if found else ()
    return tuple(proposal for issue in found for proposal in _FOR_ISSUE[issue.type](pair, issue, taken))


def copies(pair: PairedTools) -> bool:
    """Return True if nothing that a model sees tells the two apart."""
    a, b = pair.a.tool, pair.b.tool
    return (a.name, a.description, a.input_schema) == (b.name, b.description, b.input_schema)


def _merge(pair: PairedTools, issue: DifferentiationIssue) -> Proposal:
    return Proposal(
        issue=issue.type,
        side=pair.b,
        action=f"Offer only one of the two: {ticked(pair.a.id)} or {ticked(pair.b.id)}.",
        rationale="Their names, descriptions and parameters are the same, so no wording of one definition can tell "
        "what the other is for.",
        priority=Priority.HIGH,
    )


def _scope(pair: PairedTools, issue: DifferentiationIssue, _taken: Collection[str]) -> Iterator[Proposal]:
    for side, other in pair.both():
        if side.mentions(other):
            continue
        where = pointer_to(other, side)
        own = own_phrase(side, other)
        words = f"only “{own.text}” marks" if own else "nothing in its first sentence marks"
        yield Proposal(
            issue=issue.type,
            side=side,
            action=f"Say in {called(side, other)} when to use {called(other, side)} instead"
            + (f": “{where}”" if where else "."),
            rationale=f"A model that compares the two reads the same job twice; {words} what {ticked(side.name)} "
            "is for.",
            priority=issue.priority,
            drafts=tuple(scope_drafts(side, other)),
        )


def _terminology(pair: PairedTools, issue: DifferentiationIssue, _taken: Collection[str]) -> Iterator[Proposal]:
    side, other = max(pair.both(), key=lambda both: len(shared_sentences(*both)))
    same = shared_sentences(side, other)
    words = listed([f"“{word}”" for word in issue.evidence])
    if same:
        texts = [f"“{cut(each.text, 80)}”" for each in sentences(side.description) if each.key in same]
        action = f"Leave out of {called(side, other)} what both say word for word: {listed(texts)}."
        rationale = (
            "Sentences that both have tell a model nothing about which of the two to choose. "
            "Keep those that a caller must know."
        )
    else:
        own = _stressed(side, other)
        action = (
            f"Stress {own} in {called(side, other)}: both speak of {words}."
            if own
            else (f"Say in other words what only {called(side, other)} does: both speak of {words}.")
        )
        rationale = "The words that both descriptions share make their texts, and so a model's choice, alike."
    yield Proposal(
        issue=issue.type,
        side=side,
        action=action,
        rationale=rationale,
        priority=issue.priority,
        drafts=tuple(plain_drafts(side, other)),
    )


def _stressed(side: PairedTool, other: PairedTool) -> str:
    phrase = own_phrase(side, other)
    parameters = [ticked(name) for name in own_parameters(side, other)]
    return listed([*([f"“{phrase.text}”"] if phrase else []), *parameters][:3])


def _examples(pair: PairedTools, issue: DifferentiationIssue, _taken: Collection[str]) -> Iterator[Proposal]:
    side, other = max(pair.both(), key=lambda both: len(own_parameters(*both)))
    own = own_parameters(side, other)
    using = f", with a value for {ticked(own[0])}" if own else ""
    shared = [sample for sample in issue.evidence if sample in side.examples and sample in other.examples]
    if shared:
        samples = listed([f"“{cut(each, 40)}”" for each in shared])
        action = f"Replace {samples} in {called(side, other)} by an example that only it can take{using}."
        rationale = "An example that fits both tools does not help a model to choose; one that fits a single tool does."
    else:
        action = (
            f"Add to {called(side, other)} an example of a request that {called(other, side)} cannot answer{using}."
        )
        rationale = "An example shows at once what a tool is for, and neither of the two has one."
    yield Proposal(
        issue=issue.type,
        side=side,
        action=action,
        rationale=rationale,
        priority=issue.priority,
        drafts=tuple(example_drafts(side, other)),
    )


def _parameters(pair: PairedTools, issue: DifferentiationIssue, _taken: Collection[str]) -> Iterator[Proposal]:
    for side, other in pair.both():
        own = [name for name in own_parameters(side, other) if name not in side.description]
        if own:
            yield Proposal(
                issue=issue.type,
                side=side,
                action=f"Mention {listed([ticked(name) for name in own[:3]])} in the text of {called(side, other)}.",
                rationale=f"{called(other, side)} does not take {'it' if len(own) == 1 else 'them'}, "
                "but the description does not say so.",
                priority=issue.priority,
                drafts=tuple(parameter_drafts(side, other)),
            )
    if not own_parameters(pair.a, pair.b) and not own_parameters(pair.b, pair.a):
        yield _same_parameters(pair, issue)


def _same_parameters(pair: PairedTools, issue: DifferentiationIssue) -> Proposal:
    """Rename a parameter after what only this tool says of it; where none says such a thing, ask for that."""
    names = shared_parameters(pair)
    made = ((both, old, _parameter_name(*both, old)) for both in pair.both() for old in names)
    side, old, new = next(((both[0], old, new) for both, old, new in made if new), (pair.a, names[0], None))
    other = pair.b if side is pair.a else pair.a
    if new:
        action = f"Rename the parameter {ticked(old)} of {called(side, other)} to {ticked(new)}."
        rationale = f"{called(other, side)} takes {ticked(old)} too. The server must then accept the new name."
    else:
        action = (
            f"Say in the description of {ticked(old)} what {called(side, other)} takes there and the other does not."
        )
        rationale = "Both take the same parameters, so they do not help a model to choose."
    return Proposal(
        issue=issue.type,
        side=side,
        action=action,
        rationale=rationale,
        priority=Priority.LOW,
        parameter=(old, new) if new else None,
    )


def _parameter_name(side: PairedTool, other: PairedTool, old: str) -> str | None:
    """Return `directory_path` for a `path` that is described as a directory here, and as something else there."""
    if old not in side.parameters or old not in other.parameters or not _plain_schema(side):
        return None
    here, there = (str(each.parameters[old].get("description") or "") for each in (side, other))
    noun = _distinct_noun(here, there, old) if there else None
    new = joined((noun, *name_words(old)), old) if noun else None
    return new if new not in side.parameters else None


def _distinct_noun(here: str, there: str, name: str) -> str | None:
    """Return the only noun that one description of a parameter has and the other one and the name lack."""
    phrase = distinct_phrase(lead(here), {**terms(there), **terms(name)})
    words = terms(phrase.text) if phrase else {}
    nouns = [word.lower() for key, word in words.items() if key not in terms(name) and word not in _VAGUE]
    if len(nouns) != 1 or not (nouns[0].isascii() and nouns[0].isalpha()) or nouns[0] in ACTIONS:
        return None
    return nouns[0]


def _plain_schema(side: PairedTool) -> bool:
    return side.tool.input_schema.keys() <= {
        "$schema",
        "type",
        "properties",
        "required",
        "additionalProperties",
        "title",
        "description",
    }


def _naming(pair: PairedTools, issue: DifferentiationIssue, taken: Collection[str]) -> Iterator[Proposal]:
    fewest = min(len(meanings(side.name)) for side, _ in pair.both())
    vague = [both for both in pair.both() if len(meanings(both[0].name)) == fewest]
    for side, other in vague:
        new = clearer_name(side.name, other.name, _endings(side, other), taken) or _by_server(side, other, taken)
        if new is not None:
            yield _renaming(side, other, issue, f"Rename {called(side, other)} to {ticked(new)}.", new)
            return
    side, other = vague[0]
    yield _renaming(side, other, issue, f"Give {called(side, other)} a name with a word that only it can have.", None)


def _renaming(
    side: PairedTool, other: PairedTool, issue: DifferentiationIssue, action: str, name: str | None
) -> Proposal:
    return Proposal(
        issue=issue.type,
        side=side,
        action=action,
        rationale=f"The name is the first thing that a model compares, and {ticked(side.name)} does not say "
        f"what sets it apart from {called(other, side)}.",
        priority=issue.priority,
        name=name,
    )


def _endings(side: PairedTool, other: PairedTool) -> Iterator[tuple[str, ...]]:
    """Yield words that could end a clearer name: the noun that only this tool speaks of, or what it finds by."""
    phrase = own_phrase(side, other)
    nouns = list(terms(phrase.text).items()) if phrase and not phrase.opening else []
    term, noun = nouns[-1] if len(nouns) in (1, 2) else ("", "")
    if noun and term not in other.known and noun not in _VAGUE:
        yield (noun,)
    for name in own_parameters(side, other):
        if name in side.required:
            yield ("by", *(word for word in name_words(name) if not terms(word).keys() & terms(side.name).keys()))


_VAGUE = frozenset(
    ["available", "content", "existing", "given", "item", "list", "multiple", "new", "single", "specific", "thing"]
)


def _by_server(side: PairedTool, other: PairedTool, taken: Collection[str]) -> str | None:
    if side.name != other.name or side.tool.server == other.tool.server:
        return None
    words = [word for word in name_words(side.tool.server) if word.isascii() and word.isalnum()]
    made = joined((*words, *name_words(side.name)), side.name)
    return made if words and len(made) <= 64 and made not in taken else None


_FOR_ISSUE: dict[IssueType, Callable[[PairedTools, DifferentiationIssue, Collection[str]], Iterator[Proposal]]] = {
    IssueType.SCOPE_CLARITY: _scope,
    IssueType.EXAMPLE_DISTINCTIVENESS: _examples,
    IssueType.PARAMETER_UNIQUENESS: _parameters,
    IssueType.NAMING_CLARITY: _naming,
    IssueType.TERMINOLOGY_OVERLAP: _terminology,
}
