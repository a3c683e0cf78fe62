"""Rules about a tool's description: present, long enough, and specific about the action."""

import re
from collections.abc import Iterator

from mcp_tef.scoring.lint.definition_texts import excerpt, shown_name
from mcp_tef.scoring.lint.lint_context import LintContext, LintHit, RuleCheck, error, note, warning
from mcp_tef.scoring.lint.vocabulary import ACTIONS, reads_as_english, says_an_action, telling, word_count, word_set
from mcp_tef.scoring.phrases import counted, listed
from mcp_tef.scoring.tfidf_weights import stems

LEAST_WORDS = 4
MOST_CHARACTERS = 1_024
LIMIT = 4_096
OPENING = 300
PURPOSE = 150
FEW_WORDS = 10
LEAST_REPEATED = 3

_PLACE = "description"
_VAGUE_VERB = re.compile(
    r"(?:this (?:tool|function) )?(?:is used to |can )?(handl(?:es?|ing)|process(?:es|ing)?|manag(?:es?|ing)|"
    r"deals? with|works? with|does|do|helps? with|supports?)\b",
    re.IGNORECASE,
)
_VAGUE_WORD = re.compile(
    r"\b(stuff|things?|and so on|and so forth|and more|miscellaneous|some kind of|sort of|as appropriate|somehow|"
    r"whatever|various(?![^.\n]{0,60}(?:such as|including|like|:|\()))\b",
    re.IGNORECASE,
)
_HOLLOW = word_set("""
    action actions anything data function info information input item items object objects operation operations
    output something stuff thing things value values
""")


_PLACEHOLDER = re.compile(
    r"\W*(?:to[d]o|tbd|tba|tbc|fix[m]e|wip|x{3,9}|n/?a|none|null|nil|undefined|unknown|test|asdf\w*|qwerty\w*|placeholder|"
    r"(?:add |insert |write |enter |put |your |tool |function |the |a |no |empty |missing )*descriptions?"
    r"(?: (?:goes |comes )?(?:here|available|provided|given|needed|missing|later|tbd|to[d]o))?|coming soon|"
    r"work in progress|"
    r"not (?:yet )?(?:described|documented|implemented)(?: yet)?|change ?me|fill (?:this )?in|à compléter|à faire|"
    r"zu erledigen|folgt(?: noch)?|keine beschreibung|por hacer|pendiente|sin descripción|pas de description|"
    r"da completare|a fazer|описание отсутствует|нет описания|"
    r"待补充|待定|暂无描述|暂无说明|無描述|説明なし|未定|설명 없음|미정)\W*",
    re.IGNORECASE,
)
_OPENS_AS_FILLER = re.compile(
    r"(?:^|[.;\n]\s{0,20}+)\W{0,9}(?:TO[D]O|TBD|FIX[M]E|X{3}|WIP)"
    r"(?:\s*(?:[:\-–—(.]|$)| (?:add|write|describe|document|fill|finish|explain)\b)|"
    r"^\W{0,9}(?i:to[d]o|tbd|fix[m]e)\s*:|"
    r"\b(?i:lorem ipsum|(?:fill|insert|add|write|put) (?:in )?(?:the |a |your )?(?:tool |function )?description here)|"
    r"^\W{0,9}(?i:\{\{[^}]{0,60}\}\}|[<\[](?:insert |your |tool )*description[^>\]]{0,20}[>\]])\W*$"
)
_FILLER_STEMS = ("to\x64o", "tbd", "fix\x6de", "xx\x78", "wip", "lorem", "description", "{{")
_SAME = re.compile(r"\W*(?:(\w)\1*(?:\W+\1+)*\W*)?")


def _placeholder(subject: LintContext) -> Iterator[LintHit]:
    found = [(_PLACE, subject.description)] if _is_filler(subject.description) else []
    if any(stem in subject.all_said for stem in _FILLER_STEMS):
        texts = [(_PLACE, subject.description), *((node.place, node.description) for node in subject.parameters)]
        found += [(place, text) for place, text in texts if _OPENS_AS_FILLER.search(text)]
    for place, text in dict(found).items():
        fix = "Write what it does, to what, and when to use it."
        yield LintHit(place, "The description is a placeholder.", fix, excerpt(text))


def _is_filler(text: str) -> bool:
    words = text.lower().split() if len(text) <= OPENING else []
    if len(words) >= LEAST_REPEATED and len(set(words)) == 1:
        return True
    return bool(words) and bool(_PLACEHOLDER.fullmatch(text) or _SAME.fullmatch(text))


def _over_limit(subject: LintContext) -> Iterator[LintHit]:
    if (length := len(subject.description)) > LIMIT:
        sentence = f"The description has {length:,} characters, more than {LIMIT:,}."
        yield LintHit(_PLACE, sentence, "Shorten it: clients cut or refuse it.", excerpt(subject.description))


