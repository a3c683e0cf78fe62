"""What somebody set in the window holds below the environment, at once, and a bad value never keeps it shut."""

from pathlib import Path

from mcp_tef import BatchRequest, CaseDraft, Config, Engine, RunFilter, ServerSpec, Transport
from mcp_tef.model.config import VARIABLES
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
    environment = {one.name: "\x00" * 2_000 for one in VARIABLES if one.name not in taken_as_they_are}
    found, problems = Config.lenient(environment, {"MCP_TEF_MAX_PAGES": "nine", "LOG_LEVEL": "error"})
    assert found == Config(log_level="ERROR")
    assert len(problems) == len(environment)
    assert "DEFAULT_LLM_PROVIDER is set" in Config.lenient({"DEFAULT_LLM_PROVIDER": "openai"}, {})[1][0].message


def test_the_home_of_somebody_who_is_not_there_is_a_path_like_any_other() -> None:
    assert config({"DATABASE_URL": "~nobody-here/work.db"}, {}).workspace == Path("~nobody-here/work.db")


async def test_a_workspace_opens_whatever_the_environment_says(tmp_path: Path) -> None:
    engine = await Engine.open(tmp_path / "one.db", environment={"LOG_LEVEL": "loud"}, settings={})
    assert engine.opened == (
        "LOG_LEVEL is “loud”, not one of DEBUG, INFO, WARNING and ERROR. "
        "Set LOG_LEVEL to one of DEBUG, INFO, WARNING and ERROR, or remove it.",
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
