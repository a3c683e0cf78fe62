"""`demo`, `sample-server` and `gui`: the bundled sample, its server, and the window."""

import shlex
from argparse import Namespace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from mcp_tef import ModelSettings, ReachError, SampleName, how_to_install, missing_library, parse_model
from mcp_tef.cli.arguments import Parser, Verbs, add_verb
from mcp_tef.cli.model_options import add_base_url
from mcp_tef.cli.terminal import Terminal

SAMPLE_FILE = "sample.db"
MOST_TOKENS = 1024  # of an answer that a model writes
TWO = "bike-shop or reading-room, six searches that look alike (default: bike-shop)"


def register_demo(verbs: Verbs) -> None:
    """Add the verb."""
    _add_sample(add_verb(verbs, "demo", "evaluate a bundled sample, with no key and no network", demo))


def _add_sample(parser: Parser) -> None:
    names = [one.value for one in SampleName]
    parser.add_argument("--sample", choices=names, default=SampleName.BIKE_SHOP.value, help=TWO)


async def demo(arguments: Namespace, terminal: Terminal) -> int:
    """Run the sample and prepare its draft; passed when every run has a verdict: the baseline is not perfect."""
    from mcp_tef import BatchRequest, default_workspace
    from mcp_tef.cli.batches import follow
    from mcp_tef.cli.session import opened

    async with opened(arguments, terminal, default_workspace().with_name(SAMPLE_FILE)) as engine:
        cases = await engine.open_sample(arguments.sample)
        request = BatchRequest(cases=tuple(case.id for case in cases), name=cases[0].draft.suites[0])
        batch, _ = await follow(engine, terminal, engine.runs.start(request))
        place, hints = shlex.quote(str(engine.workspace)), []
        if arguments.sample == SampleName.BIKE_SHOP:
            draft = shlex.quote((await engine.open_sample_draft()).name)
            hints.append(f"Try the draft that improves a tool with: mcp-tef try {draft} --workspace {place}")
        terminal.say("", *hints, f"Open it in the window with: mcp-tef gui --workspace {place}")
    return 1 if batch.count("failed") else 0


def register_sample_server(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "sample-server", "serve the bundled sample tools over stdio or HTTP", serve, listed=False)
    _add_sample(parser)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve streamable HTTP on this port of loopback")
    parser.add_argument("--token-file", type=Path, metavar="F", help="holds the token (default: a new one)")
    written = "writes the answers of the reading room, without a key (default: sentences of the documents)"
    parser.add_argument("--model", metavar="PROVIDER/NAME", help=written)
    add_base_url(parser)


def serve(arguments: Namespace, terminal: Terminal) -> None:
    """Serve until told to stop."""
    from mcp_tef import run_sample
    from mcp_tef.cli.library import bearer_token

    model = None
    if arguments.model:
        provider, name = parse_model(arguments.model)
        model = ModelSettings(provider=provider, model=name, base_url=arguments.base_url, max_tokens=MOST_TOKENS)
    http = None if arguments.http is None else (arguments.http, bearer_token(arguments.token_file, terminal))
    run_sample(SampleName(arguments.sample), http, model)


def register_gui(verbs: Verbs) -> None:
    """Add the verb."""
    add_verb(verbs, "gui", "open the window", gui)


def gui(arguments: Namespace, _: Terminal) -> int:
    """Open the window on the workspace that was asked for; ends when the window is closed."""
    if find_spec("app") is None:
        raise ReachError("The window is not part of this installation.", hint="Install mcp-tef-desktop as a whole.")
    if library := missing_library("PySide6", "pyqtgraph", "qasync", "qtawesome"):
        raise ReachError(f"The window needs {library}, which is not installed.", hint=how_to_install(library))
    place = ["--workspace", str(arguments.workspace)] if arguments.workspace else []
    code: int = import_module("app.main").main(place)
    return code
