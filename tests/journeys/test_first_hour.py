"""A designer's first hour at the command line: the sample, real servers, own cases, a model."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import workspace_files
from tests.support.command_line import ROOT, command, run, say
from tests.support.model_stub import ModelStub

KEY = "sk-journey-0123456789abcdef"
TOKEN = "a-token-of-the-sample-0123456789"


@pytest.fixture
def sample_over_http(tmp_path: Path) -> Iterator[str]:
    """The bundled server over HTTP, as a process; its url."""
    file = tmp_path / "token"
    file.write_text(TOKEN, "utf-8")
    words = command("sample-server", "--http", "0", "--token-file", file)
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    try:
        yield re.findall(r"http://\S+", process.stderr.readline())[0]
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()


def test_the_demo_needs_nothing_and_can_be_repeated(home: Path) -> None:
    first = run("demo", "--json")
    assert first.code == 0, first.err
    runs = first.document["runs"]
    assert len(runs) >= 24
    assert {item["status"] for item in runs} == {"completed"}
    metrics = first.document["metrics"]
    assert metrics["tp"] + metrics["fp"] + metrics["tn"] + metrics["fn"] == len(runs)
    again = say("demo")
    assert again.code == 0
    assert "baseline" in again.out
    assert [file.suffix for file in home.rglob("sample.db")] == [".db"]


def test_the_same_tools_over_both_transports(sample_over_http: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    program, *rest = command("sample-server")
    stdio = ("--command", program, *(f"--arg={one}" for one in rest))
    assert say("servers", "add", "pipe", *stdio, "--yes", "--json").document["status"] == "active"
    web = ("--url", sample_over_http, "--bearer-env", "SHOP_TOKEN")
    assert say("servers", "add", "web", *web, "--yes", "--json").document["status"] == "active"
    piped = say("servers", "tools", "pipe", "--json").document["tools"]
    assert len(piped) >= 10
    assert say("servers", "tools", "web", "--json").document["tools"] == piped


def test_own_cases_against_a_model(tmp_path: Path) -> None:
    say("servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path))
    cases = [
        workspace_files.weather(1),
        workspace_files.case("train times", [{"tool": "train_times", "parameters": {"station": "elsewhere"}}]),
        workspace_files.case("weather report please", [{"tool": "train_times"}]),
        workspace_files.case("sing", None),
        workspace_files.case("train times again", None),
    ]
    say("cases", "import", workspace_files.case_file(tmp_path, cases))
    with ModelStub() as stub:
        model = ("--model", "openai/stub", "--base-url", stub.url, "--temperature", "0.7")
        said = say("run", "--suite", "Journey", *model, "--key-stdin", "--json", stdin=KEY)
        assert {request.key for request in stub.requests} == {KEY}
        assert {request.body["temperature"] for request in stub.requests} == {0.7}
    assert said.code == 1, said.err
    verdicts = {item["case"]: (item["classification"], item["parameters_ok"]) for item in said.document["runs"]}
    assert verdicts == {
        "weather report 1": ("TP", True),
        "train times": ("TP", False),
        "weather report please": ("FN", None),
        "sing": ("TN", None),
        "train times again": ("FP", None),
    }
    newest = say("runs", "list", "--json").document["batches"][0]
    assert (newest["id"], newest["status"]) == (said.document["batch"], "completed")
    assert say("metrics", "--json").document == said.document["metrics"]


def test_one_run_can_be_looked_at_with_all_that_was_kept(tmp_path: Path) -> None:
    say("servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path))
    say("cases", "import", workspace_files.case_file(tmp_path, [workspace_files.weather(1)]))
    first = say("run", "--json").document["runs"][0]
    detail = say("runs", "show", first["id"], "--json").document
    assert {key: detail[key] for key in first} == first
    assert detail["tools"] == ["weather_report", "train_times"]
    assert detail["calls"][0]["tool"] == first["selected"].rpartition(" / ")[2]


def test_a_cloud_model_without_a_key_is_refused_with_the_place_to_put_it(tmp_path: Path) -> None:
    say("servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path))
    say("cases", "import", workspace_files.case_file(tmp_path, [workspace_files.weather(1)]))
    said = say("run", "--model", "openai/gpt-4.1-mini", "--json")
    assert said.code == 3
    assert said.error["code"] == "key_missing"
    assert all(way in said.error["hint"] for way in ("--key-stdin", "keys set openai", "OPENAI_API_KEY"))
    assert say("runs", "list", "--json").document["runs"] == []


def test_an_unknown_provider_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    say("servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path))
    say("cases", "import", workspace_files.case_file(tmp_path, [workspace_files.weather(1)]))
    said = say("run", "--model", "opnai/gpt-4.1-mini", "--json")
    assert said.code == 2
    assert said.error["code"] == "not_found"
    assert said.error["message"] == "There is no provider called opnai."
    assert said.error["hint"] == "Did you mean openai?"
    assert say("runs", "list", "--json").document["runs"] == []


def test_the_case_file_of_the_readme_can_be_imported_as_it_stands(tmp_path: Path) -> None:
    say("servers", "add", "Bike shop", "--tools-file", workspace_files.tools_file(tmp_path))
    shown = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert len(shown) == 1
    (tmp_path / "cases.yaml").write_text(shown[0], "utf-8")
    said = say("cases", "import", tmp_path / "cases.yaml", "--json")
    assert said.code == 0, said.err
    assert said.document["added"] == ["A tyre that went flat", "No tool fits"]