def _missing(subject: LintContext) -> Iterator[LintHit]:
    if not subject.description:
        fix = "Write one or two sentences: what it does, to what, and when to use it."
        yield LintHit(_PLACE, "The tool has no description.", fix)


def _too_short(subject: LintContext) -> Iterator[LintHit]:
    text = subject.description
    if text and len(text) < OPENING and (count := word_count(text)) < LEAST_WORDS and not _repeats(subject):
        sentence = f"The description has only {counted(count, 'word', 'words')}."
        yield LintHit(_PLACE, sentence, "Add what it acts on, what comes back, and when to use it.", excerpt(text))


def _too_long(subject: LintContext) -> Iterator[LintHit]:
    if MOST_CHARACTERS < (length := len(subject.description)) <= LIMIT:
        sentence = f"The description has {length:,} characters, more than {MOST_CHARACTERS:,}."
        fix = "Keep what decides whether to select the tool; move the rest to the parameters it is about."
        yield LintHit(_PLACE, sentence, fix, excerpt(subject.description))


def _repeats(subject: LintContext) -> bool:
    if len(subject.description) > OPENING:
        return False
    said = stems(subject.description)
    return bool(said) and set(said) <= set(stems(subject.name))


def _repeats_name(subject: LintContext) -> Iterator[LintHit]:
    if _repeats(subject):
        sentence = f"The description only repeats the name `{shown_name(subject.name, 80)}`."
        yield LintHit(
            _PLACE, sentence, "Say what the name does not: on what, with what result.", excerpt(subject.description)
        )


def _no_verb(subject: LintContext) -> Iterator[LintHit]:
    opening = subject.description[:OPENING]
    if opening and reads_as_english(opening) and not says_an_action(opening):
        fix = "Begin with a verb that says what the tool does, such as “Find”, “Create” or “Send”."
        yield LintHit(_PLACE, "The description does not say what the tool does: no action verb.", fix, excerpt(opening))


def _vague(subject: LintContext) -> Iterator[LintHit]:
    text = subject.description[:PURPOSE]
    found = list(dict.fromkeys(match[1].lower() for match in _vague_matches(text)))
    if found:
        sentence = f"The description is vague: {listed([f'“{word}”' for word in found])}."
        fix = "Name the actions and the things that are meant."
        yield LintHit(_PLACE, sentence, fix, excerpt(subject.description, *next(_vague_matches(text)).span(1)))
    elif hollow := _only_hollow_noun(text):
        sentence = f"The description does not say which {hollow}."
        yield LintHit(_PLACE, sentence, "Name the things that the tool acts on.", excerpt(text))


def _only_hollow_noun(text: str) -> str | None:
    """Return the first hollow noun of a text that has only actions and hollow nouns."""
    said = telling(text)
    if all(word in _HOLLOW or word in ACTIONS for word in said):
        return next((word for word in said if word in _HOLLOW), None)
    return None


def _vague_matches(text: str) -> Iterator["re.Match[str]"]:
    opening = _VAGUE_VERB.match(text)
    if opening and word_count(text) < FEW_WORDS:
        yield opening
    yield from _VAGUE_WORD.finditer(text)


CHECKS: tuple[RuleCheck, ...] = (
    error(
        "description-missing",
        50,
        _missing,
        title="No description",
        why="A model selects a tool by its description; without one it guesses from the name.",
    ),
    error(
        "description-placeholder",
        50,
        _placeholder,
        title="Placeholder",
        why="A text that says nothing is read as carefully as one that does, and leaves the model to guess.",
    ),
    error(
        "description-over-limit",
        20,
        _over_limit,
        title="Description over the limit",
        why="Clients and providers cut or refuse descriptions of this length, and the model reads half of it.",
    ),
    warning(
        "description-repeats-name",
        15,
        _repeats_name,
        title="Description repeats the name",
        why="The model has read the name already; the same words again tell it nothing.",
    ),
    warning(
        "description-too-short",
        12,
        _too_short,
        title="Description too short",
        why="Two or three words rarely tell a tool from its neighbours.",
    ),
    warning(
        "description-no-verb",
        10,
        _no_verb,
        title="No action verb",
        why="A request is a wish to have something done; a description without an action is hard to match to it.",
    ),
    note(
        "description-vague",
        6,
        _vague,
        title="Vague words",
        why="Words that fit every tool do not help to select one.",
    ),
    note(
        "description-too-long",
        6,
        _too_long,
        title="Description too long",
        why="Long descriptions bury what matters, cost tokens on every request, and some providers accept no more.",
    ),
)
