"""The HTML report as a reader gets it: whole in itself, and with nothing in it that runs."""

import re
from dataclasses import replace

from mcp_tef.model.ids import CaseId
from mcp_tef.model.metrics import ModelMetrics, Rate, RepeatedCase
from mcp_tef.model.verdicts import Classification, VerdictKind
from mcp_tef.reports.page import cell
from mcp_tef.reports.results_html import MOST_RUNS, runs_table, to_html
from mcp_tef.statistics.confusion import confusions
from mcp_tef.statistics.run_history import history_of
from tests.support.report_factories import Reader, results, run
from tests.support.run_histories import judged_run


def test_nothing_in_it_runs_or_comes_from_elsewhere() -> None:
    page = to_html(results())
    seen = Reader(page)
    assert not {"script", "link", "img", "iframe", "object", "embed", "form"} & set(seen.elements)
    names = {name for name, _ in seen.attributes}
    assert not {"src", "href", "action", "srcset", "style"} & names
    assert not [name for name in names if name.startswith("on")]
    assert set(re.findall(r"https?://[^\"]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert "url(" not in page
    assert "default-src 'none'" in page


def test_words_of_strangers_are_shown_as_words() -> None:
    seen = Reader(to_html(results()))
    assert any("<script>alert(1)</script>" in words for words in seen.words)


def test_what_words_of_strangers_hide_is_shown() -> None:
    hidden = replace(
        run(1), query="safe\u202egnp.exe pay\u200bpal", case_name="x\u2066y 👩\u200d💻", model="m\U000e0041"
    )
    page = to_html(replace(results(), title="a\u202eb", runs=(hidden,)))
    assert not re.search("[\u200b\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", page)
    assert "safe⟨U+202E⟩gnp.exe pay⟨U+200B⟩pal" in page
    assert "⟨U+200D⟩" not in page


def test_a_matrix_too_large_to_draw_is_a_list_of_confusions_that_holds_them_all() -> None:
    tools = [("docs", f"tool_{number}") for number in range(30)]
    runs = [judged_run(tool, other) for tool, other in zip(tools, [*tools[1:], tools[0]], strict=True)]
    overview = replace(results().overview, confusions=confusions(history_of(runs)))
    page = to_html(replace(results(), overview=overview))
    assert "20 of 30: show the others" in page
    matrix = page[page.index("Expected and selected tools") : page.index("<h2>Confidence")]
    assert all(f">{tool}<" in matrix.replace("<wbr>", "") for _, tool in tools)


def test_it_has_its_charts_and_each_has_a_name() -> None:
    seen = Reader(to_html(results()))
    assert seen.elements["svg"] == 4
    assert len([value for name, value in seen.attributes if name == "aria-label" and value]) == 4


def test_it_is_light_or_dark_as_the_reader_is_and_prints() -> None:
    page = to_html(results())
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page
    assert "color-scheme: light dark" in page


def test_every_run_is_there_with_why_it_did_not_pass_the_others_last() -> None:
    words = "".join(Reader(to_html(results())).words)
    assert "The right tool with a wrong value." in words
    assert "The server did not answer." in words
    assert words.index("question 3") < words.index("question 1")
    assert "Selected `find`, as expected." not in words


def test_what_is_not_defined_is_a_dash_and_the_baseline_is_called_one() -> None:
    words = "".join(Reader(to_html(results())).words)
    assert "Hallucinated parameters–" in words
    assert "offline/retrieval (a baseline, not a model)" in words


def test_a_large_matrix_becomes_a_list_of_what_was_confused_most() -> None:
    seen = Reader(to_html(results(tools=60)))
    assert seen.elements["svg"] == 3
    assert "Selected instead" in "".join(seen.words)


def test_a_large_batch_is_cut_and_says_so() -> None:
    page = to_html(results(*[run(number) for number in range(MOST_RUNS + 5)]))
    assert f"{MOST_RUNS:,} of {MOST_RUNS + 5:,} runs; the CSV holds all." in page
    assert page.count("<tr>") < MOST_RUNS + 40


def test_each_run_says_in_words_how_it_came_out() -> None:
    kinds = {
        VerdictKind.WRONG_TOOL: "Wrong tool",
        VerdictKind.NO_TOOL: "No tool",
        VerdictKind.INVENTED_TOOL: "Invented tool",
        VerdictKind.EXTRA_CALL: "Extra call",
        VerdictKind.UNEXPECTED_CALL: "Call not expected",
    }
    missed = [run(number, classification=Classification.FN, kind=kind) for number, kind in enumerate(kinds)]
    words = Reader(to_html(results(*missed, run(7, unreadable=True), run(8, parameters_ok=False), run(9)))).words
    assert [word[2:] for word in words if word.startswith("✗")] == [*kinds.values(), "Unreadable"]
    assert [word[2:] for word in words if word.startswith("~")] == ["Wrong arguments"]
    assert [word[2:] for word in words if word.startswith("✓")] == ["Correct call"]
    everything = Reader(to_html(results())).words
    assert [word[2:] for word in everything if word.startswith("!")] == ["Failed", "Not run"]


def test_the_figure_at_the_top_is_the_share_of_correct_calls_of_the_metrics() -> None:
    made = results()
    words = "".join(Reader(to_html(made)).words)
    assert f"50 % {made.overview.metrics.sentence}." in words
    assert "1 failed" in words


def test_names_of_tools_stand_out_in_sentences() -> None:
    page = to_html(results(run(1, parameters_ok=False, explanation="Selected `fi<nd` as expected.")))
    assert "Selected <code>fi&lt;nd</code> as expected." in page


def test_several_models_stand_beside_each_other() -> None:
    made = results()
    both = tuple(ModelMetrics(model=name, baseline=False, metrics=made.overview.metrics) for name in ("a/b", "c/d"))
    assert "Median time" not in to_html(made)
    words = "".join(Reader(to_html(replace(made, overview=replace(made.overview, models=both)))).words)
    assert "Median time" in words
    assert "c/d" in words


def test_what_passed_now_and_then_is_named() -> None:
    made = results()
    case = RepeatedCase(
        batch_id=None,
        case_id=CaseId("c"),
        case_name="a coin",
        model="a/b",
        n=3,
        passed=1,
        rate=Rate(1 / 3, 0.1, 0.8, 3),
    )
    mixed = replace(made.overview.repeats, groups=1, mixed=1, flaky=(case,))
    words = "".join(Reader(to_html(replace(made, overview=replace(made.overview, repeats=mixed)))).words)
    assert "1 sometimes" in words
    assert "a coina/b1 of 3" in words


def test_the_model_of_each_run_stands_there_only_where_there_are_several() -> None:
    one, other = run(1), replace(run(2), model="ollama/qwen3")
    assert "<th>Model</th>" not in runs_table((one, one))
    several = runs_table((one, other))
    assert "<th>Model</th>" in several
    assert "<td>ollama/qwen3</td>" in several


def test_a_long_name_breaks_between_its_words_and_a_short_one_does_not() -> None:
    assert cell("search_files in shop") == "search_files in shop"
    assert cell("a_name_of_many_words_and_more") == "a_<wbr>name_<wbr>of_<wbr>many_<wbr>words_<wbr>and_<wbr>more"
    assert cell("<script>_and_more_than_enough") == "&lt;script&gt;_and_<wbr>more_<wbr>than_<wbr>enough"
