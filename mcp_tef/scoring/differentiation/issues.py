"""Issues that make two tools hard to tell apart; clearly different tools have none."""

from collections.abc import Callable, Iterator

from mcp_tef.model.similarity import HIGH_FROM, MEDIUM_FROM, DifferentiationIssue, IssueType, Priority
from mcp_tef.scoring.differentiation.text_terms import alikeness, blurred, meanings, name_words
from mcp_tef.scoring.differentiation.tool_pair import PairedTools, called, copies, shared_parameters
from mcp_tef.scoring.phrases import counted, cut, listed, ticked

FEWEST_WORDS = 2
FEWEST_SHARE = 0.4
MOST_EVIDENCE = 12


def issues(pair: PairedTools) -> tuple[DifferentiationIssue, ...]:
    """Return every issue of a pair, most urgent first; none where confusability is low and words and names differ."""
    if copies(pair):
        return (_same_definition(pair),)
    telling = [issue for find in (_terminology, _naming) for issue in find(pair)]
    if not telling and pair.confusability < MEDIUM_FROM:
        return ()
    found = [*telling, *(issue for find in _OTHERS for issue in find(pair))]
    return tuple(sorted(found, key=lambda issue: (_RANK[issue.priority], _ORDER.index(issue.type))))


def _same_definition(pair: PairedTools) -> DifferentiationIssue:
    sentence = "Name, description and parameters are the same, so no text can tell the two apart: offer only one."
    return _issue(IssueType.SCOPE_CLARITY, Priority.HIGH, sentence, (pair.a.id, pair.b.id))


def _scope(pair: PairedTools) -> Iterator[DifferentiationIssue]:
    silent = [side for side, other in pair.both() if not side.mentions(other)]
    if not silent:
        return
    leads = tuple(f"{ticked(side.name)}: “{cut(side.lead, 120)}”" for side, _ in pair.both() if side.description)
    if empty := [called(side, other) for side, other in pair.both() if not side.description]:
        has, its = ("has", "its") if len(empty) == 1 else ("have", "their")
        sentence = f"{listed(empty)} {has} no description, so {its} scope is a guess."
        yield _issue(IssueType.SCOPE_CLARITY, Priority.HIGH, sentence, leads)
    elif len(silent) == 2:
        sentence = "Neither description says when to use the other tool instead."
        priority = Priority.HIGH if pair.confusability >= HIGH_FROM else Priority.MEDIUM
        yield _issue(IssueType.SCOPE_CLARITY, priority, sentence, leads)
    else:
        sentence = f"{ticked(silent[0].name)} does not say when to use the other tool instead."
        yield _issue(IssueType.SCOPE_CLARITY, Priority.LOW, sentence, leads)


def _examples(pair: PairedTools) -> Iterator[DifferentiationIssue]:
    shared = tuple(sample for sample in pair.a.examples if sample in pair.b.examples)
    if shared:
        shown = listed([f"“{cut(sample, 40)}”" for sample in shared])
        sentence = f"Both definitions give the same {'example' if len(shared) == 1 else 'examples'}: {shown}."
        share = len(shared) / min(len(pair.a.examples), len(pair.b.examples))
        yield _issue(IssueType.EXAMPLE_DISTINCTIVENESS, _by(share, 0.99, 0.5), sentence, shared)
    elif not pair.a.examples and not pair.b.examples:
        missing = tuple(f"{ticked(side.name)}: no example" for side, _ in pair.both())
        yield _issue(
            IssueType.EXAMPLE_DISTINCTIVENESS, Priority.LOW, "Neither definition gives an example of its use.", missing
        )


def _parameters(pair: PairedTools) -> Iterator[DifferentiationIssue]:
    shared = shared_parameters(pair)
    smaller = min(len(pair.a.parameters), len(pair.b.parameters))
    larger = max(len(pair.a.parameters), len(pair.b.parameters))
    if not shared or len(shared) < 0.5 * smaller:
        return
    names = listed([ticked(name) for name in shared])
    same = len(shared) == larger
    sentence = f"Both take the same parameters: {names}." if same else f"Both take {names}."
    share = len(shared) / (smaller + larger - len(shared))
    yield _issue(IssueType.PARAMETER_UNIQUENESS, _by(share, 0.99, 0.5), sentence, shared)


def _naming(pair: PairedTools) -> Iterator[DifferentiationIssue]:
    a, b = pair.a.name, pair.b.name
    if not blurred(a, b):
        return
    common = meanings(a) & meanings(b)
    if a == b:
        sentence = f"Both tools are called {ticked(a)}."
    elif meanings(a) == meanings(b):
        sentence = f"{ticked(a)} and {ticked(b)} mean the same."
    elif meanings(a) <= meanings(b) or meanings(b) <= meanings(a):
        short, long = sorted((a, b), key=lambda name: len(meanings(name)))
        sentence = f"The name {ticked(short)} says nothing that {ticked(long)} does not say too."
    else:
        sentence = f"The names {ticked(a)} and {ticked(b)} are made of nearly the same words."
    yield _issue(IssueType.NAMING_CLARITY, _by(alikeness(a, b), 0.99, 0.8), sentence, _words_of(pair, common))


def _words_of(pair: PairedTools, common: frozenset[str]) -> tuple[str, ...]:
    """Return the words of both names that mean the same, `fetch/get` where they are not the same word."""
    pairs = ((one, other) for one in name_words(pair.a.name) for other in name_words(pair.b.name))
    same = [(one, other) for one, other in pairs if meanings(one) == meanings(other) and meanings(one) <= common]
    return tuple(dict.fromkeys(one if one == other else f"{one}/{other}" for one, other in same))


def _terminology(pair: PairedTools) -> Iterator[DifferentiationIssue]:
    shared = [word for key, word in pair.a.words.items() if key in pair.b.words]
    smaller = min(len(pair.a.words), len(pair.b.words))
    if len(shared) < FEWEST_WORDS or len(shared) < FEWEST_SHARE * smaller:
        return
    share = len(shared) / smaller
    of = counted(smaller, "telling word", "telling words")
    sentence = f"{len(shared)} of the {of} of the shorter description are in the other one too."
    yield _issue(IssueType.TERMINOLOGY_OVERLAP, _by(share, 0.75, 0.55), sentence, tuple(shared))


def _issue(kind: IssueType, priority: Priority, sentence: str, evidence: tuple[str, ...]) -> DifferentiationIssue:
    return DifferentiationIssue(type=kind, priority=priority, sentence=sentence, evidence=evidence[:MOST_EVIDENCE])


def _by(share: float, high: float, medium: float) -> Priority:
    return Priority.HIGH if share >= high else Priority.MEDIUM if share >= medium else Priority.LOW


_ORDER = tuple(IssueType)
_RANK = {priority: place for place, priority in enumerate(Priority)}
_OTHERS: tuple[Callable[[PairedTools], Iterator[DifferentiationIssue]], ...] = (_scope, _examples, _parameters)
