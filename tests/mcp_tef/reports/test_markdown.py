"""Results to be pasted: figures and reasons, and no word of a stranger that turns into a link, a mention or a table."""

import re
from dataclasses import dataclass, replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextDocument

from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import BatchRequest
from mcp_tef.model.similarity import FlagRule, PairStatus, WorkItem
from mcp_tef.reports.charts import visible
from mcp_tef.reports.markdown import (
    comparison_markdown,
    pair_markdown,
    plain,
    results_markdown,
    run_markdown,
    similarity_markdown,
)
from mcp_tef.reports.run_reports import RunReports
from mcp_tef.reports.similarity_html import SimilarityResults
from tests.support import report_factories
from tests.support.fake_engine import FakeEngine

HOSTILE = "[here](https://example.org) @everyone `x` <img src=a> | ![p](q) *b* _i_ # h\n- list\u202e"


async def ran() -> tuple[RunReports, FakeEngine]:
    core = FakeEngine()
    await core.open_sample()
    batch = await core.runs.start(BatchRequest(name="First"))
    await core.runs.wait(batch.id)
    return RunReports(core.engine), core


@pytest.mark.parametrize("special", "`*_[]<>#|@")
def test_every_sign_that_means_something_is_told_to_mean_nothing(special: str) -> None:
    assert plain(f"a{special}b") == f"a\\{special}b"


def test_a_text_stays_on_its_line_and_hides_nothing() -> None:
    assert "\n" not in plain(HOSTILE)
    assert "\u202e" not in plain(HOSTILE)
    assert not re.search(r"(?<!\\)\]\(|(?<!\\):\/\/", plain(HOSTILE))


@dataclass(frozen=True, slots=True)
class Line:
    """A block of text as a reader of Markdown shows it."""

    text: str
    heading: int
    listed: bool
    linked: bool


def read(markdown: str) -> list[Line]:
    """What a reader of GitHub's Markdown makes of a text."""
    document = QTextDocument()
    document.setMarkdown(markdown, QTextDocument.MarkdownFeature.MarkdownDialectGitHub)
    html, found, block = document.toHtml(), [], document.firstBlock()
    linked = "<a " in html or "<img" in html
    while block.isValid():
        found.append(Line(block.text(), block.blockFormat().headingLevel(), block.textList() is not None, linked))
        block = block.next()
    return found


@settings(max_examples=200, deadline=None)
@given(st.text("12.)-+=#*_>`~|[]()!<&;\\ \n\tamp:/w@$x{}^'\"\u202e", max_size=30))
@example("12. text")
@example("3) text")
@example("---")
@example("+ x")
@example("# x")
@example("===")
@example("- [ ] x")
def test_whatever_a_stranger_wrote_a_reader_of_markdown_shows_it_word_for_word(qapp: object, text: str) -> None:
    words = " ".join(visible(text).split())
    assert read(plain(text)) == [Line(words, heading=0, listed=False, linked=False)]


async def test_runs_are_told_with_figures_their_n_and_those_that_did_not_pass() -> None:
    reports, _ = await ran()
    found = await reports.found(RunFilter(), "First")
    text = results_markdown(replace(found, title=HOSTILE))
    assert text.startswith("## \\[here\\]")
    assert "| Recall | " in text
    assert ", n " in text
    wrong = [line for line in text.splitlines() if line.startswith("| ") and line.count(" | ") == 4]
    assert len(wrong) == 2 + sum(not run.passes for run in found.runs)


async def test_where_nothing_was_run_that_is_told() -> None:
    core = FakeEngine()
    cases = [case.id for case in await core.open_sample()]
    reports = RunReports(core.engine)
    assert "No run was judged, 0 failed." in await reports.markdown(RunFilter(), "Nothing")
    before, after = [await core.runs.start(BatchRequest(cases=tuple(cases[:1]))) for _ in range(2)]
    for batch in (before, after):
        await core.runs.wait(batch.id)
    compared = await reports.comparison(before.id, after.id)
    empty = replace(compared, comparison=replace(compared.comparison, pairs=()), rows=())
    assert "\n." not in comparison_markdown(empty)


async def test_a_run_is_told_with_what_was_expected_and_what_was_picked() -> None:
    reports, core = await ran()
    run = (await core.runs.list(RunFilter()))[0]
    text = await reports.run_markdown(run.id)
    assert f"> {plain(run.query)}" in text
    assert "| Expected | " in text
    detail = await core.runs.detail(run.id)
    assert run_markdown(detail) == text


async def test_a_comparison_is_told_with_its_reading() -> None:
    reports, core = await ran()
    again = await core.runs.start(BatchRequest(name="Second"))
    await core.runs.wait(again.id)
    first = (await core.runs.batches())[-1]
    text = await reports.comparison_markdown(first.id, again.id)
    assert "**No worthwhile change on these cases: none fixed, none broken of 4 cases.**" in text
    assert "Cannot tell yet for queries like these: 0 points" in text
    assert "| Correct tool | " in text


def test_a_pair_is_told_with_both_texts_and_the_reasons() -> None:
    similarity = report_factories.similarity(full=True)
    text = pair_markdown(similarity, 0, 1)
    assert all(plain(one.id) in text for one in similarity.tools[:2])
    assert "| Score |  | Why |" in text
    assert "<script>" not in text


def test_the_pairs_to_work_on_are_told_with_how_often_each_was_confused() -> None:
    found = report_factories.similarity()
    pair = WorkItem(pair=found.pair(0, 1), observation=None, standing=PairStatus.SIMILAR_UNTESTED, harm=1.0)
    text = similarity_markdown(SimilarityResults(similarity=found, rule=FlagRule(0.4), work=(pair,)))
    assert "1 of 6 pairs is flagged: confusability from 0.4 on. 4 tools, compared by made." in text
    assert "| shop/find\\_file | shop/look\\_up\\_file | alike, not tried in runs | – | 0.91 | medium |" in text
