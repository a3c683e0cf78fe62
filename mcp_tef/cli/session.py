"""The workspace of one command, its cases, and the consent that it needs: by options, or asked at the terminal."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from mcp_tef import (
    ConsentAnswer,
    ConsentError,
    ConsentKind,
    InputError,
    NoticePublished,
    StoreError,
    ensure_consent,
    sign_in_where_needed,
    warning_lines,
)
from mcp_tef.cli.arguments import add_list_option
from mcp_tef.cli.formatting import counted

if TYPE_CHECKING:
    from mcp_tef import ConsentRequest, Engine, Event, ServerSpec, TestCase
    from mcp_tef.cli.arguments import Parser
    from mcp_tef.cli.terminal import Terminal

T = TypeVar("T")
YES = "allow, for this command, the programs and addresses that are typed in it, and no others"


@asynccontextmanager
async def opened(arguments: Namespace, terminal: Terminal, default: Path | None = None) -> AsyncIterator[Engine]:
    """Open the engine on the workspace of the options, and close it at the end."""
    from mcp_tef import Engine

    with _way_out_of_damage():
        through = {"MCP_TEF_THROUGH": arguments.through} if getattr(arguments, "through", None) else {}
        engine = await Engine.open(
            arguments.workspace or default,
            environment={**os.environ, **through},
            show=terminal.send_to if terminal.asks else None,
            recover=arguments.recover,
            reading=arguments.reads,
        )
        async with engine:
            _report_opening(engine, terminal)
            yield engine


@contextmanager
def _way_out_of_damage() -> Iterator[None]:
    """Name the option that starts anew in the hint for a damaged workspace."""
    try:
        yield
    except StoreError as error:
        if error.code != "workspace_damaged":
            raise
        hint = (
            "Nothing was changed. To set the file aside and start a new one with what can be read of it, add --recover."
        )
        raise StoreError(error.message, hint=hint, code=error.code, context=error.context) from error


def _report_opening(engine: Engine, terminal: Terminal) -> None:
    def hear(event: Event) -> None:
        if isinstance(event, NoticePublished):
            terminal.note(event.text)

    engine.subscribe(hear)
    for notice in engine.opened:
        terminal.note(notice)
    if engine.interrupted:
        was = "was" if engine.interrupted == 1 else "were"
        terminal.note(
            f"{counted(engine.interrupted, 'run')} {was} interrupted when mcp-tef last stopped. "
            "Go on with: mcp-tef runs resume BATCH"
        )


def add_consent_options(parser: Parser, yes: str = YES, *, asks_models: bool = False) -> None:
    """Add what allows programs and addresses without a terminal."""
    parser.add_argument("--yes", action="store_true", help=yes)
    program = "allow this program, this exact definition by its hash, or with `project` what the project file starts"
    add_list_option(parser, "--allow-program", "PATH|HASH|project", program)
    origin = "allow contact with this address, with VAR= also sending it this variable (or keychain:ENTRY)"
    add_list_option(parser, "--allow-origin", "[VAR=]ORIGIN", origin)
    if asks_models:
        parser.add_argument("--no-key", action="store_true", help="send no key to addresses that are not allowed")


async def with_consent(engine: Engine, arguments: Namespace, terminal: Terminal, work: Callable[[], Awaitable[T]]) -> T:
    """Do the work, asking for consent as needed; ConsentError where it is not given."""

    async def ask(request: ConsentRequest) -> ConsentAnswer | None:
        return _answer(engine, request, arguments, terminal)

    engine.consents.allow_named(arguments.allow_program, arguments.allow_origin)
    try:
        return await ensure_consent(work, ask, lambda do: do(engine))
    except ConsentError as error:
        if not error.requests:
            raise
        raise with_options(error.requests, engine) from None


def require_yes(terminal: Terminal, question: str, refusal: str, *, yes: bool) -> None:
    """Ask for a yes, unless it was given as an option; ConsentError where it is not given, or nobody is there."""
    if not (yes or terminal.asks):
        raise ConsentError(refusal, hint="Add --yes to do it.")
    if not (yes or terminal.confirms(question)):
        raise ConsentError(refusal, hint="Nothing was changed.")


async def agree(engine: Engine, specs: Iterable[ServerSpec], arguments: Namespace, terminal: Terminal) -> None:
    """Get consent for every server that would be started or contacted, then let the user sign in."""
    asked = tuple(specs)

    async def require() -> None:
        engine.consents.require(*asked)

    await with_consent(engine, arguments, terminal, require)
    if terminal.asks:
        await sign_in_where_needed(engine, asked, terminal.note)


async def wanted_cases(engine: Engine, arguments: Namespace) -> list[TestCase]:
    """Return the cases of the named suites, tags and ids; InputError where there is none."""
    named = await engine.cases.named(arguments.case)
    groups = bool(arguments.suite or arguments.tag) or not named
    grouped = await engine.cases.in_groups(arguments.suite, arguments.tag) if groups else ()
    cases = {case.id: case for case in (*named, *grouped)}
    if not cases:
        raise InputError("There is no test case to run.", hint="Import some with: mcp-tef cases import FILE")
    return list(cases.values())


async def agree_to_servers(engine: Engine, cases: Iterable[TestCase], arguments: Namespace, terminal: Terminal) -> None:
    """Get consent for the servers of these cases."""
    names = sorted({name for case in cases for name in case.draft.servers})
    await agree(engine, [(await engine.servers.find(name)).spec for name in names], arguments, terminal)


def _answer(engine: Engine, request: ConsentRequest, arguments: Namespace, terminal: Terminal) -> ConsentAnswer | None:
    """Answer by an option, else ask; None where nobody can be asked."""
    if answer := answered_by_option(engine, request, arguments, terminal):
        return answer
    if request.obstacle:
        if terminal.asks:
            terminal.show_consent(request)
        return None
    return terminal.ask_consent(request) if terminal.asks else None


def answered_by_option(
    engine: Engine, request: ConsentRequest, arguments: Namespace, terminal: Terminal
) -> ConsentAnswer | None:
    """Return the answer that --no-key or --yes gives; --yes allows only what was typed in this command."""
    if request.kind is ConsentKind.KEY and getattr(arguments, "no_key", False):
        terminal.note(f"No key is sent to {request.target}.")
        return ConsentAnswer.WITHOUT_KEY
    if arguments.yes and engine.consents.is_typed_action(request):
        terminal.note(f"Allowed: {request.consent.description}")
        return ConsentAnswer.ALLOW if getattr(arguments, "remember_consent", False) else ConsentAnswer.ALLOW_ONCE
    return None


def _way_to_allow(requests: Sequence[ConsentRequest], *, typed: bool) -> str:
    options = " ".join(dict.fromkeys(request.option for request in requests))
    if ConsentKind.KEY in {request.kind for request in requests}:
        options += ", or add --no-key"
    if any(request.obstacle for request in requests):
        return f"Only this allows it, once you have read all of it: {options}."
    yes = "Add --yes to allow this for this command" if typed else "Run it in a terminal to be asked"
    return f"{yes}, or name it: {options}."


def with_options(requests: Sequence[ConsentRequest], engine: Engine) -> ConsentError:
    """Return the error that names the options which would answer these questions."""
    hint = _way_to_allow(requests, typed=all(map(engine.consents.is_typed_action, requests)))
    risks = [line for request in requests for line in warning_lines(request)]
    return ConsentError(ConsentError.of(requests).message, hint=" ".join([*risks, hint]), requests=requests)
