"""`search …`: named search tools of six providers, and one search for a try."""

from __future__ import annotations

import shlex
from argparse import Namespace
from typing import TYPE_CHECKING

from mcp_tef import (
    USUAL_RESULTS,
    Freshness,
    SearchProvider,
    SearchTool,
    parse_search_provider,
    search_answer_to_json,
    search_request,
    search_tool_to_json,
)
from mcp_tef.cli.arguments import add_group, add_list_option, add_verb
from mcp_tef.cli.model_options import add_key_options, read_keys
from mcp_tef.cli.session import opened, with_consent
from mcp_tef.cli.terminal import table

if TYPE_CHECKING:
    from mcp_tef.cli.arguments import Verbs
    from mcp_tef.cli.terminal import Terminal


def register(verbs: Verbs) -> None:
    """Add the verbs."""
    group = add_group(verbs, "search", "keep search tools of six providers, and try them")
    add_verb(group, "list", "list the search tools", list_tools, reads=True)
    add_parser = add_verb(group, "add", "keep a search tool; its key is never part of it", add)
    add_parser.add_argument("name", metavar="NAME")
    providers = ", ".join(one.value for one in SearchProvider)
    add_parser.add_argument("provider", type=parse_search_provider, metavar="PROVIDER", help=providers)
    add_parser.add_argument("--base-url", default="", metavar="U", help="ask there instead; needed for searxng")
    add_parser.add_argument("--engine", default="", metavar="ID", help="the search engine of google_pse (cx)")
    add_parser.add_argument("--description", default="", metavar="TEXT", help="what it is for")
    add_verb(group, "remove", "remove a search tool", remove).add_argument("name", metavar="NAME")
    run_parser = add_verb(group, "run", "search, and print the results in the one shape of all providers", run)
    run_parser.add_argument("name", metavar="NAME")
    run_parser.add_argument("query", metavar="QUERY")
    run_parser.add_argument("--count", type=int, default=USUAL_RESULTS, metavar="N", help="1 to 20 results (5)")
    run_parser.add_argument("--country", default="", metavar="CC", help="two letters, as in de")
    run_parser.add_argument("--language", default="", metavar="LL", help="two letters, as in de")
    ages = [one.value for one in Freshness]
    run_parser.add_argument("--freshness", choices=ages, help="only results of the last day, week, month or year")
    add_list_option(run_parser, "--domain", "D", "only pages of this domain")
    add_key_options(run_parser)


async def list_tools(arguments: Namespace, terminal: Terminal) -> None:
    """Print each search tool in a line."""
    async with opened(arguments, terminal) as engine:
        tools = await engine.searches.tools()
    terminal.document({"searches": [search_tool_to_json(one) for one in tools]})
    rows = [(one.name, one.provider.value, one.address, one.description) for one in tools]
    terminal.say(*table(("NAME", "PROVIDER", "ADDRESS", "DESCRIPTION"), rows))


async def add(arguments: Namespace, terminal: Terminal) -> None:
    """Keep a search tool, in the place of one of its name."""
    tool = SearchTool(
        name=arguments.name,
        provider=arguments.provider,
        base_url=arguments.base_url,
        engine=arguments.engine,
        description=arguments.description,
    )
    async with opened(arguments, terminal) as engine:
        engine.consents.add_typed_address(tool.provider, tool.base_url or "")
        await engine.searches.add(tool)
    terminal.document(search_tool_to_json(tool))
    if tool.provider is SearchProvider.GOOGLE_PSE:
        terminal.note("Google offers this service to its present customers only, until 1 January 2027.")
    terminal.say(f"The search tool {tool.name} is kept. Try it with: mcp-tef search run {shlex.quote(tool.name)} QUERY")


async def remove(arguments: Namespace, terminal: Terminal) -> None:
    """Remove a search tool."""
    async with opened(arguments, terminal) as engine:
        await engine.searches.remove(arguments.name)
    terminal.document({"removed": arguments.name})
    terminal.say(f"The search tool {arguments.name} is removed.")


async def run(arguments: Namespace, terminal: Terminal) -> None:
    """Search once, and print the results."""
    fields = ("query", "count", "country", "language", "freshness")
    request = search_request({**{name: getattr(arguments, name) for name in fields}, "domains": arguments.domain})
    async with opened(arguments, terminal) as engine:
        tool = await engine.searches.find(arguments.name)
        keys = read_keys(arguments, terminal, [tool.provider.value])
        search = engine.searches.search
        answer = await with_consent(engine, arguments, terminal, lambda: search(tool, request, keys))
    terminal.document(search_answer_to_json(answer))
    for one in answer.results:
        terminal.say(one.title, f"  {one.url}" + (f"  {one.date}" if one.date else ""), f"  {one.snippet}", "")
    if not answer.results:
        terminal.say("Nothing was found.")
    if answer.ignored:
        terminal.note(f"{tool.title} takes no {' and no '.join(answer.ignored)}, so it was left out.")
