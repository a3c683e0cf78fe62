"""Differences between two runs: settings, verdicts, answers and definitions."""

from dataclasses import replace

from mcp_tef.model.answers import ActualCall, Answer
from mcp_tef.model.comparison import DefinitionChange, ValueChange
from mcp_tef.model.ids import SnapshotId
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.tools import OfferedTool, Snapshot
from mcp_tef.scoring.run_differences import answer_changes, setting_changes, tool_changes, verdict_changes
from tests.support.run_factories import judged_detail, wrong_detail
from tests.support.workspace_files import offered, tool


def snapshot(*tools: OfferedTool) -> Snapshot:
    return Snapshot(SnapshotId("s"), tools)


def test_only_settings_that_differ_are_told() -> None:
    before = ModelSettings(provider="openai", model="gpt-4.1-mini", temperature=0.4)
    after = replace(before, temperature=0.0, system_prompt="Be brief.")
    assert setting_changes(before, before) == ()
    assert setting_changes(before, after) == (
        ValueChange("Temperature", "0.4", "0"),
        ValueChange("System prompt", "–", "Be brief."),
    )


def test_verdicts_are_told_apart_down_to_their_words() -> None:
    names = [change.name for change in verdict_changes(wrong_detail(), judged_detail())]
    assert {"Outcome", "Kind", "Explanation"} <= set(names)
    assert verdict_changes(wrong_detail(), wrong_detail()) == ()


def test_a_correct_tool_with_wrong_arguments_has_a_mark_of_its_own() -> None:
    after = judged_detail()
    before = replace(after, summary=replace(after.summary, parameters_ok=True))
    assert verdict_changes(before, after) == (ValueChange("Outcome", "correct_call", "wrong_arguments"),)


def test_an_expectation_with_other_parameters_is_another_one() -> None:
    before = judged_detail()
    call = before.expectation.first_call
    assert call is not None
    after = replace(before, expectation=replace(before.expectation, alternatives=((replace(call, parameters={}),),)))
    (change,) = verdict_changes(before, after)
    assert change.name == "Expected"
    assert "parse_config" in change.before
    assert "parse_config" not in change.after


def test_answers_are_told_apart_by_their_calls() -> None:
    before = Answer(calls=(ActualCall(tool="search", server="docs", arguments={"q": "retry"}),))
    assert answer_changes(before, before) == ()
    assert answer_changes(before, Answer(calls=())) == (ValueChange("Calls", 'docs / search {"q":"retry"}', "no tool"),)
    assert answer_changes(None, Answer(calls=None)) == (ValueChange("Calls", "–", "unreadable"),)


def test_tools_are_added_removed_changed_or_alike() -> None:
    before = snapshot(*offered(tool("find"), tool("gone"), tool("search")))
    after = snapshot(*offered(tool("find"), tool("search", description="Looks for whole words."), tool("fresh")))
    changes, alike = tool_changes(before, after)
    assert [(change.tool, change.change) for change in changes] == [
        ("fresh", DefinitionChange.ADDED),
        ("gone", DefinitionChange.REMOVED),
        ("search", DefinitionChange.CHANGED),
    ]
    assert alike == 1
    assert '-  "description": "Looks for words.",' in changes[2].diff.splitlines()
    assert '+  "description": "Looks for whole words.",' in changes[2].diff.splitlines()
    assert all(line.startswith(("+", "@")) for line in changes[0].diff.splitlines())


def test_the_same_definition_under_another_name_is_said_to_be_that() -> None:
    changes, _ = tool_changes(
        snapshot(OfferedTool("find", tool("find"))), snapshot(OfferedTool("docs-find", tool("find")))
    )
    assert [(change.change, change.diff) for change in changes] == [(DefinitionChange.OFFERED_AS, "")]


def test_the_order_of_tools_and_of_names_in_them_is_no_difference() -> None:
    turned = replace(tool("find"), raw=dict(sorted(tool("find").raw.items(), reverse=True)))
    changes, alike = tool_changes(snapshot(*offered(tool("find"), tool("a"))), snapshot(*offered(tool("a"), turned)))
    assert (changes, alike) == ((), 2)


def test_a_run_that_saw_no_tools_has_none() -> None:
    changes, alike = tool_changes(None, snapshot(*offered(tool("find"))))
    assert [change.change for change in changes] == [DefinitionChange.ADDED]
    assert alike == 0
