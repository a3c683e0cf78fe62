"""Rules about texts that are no description: hidden or reversed characters, orders to the model (tool poisoning)."""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from mcp_tef.scoring.lint.definition_texts import INVISIBLE, TURNING, TURNING_MARKS, DefinitionText, escape, excerpt
from mcp_tef.scoring.lint.lint_context import LintContext, LintHit, Look, RuleCheck, error, warning
from mcp_tef.scoring.phrases import counted, listed, ticked

_FLAG = "\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f"
_JOINED = "(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])"
_HIDDEN = re.compile(f"(?:{_FLAG}|{_JOINED})|(?P<found>[{INVISIBLE}]+)")
_TURNING = re.compile(f"[{TURNING}]+")
_MARKS = re.compile(f"[{TURNING_MARKS}]+")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_TAGS = re.compile("[\U000e0020-\U000e007e]+")


def _hidden(subject: LintContext) -> Iterator[LintHit]:
    for text in _foreign(subject.texts):
        found = [match for match in _HIDDEN.finditer(text.text) if match["found"]]
        if found:
            characters = "".join(match["found"] for match in found)
            sentence = f"{_opening(text)} {counted(len(characters), 'character', 'characters')} that cannot be seen: "
            sentence += f"{_named(characters)}.{_spelled(characters)}"
            yield LintHit(
                text.place, sentence, "Take them out, and find out who put them there.", _shown(text, found[0])
            )


def _turning(subject: LintContext) -> Iterator[LintHit]:
    for text in _foreign(subject.texts):
        found = [*_TURNING.finditer(text.text)]
        if not _RIGHT_TO_LEFT.search(text.text):
            found += _MARKS.finditer(text.text)
        if found:
            named = _named("".join(match[0] for match in found))
            sentence = f"{_opening(text)} characters that change the direction of text: {named}."
            fix = "Take them out: people read another text than the model."
            yield LintHit(text.place, sentence, fix, _shown(text, found[0]))


def _foreign(texts: Iterable[DefinitionText]) -> Iterator[DefinitionText]:
    """Return texts that could hold such characters: most are plain and told at once."""
    return (text for text in texts if not (text.text.isascii() and text.text.isprintable()))


def _opening(text: DefinitionText) -> str:
    return "This name has" if text.key else "This text has"


def _shown(text: DefinitionText, match: "re.Match[str]") -> str:
    return excerpt(text.text, *match.span())


def _named(characters: str) -> str:
    ordered = groupby(sorted(characters))
    return listed([f"{escape(one)}{f' × {count}' if (count := len(list(same))) > 1 else ''}" for one, same in ordered])


def _spelled(characters: str) -> str:
    """Return the plain letters that tag characters (U+E0000–U+E007F) stand for; empty without any."""
    letters = "".join(chr(ord(one) - 0xE0000) for run in _TAGS.findall(characters) for one in run)
    return f" They spell “{excerpt(letters)}”." if letters else ""


LEAST_BETWEEN_SLASHES = 12
LEAST_HEXADECIMAL = 80

_FIX = "Take it out; describe what the tool does and leave the model's behaviour to the client."
_SECRETS = (
    r"(?:~/|\$HOME/|/home/\w+/|/root/)?\.(?:ssh|aws|gnupg|kube|netrc|npmrc|cursor|env)\b|\bid[ _](?:rsa|ed25519)\b|"
    r"/etc/(?:passwd|shadow)\b|\bmcp\.json\b|\bclaude_desktop_config\b|\bprivate keys?\b|\bssh keys?\b"
)
_SECRET_WORDS = (
    *(".ssh", ".aws", ".gnupg", ".kube", ".netrc", ".npmrc", ".cursor", ".env", "rsa", "ed25519", "/etc/", "mcp.json"),
    *("claude_desktop", "private key", "ssh key"),
)
_LOOT = (
    r"(?:conversation|chat|history|contents?|files?|data|results?|messages?|prompts?|keys?|tokens?|passwords?|"
    r"credentials|secrets?|environment|variables|context|everything|output|copy|emails?|it|them)"
)
_ELSEWHERE = r"(?:https?://[^\s\"'<>)]{4,200}|[\w.+-]{1,64}@[\w-]{1,63}\.[a-z]{2,24})"

