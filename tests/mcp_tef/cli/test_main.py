"""The parser: usage errors, verbs that only read, the environment, and `gui` and `keys` without screen and keychain."""

import argparse
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_tef.cli.arguments import joined
from mcp_tef.cli.main import main, parser, verb_of
from tests.support import isolation, routers, workspace_files
from tests.support.command_line import run, say
from tests.support.forgetful_keychain import FORGETFUL, NONE, keychain
from tests.support.processes import read_only
from tests.support.reading_verbs import READING
from tests.support.workspace_files import case_file, made_own, tools_file, weather

VERBS = (
    *("demo", "gui", "servers", "cases", "run", "runs", "metrics", "confusions", "crowd", "steal", "score", "keys"),
    *("completion", "serve", "workspace"),
)


def test_help_names_every_verb() -> None:
    text = parser().format_help()
    assert [verb for verb in VERBS if not re.search(rf"^    {verb}\s", text, re.MULTILINE)] == []


def test_the_sample_server_works_but_is_not_advertised() -> None:
    assert "sample-server" not in parser().format_help()
    assert parser().parse_args(["sample-server", "--http", "0"]).http == 0


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("dance",),
        ("servers",),
        ("servers", "add"),
        ("run", "--repeats", "many"),
        ("run", "--temperature", "3"),
        ("run", "--timeout", "0"),
        ("run", "--retries", "11"),
        ("run", "--concurrency", "0"),
        ("run", "--model", "gpt"),
        ("run", "--key-stdin"),
        ("score", "in.jsonl"),
        ("servers", "add", "x", "--url", "http://a", "--command", "b"),
        ("servers", "add", "x"),
        ("servers", "add", "x", "--tools-file", "f.json", "--arg", "a"),
        ("servers", "add", "x", "--command", "c", "--env", "novalue"),
        ("servers", "add", "x", "--url", "ftp://files"),
        ("servers", "add", "x", "--url", "http://a", "--transport", "stdio"),
        ("cases", "import", "cases.docx"),
        ("cases", "import", "cases.yaml", "--format", "word"),
    ],
)
def test_bad_usage_is_one_line_on_stderr_and_exit_code_2(arguments: tuple[str, ...]) -> None:
    said = say(*arguments)
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("mcp-tef: ")
    assert said.err.count("\n") == 1


def test_with_json_the_error_is_a_document() -> None:
    said = say("run", "--temperature", "3", "--json")
    assert said.code == 2
    assert said.error.keys() == {"code", "message", "hint"}
    assert "3" in said.error["message"]


def test_debug_adds_the_traceback() -> None:
    assert "Traceback" in say("run", "--temperature", "3", "--debug").err


def test_an_option_for_another_program_may_begin_with_a_dash() -> None:
    assert joined(["--arg", "-y", "--arg", "pkg", "--yes"]) == ["--arg=-y", "--arg=pkg", "--yes"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_options_of_all_verbs_stand_anywhere(place: int) -> None:
    words = ["servers", "list"]
    given = parser().parse_args([*words[:place], "--workspace", "w.db", "--json", *words[place:]])
    assert (str(given.workspace), given.json, given.debug) == ("w.db", True, False)
    assert verb_of(["--workspace", "run", "--json", "servers"]) == ("servers",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run --repeat 3", "There is no option --repeat. Did you mean --repeats? See mcp-tef run --help."),
        ("runs lst", "VERB cannot be “lst”. Did you mean list? See mcp-tef runs --help."),
        ("dmo", "Did you mean demo? See mcp-tef --help."),
        ("servers list --jso", "There is no option --jso. Did you mean --json? See mcp-tef servers list --help."),
        ("runs list here", "“here” is one argument too many. See mcp-tef runs list --help."),
        ("run --mode natve", "--mode cannot be “natve”. Did you mean native? See mcp-tef run --help."),
        ("run --repeats", "See mcp-tef run --help."),
    ],
)
def test_a_usage_error_names_the_nearest_word_and_the_right_help_page(line: str, said: str) -> None:
    answer = say(*line.split())
    assert (answer.code, said in answer.err) == (2, True), answer.err


