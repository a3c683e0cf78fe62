"""The rules that every front end follows when an action needs consent, or a key needs an agreement."""

import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from mcp_tef.errors import TefError
from mcp_tef.model.servers import AuthType, ServerSpec
from mcp_tef.trust.consents import (
    COMMAND,
    SCRIPT,
    SETS,
    ConsentError,
    ConsentKind,
    ConsentRequest,
    fact_line,
    fact_lines,
    program_request,
    shortened,
    user_name,
)
from mcp_tef.trust.names import quoted_argument, shown, shown_address, visible

if TYPE_CHECKING:
    from mcp_tef.engine import Engine

T = TypeVar("T")
ConsentRow: TypeAlias = tuple[str, tuple[str, ...]]
_PLAIN_HTTP: Final = "Plain http: anyone on the network in between can read it."


class ConsentAnswer(Enum):
    """An answer to a question about consent."""

    ALLOW = "allow, now and from now on"
    ALLOW_ONCE = "allow for this session"
    WITHOUT_KEY = "go on without sending the key"
    DECLINE = "decline"


AskConsent: TypeAlias = Callable[[ConsentRequest], Awaitable[ConsentAnswer | None]]
OnEngine: TypeAlias = "Callable[[Callable[[Engine], Awaitable[None]]], Awaitable[None]]"


class ConsentDeclinedError(ConsentError):
    """The user declined, so nothing was done."""


async def ensure_consent(work: Callable[[], Awaitable[T]], ask: AskConsent, on_engine: OnEngine) -> T:
    """Do the work, settling every open question about consent first.

    Args:
        work: is repeated after the questions that it raised are settled.
        ask: puts one question to the user; None where nobody can answer it.
        on_engine: runs a function with the engine, on the loop that the engine belongs to.

    Raises:
        ConsentDeclinedError: the user declined.
        ConsentError: holds the questions that nobody could answer; the others are settled.
    """
    while True:
        try:
            return await work()
        except ConsentError as error:
            if not error.requests:
                raise
            requests = error.requests
        unanswered = []
        for request in requests:
            answer = await ask(request)
            if answer is ConsentAnswer.DECLINE:
                raise ConsentDeclinedError("You did not allow it, so nothing was done.", hint="Run it again to decide.")
            if answer is None:
                unanswered.append(request)
            else:
                await on_engine(partial(apply_consent_answer, request=request, answer=answer))
        if unanswered:
            raise ConsentError.of(unanswered)


async def apply_consent_answer(engine: "Engine", request: ConsentRequest, answer: ConsentAnswer) -> None:
    """Keep the answer to a question: for good, for this session, or as a key that is not sent."""
    if answer is ConsentAnswer.WITHOUT_KEY:
        engine.consents.decline_key(request)
    elif answer is not ConsentAnswer.DECLINE:
        await engine.consents.allow(request, remember=answer is ConsentAnswer.ALLOW)


async def sign_in_where_needed(engine: "Engine", specs: Iterable[ServerSpec], notice: Callable[[str], object]) -> None:
    """Let the user sign in to servers with OAuth that have no grant yet.

    A sign-in that fails is only a notice: the request that then uses the server says that it is needed.
    """
    for spec in specs:
        if spec.auth_type is not AuthType.OAUTH2:
            continue
        try:
            if await engine.sign_ins.needed(spec):
                await engine.sign_ins.sign_in(spec)
        except TefError as error:
            notice(error.message)


def launch_preview(spec: ServerSpec, listed_in: Sequence[str] = ()) -> ConsentRequest:
    """Return the question that a stdio server brings, for a page that shows it before the server is registered."""
    from mcp_tef.trust.plans import server_plan

    return program_request(spec, server_plan(spec, os.environ), listed_in)


def consent_rows(request: ConsentRequest) -> tuple[ConsentRow, ...]:
    """Return what the user has to see before answering: labels, each with its lines.

    All that decides what happens stands in it, character for character, unmasked and with nothing hidden. A long text
    stands in it whole if there is room, and after it by its first and last characters, so that no text pushes the
    rest away.
    """
    return tuple(row for row in (*_action_rows(request), *_other_rows(request)) if row[1])


