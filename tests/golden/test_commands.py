"""Golden output of every verb of the command line on the sample: text, JSON and help."""

import argparse
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_tef.cli.main import parser
from tests.support.command_line import say
from tests.support.command_samples import CASES, CONFIG, LIBRARY_LINES, TOOLS
from tests.support.forgetful_keychain import FORGETFUL, NONE, keychain
from tests.support.golden import FOLDER, Transcript, assert_golden, normalized
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import change

SERVER = "Bike shop"
OFFLINE = ("--embedder", "tfidf")
FORMATS = {"tef.yaml": "tef", "csv": "csv", "bfcl.jsonl": "bfcl", "promptfoo.yaml": "promptfoo", "mcp-eval.json": ""}
# `gui` opens a window, `sample-server` serves until it is stopped, and two print what the help says in another form.
ONLY_HELP = {"gui", "sample-server", "completion", "manual"}
SERVES = {"library serve", "mcp", "serve"}


def verbs(group: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every verb, and every group of verbs."""
    yield words
    for action in group._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, verb in action.choices.items():
                yield from verbs(verb, (*words, name))


def test_help(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    texts, every = [], parser()
    for words in verbs(every):
        with pytest.raises(SystemExit) as ended:
            every.parse_args([*words, "--help"])
        assert ended.value.code == 0
        texts.append(" ".join(["$ mcp-tef", *words, "--help"]) + "\n" + capsys.readouterr().out)
    assert_golden("commands/help.txt", "\n".join(texts))


def test_demo(folder: Path, replacements: dict[str, str]) -> None:
    transcript = Transcript("--workspace", folder / "demo.db")
    transcript.both("demo")
    assert_golden("commands/demo.txt", normalized(transcript.text, replacements))


def test_servers(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    transcript.both("servers", "show", SERVER)
    transcript.both("servers", "check", "files")
    transcript.both("servers", "tools", "files")
    transcript.say("servers", "tools", SERVER)
    transcript.both("servers", "list")
    drift = folder / "drift.json"
    drift.write_text(json.dumps({"tools": TOOLS}), "utf-8")
    transcript.say("servers", "add", "drift", "--tools-file", "drift.json")
    changed = [TOOLS[0] | {"description": "Delete a file."}, TOOLS[1], TOOLS[2] | {"name": "refund"}]
    drift.write_text(json.dumps({"tools": changed}), "utf-8")
    transcript.both("servers", "check", "drift")
    transcript.say("servers", "accept", "drift")
    transcript.say("servers", "accept", "drift", "--yes", "--json")
    transcript.both("servers", "accept", "drift")
    stock = ("servers", "call", SERVER, "check_stock", '{"part_number": "BP-105", "branch": "station"}')
    transcript.say(*stock)
    transcript.both(*stock, "--yes")
    transcript.say("servers", "call", SERVER, "check_stock", '{"branch": "nowhere"}', "--yes", "--json")
    transcript.both("servers", "add", "gone", "--tools-file", "gone.json")
    transcript.say("servers", "add", "stdio", "--command", sys.executable, "--arg", "-V", "--json")
    transcript.both("servers", "edit", "gone", "--name", "bikes", "--tools-file", "bikes.json")
    transcript.both("servers", "edit", "files", "--name", "folder")
    transcript.both("servers", "exclude", "bikes", "order_part")
    transcript.both("servers", "include", "bikes", "order_part")
    transcript.both("servers", "remove", "folder", "bikes", "drift")
    transcript.say("servers", "remove", SERVER)
    transcript.say("servers", "remove", SERVER, "--yes", "--json")
    transcript.both("servers", "list")
    assert_golden("commands/servers.txt", normalized(transcript.text, replacements))


def test_servers_import(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    (folder / "mcp.json").write_text(json.dumps(CONFIG), "utf-8")
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"desk": CONFIG["mcpServers"]["desk"]}}), "utf-8")
    transcript.both("servers", "import", "mcp.json", "--dry-run")
    transcript.say("servers", "import", "mcp.json", "--only", "clock")
    transcript.both("servers", "import", "mcp.json")
    transcript.both("servers", "discover")
    assert_golden("commands/servers_import.txt", normalized(transcript.text, replacements))


def test_cases(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    transcript.both("cases", "list")
    transcript.both("cases", "families")
    transcript.both("cases", "list", "--tag", "enum")
    transcript.both("cases", "show", "Spare parts under a price")
    transcript.both("cases", "show", "Stock or search, both would do")
    transcript.both("cases", "import", "cases.json", "--dry-run")
    transcript.say("cases", "import", "cases.json")
    transcript.both("cases", "import", "cases.json")
    (folder / "bad.json").write_text(json.dumps({"cases": [{"query": 5}, {"name": "no query"}]}), "utf-8")
    transcript.both("cases", "import", "bad.json")
    transcript.both("cases", "draft", "--tools-file", "files.json", "--tool", TOOLS[0]["name"])
    transcript.say("cases", "draft", "--server", SERVER, "--tool", "book_repair", "--out", "drafts.yaml")
    transcript.both("cases", "check")
    transcript.say("cases", "add", "Is it open on Sunday?", "--tool", "opening_hours", "--server", SERVER)
    transcript.say("cases", "edit", "Is it open on Sunday?", "--no-tool", "--json")
    transcript.say("cases", "remove", "reads")
    transcript.both("cases", "remove", "No tool")
    assert_golden("commands/cases.txt", normalized(transcript.text, replacements))


@pytest.mark.parametrize("ending", FORMATS)
def test_cases_export(ending: str, transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    wanted = FORMATS[ending] or ending.partition(".")[0]
    transcript.both("cases", "export", f"cases.{ending}", "--format", wanted, "--suite", "Sample")
    transcript.file(folder / f"cases.{ending}")
    assert_golden(f"commands/cases_export_{wanted}.txt", normalized(transcript.text, replacements))


def test_runs(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    transcript.say("cases", "import", "cases.json")
    transcript.both("runs", "list")
    transcript.both("runs", "list", "--status", "failed")
    transcript.say("run", "--case", "reads", "--case", "No tool", "--repeats", "2", "--concurrency", "1")
    said = transcript.say("run", "--suite", "Second", "--concurrency", "1", "--fail-under", "accuracy=0.9", "--json")
    document = json.loads(said)
    transcript.both("runs", "show", document["batch"])
    transcript.both("runs", "show", document["runs"][0]["id"])
    for verb in ("retry", "resume"):
        transcript.both("runs", verb, document["batch"])
    transcript.both("runs", "rejudge", "--batch", document["batch"])
    transcript.both("runs", "list")
    shutil.copy(folder / "work.db", folder / "part.db")
    transcript.both("runs", "merge", "part.db", "--name", "Merged")
    assert_golden("commands/runs.txt", normalized(transcript.text, replacements))


def test_metrics(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    transcript.both("metrics")
    transcript.both("metrics", "--expected-tool", "order_part")
    transcript.both("confusions")
    batches = []
    for expected in ("pay", "read_file"):
        cases = [CASES["cases"][0] | {"expected": [{"tool": expected}]}, CASES["cases"][1]]
        (folder / "cases.json").write_text(json.dumps({"cases": cases}), "utf-8")
        transcript.say("cases", "import", "cases.json")
        said = transcript.say("run", "--case", "reads", "--case", "No tool", "--concurrency", "1", "--json")
        batches.append(json.loads(said)["batch"])
    transcript.both("compare", *batches)
    assert_golden("commands/metrics.txt", normalized(transcript.text, replacements))


def test_similarity(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    transcript.both("similarity", "--tools-file", "bikes.json", *OFFLINE)
    transcript.both("similarity", "--tools-file", "files.json", *OFFLINE, "--threshold", "0.3", "--full")
    transcript.say("similarity", "--tools-file", "files.json", *OFFLINE, "--out", "out.csv")
    transcript.file(folder / "out.csv")
    pair = {"id": 1, "tool_a": TOOLS[0], "tool_b": TOOLS[1]}
    (folder / "pairs.jsonl").write_text(json.dumps(pair) + "\n" + json.dumps({"id": 2, "tool_a": {}}) + "\n", "utf-8")
    transcript.both("similarity", "--pairs", "pairs.jsonl", *OFFLINE)
    transcript.both("overlap", "--tools-file", "files.json", *OFFLINE)
    transcript.both("recommend", "--tools-file", "files.json", *OFFLINE, "--threshold", "0.3", "--patch-dir", "patches")
    for patch in sorted((folder / "patches").iterdir()):
        transcript.file(patch)
    assert_golden("commands/similarity.txt", normalized(transcript.text, replacements))


def test_quality(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    transcript.say("quality", "--server", SERVER)
    transcript.say("quality", "--tools-file", "bikes.json", "--json")
    transcript.both("quality", "--tools-file", "files.json", "--fail-under", "90")
    transcript.say("quality", "--tools-file", "files.json", "--out", "out.csv")
    transcript.file(folder / "out.csv")
    assert_golden("commands/quality.txt", normalized(transcript.text, replacements))


def test_drafts(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    (folder / "text.md").write_text("Read the whole text of one file.\n", "utf-8")
    (folder / "rent.json").write_text(json.dumps({"name": "rent", "inputSchema": {"type": "object"}}), "utf-8")
    fix = [{"op": "replace", "path": "/tools/0/description", "value": "Read a file."}]
    (folder / "fix.json").write_text(json.dumps(fix), "utf-8")
    transcript.say("draft", "new", "Clear files", "--server", "files", "--json")
    transcript.say("draft", "new", "From a file", "--tools-file", "files.json")
    transcript.both("draft", "new", "clear FILES", "--tools-file", "files.json")
    transcript.say("draft", "set", "Clear files", "open_file", "--description", "text.md", "--title", "Open")
    transcript.say("draft", "set", "Clear files", "pay", "--remove", "--json")
    transcript.say("draft", "add", "Clear files", "rent.json")
    transcript.say("draft", "patch", "Clear files", "fix.json")
    transcript.say("draft", "undo", "Clear files")
    transcript.say("draft", "redo", "Clear files")
    transcript.both("draft", "show", "Clear files")
    transcript.both("draft", "list")
    for kind in ("patch", "override", "tools", "markdown"):
        transcript.say("draft", "export", "Clear files", "--format", kind)
    transcript.both("draft", "export", "Clear files", "--out", "page.html")
    (folder / "now.json").write_text(json.dumps({"tools": [TOOLS[0] | {"description": "Reads."}, TOOLS[1]]}), "utf-8")
    transcript.both("draft", "rebase", "Clear files", "--tools-file", "now.json")
    transcript.say("draft", "rebase", "Clear files", "--tools-file", "now.json", "--keep", "draft")
    transcript.both("draft", "set", "Clear files", "opn_file", "--title", "x")
    transcript.both("draft", "remove", "From a file")
    assert_golden("commands/draft.txt", normalized(transcript.text, replacements))


def test_library(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    rent = {"name": "rent", "description": "Rent a bike for a day.", "inputSchema": TOOLS[1]["inputSchema"]}
    (folder / "rent.json").write_text(json.dumps(rent), "utf-8")
    (folder / "answer.json").write_text('{"answer": "Rented: {path}."}', "utf-8")
    for line in LIBRARY_LINES:
        transcript.say("library", *shlex.split(line))
    transcript.both("servers", "health", "files")
    assert_golden("commands/library.txt", normalized(transcript.text, replacements))


def test_trials(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    (folder / "text.md").write_text("Look up how many pieces of a part are left in the shop.\n", "utf-8")
    (folder / "fix.json").write_text(json.dumps([{"op": "remove", "path": "/tools/0/description"}]), "utf-8")
    transcript.say("draft", "new", "Stock", "--server", SERVER)
    transcript.say("try", "Stock")
    transcript.say("draft", "set", "Stock", "check_stock", "--description", "text.md")
    transcript.both("draft", "predict", "Stock")
    transcript.both("try", "Stock", "--guards", "5")
    transcript.both("try", "Stock", "--suite", "Second", "--strict")
    transcript.say("try", "--patch", "fix.json", "--tools-file", "bikes.json", "--html", "page.html")
    transcript.both("try", "nobody")
    assert_golden("commands/try.txt", normalized(transcript.text, replacements))


def test_improve(transcript: Transcript, replacements: dict[str, str]) -> None:
    transcript.both("improve", "--server", SERVER, "--tool", "check_stock", "--budget", "120")
    assert_golden("commands/improve.txt", normalized(transcript.text, replacements))


def test_crowds(transcript: Transcript, replacements: dict[str, str]) -> None:
    transcript.both("crowd", "--suite", "Sample", "--sizes", "0,30", "--search", "5", "--model", "offline/words")
    transcript.say("crowd", "--suite", "Second")
    transcript.both("steal", "--server", "files", "--among", SERVER, "--model", "offline/words")
    assert_golden("commands/crowds.txt", normalized(transcript.text, replacements))


def test_keys(transcript: Transcript, replacements: dict[str, str]) -> None:
    for arguments in (("list",), ("set", "openai"), ("forget", "openai")):
        for asked in (("keys", *arguments), ("keys", *arguments, "--json")):
            with keychain(NONE):
                transcript.record(say(*asked, stdin="sk-not-to-be-shown\n"), *asked)
        with keychain(FORGETFUL):
            transcript.record(say(*asked, stdin="sk-not-to-be-shown\n"), *asked)
    assert_golden("commands/keys.txt", normalized(transcript.text, replacements))


def test_clients(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    (folder / "ours.yaml").write_text("{name: ours, title: Ours, version: 1, checked: today, most_tools: 2}", "utf-8")
    transcript.both("clients", "show", "zed")
    transcript.both("clients", "add", "ours.yaml")
    transcript.both("clients", "list")
    transcript.both("clients", "check", "--client", "ours", "--client", "codex-cli", "--server", SERVER, "files")
    transcript.both("run", "--client", "codex-cli", "--client", "plain-api", "--suite", "Second")
    assert_golden("commands/clients.txt", normalized(transcript.text, replacements))


def test_prompts(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    (folder / "text.txt").write_text("Choose a tool. Today is {{date}}. Be {{tone}}.", "utf-8")
    for name, form in (("counter", ()), ("other", ("--json",))):
        transcript.say("prompts", "add", name, "--from", "built-in", *form)
        transcript.say("prompts", "edit", name, "--file", "text.txt", "--var", "tone=short", *form)
    transcript.both("prompts", "list")
    transcript.both("prompts", "show", "counter")
    transcript.both("prompts", "diff", "counter@1", "counter")
    with ModelStub() as stub:
        options = (
            "--model",
            "openai/x",
            "--base-url",
            stub.url,
            "--yes",
            "--case",
            "Spare parts under a price",
            "--repeats",
            "1",
        )
        transcript.both("prompts", "try", "counter", *options)
        replacements[stub.url] = "http://model/v1"
    transcript.say("prompts", "remove", "counter")
    transcript.say("prompts", "remove", "other", "--json")
    assert_golden("commands/prompts.txt", normalized(transcript.text, replacements))


def test_json_of_changing_verbs(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    (folder / "rent.json").write_text(json.dumps({"name": "rent", "inputSchema": {"type": "object"}}), "utf-8")
    (folder / "fix.json").write_text(json.dumps([{"op": "remove", "path": "/tools/0/description"}]), "utf-8")
    for line in (
        "servers add more --tools-file files.json",
        "servers edit more --name other",
        "cases add Sing --no-tool --server other --name Song",
        "draft new Short --server files",
        "draft add Short rent.json",
        "draft patch Short fix.json",
        "draft undo Short",
        "draft redo Short",
        "draft rebase Short",
        "draft remove Short",
        "cases remove Song",
        "servers remove other",
    ):
        transcript.say(*line.split(), "--json")
    assert_golden("commands/json.txt", normalized(transcript.text, replacements))


def test_json_of_runs_that_go_on(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    tools = folder / "shop.json"
    tools.write_text(json.dumps({"tools": TOOLS}), "utf-8")
    transcript.say("servers", "add", "shop", "--tools-file", tools)
    transcript.say("cases", "import", "cases.json", "--attach", "shop")
    asked = ("run", "--case", "reads", "--case", "No tool", "--concurrency", "1")
    moved = tools.rename(folder / "moved.json")
    transcript.say(*asked)
    moved.rename(tools)
    transcript.say("runs", "retry", "--json")
    transcript.say(*asked)
    last = "SELECT max(rowid) FROM test_runs"
    change(folder / "work.db", f"UPDATE test_runs SET status = 'running' WHERE rowid = ({last})")
    transcript.say("runs", "resume", "--json")
    assert_golden("commands/runs_again.txt", normalized(transcript.text, replacements))


@pytest.mark.parametrize("json_wanted", [False, True])
def test_errors(json_wanted: bool, transcript: Transcript, replacements: dict[str, str]) -> None:
    mistakes: tuple[tuple[str, ...], ...] = (
        ("dance",),
        ("servers", "show", "nobody"),
        ("servers", "check", "nobody"),
        ("servers", "add", "x"),
        ("servers", "call", "files", "dance", "--yes"),
        ("servers", "call", SERVER, "check_stock", "{half"),
        ("servers", "import", "missing.json"),
        ("cases", "import", "missing.yaml"),
        ("cases", "import", "cases.docx"),
        ("cases", "show", "nothing"),
        ("run", "--model", "gpt"),
        ("run", "--suite", "nothing"),
        ("run", "--model", "openai/gpt-4.1-mini", "--suite", "Sample"),
        ("run", "--repeats", "many"),
        ("run", "--fail-under", "beauty=1"),
        ("runs", "show", "nothing"),
        ("runs", "resume", "nothing"),
        ("compare", "a", "b"),
        ("metrics", "--since", "yesterday"),
        ("similarity",),
        ("similarity", "--tools-file", "missing.json"),
        ("similarity", "--tools-file", "files.json", "--embedder", "magic"),
        ("score", "missing.jsonl", "--out", "out.jsonl"),
        ("score", "in.jsonl"),
    )
    for arguments in mistakes:
        transcript.say(*arguments, *(["--json"] if json_wanted else []))
    name = "commands/errors_json.txt" if json_wanted else "commands/errors.txt"
    assert_golden(name, normalized(transcript.text, replacements))


def recorded() -> str:
    """Everything that was recorded of commands."""
    files = (file for file in (FOLDER / "commands").glob("*.txt") if file.name != "help.txt")
    return "\n".join(file.read_text("utf-8") for file in files)


def single_verbs() -> list[str]:
    """Every verb that has an output of its own."""
    every = [words for words in verbs(parser()) if words]
    groups = {words[:-1] for words in every}
    single = [" ".join(words) for words in every if words not in groups and words[0] not in ONLY_HELP]
    return [verb for verb in single if verb not in SERVES]


def test_every_verb_has_a_golden_output() -> None:
    assert [verb for verb in single_verbs() if f"\n$ mcp-tef {verb}" not in f"\n{recorded()}"] == []


def test_every_verb_has_a_golden_json_document_of_its_success() -> None:
    lines = re.findall(r"^\$ mcp-tef (.*) --json  \[exit [01]\]$", recorded(), re.MULTILINE)
    assert [verb for verb in single_verbs() if not any(f"{line} ".startswith(f"{verb} ") for line in lines)] == []
