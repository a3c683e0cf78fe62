"""The table of manners: what scripts may rely on, and the test that shows it."""

import ast
from argparse import ArgumentParser
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from mcp_tef.cli.arguments import verbs_below
from mcp_tef.cli.main import parser

TESTS = Path(__file__).parents[2]
SHARED = ("--workspace", "--json", "--debug", "--quiet", "--verbose", "--recover")
REPORTS = ("--junit", "--html", "--csv", "--sarif", "--markdown")
THRESHOLDS = ("--fail-under", "--fail-if-surely-under", "--case-pass-rate")
CONSENT = ("--yes", "--allow-program", "--allow-origin")
SOURCES = ("--server", "--url", "--tools-file")
EMBEDDER = ("--embedder", "--embedder-url")
MODEL = ("--model", "--base-url", "--timeout", "--temperature", "--retries", "--max-cost", "--max-tokens", "--price")
CHOICE = ("--suite", "--tag")
FILTERS = ("--batch", "--suite", "--tag", "--case", "--model", "--status", "--kind", "--since", "--until")
ON_RUN = ("--server-command", "--url", "--tools-file", "--cases", "--baseline", "--name", "--repeats", "--concurrency")
ON_WORKERS = ("--cluster", "--insecure-cluster")
CALLING = ("--seed", "--mode", "--tool-choice", "--system-prompt", "--key-stdin", "--no-key", "--case")
OPTIONS = {
    "servers add": ("--url", "--transport", "--command", "--arg", "--env", "--tools-file", "--if-missing", "--replace"),
    "servers import": ("--only", "--dry-run", "--replace"),
    "servers check": CONSENT,
    "servers call": ("--timeout", *CONSENT),
    "servers remove": ("--yes",),
    "cases import": ("--format", "--prune", "--attach", "--dry-run", "--accept", "--replace"),
    "cases export": ("--format", *CHOICE),
    "cases add": ("--tool", "--no-tool", "--expected", "--name", "--family", "--server", *CHOICE),
    "cases edit": ("--query", "--tool", "--no-tool", "--expected", "--name"),
    "cases remove": ("--yes",),
    "cases draft": (*SOURCES, "--tool", "--offline", "--out"),
    "run": ("--shard", *ON_WORKERS, *ON_RUN, *CALLING, *CHOICE, *MODEL, *THRESHOLDS, *REPORTS, *CONSENT),
    "runs show": (*THRESHOLDS, *REPORTS, "--baseline"),
    "runs retry": ("--max-cost", *THRESHOLDS, *REPORTS, *CONSENT),
    "runs resume": ("--max-cost", *THRESHOLDS, *REPORTS, *CONSENT),
    "runs rejudge": ("--batch",),
    "runs merge": ("--batch", "--name", *THRESHOLDS, *REPORTS),
    "metrics": FILTERS,
    "confusions": FILTERS,
    "compare": ("--must-hold", "--strict", "--fail-under", "--fail-if-surely-under", "--junit", "--html", "--markdown"),
    "score": ("--out", "--fail-under", "--fail-if-surely-under", "--junit"),
    "similarity": (*SOURCES, *EMBEDDER, "--threshold", "--full", "--out", "--pairs", *ON_WORKERS),
    "overlap": (*SOURCES, *EMBEDDER, "--out"),
    "recommend": (*SOURCES, *EMBEDDER, "--threshold", "--pair", "--patch-dir", *MODEL),
    "quality": (*SOURCES, "--fail-on", "--fail-under", "--ignore", "--baseline", "--sarif", "--markdown", "--out"),
    "try": ("--patch", "--strict", "--html", *ON_WORKERS, *MODEL),
    "crowd": ON_WORKERS,
    "steal": ON_WORKERS,
    "improve": ("--budget", "--writer", "--out", "--strict", *ON_WORKERS, *MODEL),
}
"""Options that scripts may rely on, by verb, beside those of every verb."""
MANNERS: dict[str, dict[str, str]] = {
    "mcp_tef/cli/test_terminal": {
        "one JSON document on stdout, nothing else": "test_with_json_only_the_document_reaches_stdout",
        "NO_COLOR, FORCE_COLOR, TERM=dumb": "test_marks_have_colour_where_it_is_wanted",
        "COLUMNS": "test_a_table_keeps_to_the_width_and_leaves_ids_whole",
        "tables in a pipe": "test_a_table_in_a_pipe_is_not_cut_to_a_screen",
        "progress on a terminal": "test_on_a_screen_the_line_is_drawn_and_taken_away",
        "progress in a pipe": "test_in_a_pipe_a_plain_line_is_written_every_ten_seconds_even_without_news",
        "keys never come from an argument": "test_a_key_comes_from_standard_input_and_never_shows_again",
    },
    "mcp_tef/cli/test_main": {
        "an error is a document too": "test_with_json_the_error_is_a_document",
        "an error is one sentence, exit code 2": "test_bad_usage_is_one_line_on_stderr_and_exit_code_2",
        "--debug adds the traceback": "test_debug_adds_the_traceback",
        "--quiet": "test_quiet_prints_no_results_for_people",
        "help VERB": "test_help_shows_the_page_of_a_verb",
        "shared options before or after the verb": "test_options_of_all_verbs_stand_anywhere",
        "options are never abbreviated": "test_a_usage_error_names_the_nearest_word_and_the_right_help_page",
        "DATABASE_URL": "test_database_url_names_the_workspace_unless_the_command_does",
        "reading verbs create nothing": "test_exactly_these_verbs_only_read",
    },
    "golden/test_commands": {
        "the JSON of every verb": "test_every_verb_has_a_golden_json_document_of_its_success",
    },
    "mcp_tef/cli/test_start_up": {
        "--version": "test_the_version_is_told_beside_other_options_too",
    },
    "mcp_tef/cli/test_examples": {
        "each verb has an example that works": "test_every_example_works_when_pasted",
    },
    "mcp_tef/cli/test_model_runs": {
        "3, unreached": "test_a_dead_address_stops_the_batch_after_five_runs_with_exit_code_3_and_a_way_to_go_on",
    },
    "mcp_tef/cli/test_names": {
        "a mistyped path makes no folders": "test_a_mistyped_path_makes_no_folders",
        "unknown names, in filters too": "test_an_unknown_name_is_bad_usage_with_the_nearest_one",
        "id, unique beginning, latest~1, name": "test_a_batch_is_named_in_many_ways",
        "two cases of one name": "test_two_cases_of_one_name_are_told_apart_by_their_ids",
        "deleting asks": "test_what_hangs_on_a_case_or_server_is_told_before_it_is_removed",
        "--prune and --attach": "test_an_import_prunes_and_attaches",
        "cases add and edit": "test_a_case_is_added_and_changed_by_options",
        "--if-missing and --replace": "test_a_server_is_added_once_replaced_or_not_kept",
        "include and exclude": "test_tools_of_a_server_are_left_out_and_offered_again",
    },
    "mcp_tef/cli/test_completion": {
        "completion": "test_bash_completes_verbs_options_choices_and_files",
        "man page": "test_the_manual_page_holds_every_verb_and_option_with_its_help",
    },
    "mcp_tef/cli/test_standard_input": {
        "- is standard input": "test_a_dash_is_standard_input",
    },
    "mcp_tef/cli/test_output_files": {
        "- is standard output": "test_a_dash_is_standard_output_which_then_holds_the_result_alone",
        "an unknown ending is refused": "test_an_ending_that_names_no_form_is_refused",
        "results replace no input": "test_no_verb_replaces_what_its_results_are_made_from",
    },
    "mcp_tef/cli/test_cost": {
        "the estimate comes first": "test_a_cap_without_room_for_one_run_exits_before_the_first_call",
        "cut off by the limit; --price": "test_cut_off_answers_and_unknown_prices_are_told",
    },
    "journeys/test_cost_cap": {
        "a cap holds": "test_a_cap_is_kept_and_raised_on_the_command_line",
    },
    "mcp_tef/cli/test_stateless": {
        "one stateless command": "test_nothing_is_kept_and_two_runs_are_alike",
        "project file": "test_the_project_file_holds_the_same_options",
        "precedence": "test_the_environment_comes_before_the_project_file",
        "names of servers are ignored": "test_one_source_stands_for_every_server_of_the_file_with_one_note",
        "NAME=C binds": "test_several_sources_are_bound_by_name",
        "a project file never consents": "test_a_program_of_the_project_file_needs_consent_and_names_the_file",
        "--baseline": "test_the_baseline_fails_a_run_that_is_proven_worse_and_no_other",
        "--yes and --allow-program": "test_a_program_needs_consent_which_only_the_command_line_gives",
        "thresholds": "test_thresholds_ask_the_estimate_the_interval_or_each_case",
    },
    "mcp_tef/cli/test_quality": {
        "thresholds of quality": "test_thresholds_decide_the_exit_code",
        "broken tools are judged": "test_every_definition_of_a_file_is_judged_and_each_broken_one_scores_0",
        "--ignore": "test_an_ignored_finding_is_kept_with_reason_and_date_until_the_text_changes",
        "--baseline of quality": "test_what_is_in_the_baseline_does_not_fail_and_what_is_new_does",
    },
    "mcp_tef/cli/test_score": {
        "thresholds of score": "test_thresholds_are_those_of_run",
    },
    "mcp_tef/cli/test_batches": {
        "reports": "test_every_report_is_written_and_tells_of_every_run",
    },
    "journeys/test_signals": {
        "a broken pipe, signals and exit codes": "test_a_signal_ends_a_batch_in_order_and_it_can_be_resumed",
    },
    "journeys/test_running_batch": {
        "resume: null": "test_a_batch_without_a_workspace_has_nothing_to_resume",
        "nothing is deleted under a batch": "test_nothing_is_deleted_under_a_running_batch",
    },
    "mcp_tef/cli/test_compare_and_rejudge": {
        "4 cannot tell yet": "test_strict_asks_for_a_decision_and_leaves_others_as_they_are",
    },
    "mcp_tef/cli/test_crash_log": {
        "70, an error of mcp-tef": "test_a_crash_has_an_exit_code_of_its_own_and_names_the_file_that_says_where",
    },
    "mcp_tef/formats/servers/test_client_configs": {
        "configs of other programs": "test_the_table_has_each_server_and_each_setting_of_the_files",
    },
    "journeys/test_start_never_fails": {
        "--recover": "test_a_workspace_that_was_cut_off_is_refused_until_it_is_to_be_recovered",
    },
}
"""By file of tests and manner: the test that shows it."""


@cache
def names_in(file: str) -> frozenset[str]:
    """The names of the tests of a file."""
    tree = ast.parse((TESTS / f"{file}.py").read_text("utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize(("file", "manner"), [(file, manner) for file, shown in MANNERS.items() for manner in shown])
def test_each_manner_is_shown_by_a_test(file: str, manner: str) -> None:
    assert MANNERS[file][manner] in names_in(file)


@cache
def parsers() -> Mapping[str, ArgumentParser]:
    """The parser of every verb."""
    return dict(verbs_below(parser()))


@pytest.mark.parametrize("name", OPTIONS)
def test_the_parser_takes_each_option_that_scripts_rely_on(name: str) -> None:
    verb = parsers()[name]
    known = {option for action in verb._actions for option in action.option_strings}
    assert {*SHARED, *OPTIONS[name]} - known == set()
