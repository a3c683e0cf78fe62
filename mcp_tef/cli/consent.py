"""Asks for consent on the command line, or takes it from options, before anything is started, contacted or sent."""

from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from mcp_tef import AuthType, ConsentError, ConsentKind, ConsentRequest, ServerSpec, TefError
from mcp_tef.cli.arguments import Parser
from mcp_tef.cli.terminal import ConsentAnswer, Terminal

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")
YES = "allow, for this command, the programs and addresses that it names"


def add_consent_options(parser: Parser, yes: str = YES, *, asks_models: bool = False) -> None:
    """Add what allows programs and addresses without a terminal."""
    parser.add_argument("--yes", action="store_true", help=yes)
    parser.add_argument(
        "--allow-program",
        action="append",
        default=[],
        metavar="PATH|HASH",
        help="allow this program, or this exact definition of a server, for this command",
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="VAR=ORIGIN",
        help="allow sending this variable (or keychain:ENTRY) to this address, for this command",
    )
    if asks_models:
        parser.add_argument("--no-key", action="store_true", help="send no key to addresses that are not allowed")


async def with_consent(
    engine: "Engine", arguments: Namespace, terminal: Terminal, work: Callable[[], Awaitable[T]]
) -> T:
    """Do the work, asking for consent as needed; ConsentError where it is not given."""
    engine.consents.allow_named(arguments.allow_program, arguments.allow_origin)
    while True:
        try:
            return await work()
        except ConsentError as error:
            if not error.requests:
                raise
            await _answer(engine, error.requests, arguments, terminal)


async def agree(engine: "Engine", specs: Iterable[ServerSpec], arguments: Namespace, terminal: Terminal) -> None:
    """Get consent for every server that would be started or contacted, then let the user sign in.

    A sign-in that fails is noted; what then uses the server says that it is needed.
    """
    asked = tuple(specs)

    async def require() -> None:
        engine.consents.require(*asked)

    await with_consent(engine, arguments, terminal, require)
    for spec in asked:
        await _sign_in(engine, spec, terminal)


async def _answer(
    engine: "Engine", requests: Sequence[ConsentRequest], arguments: Namespace, terminal: Terminal
) -> None:
    """Settle every question by options or by asking; ConsentError with those that nobody answered."""
    unanswered = list[ConsentRequest]()
    for request in requests:
        if request.kind is ConsentKind.KEY and getattr(arguments, "no_key", False):
            engine.consents.decline_key(request)
            terminal.note(f"No key is sent to {request.target}.")
        elif arguments.yes:
            terminal.note(f"Allowed: {request.consent.description}")
            await engine.consents.allow(request, remember=getattr(arguments, "remember_consent", False))
        elif terminal.asks:
            await _ask(engine, request, terminal)
        else:
            unanswered.append(request)
    if unanswered:
        raise _unanswered(unanswered)


async def _ask(engine: "Engine", request: ConsentRequest, terminal: Terminal) -> None:
    match terminal.ask_consent(request):
        case ConsentAnswer.YES:
            await engine.consents.allow(request)
        case ConsentAnswer.WITHOUT_KEY:
            engine.consents.decline_key(request)
        case ConsentAnswer.NO:
            raise ConsentError("You did not allow it, so nothing was done.", hint="Run it again to decide anew.")


def _unanswered(requests: Sequence[ConsentRequest]) -> ConsentError:
    from mcp_tef import consent_rows

    rows = (row for request in requests for row in consent_rows(request))
    risks = [line for label, lines in rows if label == "Check these" for line in lines]
    options = " ".join(dict.fromkeys(request.option for request in requests))
    keys = any(request.kind is ConsentKind.KEY for request in requests)
    ways = f"Add --yes to allow this for this command, or name it: {options}" + (", or add --no-key" if keys else "")
    return ConsentError(
        " ".join(request.problem for request in requests), hint=" ".join([*risks, f"{ways}."]), requests=requests
    )


async def _sign_in(engine: "Engine", spec: ServerSpec, terminal: Terminal) -> None:
    if spec.auth_type is not AuthType.OAUTH2 or not terminal.asks:
        return
    try:
        if await engine.sign_ins.needed(spec):
            await engine.sign_ins.sign_in(spec)
    except TefError as error:
        terminal.note(error.message)
