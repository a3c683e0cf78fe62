"""`-` in the place of a file that a verb reads: it is standard input, or the verb says why it cannot be."""

import json
from pathlib import Path

import pytest

from mcp_tef.cli.main import parser
from tests.mcp_tef.cli.test_output_files import verbs
from tests.support import isolation, routers, workspace_files
from tests.support.command_line import say
from tests.support.workspace_files import made_own

READ_METAVARS = ("F", "[NAME=]F", "FILE", "DIR", "RESULT.json", "IN.jsonl", "PAIRS.jsonl", "TEXT|@FILE")
WRITING_TYPES = ("writable", "analysis_file")
FOLDERS = {("servers add", "cwd"), ("servers edit", "cwd"), ("servers discover", "project")}
# They end when they are stopped; `mcp_tef.cli.output_files.READ` names them.
SERVES = {
    ("library serve", "token_file"),
    ("mcp", "token_file"),
    ("sample-server", "token_file"),
    *(("serve", name) for name in ("token_file", "tls_cert", "tls_key")),
}
TOOLS = json.dumps({"tools": workspace_files.TOOLS})
CASES = json.dumps({"cases": [workspace_files.weather(1)]})
CALL = json.dumps({"id": "1", "query": "", "tools": [], "expected": None, "calls": []})
PAIR = json.dumps({"id": 1, "tool_a": workspace_files.TOOLS[0], "tool_b": workspace_files.TOOLS[1]})
PATCH = json.dumps([{"op": "replace", "path": "/tools/0/description", "value": "Rain or sun in a city."}])
CONFIG = json.dumps({"mcpServers": {"clock": {"command": "uvx"}}})
PROFILE = json.dumps({"name": "narrow", "title": "Narrow", "version": 1, "checked": "2026-11-26"})
TOOL = json.dumps({"name": "rent", "description": "Rent a bike for a day.", "inputSchema": {"type": "object"}})
STRANGERS = json.dumps({"tools": [json.loads(TOOL)]})
SCRIPT = "def run(input):\n    return 'Yes.'\n"
BATCH, VERDICT = "the document of the batch", "the verdict file of the batch"
TFIDF = "--embedder tfidf"
READ = {
    ("servers import", "file"): ("servers import - --dry-run", CONFIG, "Would add clock"),
    ("cases import", "file"): ("cases import - --format tef --dry-run", CASES, "unchanged"),
    ("cases draft", "tools_file"): ("cases draft --tools-file - --offline", TOOLS, "weather_report"),
    ("run", "tools_file"): ("run --tools-file - --cases {folder}/cases.json", TOOLS, "correct call"),
    ("run", "cases"): ("run --tools-file {folder}/tools.json --cases -", CASES, "correct call"),
    ("run", "system_prompt"): ("run --system-prompt @-", "Be brief.", "correct call"),
    ("run", "baseline"): ("run --baseline -", BATCH, "on these cases"),
    ("runs show", "baseline"): ("runs show latest --baseline -", BATCH, "on these cases"),
    ("runs retry", "baseline"): ("runs retry latest --baseline -", BATCH, "no run left to do"),
    ("runs resume", "baseline"): ("runs resume latest --baseline -", BATCH, "no run left to do"),
    ("verify", "file"): ("verify -", VERDICT, "checks agree"),
    ("verify", "tools_file"): ("verify {folder}/v.json --tools-file -", TOOLS, "checks agree"),
    ("verify", "cases"): ("verify {folder}/v.json --cases -", CASES, "checks agree"),
    ("runs merge", "baseline"): ("runs merge {folder}/work.db --baseline -", BATCH, "on these cases"),
    ("similarity", "tools_file"): (f"similarity --tools-file - {TFIDF}", TOOLS, "weather_report"),
    ("similarity", "pairs"): (f"similarity --pairs - {TFIDF}", PAIR, '"score"'),
    ("overlap", "tools_file"): (f"overlap --tools-file - {TFIDF}", TOOLS, "weather_report"),
    ("recommend", "tools_file"): (f"recommend --tools-file - {TFIDF}", TOOLS, "compared by tfidf"),
    ("quality", "tools_file"): ("quality --tools-file -", TOOLS, "weather_report"),
    ("quality", "files"): ("quality -", TOOLS, "begins with a hyphen"),
    ("quality", "ignore_file"): ("quality --server city --ignore-file -", '{"ignore": []}', "weather_report"),
    ("quality", "baseline"): ("quality --server city --baseline -", '{"tools": []}', "weather_report"),
    ("draft new", "tools_file"): ("draft new Longer --tools-file -", TOOLS, "2 tools"),
    ("draft set", "description"): ("draft set Shorter train_times --description -", "Trains.", "train_times"),
    ("draft set", "instructions"): ("draft set Shorter --instructions -", "Ask for a city.", "server instructions"),
    ("draft add", "file"): ("draft add Shorter -", json.dumps({"name": "rent", "inputSchema": {}}), "rent"),
    ("draft patch", "file"): ("draft patch Shorter -", PATCH, "weather_report"),
    ("draft rebase", "tools_file"): ("draft rebase Shorter --tools-file -", TOOLS, "It changes"),
    ("try", "patch"): ("try --patch - --server city", PATCH, "on these cases"),
    ("try", "tools_file"): ("try --patch {folder}/p.json --tools-file -", TOOLS, "on these cases"),
    ("try", "cases"): (
        "try --patch {folder}/p.json --tools-file {folder}/tools.json --cases -",
        CASES,
        "on these cases",
    ),
    ("clients add", "file"): ("clients add -", PROFILE, "narrow"),
    ("clients check", "tools_file"): ("clients check --tools-file - --client zed", TOOLS, "Zed"),
    ("models import", "file"): ("models import -", "mcp_tef_models: 1\ngroups: []\n", "0 groups"),
    ("routes add", "file"): ("routes add -", json.dumps(routers.WORDS_ONLY), "auto"),
    ("prompts add", "file"): ("prompts add new --file -", "Choose a tool.", "new@1"),
    ("prompts edit", "file"): ("prompts edit kept --file -", "Choose a tool.", "kept@2"),
    ("library add", "file"): ("library add -", TOOL, "rent"),
    ("library add", "config"): ("library add {folder}/rent.json --config -", '{"answer": "Yes."}', "rent"),
    ("library add", "script"): ("library add {folder}/rent.json --executor python --script -", SCRIPT, "rent"),
    ("library edit", "definition"): ("library edit kept --definition -", TOOL.replace("rent", "kept"), "kept"),
    ("library edit", "config"): ("library edit kept --config -", '{"answer": "Yes."}', "kept"),
    ("library edit", "script"): ("library edit kept --executor python --script -", SCRIPT, "kept"),
    ("library import", "tools_file"): ("library import --tools-file -", TOOLS, "2 tools added"),
    ("crowd", "crowd_file"): ("crowd --suite Journey --sizes 1 --silence 0 --crowd-file -", STRANGERS, "weather"),
    ("score", "file"): ("score - --out {folder}/verdicts.jsonl", CALL, "1 TN"),
}
REFUSED = {
    ("servers add", "tools_file"): ("servers add new --tools-file -", "is stored"),
    ("servers edit", "tools_file"): ("servers edit city --tools-file -", "is stored"),
    ("servers add", "private_key_file"): ("servers add new --url https://x.test --private-key-file -", "is stored"),
    ("servers edit", "private_key_file"): ("servers edit city --private-key-file -", "is stored"),
    ("workspace backup", "new_workspace"): ("workspace backup -", "is a file"),
    ("workspace restore", "backup"): ("workspace restore -", "is a file"),
    ("workspace adopt", "foreign_workspace"): ("workspace adopt -", "is a file"),
    ("recommend", "patch_dir"): ("recommend --tools-file {folder}/tools.json --patch-dir -", "is a folder"),
}
WITHOUT_WORKSPACE = ("--cases", "score ")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workspace that holds a server, a case, a batch and a draft; and files beside it."""
    folder = tmp_path_factory.mktemp("prepared")
    with isolation.at_home(folder / "home"):
        prepare(folder)
    return folder


def prepare(folder: Path) -> None:
    """Fill a folder with the workspace and the files."""
    workspace_files.tools_file(folder)
    workspace_files.case_file(folder, [workspace_files.weather(1)])
    (folder / "p.json").write_text(PATCH, "utf-8")
    (folder / "rent.json").write_text(TOOL, "utf-8")
    (folder / "kept.json").write_text(TOOL.replace("rent", "kept"), "utf-8")
    for line in ("servers add city --tools-file {}/tools.json", "cases import {}/cases.json", "run --json"):
        said = say(*line.format(folder).split(), "--workspace", folder / "work.db")
        assert said.code in (0, 1)
    (folder / "batch.json").write_text(said.out, "utf-8")
    assert say("runs", "show", "latest", "--verdict", folder / "v.json", "--workspace", folder / "work.db").code < 2
    assert say("library", "add", folder / "kept.json", "--workspace", folder / "work.db").code == 0
    assert say("prompts", "add", "kept", "--from", "built-in", "--workspace", folder / "work.db").code == 0
    assert say("draft", "new", "Shorter", "--server", "city", "--workspace", folder / "work.db").code == 0


@pytest.fixture
def workspace(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the workspace in the current folder, which stays as it is."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("COLUMNS", "160")
    copy = tmp_path / "work.db"
    copy.write_bytes((prepared / "work.db").read_bytes())
    return made_own(copy)


def test_the_tables_name_every_file_that_a_verb_reads() -> None:
    named = {
        (verb, action.dest)
        for verb, below in verbs(parser())
        for action in below._actions
        if action.metavar in READ_METAVARS and getattr(action.type, "__name__", "") not in WRITING_TYPES
    }
    assert {key for key in named if key[1] != "workspace"} - FOLDERS - SERVES == {*READ, *REFUSED}


@pytest.mark.parametrize("key", READ, ids=" ".join)
def test_a_dash_is_standard_input(key: tuple[str, str], prepared: Path, workspace: Path) -> None:
    line, text, expected = READ[key]
    named = {BATCH: "batch.json", VERDICT: "v.json"}
    given = (prepared / named[text]).read_text("utf-8") if text in named else text
    own = () if any(one in line for one in WITHOUT_WORKSPACE) else ("--workspace", workspace)
    said = say(*line.format(folder=prepared).split(), *own, stdin=given)
    assert said.code in (0, 1) or expected in said.err, said
    assert expected in said.out + said.err
    assert "mcp-tef-" not in said.out + said.err
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("key", REFUSED, ids=" ".join)
def test_a_verb_says_why_a_file_cannot_be_standard_input(key: tuple[str, str], prepared: Path, workspace: Path) -> None:
    line, reason = REFUSED[key]
    said = say(*line.format(folder=prepared).split(), "--workspace", workspace, stdin=TOOLS)
    assert (said.code, reason in said.err, "Name a file instead of -." in said.err) == (2, True, True)
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("cases list --workspace -", "A workspace is a file that is kept"),
        ("run --tools-file - --cases -", "cannot be read twice"),
        ("quality --tools-file - - ", "cannot be read twice"),
        ("quality --tools-file - --key-stdin", "--key-stdin reads the key"),
        ("quality --server city --ignore x:y --reason known --ignore-file -", "--reason writes"),
    ],
)
def test_standard_input_is_read_once_and_never_written(line: str, reason: str, workspace: Path) -> None:
    own = () if "--workspace" in line or "--cases" in line else ("--workspace", workspace)
    said = say(*line.split(), *own, stdin=TOOLS)
    assert (said.code, reason in said.err) == (2, True), said
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("cases import - --format tef", "{half"),
        ("servers import -", "{half"),
        ("quality --tools-file -", "{half"),
        ("runs show latest --baseline -", "[]"),
        ("draft patch Shorter -", "{half"),
        ("cases import -", CASES),
    ],
)
def test_an_error_about_standard_input_names_it(line: str, text: str, workspace: Path) -> None:
    said = say(*line.split(), "--workspace", workspace, "--json", stdin=text)
    assert "mcp-tef-" not in said.out + said.err
    assert said.code in (1, 2, 3)
    assert any(name in said.out + said.err for name in ("standard input", "baseline", "The text"))


def test_a_verb_reads_and_writes_in_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = say("score", "-", "--out", "-", stdin=CALL)
    assert (said.code, json.loads(said.out)["classification"]) == (0, "TN")
    assert list(tmp_path.iterdir()) == []
