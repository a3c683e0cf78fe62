"""Rules about a tool's name, and about annotations that contradict it or each other."""

import re
from collections.abc import Iterator

from mcp_tef.scoring.lint.definition_texts import escape, excerpt, plain_letters, shown_name, visible
from mcp_tef.scoring.lint.lint_context import LintContext, LintHit, RuleCheck, error, note, warning
from mcp_tef.scoring.lint.vocabulary import READING, REMOVING, WRITING, word_set, words
from mcp_tef.scoring.phrases import counted, kind_of, listed, ticked

PROTOCOL_LENGTH = 128
PROVIDER_LENGTH = 64

_PROTOCOL = re.compile(r"[A-Za-z0-9_.-]")
_PROVIDER = re.compile(r"[A-Za-z0-9_-]")
_SAYS_NOTHING = word_set("""
    a act action actions api app bar baz call callback cmd command custom default do doit example exec execute
    foo func function general generic go handle handler helper helpers invoke it job main manage mcp method misc
    my new op operation perform process run sample something stuff task temp test that the thing things this tmp
    tool tools untitled use util utility utils
""")


def _against_protocol(subject: LintContext) -> Iterator[LintHit]:
    rule = "the protocol allows letters, digits, “_”, “-” and “.”"
    yield from _bad_name(subject.name, PROTOCOL_LENGTH, _PROTOCOL, rule)


def _against_providers(subject: LintContext) -> Iterator[LintHit]:
    rule = "providers accept letters, digits, “_” and “-”"
    if not any(_against_protocol(subject)):
        yield from _bad_name(subject.name, PROVIDER_LENGTH, _PROVIDER, rule)


def _bad_name(name: str, longest: int, allowed: "re.Pattern[str]", rule: str) -> Iterator[LintHit]:
    others = sorted(set(allowed.sub("", name)))
    fix = f"Rename it with 1 to {longest} of these characters."
    if others:
        held = listed(["a space" if one == " " else f"“{visible(one)}”" for one in others])
        yield LintHit("name", f"The name holds {held}; {rule}.", fix, shown_name(name, 80))
    elif not 1 <= len(name) <= longest:
        sentence = f"The name has {counted(len(name), 'character', 'characters')}; {rule}, 1 to {longest} of them."
        yield LintHit("name", sentence, fix, shown_name(name, 80))


def _not_telling(subject: LintContext) -> Iterator[LintHit]:
    parts = [part for part in (word.strip("0123456789") for word in words(subject.name)) if len(part) > 1]
    if subject.name and subject.name.isascii() and _SAYS_NOTHING.issuperset(parts):
        fix = "Name it by what it does to what, such as `find_invoice`."
        yield LintHit("name", "The name does not tell what the tool does.", fix, shown_name(subject.name, 80))


def _duplicated(subject: LintContext) -> Iterator[LintHit]:
    if (count := subject.catalogue.count(subject.tool)) > 1:
        sentence = f"The server lists {count} tools with this name."
        yield LintHit("name", sentence, "Give each tool of a server a name of its own.", shown_name(subject.name, 80))


def _lookalike(subject: LintContext) -> Iterator[LintHit]:
    parameters = subject.parameters if subject.foreign_texts else ()
    for place, name in (("name", subject.name), *((node.place, node.name) for node in parameters)):
        plain = plain_letters(name)
        if plain != name and plain.isascii() and plain.isprintable():
            told = f"The name looks like {ticked(plain)}, but has {listed(_foreign_letters(name))} in it."
            yield LintHit(place, told, f"Write {ticked(plain)} in plain letters.", shown_name(name, 80))


def _foreign_letters(name: str) -> list[str]:
    return [escape(letter) for letter in sorted(set(name)) if not letter.isascii()]


def _case_twin(subject: LintContext) -> Iterator[LintHit]:
    if twins := subject.catalogue.case_twins(subject.tool):
        sentence = f"The server also lists {listed([ticked(name) for name in twins])}, which differs by case only."
        yield LintHit("name", sentence, "Give each tool of a server a name of its own.", shown_name(subject.name, 80))


