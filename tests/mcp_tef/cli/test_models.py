"""`models …`, `routes …`, and runs with a group or a router, over stand-in models on loopback."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.command_line import Said, say, say_allowed
from tests.support.model_replies import Received, Reply, tool_calls, words
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import case, case_file, tools_file

RAIN, TRAIN = "weather report for Oslo", "train times from Oslo to Bergen"
ASKED = [case(RAIN, [{"tool": "weather_report"}]), case(TRAIN, [{"tool": "train_times"}])]


@pytest.fixture
def city(tmp_path: Path) -> Path:
    """A workspace with a server of two tools and two cases."""
    workspace = tmp_path / "work.db"
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path), "--workspace", workspace).code == 0
    assert say("cases", "import", case_file(tmp_path, ASKED), "--workspace", workspace).code == 0
    return workspace


def on(workspace: Path, *words: str | Path) -> Said:
    return say(*words, "--workspace", workspace)


def group(workspace: Path, name: str, *deployments: str) -> Said:
    given = [word for one in deployments for word in ("--deployment", one)]
    return on(workspace, "models", "groups", "add", name, *given)


def runs(workspace: Path) -> list[dict[str, Any]]:
    listed = on(workspace, "runs", "list", "--batch", "latest", "--json").document["runs"]
    return [on(workspace, "runs", "show", run["id"], "--json").document for run in listed]


def test_a_group_falls_over_to_the_next_deployment_and_each_run_says_which_answered(city: Path) -> None:
    down, up = Reply(status=503, body="{}"), tool_calls(("weather_report", {"city": "Oslo"}))
    with ModelStub(lambda _: down) as bad, ModelStub(lambda _: up) as good:
        said = group(city, "fast", f"openai/a,url={bad.url},rpm=100", f"openai/b,url={good.url},rpm=50,tpm=9000")
        assert said.code == 0
        assert on(city, "run", "--model", "group/fast", "--retries", "0").code == 1
        assert len(bad.requests) == 1  # it rests after its failure
    shown = runs(city)
    assert {run["model"] for run in shown} == {"group/fast"}
    assert [run["status"] for run in shown] == ["completed", "completed"]
    assert {run["routing"]["deployment"] for run in shown} == {f"openai/b at {good.url}"}
    assert {one["deployment"] for run in shown for one in run["routing"]["failed"]} == {f"openai/a at {bad.url}"}
    told = on(city, "runs", "show", shown[0]["id"]).out
    assert f"openai/b at {good.url}; after openai/a at {bad.url} failed: " in told
    assert group(city, "dead", f"openai/a,url={bad.url}", f"openai/b,url={good.url}").code == 0
    assert on(city, "run", "--model", "group/dead", "--retries", "0").code == 3
    message = str(runs(city)[0]["error"])
    assert "No deployment of the group dead answered" in message
    assert bad.url in message


def test_calls_are_spread_by_free_capacity(city: Path) -> None:
    with ModelStub() as one, ModelStub() as two:
        group(city, "wide", f"openai/a,url={one.url},rpm=40", f"openai/b,url={two.url},rpm=20")
        on(city, "run", "--model", "group/wide", "--repeats", "6", "--concurrency", "1")
        assert (len(one.requests), len(two.requests)) == (8, 4)


def test_a_group_is_told_by_the_rules_of_the_seed_and_can_be_removed(city: Path) -> None:
    models = ("openai/gpt-4.1-mini,rpm=10,tpm=1000", "anthropic/claude-haiku-4-5,rpm=5")
    assert group(city, "mixed", *models).code == 0
    shown = on(city, "models", "groups", "show", "mixed", "--json").document
    assert shown["providers"] == ["openai", "anthropic"]
    assert (shown["rpm"], shown["tpm"], shown["max_input_tokens"]) == (15, 1000, 1047576)
    assert shown["supports_function_calling"] is True
    assert [one["model_group"] for one in on(city, "models", "groups", "list", "--json").document["groups"]] == [
        "mixed"
    ]
    assert on(city, "models", "groups", "remove", "mixed").code == 0
    assert on(city, "models", "groups", "show", "mixed").code == 2


def router(workspace: Path, **changes: Any) -> Said:
    document = {
        "name": "auto",
        "default": "offline/words",
        "embedder": "tfidf",
        "threshold": 0.3,
        "routes": [{"name": "group/small", "utterances": ["train times from Oslo to Trondheim"]}],
    } | changes
    file = workspace.parent / "router.yaml"
    file.write_text(yaml.safe_dump(document), "utf-8")
    return on(workspace, "routes", "add", file)


def test_a_router_runs_like_a_model_and_is_compared_from_stored_runs(city: Path) -> None:
    reply = tool_calls(("train_times", {"station": "Oslo"}))
    with ModelStub(lambda _: reply) as stub:
        group(city, "small", f"openai/s,url={stub.url}")
        assert router(city).code == 0
        tested = on(city, "routes", "test", "auto", TRAIN, "--json").document
        assert (tested["asked"], tested["route"]) == ("group/small", "group/small")
        assert on(city, "routes", "test", "auto", RAIN, "--json").document["asked"] == "offline/words"
        on(city, "run", "--model", "router/auto")
        by_query = {run["query"]: run["routing"] for run in runs(city)}
        assert by_query[TRAIN]["route"] == "group/small"
        assert by_query[TRAIN]["deployment"] == f"openai/s at {stub.url}"
        assert by_query[TRAIN]["score"] >= 0.3
        assert (by_query[RAIN]["asked"], by_query[RAIN]["route"]) == ("offline/words", None)
        before = on(city, "routes", "compare", "auto", "--json")
        assert (before.code, before.document["left_out"]) == (1, 2)
        on(city, "run", "--model", "group/small", "--model", "offline/words")
    ends = ("--small", "offline/words", "--large", "group/small")
    found = on(city, "routes", "compare", "auto", *ends, "--json").document
    shares = {arm["name"]: arm["rate"]["value"] for arm in found["arms"]}
    assert shares["routed"] >= max(shares["always offline/words"], shares["always group/small"])
    assert found["cases"] == 2
    assert len(found["curve"]) == 21
    assert 0 <= found["suggested"]["threshold"] <= 1
    assert "Suggested threshold" in on(city, "routes", "compare", "auto").out
    assert on(city, "models", "groups", "remove", "small").code == 2
    assert on(city, "routes", "remove", "auto").code == 0
    assert on(city, "models", "groups", "remove", "small").code == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"routes": []}, "no route"),
        ({"routes": [{"name": "openai/x", "utterances": []}]}, "no utterance"),
        ({"routes": [{"name": "openai/x", "utterances": [" "]}]}, "empty utterance"),
        ({"routes": [{"name": "opnai/x", "utterances": ["a"]}]}, "openai"),
        ({"routes": [{"name": "group/none", "utterances": ["a"]}]}, "group/none"),
        ({"default": "group/none"}, "default"),
        ({"default": ""}, "default"),
        ({"embedder": "word2vec"}, "word2vec"),
        ({"threshold": 2}, "0 to 1"),
        ({"utterances": ["a"]}, "utterances"),
    ],
)
def test_a_router_that_cannot_work_is_refused_in_one_sentence(city: Path, changes: dict[str, Any], said: str) -> None:
    refused = router(city, **{"routes": [{"name": "openai/x", "utterances": ["a"]}], **changes})
    assert refused.code == 2
    assert said in refused.err
    assert refused.err.count("\n") == 1
    assert on(city, "routes", "list", "--json").document == {"routers": []}


def test_hello_tells_address_key_model_and_tool_calling_apart(city: Path) -> None:
    def checked(reply: Reply | None, model: str = "openai/x") -> dict[str, Any]:
        def answer(_: Received) -> Reply | None:
            return reply

        with ModelStub(answer) as stub:
            said = on(city, "models", "check", model, "--base-url", stub.url, "--json")
            assert said.code == (0 if reply is None or (reply.status == 200 and "say_hello" in reply.body) else 1)
            (found,) = said.document["checks"]
            assert isinstance(found, dict)
            return found

    hello = tool_calls(("say_hello", {"text": "Hello!"}))
    assert checked(hello)["ok"]
    refused = checked(Reply(status=401, body='{"error": {"message": "Invalid key"}}'))
    assert refused["steps"] == {"address": "ok", "key": "failed", "model": "not checked", "tool calling": "not checked"}
    unknown = checked(
        Reply(status=404, body='{"error": {"message": "The model x does not exist", "code": "model_not_found"}}')
    )
    assert unknown["failed"] == "model"
    assert checked(tool_calls())["failed"] == "tool calling"
    with ModelStub() as stub:
        gone = stub.url
    down = on(city, "models", "check", "openai/x", "--base-url", gone, "--json")
    assert down.document["checks"][0]["failed"] == "address"
    missing = on(city, "models", "check", "openai/gpt-4.1-mini", "--json").document["checks"][0]
    assert (missing["code"], missing["failed"]) == ("key_missing", "key")


def test_the_catalogue_is_listed_searched_and_shown(city: Path) -> None:
    found = on(city, "models", "list", "gpt-4.1", "--tools", "--limit", "2", "--json").document
    assert len(found["models"]) == 2 < found["found"]
    assert on(city, "models", "list", "--usable", "--json").document["found"] >= 0
    assert on(city, "models", "list", "--local", "--json").code == 0
    assert on(city, "models", "show", "openai/gpt-4.1-mini", "--json").document["context_tokens"] == 1047576
    missing = on(city, "models", "show", "openai/gpt-4.1-minni")
    assert (missing.code, "openai/gpt-4.1-mini" in missing.err) == (2, True)


def test_all_definitions_go_through_one_file_and_come_back_as_they_were(
    city: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group(city, "small", "openai/gpt-4.1-mini,rpm=3", "openai/gpt-4.1-nano")
    assert router(city).code == 0
    assert on(city, "search", "add", "web", "searxng", "--base-url", "http://127.0.0.1:9").code == 0
    for verb, text in (("add", "Be {{tone}}."), ("edit", "Say why, and be {{tone}}.")):
        line = ("prompts", verb, "counter", "--file", "-", "--var", "tone=short", "--note", text[:2])
        assert say(*line, "--workspace", city, stdin=text).code == 0
    narrow = "name: narrow\ntitle: Narrow\nversion: 1\nchecked: 2026-11-26\nmost_tools: 1\n"
    assert say("clients", "add", "-", "--workspace", city, stdin=narrow).code == 0
    file, other, again = tmp_path / "models.yaml", tmp_path / "other.db", tmp_path / "again.yaml"
    assert on(city, "models", "export", file).code == 0
    shown = (
        *(("models", "groups", "list"), ("routes", "list"), ("routes", "show", "auto"), ("search", "list")),
        *(("prompts", "show", "counter"), ("clients", "show", "narrow")),
    )
    before = [on(city, *words, "--json").document for words in shown]
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    counts = on(other, "models", "import", file, "--json").document
    assert counts.items() >= {"groups": 1, "routers": 1, "searches": 1, "prompts": 1, "clients": 1}.items()
    found = [on(other, *words, "--json").document for words in shown]
    for one in (*before, *found):
        one.pop("created_at", None)
    assert found == before
    assert on(other, "models", "import", file).code == 0
    assert [*(tmp_path / "elsewhere").rglob("narrow.yaml")]
    assert on(other, "models", "export", again).code == 0
    assert again.read_text("utf-8") == file.read_text("utf-8")
    text = file.read_text("utf-8")
    for old, new, reason in (
        ("{{tone}}", "{{tonne}}", "Did you mean tone?"),
        ("kind: system", "kind: systm", "The prompt counter cannot be read."),
        ("most_tools: 1", "most_tools: 0", "most_tools must be at least 1."),
        ("name: counter", "name: built-in", "Built-in prompts are never changed."),
    ):
        assert old in text
        file.write_text(text.replace(old, new), "utf-8")
        refused = on(tmp_path / "third.db", "models", "import", file)
        assert (refused.code, reason in refused.err) == (2, True), refused.err
    file.write_text(text, "utf-8")
    file.write_text(file.read_text("utf-8").replace("group/small", "group/smal"), "utf-8")
    refused = on(tmp_path / "third.db", "models", "import", file)
    assert (refused.code, "group/smal" in refused.err) == (2, True)
    assert on(tmp_path / "third.db", "models", "groups", "list", "--json").document == {"groups": []}


def test_each_deployment_gets_the_key_of_its_line_and_no_key_lies_anywhere_else(city: Path, tmp_path: Path) -> None:
    call, keys = tool_calls(("weather_report", {"city": "Oslo"})), ("first-key-41", "second-key-42", "third=key-43=")
    down = Reply(status=503, body='{"error": {"message": "Down."}}')
    with ModelStub(lambda _: down) as bad, ModelStub(lambda _: call) as good, ModelStub(lambda _: call) as other:
        places = (f"openai/a,url={bad.url},rpm=90", f"openai/b,url={good.url}", f"mistral/c,url={other.url}")
        assert group(city, "fast", *places[:2]).code == 0
        assert group(city, "slow", places[2]).code == 0
        names = (f"openai@{bad.url}", f"openai@{good.url}", "mistral")
        lines = "".join(f"{name}={key}\n" for name, key in zip(names, keys, strict=True))
        run = ("run", "--model", "group/fast", "--model", "group/slow", "--retries", "0", "--key-stdin", "--json")
        reports = ("--html", tmp_path / "a.html", "--csv", tmp_path / "a.csv", "--junit", tmp_path / "a.xml")
        said = say_allowed(*run, *reports, "--workspace", city, stdin=lines)
        assert {run["status"] for run in said.document["runs"]} == {"completed"}
        sent = {stub: stub.requests for stub in (bad, good, other)}
        checked = say("models", "check", "group/fast", "--key-stdin", "--yes", "--workspace", city, stdin=lines)
    for stub, key in zip(sent, keys, strict=True):
        assert stub.requests
        assert {request.key for request in stub.requests} == {key}
        rest = [(one.path, one.body, {**one.headers, "authorization": ""}) for one in stub.requests]
        assert [text for text in keys if text in str(rest)] == []
    assert [key for key in keys if key in said.out + said.err + checked.out + checked.err] == []
    files = [file for file in tmp_path.parent.rglob("*") if file.is_file()]
    assert city in files
    assert [file for file in files if any(key.encode() in file.read_bytes() for key in keys)] == []


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("secret-abcdef\n", "Line 1 of the keys is not PROVIDER=KEY."),
        ("openai=secret-abcdef\nopenai=x\n", "Two keys are given for openai."),
        ("openai@here=secret-abcdef\n", "Line 1 of the keys names no address behind the @."),
        ("\n\n", "No key came in on standard input."),
        ("opnai=secret-abcdef\n", "No model of opnai is asked, so its key has no use. Did you mean openai?"),
    ],
)
def test_keys_that_name_no_model_are_refused_and_never_repeated(city: Path, lines: str, said: str) -> None:
    assert group(city, "fast", "openai/a", "openai/b").code == 0
    refused = say("run", "--model", "group/fast", "--key-stdin", "--yes", "--workspace", city, stdin=lines)
    assert (refused.code, refused.out) == (2, "")
    assert said in refused.err
    assert "secret" not in refused.err


def test_a_key_of_a_name_alone_goes_to_one_address_and_never_to_that_of_another_model(
    city: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelStub(lambda _: tool_calls(("weather_report", {}))) as grouped, ModelStub(lambda _: words("Hi.")) as usual:
        monkeypatch.setenv("OPENAI_BASE_URL", usual.url)
        assert group(city, "fast", f"openai/a,url={grouped.url}").code == 0
        run = ("run", "--model", "group/fast", "--model", "openai/b", "--retries", "0", "--key-stdin", "--yes")
        say(*run, "--workspace", city, stdin="openai=first-key-41\n")
        assert {request.key for request in usual.requests} == {"first-key-41"}
        assert "first-key-41" not in {request.key for request in grouped.requests}
        seen = len(grouped.requests), len(usual.requests)
        assert group(city, "both", f"openai/a,url={grouped.url}", f"openai/b,url={usual.url}").code == 0
        asked = ("--key-stdin", "--yes", "--workspace", city)
        for verb in (("run", "--model", "group/both"), ("models", "check", "group/both")):
            refused = say(*verb, *asked, stdin="openai=first-key-41\n")
            assert (refused.code, "could go to" in refused.err) == (2, True)
        assert (len(grouped.requests), len(usual.requests)) == seen