def _action_rows(request: ConsentRequest) -> Iterator[ConsentRow]:
    """Yield what decides the action, and the names of what it would be given."""
    names = (shown(", ".join(request.names)) or "none of your variables or keychain entries",)
    for label, texts in request.facts:
        yield from _fact_rows(request, label, texts)
    if request.kind is ConsentKind.PATH:
        return
    if request.facts:
        yield "Reads", names
    else:
        yield from _address_rows(request, names)


def _other_rows(request: ConsentRequest) -> Iterator[ConsentRow]:
    """Yield who and what stands behind the question, and its warnings; a row without lines is left out."""
    is_program = request.kind is ConsentKind.PROGRAM
    yield "Runs as", (shown(user_name()),) if is_program else ()
    yield "Listed in", tuple(map(shown, request.listed_in))
    yield "Not hashed", _unhashed(request) if is_program else ()
    yield "Unencrypted", (_PLAIN_HTTP,) if request.unencrypted else ()
    yield "Check these", warning_lines(request)


def warning_lines(request: ConsentRequest) -> tuple[str, ...]:
    """Return what is worth a second look before answering."""
    from mcp_tef.scoring.command_risks.risks import launch_risks

    risks = launch_risks(_as_started(request.spec)) if request.spec is not None else ()
    return (*([request.obstacle] if request.obstacle else []), *map(visible, risks))


def _fact_rows(request: ConsentRequest, label: str, texts: Sequence[str]) -> Iterator[ConsentRow]:
    """Yield the texts that are not short, whole; then each text on a line of its own."""
    if label == SCRIPT and request.whole:
        yield label, tuple(chain.from_iterable(fact_lines(label, text) for text in texts))
        return
    for number, text in enumerate(texts, 1):
        if request.whole and shortened(text) != quoted_argument(text):
            yield f"{label} {number}, whole", tuple(fact_lines(label, text))
    yield label, tuple(_marked(label, number, text) for number, text in enumerate(texts, 1))


def _marked(label: str, number: int, text: str) -> str:
    """Return the line of a text, numbered in a command; one that decides which code runs is marked."""
    from mcp_tef.scoring.command_risks.risks import decides_what_runs

    line = f"{number}. {fact_line(label, text)}" if label == COMMAND else fact_line(label, text)
    name, equals, _ = text.partition("=")
    may_decide = bool(equals) and label in (COMMAND, SETS) and name.isidentifier()
    return f"{line} ← decides which code runs" if may_decide and decides_what_runs(name) else line


def _unhashed(request: ConsentRequest) -> tuple[str, ...]:
    """Return what a start loads that the agreement does not tie to a content."""
    from mcp_tef.trust.command_lines import commands, fetches_package

    facts = dict(request.facts)
    path = () if facts.keys() & {SCRIPT, "SHA-256"} else ("the program itself, which is known by its path",)
    fetches = any(map(fetches_package, commands(facts[COMMAND])))
    package = ("the package that it fetches, which its publisher can change",) if fetches else ()
    return (*path, "the files that it imports or reads, and the programs that it starts", *package)


def _address_rows(request: ConsentRequest, names: tuple[str, ...]) -> Iterator[ConsentRow]:
    yield "Address", (shown_address(request.target),)
    yield "Sends", names
    if request.spec is None:
        return
    yield "Fills in", _answer_lines(request.spec)
    if request.spec.oauth.issuer:
        yield "Signs in at", (shown_address(request.spec.oauth.issuer),)


def _answer_lines(spec: ServerSpec) -> tuple[str, ...]:
    """Return what the config of a server answers to its own questions."""
    from mcp_tef.trust.plans import input_answers

    return tuple(quoted_argument(f"${{input:{name}}}={text}") for name, text in input_answers(spec).items())


def _as_started(spec: ServerSpec) -> ServerSpec:
    """Return the definition with the answers of its config filled in, as it may be started."""
    from mcp_tef.trust.plans import input_answers

    defaults = {f"${{input:{name}}}": text for name, text in input_answers(spec).items()}

    def filled(text: str) -> str:
        for reference, default in defaults.items():
            text = text.replace(reference, default)
        return text

    return replace(spec, command=filled(spec.command or "") or None, args=tuple(map(filled, spec.args)))