NAME_CHECKS: tuple[RuleCheck, ...] = (
    error(
        "name-duplicated",
        30,
        _duplicated,
        title="Name used twice on a server",
        why="A call by this name may reach either tool, and most providers refuse the whole list.",
    ),
    error(
        "name-lookalike",
        40,
        _lookalike,
        title="Name in look-alike letters",
        why="People and clients take it for another name; a call or a consent goes to the wrong tool.",
    ),
    error(
        "name-case-twin",
        30,
        _case_twin,
        title="Names that differ by case only",
        why="Models mix them up, and clients that ignore case call the wrong one.",
    ),
    warning(
        "name-protocol",
        20,
        _against_protocol,
        title="Name outside the protocol's rules",
        why="MCP 2025-11-25 asks for 1 to 128 letters, digits, “_”, “-” and “.”; clients may refuse other names.",
    ),
    note(
        "name-provider",
        5,
        _against_providers,
        title="Name that providers change or refuse",
        why="Providers accept 1 to 64 letters, digits, underscores and hyphens, so a client must show another name.",
    ),
    warning(
        "name-not-telling",
        15,
        _not_telling,
        title="Name that does not tell",
        why="The name is what a model writes to call the tool, and the first thing it compares.",
    ),
)


HINTS = ("destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint")


def _contradicts_name(subject: LintContext) -> Iterator[LintHit]:
    verb = _verb(subject.name)
    read_only, destructive = subject.annotations.get("readOnlyHint"), subject.annotations.get("destructiveHint")
    if verb in REMOVING | WRITING and read_only is True:
        yield _contradiction(subject, "readOnlyHint", "true", f"a tool named “{verb}” changes something")
    elif verb in REMOVING and destructive is False:
        yield _contradiction(subject, "destructiveHint", "false", f"a tool named “{verb}” destroys something")
    elif verb in READING and destructive is True and read_only is not True:
        yield _contradiction(subject, "destructiveHint", "true", f"a tool named “{verb}” only reads")


def _verb(name: str) -> str:
    return next((word for word in words(name) if word in READING | REMOVING | WRITING), "")


def _contradiction(subject: LintContext, hint: str, value: str, expected: str, source: str = "name") -> LintHit:
    sentence = f"`{hint}` is {value}, but by its {source} {expected}."
    fix = f"Correct `{hint}`, or name the tool by what it really does."
    return LintHit(f"annotations: {hint}", sentence, fix, shown_name(subject.name, 80))


def _contradicts_itself(subject: LintContext) -> Iterator[LintHit]:
    if subject.annotations.get("readOnlyHint") is True and subject.annotations.get("destructiveHint") is True:
        sentence = "`readOnlyHint` and `destructiveHint` are both true."
        yield LintHit("annotations", sentence, "Set `readOnlyHint` to false, or leave `destructiveHint` out.")


def _says(verbs: str, ending: str = "(?:e?s)?") -> str:
    """Return a pattern of verbs as descriptions use them: delete, deletes."""
    return "|".join(f"{verb}{ending}" for verb in verbs.split())


