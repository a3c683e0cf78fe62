"""Detection of dropped and pasted content, whatever its name."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.model.transfer import FileKind
from mcp_tef.storage.store import open_store
from mcp_tef.workflows.file_detection import FileDetection

TOOL = {"name": "find", "description": "Find.", "inputSchema": {"type": "object"}}
CASE = {"query": "Find it", "expected": None}
CONFIG = {"mcpServers": {"clock": {"command": "uvx", "args": ["mcp-server-time"]}}}
BFCL = {"id": "1", "question": [[]], "function": []}
DOCUMENTS: list[tuple[Any, FileKind | None]] = [
    (CONFIG, FileKind.SERVERS),
    ({"servers": {"clock": {"type": "http", "url": "https://clock.test/mcp"}}}, FileKind.SERVERS),
    ({"command": "uvx", "args": ["mcp-server-time"]}, FileKind.SERVERS),
    ({"tools": [TOOL]}, FileKind.TOOLS),
    ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}}, FileKind.TOOLS),
    ([TOOL], FileKind.TOOLS),
    ([{"op": "remove", "path": "/tools/0"}], FileKind.PATCH),
    ({"version": 1, "cases": [CASE]}, FileKind.CASES),
    ([CASE], FileKind.CASES),
    ({"tests": [{"vars": {"query": "x"}}], "prompts": ["{{query}}"]}, FileKind.CASES),
    ({"tests": "file://tests.csv", "prompts": ["{{query}}"]}, FileKind.CASES),
    ([BFCL], FileKind.CASES),
    ({"name": "a package", "version": "1.0.0", "scripts": {}}, None),
    ([], None),
    ([{"name": "nobody"}], None),
    ("a word", None),
    (7, None),
]


@pytest.mark.parametrize(("document", "kind"), DOCUMENTS)
async def test_a_json_file_is_told_by_what_it_holds_and_so_is_the_same_text(
    tmp_path: Path, document: Any, kind: FileKind | None
) -> None:
    file = tmp_path / "download.json"
    file.write_text(json.dumps(document), "utf-8")
    (arrival,) = await FileDetection().of_files([file])
    assert (arrival.kind, arrival.path) == (kind, file)
    assert bool(arrival.problem) == (kind is None)
    pasted = await FileDetection().of_text(json.dumps(document))
    assert (pasted.kind, pasted.path) == (kind, None)


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("cases.yaml", "cases:\n- query: Find it\n", FileKind.CASES),
        ("compose.yml", "services:\n  db:\n    image: x\n", None),
        ("cases.csv", "query,expected\nFind it,\n", FileKind.CASES),
        ("rows.jsonl", json.dumps(BFCL) + "\n", FileKind.CASES),
        ("settings.jsonc", "// ours\n" + json.dumps(CONFIG), FileKind.SERVERS),
        ("notes.txt", "buy milk", None),
    ],
)
async def test_other_files_are_told_by_name_and_content(
    tmp_path: Path, name: str, text: str, kind: FileKind | None
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    (arrival,) = await FileDetection().of_files([tmp_path / name])
    assert arrival.kind is kind


async def test_a_workspace_is_known_whatever_it_is_called(tmp_path: Path) -> None:
    await (await open_store(tmp_path / "work.db")).close()
    (tmp_path / "work.db").rename(tmp_path / "work.json")
    (arrival,) = await FileDetection().of_files([tmp_path / "work.json"])
    assert arrival.kind is FileKind.WORKSPACE


async def test_what_is_none_of_them_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    (tmp_path / "notes.txt").write_text("buy milk", "utf-8")
    files = [tmp_path / name for name in ("photo.png", "notes.txt", "gone.json", "")]
    problems = [arrival.problem for arrival in await FileDetection().of_files(files)]
    assert "is not text" in problems[0]
    assert problems[1].startswith("notes.txt is neither a config of servers, nor tools, ")
    assert "gone.json could not be read" in problems[2]
    assert "could not be read" in problems[3]


async def test_cases_pasted_as_yaml_are_cases() -> None:
    assert (await FileDetection().of_text("cases:\n- query: Find it\n")).kind is FileKind.CASES
    assert (await FileDetection().of_text("just: yaml")).problem.startswith("The text is neither")
