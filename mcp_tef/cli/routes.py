"""`routes …`: routers that choose a model for each query, tried and compared with always asking one model."""

from __future__ import annotations

import shlex
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import model_router_to_json, percent_text, read_router, route_comparison_to_json, route_decision_to_json
from mcp_tef.cli.arguments import FAILED, add_group, add_suite_options, add_verb
from mcp_tef.cli.formatting import counted, rate
from mcp_tef.cli.session import opened, wanted_cases
from mcp_tef.cli.terminal import table

if TYPE_CHECKING:
    from mcp_tef import ModelRouter, RouteArm, RouteComparison
    from mcp_tef.cli.arguments import Verbs
    from mcp_tef.cli.terminal import Terminal


def register(verbs: Verbs) -> None:
    """Add the verbs."""
    group = add_group(verbs, "routes", "keep routers that choose a model for each query, and compare them")
    add_verb(group, "list", "list the routers", list_routers, reads=True)
    for name, summary, command in (("show", "show a router", show), ("remove", "remove a router", remove)):
        add_verb(group, name, summary, command, reads=name == "show").add_argument("name", metavar="NAME")
    add_parser = add_verb(group, "add", "keep a router, which is run as --model router/NAME", add)
    add_parser.add_argument("file", type=Path, metavar="FILE", help="the router as YAML")
    test_parser = add_verb(group, "test", "show every route with its score for a query", test, reads=True)
    test_parser.add_argument("name", metavar="NAME")
    test_parser.add_argument("query", metavar="QUERY")
    compare_parser = add_verb(
        group, "compare", "compare routing with always asking one model, from stored runs", compare, reads=True
    )
    compare_parser.add_argument("name", metavar="NAME")
    compare_parser.add_argument("--small", default="", metavar="MODEL", help="the small model (the cheapest target)")
    compare_parser.add_argument("--large", default="", metavar="MODEL", help="the large model (the dearest target)")
    add_suite_options(compare_parser)
    compare_parser.set_defaults(case=[])


async def list_routers(arguments: Namespace, terminal: Terminal) -> None:
    """Print each router in a line."""
    async with opened(arguments, terminal) as engine:
        routers = await engine.targets.routers()
    terminal.document({"routers": [model_router_to_json(one) for one in routers]})
    rows = [(f"router/{one.name}", ", ".join(one.targets), one.default, f"{one.threshold:g}") for one in routers]
    terminal.say(*table(("ROUTER", "ASKS", "DEFAULT", "THRESHOLD"), rows))


async def show(arguments: Namespace, terminal: Terminal) -> None:
    """Print a router."""
    async with opened(arguments, terminal) as engine:
        router = await engine.targets.router(arguments.name)
    terminal.document(model_router_to_json(router))
    terminal.say(*_lines(router))


def _lines(router: ModelRouter) -> list[str]:
    rows = [
        (one.target, f"{router.threshold_of(one):g}", "; ".join(one.utterances), one.description)
        for one in router.routes
    ]
    told = f"router/{router.name}: default {router.default}, threshold {router.threshold:g}, by {router.embedder}"
    return [told, *table(("ROUTE", "THRESHOLD", "UTTERANCES", "DESCRIPTION"), rows)]


async def add(arguments: Namespace, terminal: Terminal) -> None:
    """Keep a router, in the place of one of its name."""
    async with opened(arguments, terminal) as engine:
        router = await engine.targets.add_router(read_router(arguments.file))
    terminal.document(model_router_to_json(router))
    terminal.say(f"The router {router.name} is kept. Run it with: mcp-tef run --model router/{router.name}")


async def remove(arguments: Namespace, terminal: Terminal) -> None:
    """Remove a router."""
    async with opened(arguments, terminal) as engine:
        await engine.targets.remove_router(arguments.name)
    terminal.document({"removed": arguments.name})
    terminal.say(f"The router {arguments.name} is removed.")


async def test(arguments: Namespace, terminal: Terminal) -> None:
    """Print the score of every route, the nearest first."""
    async with opened(arguments, terminal) as engine:
        decision = await engine.targets.decide(arguments.name, arguments.query)
    terminal.document(route_decision_to_json(arguments.query, decision))
    rows = [
        (one.target, f"{one.score:.3f}", f"{one.threshold:g}", "taken" if one is decision.route else "", one.utterance)
        for one in decision.scores
    ]
    terminal.say(*table(("ROUTE", "SCORE", "THRESHOLD", "", "NEAREST UTTERANCE"), rows))
    why = "" if decision.route else ", the default, since no route reaches its threshold"
    terminal.say("", f"{decision.target} is asked{why}.")


async def compare(arguments: Namespace, terminal: Terminal) -> int:
    """Print the table routed / always small / always large; 1 where no case has the runs that it needs."""
    async with opened(arguments, terminal) as engine:
        router = await engine.targets.router(arguments.name)
        cases = await wanted_cases(engine, arguments)
        found = await engine.route_comparisons.compare(router, cases, arguments.small, arguments.large)
    terminal.document(route_comparison_to_json(found))
    if found.arms:
        rows = [_row(one) for one in found.arms]
        heads = ("WAY", "CORRECT CALL", "$ PER 1,000 QUERIES", "SECONDS", "MODELS ASKED")
        terminal.say(*table(heads, rows), "", *_curve_lines(found))
    if found.left_out:
        models = " ".join(f"--model {shlex.quote(name)}" for name in found.missing)
        left_out = f"{counted(found.left_out, 'case')} without a judged run of every model"
        terminal.note(f"{left_out}. Run them first: mcp-tef run {models}")
    return 0 if found.arms else FAILED


def _row(arm: RouteArm) -> tuple[str, ...]:
    asked = ", ".join(f"{name} {number}" for name, number in arm.asked.items())
    return arm.name, rate(arm.rate), _dollars(arm.cost_usd), f"{arm.seconds:.2f}", asked


def _dollars(cost: float | None) -> str:
    return "not known" if cost is None else f"{cost * 1000:.4f}"


def _curve_lines(found: RouteComparison) -> list[str]:
    rows = [(f"{one.threshold:g}", percent_text(one.share), _dollars(one.cost_usd)) for one in found.curve]
    lines = table(("THRESHOLD", "CORRECT CALL", "$ PER 1,000 QUERIES"), rows)
    if found.suggested:
        told = f"Suggested threshold: {found.suggested.threshold:g}"
        lines += ["", f"{told}, chosen on these {counted(found.cases, 'case')}. Try it on other cases."]
    return lines
