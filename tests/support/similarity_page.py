"""The similarity page over two servers with similar tools, two of which were confused."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from app.screens.similarity.page import SimilarityPage
from mcp_tef import Server, ServerSpec, Tool, Transport
from tests.support.fake_engine import FakeEngine, made_tool
from tests.support.run_factories import past_batch, past_runs, remember
from tests.support.windows import PageBench

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
DOCS = (
    made_tool(
        "search_files",
        "Search files in the workspace by text or pattern and return matching paths, best match first.",
        "docs",
        ("query",),
        query=TEXT,
        path=TEXT,
        limit=NUMBER,
        glob=TEXT,
    ),
    made_tool(
        "search_code",
        "Search source code by text or pattern and return matching lines with their file and line number.",
        "docs",
        ("query",),
        query=TEXT,
        path=TEXT,
        limit=NUMBER,
        language=TEXT,
    ),
    made_tool("read_file", "Read a file of the workspace and return its text.", "docs", ("path",), path=TEXT),
    made_tool("set_timer", "Start a timer that rings after some minutes.", "docs", ("minutes",), minutes=NUMBER),
)
DESK = (
    made_tool("read_file", "Read a file of the workspace and return its text.", "desk", ("path",), path=TEXT),
    made_tool("send_email", "Send a message to one or several people.", "desk", ("to",), to=TEXT, text=TEXT),
)
IDS = ("docs/search_files", "docs/search_code", "docs/read_file", "docs/set_timer", "desk/read_file", "desk/send_email")


async def registered(fake: FakeEngine, **servers: Sequence[Tool]) -> tuple[Server, ...]:
    """Servers that were seen with these tools."""
    made = []
    for name, tools in servers.items():
        fake.gateway.servers[name] = tuple(tools)
        spec = ServerSpec(name=name, transport=Transport.STREAMABLE_HTTP, url=f"http://127.0.0.1/{name}")
        made.append(await fake.servers.add(spec))
        await fake.servers.tools(made[-1].id)
    return tuple(made)


def confused(fake: FakeEngine) -> None:
    """A past in which search_code and search_files were taken for each other, 8 times in 35 runs."""
    of = past_batch(1)
    remember(fake, (of, past_runs(of)))


async def docs_and_desk() -> FakeEngine:
    """Both servers, and the past."""
    fake = FakeEngine()
    await registered(fake, docs=DOCS, desk=DESK)
    confused(fake)
    return fake


Bench = PageBench[SimilarityPage]


def place(bench: Bench, tool_id: str) -> int:
    """Where a tool is in the analysis."""
    analysis = bench.page.presenter.analysis
    assert analysis is not None
    return [one.id for one in analysis.tools].index(tool_id)


async def open_pair(bench: Bench, a: str = "docs/search_files", b: str = "docs/search_code") -> None:
    """Open a pair, and wait for what is recommended."""
    pane = bench.page.view.pair
    pair = place(bench, a), place(bench, b)
    bench.page.pair.open(pair)
    await bench.until(lambda: pane.detail is not None and set(pane.detail.places) == set(pair))
    await bench.until(lambda: bench.page.pair.places in bench.page.presenter.advice and not pane.advice.ask.isHidden())


def answer(bench: Bench, file: Path) -> None:
    """Name a file in the dialog that is open."""
    dialog = bench.page.findChildren(QFileDialog)[-1]
    dialog.fileSelected.emit(str(file))
    dialog.reject()
