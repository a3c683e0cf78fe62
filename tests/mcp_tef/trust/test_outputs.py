"""Everything that is written × hostile texts: no line is forged, and no build service is commanded."""

import csv
import io
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mcp_tef.formats.cases.texts import parse_yaml, to_yaml
from mcp_tef.formats.csv_tables import csv_text, from_spreadsheet_cell
from mcp_tef.reports import results as reports
from mcp_tef.reports import results_html
from mcp_tef.reports.charts import shown
from mcp_tef.reports.junit import to_junit
from mcp_tef.reports.markdown import plain, results_markdown
from mcp_tef.reports.page import page
from mcp_tef.reports.results import Results
from mcp_tef.trust.outputs import document_text, json_text, markup_text, terminal_line
from tests.support import report_factories, workspace_files
from tests.support.command_line import Said, say

COMMANDS = (
    *("::error::x", "  ::add-mask::x", "::set-output name=a::b", "##[group]x", "##[command]x", "##[error]x"),
    *("##vso[task.setvariable variable=PATH]x", "##VSO[task.complete result=Failed]", "###vso[x]y", "####[group]"),
    *("##teamcity[testFailed name='x']", "section_start:1:x", "section_end:1:x", "travis_fold:start:x"),
)
AROUND = ("{}", "…\n✓ all passed\n{}", "a {} b", "\r{}", "\t{}", "\u2028{}", "\x1b[2K{}", "\u202e{}", "a\n  {}\nb")
HOSTILE = tuple(around.format(command) for around in AROUND for command in COMMANDS)
AT_START = re.compile(r"^\s*::")
ANYWHERE = re.compile(r"##[a-z]*\[|(section_(start|end)|travis_fold):", re.IGNORECASE)


def obeyed(output: str) -> list[str]:
    """The lines that a build service would take for commands."""
    return [line for line in re.split(r"[\r\n]", output) if AT_START.search(line) or ANYWHERE.search(line)]


def test_the_texts_would_be_obeyed_as_they_are() -> None:
    harmless = [text for text in HOSTILE if not obeyed(text)]
    assert all("::" in text and not text.startswith(":") for text in harmless)
    assert len(harmless) < len(HOSTILE) / 3


@pytest.mark.parametrize("text", HOSTILE)
def test_no_encoder_lets_a_command_through_and_readers_see_the_text(text: str) -> None:
    line = terminal_line(text)
    assert line.isprintable()
    assert obeyed(line) == []
    document = document_text({text: [text]})
    assert json.loads(document) == {text: [text]}
    assert json.loads(json_text(json.dumps(text, ensure_ascii=False))) == text
    table = csv_text(["query"], [[text]])
    assert from_spreadsheet_cell(next(csv.DictReader(io.StringIO(table, newline="")))["query"]) == text
    markup = shown(text)
    for written in (document, table, plain(text), markup):
        found = obeyed(written)
        assert [one for one in found if "section" not in one and "travis" not in one] == []
        assert "\x1b" not in written  # a mark of a section counts only with one
    assert "&#" in markup or not obeyed(unescape(markup))


def in_a_report(write: Callable[[Results], str]) -> Callable[[str], str]:
    fields = ("case_name", "query", "model", "expected", "selected", "explanation")
    return lambda text: write(
        report_factories.results(report_factories.run(1, **dict.fromkeys(fields, text)), name=text)
    )


SINKS: dict[str, Callable[[str], str]] = {
    "line of a terminal": terminal_line,
    "JSON": lambda text: document_text({text: text}),
    "YAML": lambda text: to_yaml({text: [text, f"{text} " * 30]}),
    "CSV": lambda text: csv_text(["query"], [[text]]),
    "Markdown": plain,
    "HTML": lambda text: page(text, shown(text), []),
    "report as HTML": in_a_report(results_html.to_html),
    "report as Markdown": in_a_report(results_markdown),
    "report as JUnit": in_a_report(to_junit),
    "report as JSON": in_a_report(reports.to_json),
    "report as CSV": in_a_report(reports.to_csv),
}
"""Each sink with its encoder."""


@pytest.mark.parametrize("sink", SINKS)
def test_no_sink_commands_a_build_service_or_steers_a_terminal(sink: str) -> None:
    for text in HOSTILE:
        written = SINKS[sink](text)
        assert "\x1b" not in written, text  # a mark of a section counts only with one
        found = [one for one in obeyed(written) if "section" not in one and "travis" not in one]
        assert found == [], text


@pytest.mark.parametrize("sink", ["HTML", "report as HTML"])
def test_a_page_forbids_scripts_and_fetches_nothing(sink: str) -> None:
    written = SINKS[sink]("<script src=//x>a</script><img src=x onerror=a()><base href=//x>")
    assert """http-equiv="Content-Security-Policy" content="default-src 'none';""" in written
    assert written.index("Content-Security-Policy") < written.index("<title>")
    assert re.search(r"<(?:script|img|base|link|iframe|object)\b", written) is None


@pytest.mark.parametrize("text", HOSTILE)
def test_yaml_means_the_same_text(text: str) -> None:
    assert parse_yaml(to_yaml({text: [text, text * 20]}), "x.yaml") == {text: [text, text * 20]}


def test_markup_shows_the_same_text() -> None:
    for text in COMMANDS:
        xml = markup_text(f"<a>\n{text}</a>")
        assert obeyed(xml) == []
        assert ElementTree.fromstring(xml).text == f"\n{text}"


FORGED = "x\n✓ all passed\n::error::forged\n##vso[task.setvariable variable=A]b"
VERBS = (
    "quality --tools-file {tools}",
    "overlap --tools-file {tools} --embedder tfidf",
    "similarity --tools-file {tools} --embedder tfidf",
    "recommend --tools-file {tools} --embedder tfidf",
    "run --tools-file {tools} --cases {cases}",
    "clients check --tools-file {tools}",
    "draft new Shorter --tools-file {tools}",
    "servers add city --tools-file {tools}",
    "servers tools city",
    "cases import {cases}",
    "cases list",
    "quality --tools-file {cases}",
)


def test_no_verb_prints_a_line_that_a_name_or_query_forged(tmp_path: Path) -> None:
    tools = [
        {"name": f"{name}{FORGED}", "description": FORGED, "inputSchema": {"type": "object", "title": FORGED}}
        for name in "ab"
    ]
    case = workspace_files.case(FORGED, [{"tool": f"a{FORGED}"}])
    files = {
        "tools": workspace_files.written(tmp_path / "tools.json", {"tools": tools}),
        "cases": workspace_files.case_file(tmp_path, [case]),
    }
    for verb in VERBS:
        for options in ((), ("--json",)):
            words = verb.format(tools="T", cases="C").split()
            said = say(*({"T": files["tools"], "C": files["cases"]}.get(word, word) for word in words), *options)
            assert said.code in (0, 1, 2, 3), (verb, said)
            assert forged(said) == [], verb


def forged(said: Said) -> list[str]:
    """Lines that the text of a stranger made by itself."""
    lines = f"{said.out}\n{said.err}".splitlines()
    return [line for line in lines if line.startswith(("✓ all passed", "::error"))] + obeyed(said.out + said.err)
