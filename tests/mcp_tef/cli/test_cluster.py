"""`--cluster`: what one machine shows, also when a worker is killed half way, and no key but in memory."""

import io
import json
import os
import pickle
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.api.cluster import ClusterExecutor
from mcp_tef.model.ids import RunId, SnapshotId
from mcp_tef.model.runs import ModelSettings, PlannedRun, RunStatus
from mcp_tef.model.secrets import Secret
from mcp_tef.ports import CaseTools
from tests.support import run_factories
from tests.support.command_line import Said, say
from tests.support.dask_cluster import RunningCluster, running_cluster
from tests.support.model_replies import Received, Reply, tool_calls
from tests.support.model_stub import ModelStub
from tests.support.stand_in_models import WordSensitiveModel
from tests.support.workspace_files import case, case_file, offered, tool, tools_file, written_tools

KEY = "sk-planted-for-the-cluster-0123456789"
CASES = [case(f"Weather in city {number}?", [{"tool": "weather_report"}]) for number in range(6)]
RUNS = 3 * len(CASES)
OF_ONE_BATCH = {
    *("id", "batch_id", "case_id", "execution_time_ms", "created_at", "completed_at", "attempts", "batch", "routing"),
    "execution_time",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    with running_cluster(2) as running:
        yield running


@pytest.fixture
def city(tmp_path: Path) -> Path:
    """A workspace with a server and six cases."""
    at = ("--workspace", tmp_path / "work.db")
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path), *at).code == 0
    assert say("cases", "import", case_file(tmp_path, CASES), *at).code == 0
    return tmp_path / "work.db"


def right(_: Received) -> Reply:
    """The call that every case expects."""
    return tool_calls(("weather_report", {"city": "Lisbon"}))


def asked(workspace: Path, *options: str) -> Said:
    """A batch with a key."""
    words = ("run", "--model", "openai/gpt-x", "--repeats", "3", "--key-stdin", "--json", "--workspace", workspace)
    return say(*words, *options, stdin=KEY + "\n")


def lasting(value: Any) -> Any:
    """A document without what differs between any two batches."""
    if isinstance(value, dict):
        return {key: lasting(one) for key, one in value.items() if key not in OF_ONE_BATCH}
    return [lasting(one) for one in value] if isinstance(value, list) else value


def test_groups_and_routers_choose_here_and_workers_ask(city: Path, cluster: RunningCluster, tmp_path: Path) -> None:
    routes = [{"name": "group/fast", "utterances": ["Weather in a city?"]}]
    route = {"name": "auto", "default": "group/fast", "embedder": "tfidf", "threshold": 0.1, "routes": routes}
    file = tmp_path / "router.yaml"
    file.write_text(json.dumps(route), "utf-8")
    on, down = ("--workspace", city), Reply(status=503, body="{}")
    with ModelStub(lambda _: down) as bad, ModelStub(right) as good:
        both = [f"openai/{name},url={stub.url},rpm={rpm}" for name, stub, rpm in (("a", bad, 99), ("b", good, 50))]
        group = [word for one in both for word in ("--deployment", one)]
        assert say("models", "groups", "add", "fast", *group, *on).code == 0
        assert say("routes", "add", file, *on).code == 0
        options = ("--model", "group/fast", "--model", "router/auto", "--retries", "0", "--concurrency", "1")
        said = say("run", *options, "--cluster", cluster.address, "--insecure-cluster", "--json", *on)
    assert said.code == 0, said.err + said.out
    assert len(said.document["runs"]) == 2 * len(CASES)
    assert len(good.requests) == 2 * len(CASES)
    assert len(bad.requests) <= 2  # it rests after its failure; both models may have asked it at once before


