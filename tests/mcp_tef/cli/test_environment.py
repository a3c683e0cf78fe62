"""What the environment says holds for every command that does not say otherwise."""

from pathlib import Path

import pytest

from tests.support.command_line import run, say
from tests.support.workspace_files import case_file, tools_file, weather

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
    assert say("run", "--workspace", book).err == (
        "mcp-tef: There is no key for openai. Type it when you start the run, or set OPENAI_API_KEY.\n"
    )
    ran = say("run", "--workspace", book, "--model", "offline/retrieval", "--json")
    assert {one["model"] for one in ran.document["runs"]} == {"offline/retrieval"}


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
    quiet = run("run", "--workspace", book, "--json")
    told = run("run", "--workspace", book, "--json", environment={"LOG_LEVEL": "debug"})
    assert quiet.err.count("DEBUG:") == 0 < told.err.count("DEBUG:")
    assert told.document["metrics"]["n"] == 1


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("DATABASE_URL", "postgresql://me:hidden@db/x", "DATABASE_URL is “postgresql://…”, not a path"),
        ("DEFAULT_LLM_PROVIDER", "openai", "DEFAULT_LLM_PROVIDER is set, and no model. Set DEFAULT_LLM_MODEL as well."),
        ("DEFAULT_LLM_MODEL", "gpt-4.1-mini", "The model “gpt-4.1-mini” is not of the form PROVIDER/NAME."),
        ("LOG_LEVEL", "loud", "LOG_LEVEL is “loud”, not one of DEBUG, INFO, WARNING and ERROR."),
        ("TOOL_INGESTION_TIMEOUT_SECONDS", "soon", "not a number of seconds from 0.1 to 3600."),
        ("EMBEDDING_MODEL_TYPE", "word2vec", "EMBEDDING_MODEL_TYPE is “word2vec”, not fastembed,"),
        ("SIMILARITY_THRESHOLD", "1.5", "SIMILARITY_THRESHOLD is “1.5”, not a number from 0 to 1."),
        ("MCP_TOOL_PREFIX_SEPARATOR", "a b", "MCP_TOOL_PREFIX_SEPARATOR is “a b”, not at most 8 characters"),
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
