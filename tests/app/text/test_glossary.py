"""Glossary: every technical heading and metric is explained, with the same text in tooltips and help."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtWidgets import QApplication

import app.screens
from app.help.topics import topics
from app.screens.metrics.metric_values import heading_help, headline_metrics, side_metrics
from app.screens.metrics.overview_pane import AgainstPart
from app.screens.quality.view import LevelSummaryBar
from app.screens.runs.batch_summaries import action_texts, batch_summary
from app.screens.runs.runs_list import SummaryBar
from app.screens.runs.verdict_pane import ConfidenceSection
from app.screens.similarity.labels import SCORE_HELP
from app.screens.similarity.pair_pane import MainScore, ScoreRow
from app.text.glossary import TERMS, explain
from app.widgets import Column
from mcp_tef import MatrixKind, ModelSettings, ScoreExplanation, wilson
from tests.support.report_factories import metrics
from tests.support.run_factories import batch as made_batch

SCREENS = Path(app.screens.__file__).parent
EVERYDAY = {
    *("Tool", "Other tool", "On another server", "Server", "Servers", "Tools", "Members", "Common words", "Model"),
    *("Query", "Case", "Batch", "Expected", "Selected", "Suite", "Tag", "Before", "After", "Change", "Work list"),
    *("From", "Transport", "Program or address", "Why", "Where"),
}


def modules() -> list[ModuleType]:
    files = [file for file in SCREENS.rglob("*.py") if "Column(" in file.read_text("utf-8")]
    names = (".".join(file.relative_to(SCREENS.parent.parent).with_suffix("").parts) for file in files)
    return [import_module(name) for name in names]


def columns() -> list[Column]:
    groups = [value for module in modules() for value in vars(module).values() if isinstance(value, tuple)]
    return [column for group in groups for column in group if isinstance(column, Column)]


def test_every_heading_that_is_no_everyday_word_has_an_explanation() -> None:
    found = columns()
    assert len(found) > 40
    assert {column.title for column in found if not column.tip} - {""} <= EVERYDAY


@pytest.mark.parametrize(
    ("title", "term"),
    [
        ("F1", "F1"),
        ("Pass rate", "pass rate"),
        ("Confusability", "confusability"),
        ("Similarity", "similarity"),
        ("With parameters", "similarity with parameters"),
        ("Wording", "wording"),
        ("Confidence", "confidence"),
        ("Hallucinated", "hallucinated parameter"),
        ("Score", "quality score"),
        ("Tokens", "token weight"),
    ],
)
def test_a_term_means_the_same_in_every_table(title: str, term: str) -> None:
    tips = [column.tip for column in columns() if column.title == title]
    assert tips
    assert all(tip.startswith(TERMS[term]) for tip in tips)


def test_every_figure_says_what_it_means() -> None:
    shown = [*(one.help for one in headline_metrics(metrics())), *(one.help for one in side_metrics(metrics()))]
    assert all(shown)


def test_the_figures_over_runs_a_pair_and_a_comparison_explain_themselves(qapp: QApplication) -> None:
    strip, lead, against, confidence, quality = (
        SummaryBar(),
        MainScore(),
        AgainstPart(),
        ConfidenceSection(),
        LevelSummaryBar(),
    )
    lead.show_score(ScoreExplanation(MatrixKind.SIMILARITY, "Meaning", 0.9, "Closer than most"), 0.85)
    told = {
        "Wilson interval": strip.shares[0].detail,
        "percentile": lead.number,
        "two claims": against.reading,
        "confidence": confidence.figure,
        "token weight": quality.detail,
    }
    for term, part in told.items():
        assert TERMS[term] in part.accessibleDescription(), term
        assert part.toolTip()


def test_what_a_ranking_adds_is_explained_only_where_it_stands(qapp: QApplication) -> None:
    strip = SummaryBar()
    batch = made_batch(models=(ModelSettings().label,))
    strip.show_summary(batch_summary(batch, replace(metrics(), recall_at={1: wilson(3, 5)})), action_texts(batch))
    assert strip.note.toolTip()
    strip.show_summary(batch_summary(batch), action_texts(batch))
    assert not strip.note.toolTip()
    for name, share in zip(("correct call", "correct tool"), strip.shares, strict=True):
        assert share.value.accessibleDescription().startswith(TERMS[name])


@pytest.mark.parametrize("kind", list(MatrixKind))
def test_every_score_of_a_pair_explains_itself(qapp: QApplication, kind: MatrixKind) -> None:
    line = ScoreRow()
    line.show_score(ScoreExplanation(kind, "A score", 0.5, "Half of it"))
    assert line.accessibleDescription() == SCORE_HELP[kind]
    assert line.toolTip()


@pytest.mark.parametrize(
    ("heading", "term"),
    [
        ("Accuracy", "accuracy"),
        ("Accuracy low", "Wilson interval"),
        ("pass^k high", "Wilson interval"),
        ("Correct n", "n"),
        ("Mean confidence", "confidence"),
    ],
)
def test_the_table_behind_a_chart_explains_its_figures(heading: str, term: str) -> None:
    assert heading_help(heading) == TERMS[term]


def test_a_heading_in_everyday_words_needs_no_explanation() -> None:
    assert (heading_help("Batch"), heading_help("From low")) == ("", "")


def test_what_else_is_to_be_said_stands_below() -> None:
    assert explain("n", "Judged ones.") == f"{TERMS['n']}\nJudged ones."


def test_each_term_is_explained_in_whole_short_sentences() -> None:
    for term, meaning in TERMS.items():
        assert (meaning[0].isupper(), meaning[-1]) == (True, "."), term
        assert len(meaning) <= 220, term


def test_the_help_lists_every_term() -> None:
    concepts = next(topic for topic in topics({}) if topic.key == "concepts")
    assert [term for term in TERMS if f"**{term}**" not in concepts.text] == []
