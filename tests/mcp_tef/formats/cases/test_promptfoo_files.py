"""Imports of whole promptfoo configurations: prompts, variables, default tests and files beside them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from mcp_tef.errors import InputError
from mcp_tef.formats.cases import promptfoo
from mcp_tef.formats.cases.entries import CaseEntry, CaseSource
from mcp_tef.model.cases import CaseDraft, EarlierMessage, ExpectedCall, Speaker
from tests.support.command_line import say

F1 = [{"type": "tool-call-f1", "value": ["get_weather"]}]


def read(folder: Path, **config: Any) -> tuple[CaseEntry, ...]:
    path = folder / "promptfooconfig.yaml"
    text = yaml.safe_dump(config, sort_keys=False)
    path.write_text(text, "utf-8")
    return promptfoo.read(CaseSource(text, path.name, path))


def drafts(folder: Path, **config: Any) -> list[CaseDraft]:
    entries = read(folder, **config)
    return [entry.draft for entry in entries if entry.draft or pytest.fail(entry.refused or "")]


def a_test(**values: Any) -> dict[str, Any]:
    return {"vars": values, "assert": F1}


def test_each_prompt_that_reads_differently_is_a_case_of_one_family(tmp_path: Path) -> None:
    prompts = [
        "Weather in {{city}}?",
        "Weather in {{ city }}?",
        {"label": "polite", "raw": "Please: weather, {{city}}"},
    ]
    found = drafts(tmp_path, prompts=prompts, tests=[{"description": "rain", **a_test(city="Lima")}])
    assert [one.query for one in found] == ["Weather in Lima?", "Please: weather, Lima"]
    assert [one.name for one in found] == ["rain (1)", "rain (2)"]
    assert {one.family for one in found} == {"rain"}


def test_arrays_stand_for_one_case_for_each_combination(tmp_path: Path) -> None:
    test = a_test(city=["Lima", "Oslo"], day=["today", "tomorrow"], sizes=[1, 2])
    found = drafts(tmp_path, prompts=["{{city}} {{day}} {{sizes}}"], tests=[test])
    assert [one.query for one in found] == [
        f"{city} {day} [1, 2]" for city in ("Lima", "Oslo") for day in ("today", "tomorrow")
    ]
    kept = drafts(tmp_path, prompts=["{{city}}"], tests=[test | {"options": {"disableVarExpansion": True}}])
    assert [one.query for one in kept] == ['["Lima", "Oslo"]']


def test_too_many_combinations_are_refused_without_unfolding_them(tmp_path: Path) -> None:
    numbers = list(map(str, range(100)))
    [entry] = read(tmp_path, prompts=["{{a}}"], tests=[a_test(**dict.fromkeys("abcdef", numbers))])
    assert "more than 1,000 cases" in (entry.refused or "")


def test_templates_that_unfold_without_bound_are_refused(tmp_path: Path) -> None:
    [entry] = read(tmp_path, prompts=["{{a}}" * 2000], tests=[a_test(a="x" * 1000)])
    assert "more than a million characters" in (entry.refused or "")


def test_a_chat_becomes_earlier_messages_and_the_query(tmp_path: Path) -> None:
    chat = [
        {"role": "system", "content": "You are terse."},
        {"role": "user", "content": "Hello, I am {{name}}"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": [{"type": "text", "text": "{{question}}"}]},
    ]
    (tmp_path / "chat.json").write_text(json.dumps(chat), "utf-8")
    [entry] = read(tmp_path, prompts=["file://chat.json"], tests=[a_test(name="Ann", question="Will it rain?")])
    assert entry.draft
    assert entry.draft.query == "Will it rain?"
    hello = EarlierMessage(Speaker.USER, "Hello, I am Ann"), EarlierMessage(Speaker.ASSISTANT, "Hello")
    assert entry.draft.before == hello
    assert entry.notes == ("Not taken over from a prompt: 1 of 4 messages (system, user, assistant).",)


def test_without_a_prompt_the_longest_natural_language_is_the_query(tmp_path: Path) -> None:
    values = {
        "id": "x" * 80,
        "data": '{"a": "a long document in JSON, longer than it"}',
        "topic": "Will it rain in Lima?",
    }
    [entry] = read(tmp_path, tests=[a_test(**values)])
    assert entry.draft
    assert entry.draft.query == "Will it rain in Lima?"
    assert entry.notes == ("Its query is the variable topic.",)


def test_default_values_assertions_and_metadata_come_first(tmp_path: Path) -> None:
    default = {"vars": {"city": "Lima", "day": "today"}, "assert": F1, "metadata": {"suites": ["Weather"]}}
    tests = [
        {"vars": {"day": "tomorrow"}, "assert": [{"type": "trajectory:tool-used", "value": "get_time"}]},
        {"options": {"disableDefaultAsserts": True}, "assert": [{"type": "tool-call-f1", "value": "get_time"}]},
    ]
    first, second = drafts(tmp_path, prompts=["{{city}} {{day}}?"], defaultTest=default, tests=tests)
    assert (first.query, second.query) == ("Lima tomorrow?", "Lima today?")
    both = ExpectedCall(tool="get_weather"), ExpectedCall(tool="get_time")
    assert first.expectation.alternatives == (both,)
    assert second.expectation.alternatives == ((both[1],),)
    assert first.suites == ("Weather",)


def test_tests_come_from_tables_lines_and_documents(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    heads = "question,__expected,__description,__metadata:tags[],__metric"
    table = heads + '\n"Rain, today?",tool-call-f1: get_weather,wet,"a,b",m\n'
    (tmp_path / "more" / "a.csv").write_text(table, "utf-8")
    (tmp_path / "more" / "b.jsonl").write_text(json.dumps(a_test(question="Snow?")) + "\n", "utf-8")
    (tmp_path / "more" / "c.yaml").write_text(yaml.safe_dump([a_test(question="Hail?")]), "utf-8")
    entries = read(
        tmp_path, prompts=["{{question}}"], tests=["file://more/*.csv", "more/b.jsonl", {"path": "file://more/c.yaml"}]
    )
    assert [entry.draft.query for entry in entries if entry.draft] == ["Rain, today?", "Snow?", "Hail?"]
    assert [entry.place for entry in entries] == ["a.csv, test 1", "b.jsonl, test 1", "c.yaml, test 1"]
    assert entries[0].draft
    assert (entries[0].draft.name, entries[0].draft.tags) == ("wet", ("a", "b"))
    assert entries[0].notes == ("Not taken over: __metric.",)


def test_variables_and_expected_values_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("Will it rain?\n", "utf-8")
    (tmp_path / "vars.yaml").write_text("city: Lima\n", "utf-8")
    (tmp_path / "args.json").write_text('{"name": "get_weather", "args": {"city": "{{city}}"}}', "utf-8")
    arguments = {"type": "trajectory:tool-args-match", "value": "file://args.json"}
    one = {"vars": {"question": "file://q.txt"}, "assert": F1}
    two = {"vars": "file://vars.yaml", "assert": [{"type": "tool-call-f1", "value": "get_{{city}}"}]}
    three = {"vars": {"city": "Lima"}, "assert": [arguments]}
    found = read(tmp_path, prompts=["{{question}}", "{{city}}"], tests=[one, two, three])
    assert [entry.draft.query for entry in found if entry.draft] == ["Will it rain?", "Lima", "Lima"]
    assert found[1].draft
    assert found[1].draft.expectation.alternatives == ((ExpectedCall(tool="get_Lima"),),)
    assert found[2].draft
    assert found[2].draft.expectation.alternatives == (
        (ExpectedCall(tool="get_weather", parameters={"city": "Lima"}),),
    )


def test_sets_and_references_of_assertions_are_followed(tmp_path: Path) -> None:
    several = {"type": "assert-set", "assert": [{"$ref": "#/assertionTemplates/weather"}, {"type": "latency"}]}
    test = {
        "vars": {"q": "Rain?"},
        "assert": [several, {"type": "latency"}, {**F1[0], "value": ["other"], "weight": 0}],
    }
    [entry] = read(tmp_path, assertionTemplates={"weather": F1[0]}, prompts=["{{q}}"], tests=[test])
    assert entry.draft
    assert entry.draft.expectation.alternatives == ((ExpectedCall(tool="get_weather"),),)
    assert entry.notes == ("Not taken over: latency (2 times).", "Not taken over: tool-call-f1.")


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("file://../outside.yaml", "outside the folder"),
        ("file://link.yaml", "outside the folder"),
        ("file://links/outside.yaml", "outside the folder"),
        ("file://lin*.yaml", "outside the folder"),
        ("file:///etc/hosts.yaml", "not a relative path"),
        ("file://%2Fetc/hosts.yaml", "not a relative path"),
        ("file://C:\\x.yaml", "not a relative path"),
        ("file://**/x.yaml", "may match files anywhere"),
        ("file://missing.yaml", "is not there"),
        ("file://make.py", "a kind of file that is not read"),
        ("huggingface://datasets/x", "not on this machine"),
    ],
)
def test_files_outside_the_folder_and_programs_are_refused(named: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "outside.yaml").write_text(yaml.safe_dump([a_test(q="secret")]), "utf-8")
    folder = tmp_path / "config"
    folder.mkdir()
    (folder / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    (folder / "links").symlink_to(tmp_path)
    with pytest.raises(InputError, match=says):
        read(folder, prompts=["{{q}}"], tests=named)
    [refused] = read(folder, prompts=["{{q}}"], tests=[named])
    assert says in (refused.refused or "")


def test_a_variable_outside_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret", "utf-8")
    (tmp_path / "config").mkdir()
    [entry] = read(tmp_path / "config", prompts=["{{q}}"], tests=[a_test(q="file://../secret.txt")])
    assert "outside the folder" in (entry.refused or "")


def test_pasted_text_reads_no_files() -> None:
    with pytest.raises(InputError, match="pasted text has no folder"):
        promptfoo.read(CaseSource("tests: file://tests.yaml", "the text.yaml"))


def test_scenarios_are_named_as_not_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="as scenarios, which are not read"):
        read(tmp_path, prompts=["x"], scenarios=[])


def test_everything_that_is_not_taken_over_is_named_with_the_number_of_cases(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "get_weather"}}
    provider = {"id": "openai:chat:gpt-4.1", "config": {"temperature": 0, "tools": "file://tools.json"}}
    (tmp_path / "tools.json").write_text(json.dumps([tool]), "utf-8")
    test = a_test(q="Rain?") | {"threshold": 0.5, "options": {"transform": "x"}, "metadata": {"feature": "f"}}
    config = {
        "prompts": ["{{q}}", "file://prompt.py"],
        "providers": [provider, "exec:run.sh"],
        "evaluateOptions": {"repeat": 3},
        "tests": [test, test | {"vars": {"q": "Snow?"}}],
    }
    path = tmp_path / "promptfooconfig.json"
    path.write_text(json.dumps(config), "utf-8")
    said = say("cases", "import", path, "--workspace", tmp_path / "work.db")
    assert said.code == 0, said.err
    for note in (
        "2 cases: Not taken over: threshold.",
        "2 cases: Not taken over: options.transform.",
        "2 cases: Not taken over: metadata.feature.",
        "2 cases: A prompt is not taken over: prompt.py is a program, which is never run.",
        "2 cases: Not taken over: the provider openai:chat:gpt-4.1. Ask it with --model openai/gpt-4.1.",
        "2 cases: Not taken over: settings of a provider (temperature).",
        "2 cases: Not taken over: the provider exec:run.sh.",
        "2 cases: Not taken over: evaluateOptions.",
    ):
        assert note in said.err
    assert "2 added" in said.out
    listed = say("servers", "list", "--json", "--workspace", tmp_path / "work.db").document
    assert len(listed["servers"]) == 1


def test_an_export_is_imported_unchanged(tmp_path: Path) -> None:
    workspace = ("--workspace", tmp_path / "work.db")
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "find", "inputSchema": {"type": "object"}}]), "utf-8")
    assert say("servers", "add", "desk", "--tools-file", tools, *workspace).code == 0
    assert say("cases", "add", "Where is it?", "--tool", "find", "--server", "desk", *workspace).code == 0
    out = tmp_path / "promptfoo.yaml"
    assert say("cases", "export", out, "--format", "promptfoo", *workspace).code == 0
    said = say("cases", "import", out, *workspace)
    assert "0 added, 0 updated, 1 unchanged, 0 refused" in said.out
    assert not said.err