def test_a_trial_and_a_crowd_test_show_what_one_machine_shows(
    tmp_path: Path, cluster: RunningCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tools = written_tools(tmp_path, {"weather_report": "Does things.", "notes": "Keep a note."})
    case_file(tmp_path, CASES)
    Path("fix.json").write_text(
        json.dumps([{"op": "replace", "path": "/tools/0/description", "value": "Weather of a city."}]), "utf-8"
    )
    at = ("--workspace", "work.db")
    assert say("servers", "add", "city", "--tools-file", tools, *at).code == 0
    assert say("cases", "import", "cases.json", *at).code == 0
    for words in (
        ("try", "--patch", "fix.json", "--tools-file", tools, "--cases", "cases.json", "--no-early-stop"),
        ("crowd", "--sizes", "3", "--silence", "2", *at),
    ):
        with ModelStub(WordSensitiveModel(0, noise=0)) as stub:
            options = ("--model", "openai/x", "--base-url", stub.url, "--no-key", "--yes", "--json")
            alone = say(*words, *options)
            spread = say(*words, *options, "--cluster", cluster.address, "--insecure-cluster")
        assert (alone.code, spread.code) == (0, 0), spread.err
        assert "2 workers" in spread.err  # also where it has just started
        assert lasting(spread.document) == lasting(alone.document)


def test_workers_compare_tools_as_this_process_does(tmp_path: Path, cluster: RunningCluster) -> None:
    verbs, things = ("list", "get", "find"), ("page", "file", "mail", "user")
    named = {f"{verb}_{thing}": f"Work with a {thing} of the user." for verb in verbs for thing in things}
    words = ("similarity", "--tools-file", written_tools(tmp_path, named), "--embedder", "tfidf", "--json")
    at = ("--workspace", tmp_path / "work.db")
    alone, spread = say(*words, *at), say(*words, *at, "--cluster", cluster.address, "--insecure-cluster")
    assert spread.code == 0, spread.err
    assert spread.document == alone.document
    assert spread.document["flagged"]


class Strangers:
    """A client of a cluster whose workers are not ours; keeps what it was told to send."""

    def __init__(self, answer: object) -> None:
        self.sent: list[tuple[Any, ...]] = []
        self._answer = answer

    async def register_plugin(self, plugin: object, name: str) -> None:
        """Nobody asks for the key."""

    async def unregister_worker_plugin(self, name: str) -> None:
        """Nobody had it."""

    def submit(self, *work: Any, pure: bool) -> Any:
        from mcp_tef.api.cluster_worker import kept

        assert not pure, "equal runs are runs of their own"
        self.sent.append(work)
        return work[1] if work[0] is kept else self._answered()

    async def _answered(self) -> object:
        return self._answer


@pytest.mark.parametrize("answer", [None, [], ["done"], [1, 2], {"status": "completed"}])
async def test_what_a_strange_worker_answers_is_no_result_and_only_plain_values_travel(answer: object) -> None:
    from mcp_tef.api.cluster_worker import execute_runs

    client = Strangers(answer)
    executor = ClusterExecutor(client, 1)
    one, own = run_factories.case(), tool()
    run = PlannedRun(id=RunId("r"), case_id=one.id, settings=ModelSettings(provider="openai", model="gpt-x"))
    tools = CaseTools(offered=offered(own), tools=(own,), snapshot_id=SnapshotId("s"), servers=())
    result = await executor.execute(run, one, tools, {run.settings.destination: Secret(KEY)})
    await executor.close()
    assert result.status is RunStatus.FAILED
    assert result.failure
    assert "did not execute" in result.failure.message
    sent = pickle.dumps(client.sent)
    assert KEY.encode() not in sent
    assert modules_of(sent) <= {"mcp_tef", "builtins", "datetime"}
    assert any(work[0] is execute_runs for work in client.sent)


class _Recorder(pickle.Unpickler):
    """Reads a pickle, and notes the modules that it names."""

    def __init__(self, pickled: bytes) -> None:
        super().__init__(io.BytesIO(pickled))
        self.modules: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        self.modules.add(module.split(".", maxsplit=1)[0])
        return super().find_class(module, name)


def modules_of(pickled: bytes) -> set[str]:
    """The packages that a pickle names."""
    reading = _Recorder(pickled)
    reading.load()
    return reading.modules


@pytest.mark.parametrize(
    ("address", "says", "code"),
    [
        ("tcp://192.0.2.7:8786", "no TLS", 2),
        ("local:0", "local:1", 2),
        ("local:many", "local:1", 2),
        ("192.0.2.7:8786", "tls://", 2),
        ("tcp://127.0.0.1:8786", "no TLS", 2),
        ("tcp://127.0.0.1:9", "No Dask scheduler", 3),
        ("tls://127.0.0.1:9", "no certificate", 2),
    ],
)
def test_a_cluster_that_cannot_be_used_is_one_sentence_and_asks_nothing(
    address: str, says: str, code: int, city: Path
) -> None:
    from dask import config

    insecure = ("--insecure-cluster",) if code == 3 else ()
    with config.set({"distributed.comm.timeouts.connect": "1s"}):  # Dask's own setting, kept to below our time
        said = say("run", "--cluster", address, *insecure, "--workspace", city)
    assert (said.code, says in said.err.splitlines()[-1]) == (code, True)
    assert say("runs", "list", "--workspace", city, "--json").document["batches"] == []


def test_a_killed_worker_loses_nothing_and_the_rows_are_those_of_one_machine(
    city: Path, cluster: RunningCluster
) -> None:
    killed: list[int] = []

    def kills_one_half_way(received: Received) -> Reply:
        if len(stub.requests) >= RUNS // 2 and not killed:
            killed.append(cluster.workers[0])
            os.kill(killed[0], signal.SIGKILL)
        return right(received)

    with ModelStub(right) as plain:
        alone = asked(city, "--base-url", plain.url)
    with ModelStub(kills_one_half_way) as stub:
        said = asked(city, "--base-url", stub.url, "--cluster", cluster.address, "--insecure-cluster")
        requests = len(stub.requests)
    assert (alone.code, said.code, len(killed)) == (0, 0, 1), said.err
    assert lasting(said.document["runs"]) == lasting(alone.document["runs"])
    assert RUNS <= requests <= 2 * RUNS
    assert {request.headers["authorization"] for request in stub.requests} == {f"Bearer {KEY}"}
    assert KEY not in said.out + said.err
    assert [file for file in city.parent.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()] == []