def page(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the help that a command prints before it exits."""
    assert main(words) == 0
    return capsys.readouterr().out


def test_help_shows_the_page_of_a_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert page(capsys, "help", "runs", "list") == page(capsys, "runs", "list", "--help") != ""
    assert page(capsys, "help") == page(capsys, "--help") != ""


def test_quiet_prints_no_results_for_people(tmp_path: Path) -> None:
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path), "--quiet").out == ""
    assert say("--quiet", "servers", "list").out == ""
    assert say("--quiet", "servers", "list", "--json").document["servers"]


@pytest.fixture(scope="module")
def run_twice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A workspace in which a case was run twice."""
    files = tmp_path_factory.mktemp("run_twice")
    with isolation.at_home(files / "home"):
        at = ("--workspace", files / "work.db")
        assert say("servers", "add", "city", "--tools-file", workspace_files.tools_file(files), *at).code == 0
        assert say("cases", "import", workspace_files.case_file(files, [workspace_files.weather(1)]), *at).code == 0
        assert say("draft", "new", "Shorter", "--server", "city", *at).code == 0
        assert say("library", "import", "--server", "city", "--tool", "weather_report", *at).code == 0
        (files / "router.yaml").write_text(json.dumps(routers.WORDS_ONLY), "utf-8")
        assert say("routes", "add", files / "router.yaml", *at).code == 0
        assert say("models", "groups", "add", "fast", "--deployment", "openai/gpt-4.1-mini", *at).code == 0
        for _ in range(2):
            assert say("run", "--model", "offline/words", *at).code in (0, 1)
        yield files / "work.db"


@pytest.fixture
def folder(run_twice: Path, tmp_path: Path) -> Path:
    """A folder with nothing but a copy of that workspace."""
    made = tmp_path / "theirs"
    made.mkdir()
    made_own(Path(shutil.copy(run_twice, made)))
    return made


def verbs(group: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, bool]]:
    """Every verb, and whether it only reads."""
    below = [action for action in group._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield " ".join(words), group.get_default("reads")
    for action in below:
        for name, verb in action.choices.items():
            yield from verbs(verb, (*words, name))


def test_exactly_these_verbs_only_read() -> None:
    assert {name for name, reads in verbs(parser()) if reads} == set(READING)


def test_a_workspace_that_cannot_be_written_is_read_as_any_other(folder: Path, tmp_path: Path) -> None:
    workspace = folder / "work.db"
    batch, earlier = (
        item["id"] for item in say("runs", "list", "--workspace", workspace, "--json").document["batches"]
    )
    given = {"BATCH": batch, "EARLIER": earlier}
    for verb, usual in READING.items():
        words = [given.get(word, word.replace("OUT", str(tmp_path))) for word in usual]
        command: list[str | Path] = [*verb.split(), *words, "--workspace", workspace, "--json"]
        expected, before = say(*command), workspace.read_bytes()
        with read_only(folder):
            assert say(*command) == expected, verb
        assert expected.code == 0, verb
        assert workspace.read_bytes() == before, verb
        assert [file.name for file in folder.iterdir()] == ["work.db"], verb


@pytest.mark.parametrize("verb", READING)
def test_a_workspace_that_is_named_and_not_there_is_an_error(tmp_path: Path, verb: str) -> None:
    words = [word.replace("OUT", str(tmp_path)) for word in READING[verb]]
    said = say(*verb.split(), *words, "--workspace", tmp_path / "typo.db", "--json")
    assert (said.code, said.error["code"]) == (3, "workspace_missing")
    assert f"There is no workspace {tmp_path / 'typo.db'}." in said.err
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_one_that_the_environment_names_has_to_be_there_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'typo.db'}")
    assert say("cases", "list", "--json").error["code"] == "workspace_missing"


@pytest.mark.parametrize(
    "verb", ["servers list", "servers discover", "cases list", "runs list", "metrics", "confusions"]
)
def test_the_usual_workspace_is_empty_until_something_is_written(home: Path, verb: str) -> None:
    said = say(*verb.split(), "--json")
    assert (said.code, said.err) == (0, "")
    assert [file for file in home.rglob("*") if file.is_file()] == []


def test_a_verb_that_writes_is_refused_where_it_cannot(folder: Path) -> None:
    with read_only(folder):
        said = say("servers", "remove", "city", "--workspace", folder / "work.db", "--json")
    assert (said.code, said.error["code"]) == (3, "workspace_not_writable")


