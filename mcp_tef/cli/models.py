"""`models …`: the catalogue, checks by one call, and groups that are run like a model."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import (
    ModelGroup,
    ModelSettings,
    group_abilities_to_json,
    import_items_to_json,
    local_server_to_json,
    model_check_to_json,
    model_info_to_json,
    parse_deployment,
    parse_model,
)
from mcp_tef.cli.arguments import FAILED, add_group, add_verb
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.import_results import add_replace_option, item_lines, require_agreed, tell_items
from mcp_tef.cli.model_options import add_base_url, add_key_options, allow_typed_addresses, read_keys
from mcp_tef.cli.output_files import output_name, writable
from mcp_tef.cli.session import opened, with_consent
from mcp_tef.cli.terminal import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp_tef import GroupAbilities, LocalServer, ModelCheck, ModelInfo
    from mcp_tef.cli.arguments import Verbs
    from mcp_tef.cli.terminal import Terminal

MOST_LISTED = 50
MILLION = 1_000_000


def register(verbs: Verbs) -> None:
    """Add the verbs."""
    group = add_group(verbs, "models", "find models, ask them hello, and group them")
    list_parser = add_verb(group, "list", "list models with context and prices", list_models, reads=True)
    list_parser.add_argument("text", nargs="?", default="", metavar="TEXT", help="part of the name")
    list_parser.add_argument("--tools", action="store_true", help="only models that can call tools")
    list_parser.add_argument("--usable", action="store_true", help="only models whose key is at hand")
    list_parser.add_argument("--local", action="store_true", help="the models of servers on this machine instead")
    list_parser.add_argument("--limit", type=int, default=MOST_LISTED, metavar="N", help=f"at most N ({MOST_LISTED})")
    show_parser = add_verb(group, "show", "show what is known of a model", show, reads=True)
    show_parser.add_argument("model", metavar="PROVIDER/NAME")
    check_parser = add_verb(group, "check", "ask a model hello: address, key, name and tool calling", check)
    check_parser.add_argument("model", metavar="PROVIDER/NAME", help="a model, group/NAME or router/NAME")
    add_base_url(check_parser)
    add_key_options(check_parser)
    what = "write groups, routers, search tools, prompts and clients to a file"
    export_parser = add_verb(group, "export", what, export, reads=True)
    export_parser.add_argument("out", type=writable, metavar="FILE", help="the YAML file")
    import_parser = add_verb(group, "import", "keep what a file of models export holds", import_file)
    import_parser.add_argument("file", type=Path, metavar="FILE", help="the YAML file")
    add_replace_option(import_parser)
    _register_groups(add_group(group, "groups", "keep several deployments that answer in each other's place"))


def _register_groups(group: Verbs) -> None:
    add_verb(group, "list", "list the groups", list_groups, reads=True)
    show_parser = add_verb(group, "show", "show a group and what it can do as a whole", show_group, reads=True)
    show_parser.add_argument("name", metavar="NAME")
    add_parser = add_verb(group, "add", "keep a group, which is run as --model group/NAME", add_models)
    add_parser.add_argument("name", metavar="NAME")
    add_parser.add_argument(
        "--deployment",
        action="append",
        required=True,
        type=parse_deployment,
        metavar="PROVIDER/MODEL[,url=U][,rpm=N][,tpm=N]",
        help="a model, where it is, and the requests and tokens a minute that it takes; several times",
    )
    remove_parser = add_verb(group, "remove", "remove a group", remove_group)
    remove_parser.add_argument("name", metavar="NAME")


async def list_models(arguments: Namespace, terminal: Terminal) -> None:
    """Print the models that fit, those whose key is at hand first."""
    async with opened(arguments, terminal) as engine:
        if arguments.local:
            _list_local(await engine.model_checks.local_servers(), terminal)
            return
        known = await engine.models.catalogue()
        at_hand = engine.models.with_key({info.provider for info in known})
    found = _found(known, at_hand, arguments)
    shown = found[: arguments.limit]
    terminal.document({"found": len(found), "models": [model_info_to_json(info) for info in shown]})
    terminal.say(
        *table(("MODEL", "KEY", "CONTEXT", "$ IN/OUT PER MILLION", "TOOLS"), [_row(one, at_hand) for one in shown])
    )
    if len(found) > len(shown):
        terminal.note(f"{len(found):,} models fit; {len(shown):,} are shown. Use --limit, or a longer TEXT.")


def _list_local(servers: Sequence[LocalServer], terminal: Terminal) -> None:
    terminal.document({"servers": [local_server_to_json(one) for one in servers]})
    rows = [(one.provider, one.address, ", ".join(one.models) or "none") for one in servers]
    terminal.say(*table(("PROVIDER", "ADDRESS", "MODELS"), rows, none="No model server answers here."))


def _found(known: Sequence[ModelInfo], at_hand: frozenset[str], arguments: Namespace) -> list[ModelInfo]:
    """Return the models that fit, those whose key is at hand first."""
    usable = [info for info in known if info.provider in at_hand]
    others = [] if arguments.usable else [info for info in known if info.provider not in at_hand]
    return [info for info in (*usable, *others) if _fits(info, arguments)]


def _fits(info: ModelInfo, arguments: Namespace) -> bool:
    return arguments.text.casefold() in info.label.casefold() and (info.tool_calling is True or not arguments.tools)


def _row(info: ModelInfo, at_hand: frozenset[str]) -> tuple[str, ...]:
    key = "at hand" if info.provider in at_hand else ""
    return info.label, key, _number(info.context_tokens), _prices(info), _yes(info.tool_calling)


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _prices(info: ModelInfo) -> str:
    prices = (info.input_price, info.output_price)
    return "" if None in prices else "/".join(f"{(price or 0) * MILLION:g}" for price in prices)


def _yes(value: bool | None) -> str:
    return {True: "yes", False: "no", None: ""}[value]


async def show(arguments: Namespace, terminal: Terminal) -> None:
    """Print the catalogue entry of a model."""
    provider, name = parse_model(arguments.model)
    async with opened(arguments, terminal) as engine:
        info = await engine.models.entry(ModelSettings(provider=provider, model=name))
        at_hand = engine.models.with_key({info.provider})
        variable = engine.models.key_variable(info.provider)
    terminal.document(model_info_to_json(info))
    key = "at hand" if info.provider in at_hand else f"set {variable}" if variable else "not needed"
    rows = [("Context", _number(info.context_tokens)), ("$ in/out per million tokens", _prices(info)), ("Key", key)]
    rows += [("Tool calling", _yes(info.tool_calling)), ("Images", _yes(info.vision))]
    terminal.say(info.label, *(f"{name:28} {value or 'not known'}" for name, value in rows))


async def check(arguments: Namespace, terminal: Terminal) -> int:
    """Ask hello; 1 where a step failed."""
    provider, name = parse_model(arguments.model)
    settings = ModelSettings(provider=provider, model=name, base_url=arguments.base_url)
    keys = read_keys(arguments, terminal, [provider])
    async with opened(arguments, terminal) as engine:
        allow_typed_addresses(engine, [settings])
        checks = await with_consent(engine, arguments, terminal, lambda: engine.model_checks.check(settings, keys))
    terminal.document({"checks": [model_check_to_json(one) for one in checks]})
    for one in checks:
        terminal.say(*_check_lines(one))
    return FAILED * any(one.failed for one in checks)


def _check_lines(check: ModelCheck) -> list[str]:
    answered = f" ({check.answered_model} in {check.milliseconds} ms)" if check.failed is None else ""
    lines = [f"{check.model}{answered}", *(f"  {step.value:13} {state.value}" for step, state in check.states.items())]
    return [*lines, f"  {check.reason} {check.hint}".rstrip()] if check.failed else lines


async def export(arguments: Namespace, terminal: Terminal) -> None:
    """Write the file."""
    async with opened(arguments, terminal) as engine:
        counts = await engine.model_definitions.export(arguments.out)
    terminal.document({"file": str(arguments.out), **counts})
    terminal.say(f"Wrote {_counts(counts)} to {output_name(arguments.out)}.")


async def import_file(arguments: Namespace, terminal: Terminal) -> None:
    """Keep what a file holds, and say what that adds and changes."""
    async with opened(arguments, terminal) as engine:
        preview = await engine.model_definitions.preview(arguments.file)
        require_agreed(terminal, preview.edited, item_lines(preview.items), replace=arguments.replace)
        await engine.model_definitions.apply(preview)
    terminal.document({**preview.counts, **import_items_to_json(preview.items)})
    tell_items(preview.items, terminal)
    terminal.say(f"{arguments.file} holds {_counts(preview.counts)}.")


def _counts(counts: Mapping[str, int]) -> str:
    things = {"groups": "group", "routers": "router", "searches": "search tool"}
    things |= {"prompts": "prompt", "clients": "client profile"}
    return ", ".join(counted(number, things[name]) for name, number in counts.items())


async def list_groups(arguments: Namespace, terminal: Terminal) -> None:
    """Print each group in a line."""
    async with opened(arguments, terminal) as engine:
        groups = await engine.targets.groups()
        found = [(group, await engine.targets.abilities(group)) for group in groups]
    terminal.document({"groups": [group_abilities_to_json(*one) for one in found]})
    rows = [
        (f"group/{group.name}", ", ".join(one.label_at for one in group.deployments), *_limits(abilities))
        for group, abilities in found
    ]
    terminal.say(*table(("GROUP", "DEPLOYMENTS", "RPM", "TPM"), rows))


def _limits(abilities: GroupAbilities) -> tuple[str, str]:
    return _number(abilities.rpm), _number(abilities.tpm)


async def show_group(arguments: Namespace, terminal: Terminal) -> None:
    """Print a group."""
    async with opened(arguments, terminal) as engine:
        group = await engine.targets.group(arguments.name)
        abilities = await engine.targets.abilities(group)
    terminal.document(group_abilities_to_json(group, abilities))
    rows = [(one.label, one.base_url or "", _number(one.rpm), _number(one.tpm)) for one in group.deployments]
    info = abilities.as_model
    can = [("Context", _number(info.context_tokens)), ("Answer limit", _number(abilities.max_output_tokens))]
    can += [("$ in/out per million tokens", _prices(info)), ("RPM", _number(abilities.rpm))]
    can += [("TPM", _number(abilities.tpm)), ("Tool calling", _yes(info.tool_calling))]
    terminal.say(*table(("DEPLOYMENT", "ADDRESS", "RPM", "TPM"), rows), "")
    terminal.say(*(f"{name:28} {value or 'not known'}" for name, value in can))


async def add_models(arguments: Namespace, terminal: Terminal) -> None:
    """Keep a group, in the place of one of its name."""
    async with opened(arguments, terminal) as engine:
        made = ModelGroup(name=arguments.name, deployments=tuple(arguments.deployment))
        for deployment in made.deployments:
            engine.consents.add_typed_address(deployment.provider, deployment.base_url or "")
        group = await engine.targets.add_group(made)
        abilities = await engine.targets.abilities(group)
    terminal.document(group_abilities_to_json(group, abilities))
    terminal.say(f"The group {group.name} is kept. Run it with: mcp-tef run --model group/{group.name}")


async def remove_group(arguments: Namespace, terminal: Terminal) -> None:
    """Remove a group."""
    async with opened(arguments, terminal) as engine:
        await engine.targets.remove_group(arguments.name)
    terminal.document({"removed": arguments.name})
    terminal.say(f"The group {arguments.name} is removed.")