_OVERRIDING = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,30}\b(?:previous|prior|above|earlier|preceding|other|all|any|"
    r"system|safety|your)\b[^.\n]{0,30}\b(?:instructions?|prompts?|rules|guidelines|directives|guardrails|restrictions)\b|"
    r"\byou are now (?:a|an|in|the)\b|\b(?:new|updated) (?:system )?(?:instructions?|prompt)\s*:|\bdo anything now\b",
    re.IGNORECASE,
)
_PEOPLE = r"(?:the |any )?(?:users?|humans?|anyone|people)\b"
_SECRECY = re.compile(
    r"\b(?:do not|don['’]t|never|must not|should not|avoid)\s+(?:\w+\s+){0,2}?"
    r"(?:tell|mention|inform|reveal|disclose|notify|alert|let)(?:ing)?\b[^.\n]{0,40}\b(?:to |from )?"
    rf"{_PEOPLE}|"
    rf"\bwithout (?:telling|informing|notifying|alerting|asking|the knowledge of) {_PEOPLE}|"
    rf"\b(?:hide|conceal|keep)\b[^.\n]{{0,30}}\b(?:from|secret from|hidden from) {_PEOPLE}|"
    r"\b(?:do not|don['’]t|never) mention (?:this|that you|these)\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"</? ?(?:important|system|secret|hidden|instructions?|admin|sys|critical|assistant|human) ?/?>|"
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?INST\]|<<\s*SYS\s*>>|"
    r"^[ \t]{0,40}#{2,6} ?(?:system|instructions? (?:to|for) (?:the )?(?:model|assistant|ai)) ?:?$",
    re.IGNORECASE | re.MULTILINE,
)
_FILES = re.compile(
    rf"\b(?:read(?:ing)?|open|cat|load|include|send|pass|copy|attach|fetch|paste|provide|contents? of|content from)\b"
    rf"[^.\n]{{0,60}}?(?:{_SECRETS})",
    re.IGNORECASE,
)
_SENDING = re.compile(
    rf"\b(?:send|forward|post|transmit|exfiltrate|leak|e-?mail|b?cc|report|submit|upload)\s+(?:\w+\s+){{0,6}}?{_LOOT}\b"
    rf"[^\n]{{0,60}}?\bto:?\s+(?:the )?(?:\w+ ){{0,2}}{_ELSEWHERE}",
    re.IGNORECASE,
)
_MUST = r"(?:must|have to|need to|required to|always)"
_ANY_CALL = r"(?:using|calling|invoking|running|you (?:use|call)) (?:this|any|other|all|every)"
_COERCING = re.compile(
    rf"\b(?:before|prior to|after) {_ANY_CALL}\b[^.\n]{{0,60}}\b{_MUST}\b|"
    rf"\b{_MUST}\b[^.\n]{{0,60}}\bbefore {_ANY_CALL}\b|"
    r"\bhave you (?:used|called)\b[^.\n]{0,60}\bfirst\s*\?|"
    r"\b(?:should|must) be your first (?:step|call|action)\b|"
    r"\b(?:always|must) (?:use|call|invoke|run) (?:this|it)\b[^.\n]{0,40}"
    r"\b(?:first|before any(?:thing)?|before (?:all|every))\b|\bif not,? stop\b",
    re.IGNORECASE,
)
_PROMOTING = re.compile(
    r"\b(?:always|only|must) (?:use|call|prefer|choose|select|pick) (?:this|it)\b[^.\n]{0,60}"
    r"\b(?:instead of|over|rather than|no matter|regardless)\b[^.\n]{0,30}\b(?:any|all|other|others|every|what)\b|"
    r"\b(?:never|do not|don['’]t) (?:use|call|choose|pick) (?:any )?other (?:tools?|servers?|functions?)\b|"
    r"\bthis is the (?:best|most important|only) tool (?:you|to (?:use|call)|for (?:everything|any|all))\b",
    re.IGNORECASE,
)
_OTHER_TOOL = re.compile(
    r"\b(?i:instead of|rather than|in place of|(?:do not|don['’]t|never) (?:use|call)|replaces)\s+(?:using |calling )?"
    r"(?:the |any )?[`'\"“]?(?P<name>[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)[`'\"”]?"
)
_STEERING_WORDS = ("instead of", "rather than", "in place of", " use", " call", "replaces")
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")
_ENCODED = re.compile(r"(?<![\w+/=-])(?:[A-Za-z0-9+/]{60,}={0,2})(?![\w+/=-])")


def _says(pattern: "re.Pattern[str]", sentence: str, *needed: str) -> Look:
    """Return a search for the first match of a pattern in each text; a match always has one of the needed words."""

    def look(subject: LintContext) -> Iterator[LintHit]:
        for text, plain in subject.readings if _occurs(subject, needed) else ():
            if found := pattern.search(plain):
                yield LintHit(text.place, sentence, _FIX, excerpt(plain, *found.span()))

    return look


def _occurs(subject: LintContext, needed: Sequence[str]) -> bool:
    return any(word in subject.all_said for word in needed)


