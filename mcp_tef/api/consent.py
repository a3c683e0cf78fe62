"""The rules that every front end follows when an action needs consent, or a key needs an agreement."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from mcp_tef.errors import TefError
from mcp_tef.model.library import ToolProgramSpec
from mcp_tef.model.servers import AuthType, ServerSpec
from mcp_tef.trust.consents import (
    ConsentError,
    ConsentKind,
    ConsentRequest,
    quoted_argument,
    user_name,
    visible,
)

if TYPE_CHECKING:
    from mcp_tef.engine import Engine

T = TypeVar("T")
ConsentRow: TypeAlias = tuple[str, tuple[str, ...]]
_LONGEST_VALUE: Final = 10_000


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


def consent_rows(request: ConsentRequest) -> tuple[ConsentRow, ...]:
    """Return what the user has to see before answering: labels, each with its lines.

    Control and bidirectional characters are escaped, so that no value can imitate another line of the question.
    """
    return tuple((label, tuple(map(_shortened, lines))) for label, lines in _rows(request))


def _rows(request: ConsentRequest) -> Iterator[ConsentRow]:
    from mcp_tef.scoring.command_risks.risks import launch_risks

    program = request.spec if request.kind is ConsentKind.PROGRAM else None
    names = (visible(", ".join(request.names)) or "none of your variables or keychain entries",)
    if program is not None:
        arguments = enumerate(program.argv, 1)
        yield "Command", tuple(f"{number}. {quoted_argument(text)}" for number, text in arguments)
        yield "Runs as", (visible(user_name()),)
    else:
        yield from _address_rows(request, names)
    if request.listed_in:
        yield "Listed in", tuple(map(visible, request.listed_in))
    if program is not None:
        yield "Reads", names
        yield from _program_rows(program)
    if request.unencrypted:
        yield "Unencrypted", ("Plain http: anyone on the network in between can read it.",)
    if request.spec is not None and (risks := launch_risks(_as_started(request.spec))):
        yield "Check these", tuple(map(visible, risks))


def _address_rows(request: ConsentRequest, names: tuple[str, ...]) -> Iterator[ConsentRow]:
    yield "Address", (visible(request.target),)
    yield "Sends", names
    if request.spec is not None and request.spec.oauth.issuer:
        yield "Signs in at", (visible(request.spec.oauth.issuer),)


def _program_rows(spec: ServerSpec) -> Iterator[ConsentRow]:
    if defaults := _input_defaults(spec):
        filled = (f"${{input:{visible(name)}}} = {quoted_argument(text)}" for name, text in defaults.items())
        yield "Fills in", tuple(filled)
    own = isinstance(spec, ToolProgramSpec)
    folder = "an empty folder of its own, deleted afterwards" if own else spec.cwd or spec.project or "your home folder"
    yield "Folder", (visible(folder),)
    yield "Sets", (visible(", ".join(spec.env)) or "no variables of its own",)
    if spec.env_file:
        yield "Sets from file", (f"{visible(spec.env_file)} (every variable in it)",)
    if spec.project and spec.project != spec.cwd:
        yield "Project", (visible(spec.project),)


def _input_defaults(spec: ServerSpec) -> dict[str, str]:
    """Return the answers that a config gives to its own questions, where nothing in the environment does."""
    found = ((str(one.get("id")), one.get("default")) for one in spec.inputs)
    return {name: default for name, default in found if isinstance(default, str)}


def _as_started(spec: ServerSpec) -> ServerSpec:
    """Return the definition with these answers filled in, as it may be started."""
    defaults = {f"${{input:{name}}}": text for name, text in _input_defaults(spec).items()}

    def filled(text: str) -> str:
        for reference, default in defaults.items():
            text = text.replace(reference, default)
        return text

    return replace(spec, command=filled(spec.command or "") or None, args=tuple(map(filled, spec.args)))


def _shortened(text: str) -> str:
    left = len(text) - _LONGEST_VALUE
    return text if left <= 0 else f"{text[:_LONGEST_VALUE]} … ({left:,} more characters)"
