"""`clients …`: what programs between a server and a model do to tools, and what a search in them does not find."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import ChangeKind, client_check_to_json, client_to_json, import_items_to_json
from mcp_tef.cli.arguments import FAILED, add_group, add_list_option, add_suite_options, add_verb
from mcp_tef.cli.import_results import add_replace_option, item_lines, require_agreed, tell_items
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import table
from mcp_tef.cli.tool_options import KINDS, add_source_options, code_of, gather

if TYPE_CHECKING:
    from mcp_tef import ClientCheck, ClientProfile, Engine
    from mcp_tef.cli.arguments import Verbs
    from mcp_tef.cli.terminal import Terminal

LONGEST_QUOTE = 80


def register(verbs: Verbs) -> None:
    """Add the verbs."""
    group = add_group(verbs, "clients", "see which tools each client shows to a model, and how")
    add_verb(group, "list", "list the client profiles", list_clients, reads=True)
    show_parser = add_verb(group, "show", "show a profile, with the source of every figure", show, reads=True)
    show_parser.add_argument("name", metavar="NAME", help="name of the profile")
    add_parser = add_verb(group, "add", "keep a profile of your own", add)
    add_parser.add_argument("file", type=Path, metavar="FILE", help="the profile as YAML")
    add_replace_option(add_parser)
    check_parser = add_verb(group, "check", "tell what clients cut, rename or leave out of tools", check)
    add_list_option(check_parser, "--client", "NAME", "only this client")
    add_suite_options(check_parser)
    add_source_options(check_parser)


async def list_clients(arguments: Namespace, terminal: Terminal) -> None:
    """Print each profile in a line."""
    async with opened(arguments, terminal) as engine:
        profiles = engine.clients.profiles()
    terminal.document({"clients": [client_to_json(one) for one in profiles]})
    rows = [(one.name, one.title, _delivery(one), _limits(one)) for one in profiles]
    terminal.say(*table(("NAME", "CLIENT", "TOOLS SENT", "LIMITS"), rows))


def _delivery(profile: ClientProfile) -> str:
    rule = profile.search
    if rule:
        return f"the first {rule.results} that a search finds ({rule.method})"
    return "all" if profile.most_tools is None else f"all, up to {profile.most_tools}"


def _limits(profile: ClientProfile) -> str:
    names, texts = profile.names, profile.texts
    limits = [
        f"names {names.longest}" if names.longest else "",
        f"descriptions {texts.description:,}" if texts.description else "",
        f"schemas {texts.largest_schema:,} bytes" if texts.largest_schema else "",
    ]
    return ", ".join(filter(None, limits)) or "none known"


async def show(arguments: Namespace, terminal: Terminal) -> None:
    """Print the rules of a profile, and where each figure comes from."""
    async with opened(arguments, terminal) as engine:
        profile = engine.clients.find(arguments.name)
    terminal.document(client_to_json(profile))
    told = [f"{profile.title} (version {profile.version}, checked {profile.checked})"]
    told += [profile.note] if profile.note else []
    terminal.say(*told, f"Tools sent: {_delivery(profile)}", f"Limits: {_limits(profile)}")
    if profile.facts:
        rows = [(one.of, one.says, one.confidence, one.date, one.source) for one in profile.facts]
        terminal.say("", *table(("FIGURE", "WHAT IS KNOWN", "CONFIDENCE", "DATE", "SOURCE"), rows))


async def add(arguments: Namespace, terminal: Terminal) -> None:
    """Keep a copy of a profile in the data folder."""
    async with opened(arguments, terminal) as engine:
        item, profile, text = engine.clients.preview(arguments.file)
        require_agreed(terminal, [item.name] * item.edited, item_lines([item]), replace=arguments.replace)
        engine.clients.keep(profile, text)
    terminal.document(client_to_json(profile) | import_items_to_json([item]))
    tell_items([item], terminal)
    terminal.say(f"The client profile {profile.name} is known now, in version {profile.version}.")


async def check(arguments: Namespace, terminal: Terminal) -> int:
    """Print what each client does to the tools; 1 if a client does not show a tool that a case expects."""
    async with opened(arguments, terminal) as engine:
        await _default_to_servers(engine, arguments)
        tool_set = await gather(engine, arguments, terminal, at_least=1)
        cases = await engine.cases.in_groups(arguments.suite, arguments.tag)
        tools = [one.tool for one in tool_set.tools]
        profiles = _profiles(engine, arguments)
        checks = [await engine.clients.check(profile, tools, cases) for profile in profiles]
    terminal.document({"clients": [client_check_to_json(one) for one in checks]})
    terminal.say(*table(("CLIENT", "SHOWN", "CUT", "LEFT OUT", "FOUND FOR CASES"), map(_row, checks)))
    missed = [_tell(one, terminal) for one in checks]
    return code_of(tool_set) or FAILED * any(missed)


async def _default_to_servers(engine: Engine, arguments: Namespace) -> None:
    """Name every registered server where no source of tools is named."""
    if not any(getattr(arguments, name) for name in KINDS):
        arguments.server = [server.name for server in await engine.servers.list()]


def _profiles(engine: Engine, arguments: Namespace) -> Sequence[ClientProfile]:
    return [engine.clients.find(name) for name in arguments.client] or engine.clients.profiles()


def _row(check: ClientCheck) -> tuple[str, str, str, str, str]:
    kinds = [change.kind for change in check.view.changes]
    cut = kinds.count(ChangeKind.DESCRIPTION_CUT) + kinds.count(ChangeKind.PARAMETERS_CUT)
    found = f"{check.found} of {check.searched}" if check.searched else "no case"
    shown = f"{len(check.view.shown)} of {check.tools}"
    return check.view.profile.title, shown, str(cut), str(kinds.count(ChangeKind.LEFT_OUT)), found


def _tell(check: ClientCheck, terminal: Terminal) -> int:
    """Print what is lost, and return the number of cases; names that only got a prefix lose nothing."""
    lost = [one for one in check.view.changes if one.kind is not ChangeKind.RENAMED]
    lines = [f"  {one.tool.server} / {one.tool.name}: {one.sentence}{_quoted(one.lost)}" for one in lost]
    lines += [f"  Case “{case}”: {reason}" for case, reason in check.missed]
    if lines:
        searched = f", searched by {check.by}" if check.by else ""
        terminal.say("", f"{check.view.profile.title}{searched}:", *lines)
    return len(check.missed)


def _quoted(lost: str) -> str:
    text = " ".join(lost.split())
    shown = text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"
    return f" Not seen: “{shown}”" if text else ""
