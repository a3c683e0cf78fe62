"""What somebody set in the window holds below the environment, at once, and a bad value never keeps it shut."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mcp_tef import BatchRequest, CaseDraft, Config, Engine, RunFilter, ServerSpec, Transport
from mcp_tef.errors import InputError, StoreError
from mcp_tef.model.config import VARIABLES
from mcp_tef.model.variables import Variable
from tests.support.workspace_files import tools_file


def config(environment: dict[str, str], settings: dict[str, str]) -> Config:
    """What holds of both, where nothing is wrong."""
    found, problems = Config.lenient(environment, settings)
    assert problems == ()
    return found


def test_the_environment_goes_before_what_is_set_and_that_before_the_default() -> None:
    set_here = {"SIMILARITY_THRESHOLD": "0.6"}
    assert config({}, {}).similarity_threshold is None
    assert config({}, set_here).similarity_threshold == 0.6
    assert config({"SIMILARITY_THRESHOLD": "0.7"}, set_here).similarity_threshold == 0.7
    assert config({"SIMILARITY_THRESHOLD": " "}, set_here).similarity_threshold == 0.6
    assert config({}, {"OFFLINE_WORDS_THRESHOLD": "0.3"}).words_threshold == 0.3
    assert config({}, {}).meaning_threshold is None


def test_what_cannot_be_meant_is_passed_over_and_told() -> None:
    taken_as_they_are = ("DATABASE_URL", "MCP_TEF_TOKEN")  # a path, and a secret that no message may repeat
    environment = {one.own_name: "\x00" * 2_000 for one in VARIABLES if one.name not in taken_as_they_are}
    found, problems = Config.lenient(environment, {"MCP_TEF_MAX_PAGES": "nine", "LOG_LEVEL": "error"})
    assert found == Config(log_level="ERROR")
    assert len(problems) == len(environment)
    said = Config.lenient({"MCP_TEF_DEFAULT_LLM_PROVIDER": "openai"}, {})[1][0].message
    assert said == "MCP_TEF_DEFAULT_LLM_PROVIDER is set, and no model."


def test_no_two_settings_share_a_variable() -> None:
    names = [*{name: None for one in VARIABLES for name in (one.name, one.own_name)}]
    assert len({one.own_name for one in VARIABLES}) == len(VARIABLES)
    assert all(one.own_name.startswith("MCP_TEF_") for one in VARIABLES)
    assert not {name for name in names if name.startswith("MCP_TEF_")} - {one.own_name for one in VARIABLES}


FOREIGN = (
    *(
        "postgres://me:hidden@db/x",
        "file:./dev.db",
        "sqlite::memory:",
        "sqlite://",
        "jdbc:sqlite:a.db",
        "tcp://10.0.0.1:80",
    ),
    *(
        "warn",
        "trace",
        "info,hyper=debug",
        "soon",
        "-1",
        "1e9",
        "nan",
        "a b c d e f",
        "word2vec",
        "\x01",
        "{}",
        "99999999",
    ),
)
SETTINGS: tuple[dict[str, str] | None, ...] = (None, {})
SHARED = [one for one in VARIABLES if one.name != one.own_name]


@pytest.mark.parametrize("variable", SHARED, ids=lambda one: one.name)
def test_values_of_other_programs_never_fail_and_are_told_once(variable: Variable[Any]) -> None:
    refused = [text for text in FOREIGN if variable.fault(text)]
    assert refused
    for text in refused:
        for settings in SETTINGS:
            found, notes = Config.chosen({variable.name: text}, settings)
            assert found == Config()
            assert len(notes) == (variable.name != "PORT")
            assert all(variable.own_name in note and "hidden" not in note for note in notes)
        own = {variable.name: text, variable.own_name: "0.5" if "THRESHOLD" in variable.name else ""}
        Config.from_environment(own)
        if variable.name != "PORT":
            with pytest.raises(InputError, match=variable.own_name):
                Config.from_environment({variable.own_name: text})


def test_all_of_them_at_once_are_one_note() -> None:
    environment = {one.name: next(text for text in FOREIGN if one.fault(text)) for one in SHARED}
    found, notes = Config.chosen(environment, None)
    assert (found, len(notes)) == (Config(), 1)


@pytest.mark.parametrize("environment", [{"DEFAULT_LLM_PROVIDER": "openai"}, {"DEFAULT_LLM_MODEL": "gpt-4.1-mini"}])
def test_half_a_model_is_of_another_program(environment: dict[str, str]) -> None:
    found, notes = Config.chosen(environment, None)
    assert (found, len(notes)) == (Config(), 1)
    assert not Config.names_a_model(environment)
    assert Config.names_a_model({"DEFAULT_LLM_MODEL": "openai/gpt-4.1-mini"})


def test_our_own_name_wins() -> None:
    both = {"LOG_LEVEL": "DEBUG", "MCP_TEF_LOG_LEVEL": "error", "MCP_TEF_DEFAULT_LLM_MODEL": "openai/a"}
    found, notes = Config.chosen(both | {"DEFAULT_LLM_MODEL": "b"}, None)
    assert (found.log_level, found.default_model.label, notes) == ("ERROR", "openai/a", ())


async def test_a_database_of_another_program_is_not_opened_and_not_changed(home: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "app.db"
    with closing(sqlite3.connect(theirs)) as connection:
        connection.execute("CREATE TABLE users (name TEXT)")
    before = theirs.read_bytes()
    for path in (theirs, tmp_path / "not there" / "app.db"):
        engine = await Engine.open(environment={"DATABASE_URL": f"sqlite:///{path}"})
        assert engine.workspace.is_relative_to(home)
        assert engine.opened == (
            "Ignored DATABASE_URL: the value is for another program. For mcp-tef, set MCP_TEF_DATABASE_URL.",
        )
        await engine.close()
    assert theirs.read_bytes() == before
    with pytest.raises(StoreError, match=r"app\.db is a database of another program"):
        await Engine.open(environment={"MCP_TEF_DATABASE_URL": f"sqlite:///{theirs}"})


def test_the_home_of_somebody_who_is_not_there_is_a_path_like_any_other() -> None:
    assert config({"DATABASE_URL": "~nobody-here/work.db"}, {}).workspace == Path("~nobody-here/work.db")


async def test_a_workspace_opens_whatever_the_environment_says(tmp_path: Path) -> None:
    engine = await Engine.open(tmp_path / "one.db", environment={"MCP_TEF_LOG_LEVEL": "loud"}, settings={})
    assert engine.opened == (
        "MCP_TEF_LOG_LEVEL is “loud”, not one of DEBUG, INFO, WARNING and ERROR. "
        "Set MCP_TEF_LOG_LEVEL to one of DEBUG, INFO, WARNING and ERROR, or remove it.",
    )
    await engine.close()


async def test_a_limit_that_is_set_holds_for_the_next_listing(tmp_path: Path) -> None:
    engine = await Engine.open(tmp_path / "one.db", environment={}, settings={})
    spec = ServerSpec(name="city", transport=Transport.FILE, path=str(tools_file(tmp_path)))
    assert len((await engine.servers.probe(spec)).tools) == 2
    engine.configure({"MCP_TEF_MAX_TOOLS": "1", "MCP_TOOL_PREFIX_SEPARATOR": "__"})
    assert len((await engine.servers.probe(spec)).tools) == 1
    assert engine.config.separator == "__"
    engine.configure({})
    assert len((await engine.servers.probe(spec)).tools) == 2
    await engine.close()


async def test_the_separator_stands_between_server_and_tool_where_two_servers_share_a_name(tmp_path: Path) -> None:
    engine = await Engine.open(tmp_path / "one.db", environment={"MCP_TOOL_PREFIX_SEPARATOR": "__"})
    path = str(tools_file(tmp_path))
    for name in ("a", "b"):
        await engine.servers.add(ServerSpec(name=name, transport=Transport.FILE, path=path))
    (case,) = await engine.cases.add([CaseDraft(name="rain", query="weather report", servers=("a", "b"))])
    batch = await engine.runs.start(BatchRequest(cases=(case.id,)))
    await engine.runs.wait(batch.id)
    (run,) = await engine.runs.list(RunFilter(batch_id=batch.id))
    snapshot = (await engine.runs.detail(run.id)).snapshot
    assert snapshot is not None
    assert {"a__weather_report", "b__train_times"} <= {offered.offered_name for offered in snapshot.tools}
    await engine.close()
