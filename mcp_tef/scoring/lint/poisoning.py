"""Rules about orders to the model in a definition (tool poisoning), found by phrases in several languages."""

import re
from collections.abc import Iterator, Sequence

from mcp_tef.scoring.lint import disclosure_phrases, disguises, order_phrases
from mcp_tef.scoring.lint.definition_texts import excerpt
from mcp_tef.scoring.lint.lint_context import LintContext, LintHit, Look, RuleCheck, error, warning
from mcp_tef.scoring.lint.order_phrases import OrderPhrase
from mcp_tef.scoring.phrases import listed, ticked

_FIX = "Take it out; describe what the tool does and leave the model's behaviour to the client."
_NAME = r"[`'\"“]?(?P<name>[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)[`'\"”]?"
_INSTEAD = re.compile(
    r"\b(?i:instead of|rather than|in place of|(?:do not|don['’]t|never) (?:use|call)|replaces)\s+(?:using |calling )?"
    rf"(?:the |any )?{_NAME}"
)
_USED = ("not use ", "not call ", "t use ", "t call ", "never use ", "never call ")
_FORBIDDEN = re.compile(
    rf"\b(?i:do not|don['’]t|never|must not) (?:use|call|invoke) (?:the )?{_NAME}(?P<kind> (?:tool|function|server)\b)?"
)


def _says(phrases: Sequence[OrderPhrase], sentence: str) -> Look:
    """Return a search for the first match of a phrase in each text."""

    def look(subject: LintContext) -> Iterator[LintHit]:
        likely = [phrase for phrase in phrases if phrase.is_likely(subject.all_said, subject.openings)]
        for text, plain, fold in subject.folds if likely else ():
            if found := _first(likely, fold):
                shown = plain if len(plain) == len(fold) else fold
                yield LintHit(text.place, sentence, _FIX, excerpt(shown, *found.span()))

    return look


def _first(phrases: Sequence[OrderPhrase], text: str) -> "re.Match[str] | None":
    found = (phrase.pattern.search(text) for phrase in phrases if phrase.may_be_in(text))
    return next(filter(None, found), None)


def _other_tool(subject: LintContext) -> Iterator[LintHit]:
    fix = "Speak about this server's own tools only."
    for place, plain, found in _strangers(
        subject, _INSTEAD, "instead of", "rather than", "in place of", *_USED, "replaces"
    ):
        servers = subject.catalogue.elsewhere(subject.tool, found["name"])
        where = f"a tool of {listed(servers)}" if servers else "which this server does not list"
        sentence = f"The text tells the model not to use {ticked(found['name'])}, {where}."
        yield LintHit(place, sentence, fix, excerpt(plain, *found.span()))


def _forbidden_tool(subject: LintContext) -> Iterator[LintHit]:
    for place, plain, found in _strangers(subject, _FORBIDDEN, *_USED, "not invoke", "ever invoke", "t invoke"):
        if found["kind"] or subject.catalogue.elsewhere(subject.tool, found["name"]):
            sentence = f"The text forbids the model to use {ticked(found['name'])}, which is another server's."
            yield LintHit(place, sentence, _FIX, excerpt(plain, *found.span()))


def _strangers(
    subject: LintContext, pattern: "re.Pattern[str]", *stems: str
) -> Iterator[tuple[str, str, "re.Match[str]"]]:
    """Yield the matches that name a tool which the tool's own server does not list."""
    if not any(stem in subject.all_said for stem in stems):
        return
    for text, plain in subject.readings:
        for found in pattern.finditer(plain):
            if not subject.catalogue.own(subject.tool, found["name"]):
                yield text.place, plain, found


_READ_AS_ORDERS = "A model reads descriptions as part of its own instructions, and people rarely see them."

CHECKS: tuple[RuleCheck, ...] = (
    *disguises.CHECKS,
    error(
        "poisoning-override",
        50,
        _says(order_phrases.OVERRIDING, "The text tells the model to put other instructions aside."),
        title="Overrides other instructions",
        why=_READ_AS_ORDERS,
    ),
    error(
        "poisoning-secrecy",
        50,
        _says(order_phrases.SECRECY, "The text tells the model to keep something from the user."),
        title="Asks for secrecy",
        why="An honest tool has nothing to hide from who uses it.",
    ),
    error(
        "poisoning-secrets",
        50,
        _says(disclosure_phrases.FILES, "The text tells the model to read keys or settings of the user."),
        title="Reaches for keys and settings",
        why="What a model puts into an argument is sent to the server.",
    ),
    error(
        "poisoning-extraction",
        50,
        _says(disclosure_phrases.EXTRACTING, "The text asks for the system prompt, the conversation or secrets."),
        title="Asks for what the model knows",
        why="What a model puts into an argument is sent to the server.",
    ),
    error(
        "poisoning-sending",
        50,
        _says(disclosure_phrases.SENDING, "The text tells the model to send something to an address of its own."),
        title="Sends data elsewhere",
        why="A model that follows it hands out what the user told it.",
    ),
    error(
        "poisoning-download",
        50,
        _says(disclosure_phrases.DOWNLOADING, "The text runs a program straight from a download."),
        title="Runs a download",
        why="A model with a shell runs it, and nobody has seen the program.",
    ),
    error(
        "poisoning-markup",
        30,
        _says(disclosure_phrases.MARKUP, "The text holds markup that sets it apart as instructions to the model."),
        title="Marked as instructions",
        why="Such marks lend a text a weight that a description must not have.",
    ),
    error(
        "poisoning-order",
        30,
        _says(order_phrases.ORDERS, "The text tells the model what to do when it uses other tools."),
        title="Orders for other tools",
        why="A description that commands other calls is obeyed even where the user wanted none of them.",
    ),
    error(
        "poisoning-promotion",
        30,
        _says(
            order_phrases.PROMOTING, "The text tells the model to prefer this tool, or to avoid others, in any case."
        ),
        title="Promotes itself",
        why="A tool that asks to be selected takes requests away from the tools that fit.",
    ),
    error(
        "poisoning-forbidden-tool",
        30,
        _forbidden_tool,
        title="Forbids a stranger's tool",
        why="One server must not decide how the tools of another are used.",
    ),
    warning(
        "poisoning-pressure",
        10,
        _says(order_phrases.PRESSING, "The text urges the model to select this tool instead of saying what it is for."),
        title="Urges to be selected",
        why="A tool that is selected because it shouts is selected for requests that it does not fit, too.",
    ),
    warning(
        "poisoning-step",
        15,
        _says(order_phrases.STEPS, "The text orders the model to take another step before this tool."),
        title="Orders other steps",
        why="A model takes the step even where the user did not want it.",
    ),
    warning(
        "poisoning-other-tool",
        10,
        _other_tool,
        title="Steers away from a stranger's tool",
        why="One server must not decide how the tools of another are used.",
    ),
)
