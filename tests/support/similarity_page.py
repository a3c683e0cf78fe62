"""The similarity page over two servers with look-alikes, as its tests use it."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from app.screens.similarity.page import SimilarityPage
from tests.support.alike_tools import docs_and_desk
from tests.support.pages import PageBench, page_test

if TYPE_CHECKING:
    from mcp_tef import Engine

Bench = PageBench[SimilarityPage]


async def alike() -> "Engine":
    """Two servers with look-alikes, and runs that confused two of them."""
    return (await docs_and_desk()).engine


on_page = page_test(SimilarityPage, alike)


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
    await bench.until(lambda: bench.page.pair.places in bench.page.presenter.advice and not pane.advice.words.text())


def answer(bench: Bench, file: Path) -> None:
    """Name a file in the dialog that is open."""
    dialog = bench.page.findChildren(QFileDialog)[-1]
    dialog.fileSelected.emit(str(file))
    dialog.reject()