MODEL_OF_A_PROVIDER = {"DEFAULT_LLM_PROVIDER": "openai", "DEFAULT_LLM_MODEL": "gpt-4.1-mini"}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A workspace with one tools file as server and one case."""
    workspace = tmp_path / "book.db"
    at = ("--workspace", workspace)
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path), *at).code == 0
    assert say("cases", "import", case_file(tmp_path, [weather(1)]), *at).code == 0
    return workspace


def put(patch: pytest.MonkeyPatch, **variables: str) -> None:
    for name, value in variables.items():
        patch.setenv(name, value)


def test_database_url_names_the_workspace_unless_the_command_does(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(monkeypatch, DATABASE_URL=f"sqlite:///{book}")
    assert [case["name"] for case in say("cases", "list", "--json").document["cases"]] == ["weather report 1"]
    other = ("--workspace", tmp_path / "other.db")
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path), *other).code == 0
    assert say("cases", "list", "--json", *other).document["cases"] == []


@pytest.mark.parametrize(
    "variables", [MODEL_OF_A_PROVIDER, {"DEFAULT_LLM_MODEL": "openai/gpt-4.1-mini"}], ids=["both", "model alone"]
)
def test_the_default_model_is_asked_where_a_run_names_none(
    book: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    put(monkeypatch, **variables)
    assert say("run", "--workspace", book).err.endswith(
        "mcp-tef: There is no key for openai. Use --key-stdin, run mcp-tef keys set openai, or set OPENAI_API_KEY.\n"
    )
    ran = say("run", "--workspace", book, "--model", "offline/retrieval", "--json")
    assert {one["model"] for one in ran.document["runs"]} == {"offline/words"}


def test_the_embedder_of_the_environment_compares_where_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tools_file(tmp_path)
    put(monkeypatch, EMBEDDING_MODEL_TYPE="tfidf")
    assert say("similarity", "--tools-file", tools).err == ""
    put(monkeypatch, EMBEDDING_MODEL_TYPE="openai")
    assert "key" in say("similarity", "--tools-file", tools, "--json").error["message"]
    assert say("similarity", "--tools-file", tools, "--embedder", "tfidf", "--json").code == 0


def test_the_log_level_of_the_environment_is_that_of_stderr(book: Path) -> None:
    quiet = run("cases", "list", "--workspace", book, "--json")
    told = run("cases", "list", "--workspace", book, "--json", environment={"LOG_LEVEL": "debug"})
    assert quiet.err.count("DEBUG:") == 0 < told.err.count("DEBUG:")
    assert told.document == quiet.document


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MCP_TEF_DATABASE_URL", "postgresql://me:hidden@db/x", "_DATABASE_URL is “postgresql://…”, not a path"),
        ("MCP_TEF_DEFAULT_LLM_PROVIDER", "openai", "is set, and no model. Set MCP_TEF_DEFAULT_LLM_MODEL as well."),
        ("MCP_TEF_DEFAULT_LLM_MODEL", "gpt-4.1-mini", "The model “gpt-4.1-mini” is not of the form PROVIDER/NAME."),
        ("MCP_TEF_LOG_LEVEL", "loud", "LOG_LEVEL is “loud”, not one of DEBUG, INFO, WARNING and ERROR."),
        ("MCP_TEF_TOOL_INGESTION_TIMEOUT_SECONDS", "soon", "not a number of seconds from 0.1 to 3600."),
        ("MCP_TEF_EMBEDDING_MODEL_TYPE", "word2vec", "EMBEDDING_MODEL_TYPE is “word2vec”, not fastembed,"),
        ("MCP_TEF_SIMILARITY_THRESHOLD", "1.5", "SIMILARITY_THRESHOLD is “1.5”, not a number from 0 to 1."),
        ("MCP_TEF_TOOL_PREFIX_SEPARATOR", "a b", "MCP_TEF_TOOL_PREFIX_SEPARATOR is “a b”, not at most 8 characters"),
    ],
)
def test_a_value_that_cannot_be_meant_is_one_sentence_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    put(monkeypatch, **{name: value})
    answer = say("servers", "list")
    assert answer.code == 2
    assert said in answer.err
    assert answer.err.count("\n") == 1
    assert "hidden" not in answer.err


def test_variables_of_other_programs_are_ignored_with_one_note(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, DATABASE_URL="postgres://me:hidden@db/x", LOG_LEVEL="warn", PORT="tcp://10.0.0.1:80")
    answer = say("servers", "list")
    assert answer.code == 0
    assert answer.err == (
        "Ignored DATABASE_URL and LOG_LEVEL: the value is for another program. For mcp-tef, set MCP_TEF_DATABASE_URL "
        "and MCP_TEF_LOG_LEVEL.\n"
    )


def test_without_a_display_the_window_says_what_to_use_instead() -> None:
    said = run("gui", environment={"QT_QPA_PLATFORM": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""})
    assert said.code == 3
    assert "mcp-tef demo" in said.err


def test_without_a_keychain_a_key_is_not_kept_and_not_shown() -> None:
    with keychain(NONE):
        said = say("keys", "set", "openai", stdin="sk-not-to-be-shown\n")
        listed = say("keys", "list", "--json")
    assert said.code == 3
    assert "OPENAI" in said.err or "environment variable" in said.err
    assert "sk-not-to-be-shown" not in said.out + said.err
    assert listed.document == {"providers": []}


def test_an_empty_key_is_refused() -> None:
    with keychain(FORGETFUL):
        assert say("keys", "set", "openai").code == 2