_START = r"^(?:this (?:tool|function) |it )?"
_NOT = r"(?<!not )(?<!never )(?<!n't )(?<!without )"
_OBJECT = r" (?:an?|the|new|one|your|this|these|all|any|existing|multiple)\b"
_DESTROYING = _says("delete destroy erase overwrite purge revoke uninstall wipe")
_FOREIGN_DESTROYING = (
    r"(?:löscht|löschen|supprime|supprimer|efface|elimina|eliminar|borra|borrar|cancella|удаляет|удалить|стирает)\b|"
    r"(?:永久)?(?:删除|刪除|移除|清空)|[^。\n]{0,12}を(?:削除|消去)|[^.\n]{0,12}삭제"
)
_DESTROYS = re.compile(
    rf"{_START}(?P<verb>{_DESTROYING})\b(?! (?:status|history))|"
    rf"{_NOT}\b(?P<also>deletes|destroys|erases|overwrites|purges|wipes)\b|{_START}(?P<other>{_FOREIGN_DESTROYING})",
    re.IGNORECASE,
)
_REMOVES = re.compile(rf"{_START}(?P<verb>remove|removes)\b|{_DESTROYS.pattern.replace('P<verb>', 'P<first>')}", re.I)
_CHANGING = (
    "add append assign buy cancel create deploy disable edit enable insert install modify pay publish rename replace "
    "save submit update upload write"
)
_CHANGES = re.compile(
    rf"{_START}(?P<verb>{_says(_CHANGING)}){_OBJECT}|"
    rf"(?:\band |[.;\n] ?)(?:then )?(?P<also>{_says(_CHANGING, 'e?s')}){_OBJECT}",
    re.IGNORECASE,
)
_READS = re.compile(
    rf"{_START}(?P<verb>{'|'.join(f'{verb}s?' for verb in sorted(READING | {'return'}))})\b", re.IGNORECASE
)
_ENDING = re.compile(
    r"delet|destr|drop|eras|kill|purg|remov|revok|terminat|trash|truncat|uninstall|unlink|wip|clear|clean|cancel|clos|stop|"
    r"lösch|entfern|supprim|effac|elimin|borr|cancell|удал|删|刪|除|消|삭제",
    re.IGNORECASE,
)


def _verb_of(pattern: "re.Pattern[str]", text: str) -> str:
    """Return the first verb of a pattern in a text, in small letters; empty without any."""
    found = pattern.search(text)
    return next(filter(None, found.groupdict().values()), "").strip().lower() if found else ""


def _description_contradicts(subject: LintContext) -> Iterator[LintHit]:
    """Yield a description that removes where the name reads, or only reads where the name removes."""
    said, named = subject.description, set(words(subject.name))
    reads, removes, done = sorted(named & READING), sorted(named & REMOVING), ""
    if reads and named.isdisjoint(REMOVING | WRITING):
        done = _verb_of(_REMOVES, said)
    elif removes and not reads and not _ENDING.search(said):
        done = _verb_of(_READS, said)
    if done:
        sentence = f"The description says “{done}”, but the name says “{(reads or removes)[0]}”."
        yield LintHit("description", sentence, "Correct the one that is wrong.", excerpt(said))


def _contradicts_description(subject: LintContext) -> Iterator[LintHit]:
    read_only = subject.annotations.get("readOnlyHint") is True
    if not read_only and subject.annotations.get("destructiveHint") is not False:
        return
    hint, value = ("readOnlyHint", "true") if read_only else ("destructiveHint", "false")
    done = _verb_of(_DESTROYS, subject.description) or (read_only and _verb_of(_CHANGES, subject.description))
    if done:
        yield _contradiction(subject, hint, value, f"it “{done}”", "description")


def _no_hint(subject: LintContext) -> Iterator[LintHit]:
    for hint in HINTS:
        value = subject.annotations.get(hint)
        if value is not None and not isinstance(value, bool):
            sentence = f"{ticked(hint)} is {kind_of(value)}, not true or false."
            yield LintHit(f"annotations: {hint}", sentence, "Write true or false without quotation marks.")


ANNOTATION_CHECKS: tuple[RuleCheck, ...] = (
    error(
        "annotation-contradicts-name",
        20,
        _contradicts_name,
        title="Annotation contradicts the name",
        why="Clients ask for consent by these hints; a wrong one lets a change through unasked, or asks for nothing.",
    ),
    error(
        "annotation-contradicts-description",
        20,
        _contradicts_description,
        title="Annotation contradicts the description",
        why="Clients ask for consent by these hints; a wrong one lets a change through unasked.",
    ),
    error(
        "description-contradicts-name",
        20,
        _description_contradicts,
        title="Description contradicts the name",
        why="A model that trusts the name calls a tool that does something else.",
    ),
    warning(
        "annotation-contradicts-itself",
        8,
        _contradicts_itself,
        title="Annotations contradict each other",
        why="What only reads cannot destroy; a client has to guess which hint to believe.",
    ),
    warning(
        "annotation-not-boolean",
        6,
        _no_hint,
        title="Annotation of the wrong type",
        why="A hint that is not true or false is ignored, and the careful default takes its place.",
    ),
)
