"""Reports on paper: whole, numbered, drawn with lines, and with nothing in them that comes from elsewhere."""

import asyncio
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from PySide6.QtCore import QSizeF
from PySide6.QtWidgets import QApplication

from app.dialogs.pdf_export import command, print_page
from app.dialogs.pdf_pages import Sealed, pdf_of, picture, printable, sheets
from mcp_tef import InputError
from mcp_tef.reports.charts import svg
from mcp_tef.reports.page import page, paragraphs, section, table
from tests.support.command_line import ROOT
from tests.support.processes import children
from tests.support.windows import until
from tests.support.workspace_files import a_workspace

CHART = svg(200, 100, "A chart", ['<rect class="f-good" x="0" y="0" width="90" height="20"/>', "<text>Right</text>"])
PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def report(rows: int, extra: str = "") -> str:
    told = [(f"query {number}", "search_files") for number in range(rows)]
    return page(
        "A batch", "<p>Lead</p>", [section("Figures", CHART), section("Runs", table(("Query", "Tool"), told)), extra]
    )


def pages(data: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", data))


def test_a_long_report_has_as_many_pages_as_it_takes(qapp: QApplication) -> None:
    for rows, expected in ((3, 1), (200, 4)):
        assert abs(pages(pdf_of(report(rows), "A batch")) - expected) <= (rows > 3)


def test_charts_are_drawn_as_shapes_and_not_as_pixels(qapp: QApplication) -> None:
    data = pdf_of(report(1), "A batch")
    streams = [zlib.decompress(part) for part in re.findall(rb"stream\r?\n(x.*?)\r?\nendstream", data, re.DOTALL)]
    green = rb"0 0\.498\d* 0\.349\d* sc"
    assert any(re.search(green, stream) for stream in streams)
    assert b"/Subtype /Image" not in data


def test_every_chart_of_a_page_is_taken_out_and_coloured() -> None:
    markup, charts = printable(report(1))
    assert "<svg" not in markup
    (chart,) = charts
    assert "class=" not in chart
    assert 'fill="#007f59"' in chart


@pytest.mark.parametrize(
    "address", ["file:///etc/hostname", "https://example.org/a.png", "data:image/svg+xml;base64,AAAA", ""]
)
def test_a_picture_from_elsewhere_is_refused(address: str) -> None:
    assert picture(address) is None


def test_a_picture_that_the_report_brings_itself_is_taken() -> None:
    made = picture(PIXEL)
    assert made is not None
    assert made.width() == 1


async def test_a_process_of_its_own_prints_and_says_why_where_it_cannot(tmp_path: Path) -> None:
    await print_page(report(2), "A batch", tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(InputError, match=r"could not be written: No such file or directory"):
        await print_page(report(2), "A batch", tmp_path / "missing" / "report.pdf")


async def test_no_report_is_printed_over_a_workspace(tmp_path: Path) -> None:
    workspace = a_workspace(tmp_path)
    before = workspace.read_bytes()
    with pytest.raises(InputError, match="which is never replaced"):
        await print_page(report(2), "A batch", workspace)
    assert workspace.read_bytes() == before


async def test_printing_ends_with_whoever_waits_for_it_and_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "report.pdf"
    file.write_bytes(b"the one of last week")
    printing = asyncio.create_task(print_page(report(20_000), "A batch", file))
    await until(children)
    printing.cancel()
    await asyncio.gather(printing, return_exceptions=True)
    await until(lambda: not children())
    assert [one.name for one in tmp_path.iterdir()] == ["report.pdf"]
    assert file.read_bytes() == b"the one of last week"


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    printing = command("A batch", tmp_path / "report.pdf")
    full = [sys.executable, "-m", "tests.support.processes", "8192", *printing]
    done = subprocess.run(full, input=report(200), capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "File too large"
    assert not list(tmp_path.iterdir())


def test_a_report_that_breaks_off_on_its_way_is_not_printed(tmp_path: Path) -> None:
    """As where the window is killed while it hands the page over; nothing is left behind."""
    printing = command("A batch", tmp_path / "report.pdf")
    done = subprocess.run(printing, input=report(200)[:4000], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (1, "the report did not arrive whole")
    assert not list(tmp_path.iterdir())


def test_rows_are_whole_and_their_head_comes_again_on_every_page(qapp: QApplication) -> None:
    made = sheets(Sealed(report(200), QSizeF(600, 900)).pieces(), 900)
    first, *others = made
    assert len(others) >= 3
    assert first.head is None
    assert all(sheet.head and sheet.head.height > 10 for sheet in others)
    assert all(sheet.span.height + (sheet.head.height if sheet.head else 0) <= 900 for sheet in made)
    ends = {piece.span.bottom for piece in Sealed(report(200), QSizeF(600, 900)).pieces()}
    assert {sheet.span.bottom for sheet in made} <= ends


def test_a_heading_and_what_leads_to_a_table_stay_with_it(qapp: QApplication) -> None:
    words = paragraphs("All of them, one below the other.")
    document = Sealed(page("A batch", "", [section("Runs", words + table(("Query",), [("one",)]))]), QSizeF(600, 900))
    assert [piece.keep for piece in document.pieces()] == [True, True, True, True, False]


def test_a_table_of_few_short_cells_does_not_fill_the_page() -> None:
    markup, _ = printable(page("A", "", [table(("a",), [("b",)], kind="narrow"), table(("a",), [("b",)])]))
    assert markup.count("<table") == 2
    assert markup.count('width="100%"') == 1


def test_a_built_app_prints_with_its_window_even_from_the_command_line() -> None:
    asked = command("A batch", Path("a.pdf"), built=True)
    window = Path(sys.executable).with_name("mcp-tef-desktop")
    assert asked == [str(window), "--print", "A batch", str(Path("a.pdf").absolute())]