def _other_tool(subject: LintContext) -> Iterator[LintHit]:
    for text, plain in subject.readings if _occurs(subject, _STEERING_WORDS) else ():
        for found in _OTHER_TOOL.finditer(plain):
            name = found["name"]
            if not subject.catalogue.own(subject.tool, name):
                servers = subject.catalogue.elsewhere(subject.tool, name)
                where = f"a tool of {listed(servers)}" if servers else "which this server does not list"
                sentence = f"The text tells the model not to use {ticked(name)}, {where}."
                yield LintHit(
                    text.place, sentence, "Speak about this server's own tools only.", excerpt(plain, *found.span())
                )


def _encoded(subject: LintContext) -> Iterator[LintHit]:
    for text, plain in subject.readings if _ENCODED.search(subject.all_said) else ():
        found = next((match for match in _ENCODED.finditer(plain) if _looks_encoded(match[0])), None)
        if found:
            sentence = f"The text holds {len(found[0])} encoded characters.{_decoded(found[0])}"
            fix = "Take it out, or write in plain words what it says."
            yield LintHit(text.place, sentence, fix, excerpt(plain, *found.span()))


def _looks_encoded(text: str) -> bool:
    if _HEXADECIMAL.fullmatch(text):
        return len(text) >= LEAST_HEXADECIMAL
    kinds: tuple[Callable[[str], bool], ...] = (str.isupper, str.islower, str.isdigit)
    is_path = text.count("/") * LEAST_BETWEEN_SLASHES > len(text)
    return all(any(map(kind, text)) for kind in kinds) and not is_path


def _decoded(text: str) -> str:
    try:
        raw = bytes.fromhex(text) if _HEXADECIMAL.fullmatch(text) else base64.b64decode(text + "=" * (-len(text) % 4))
        plain = raw.decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
    return f" Decoded it says “{excerpt(plain, 0, len(plain))}”." if plain.isprintable() else ""


_READ_AS_ORDERS = "A model reads descriptions as part of its own instructions, and people rarely see them."

CHECKS: tuple[RuleCheck, ...] = (
    error(
        "hidden-characters",
        40,
        _hidden,
        title="Hidden characters",
        why="A model reads what people who approve the tool cannot see; instructions are smuggled in this way.",
    ),
    error(
        "bidirectional-characters",
        40,
        _turning,
        title="Characters that turn text around",
        why="People are shown another order of characters than the model reads.",
    ),
    error(
        "poisoning-override",
        50,
        _says(
            _OVERRIDING,
            "The text tells the model to put other instructions aside.",
            "ignore",
            "disregard",
            "forget",
            "override",
            "bypass",
            "you are now",
            "instruction",
            "prompt",
            "anything now",
        ),
        title="Overrides other instructions",
        why=_READ_AS_ORDERS,
    ),
    error(
        "poisoning-secrecy",
        50,
        _says(
            _SECRECY,
            "The text tells the model to keep something from the user.",
            "user",
            "human",
            "anyone",
            "people",
            "mention",
        ),
        title="Asks for secrecy",
        why="An honest tool has nothing to hide from who uses it.",
    ),
    error(
        "poisoning-secrets",
        50,
        _says(_FILES, "The text tells the model to read keys or settings of the user.", *_SECRET_WORDS),
        title="Reaches for keys and settings",
        why="What a model puts into an argument is sent to the server.",
    ),
    error(
        "poisoning-sending",
        50,
        _says(_SENDING, "The text tells the model to send something to an address of its own.", "http", "@"),
        title="Sends data elsewhere",
        why="A model that follows it hands out what the user told it.",
    ),
    error(
        "poisoning-markup",
        30,
        _says(
            _MARKUP,
            "The text holds markup that sets it apart as instructions to the model.",
            "<",
            "[inst",
            "[/inst",
            "##",
        ),
        title="Marked as instructions",
        why="Such marks lend a text a weight that a description must not have.",
    ),
    warning(
        "poisoning-order",
        15,
        _says(
            _COERCING,
            "The text orders the model to do something else before or after.",
            "before",
            "prior to",
            "after",
            "first",
            "if not",
        ),
        title="Orders other steps",
        why="A description that commands other calls is obeyed even where the user wanted none of them.",
    ),
    warning(
        "poisoning-promotion",
        15,
        _says(
            _PROMOTING,
            "The text asks the model to prefer this tool whatever the request.",
            "always",
            "only",
            "must",
            "never",
            "not use",
            "t use",
            "this is the",
        ),
        title="Promotes itself",
        why="A tool that asks to be picked takes requests away from the tools that fit.",
    ),
    warning(
        "poisoning-other-tool",
        10,
        _other_tool,
        title="Steers away from a stranger's tool",
        why="One server must not decide how the tools of another are used.",
    ),
    warning(
        "poisoning-encoded",
        20,
        _encoded,
        title="Encoded text",
        why="Nobody who reviews the tool can read it; a model may decode it and follow.",
    ),
)
