"""Tools files: the shapes that are read, and the sentence for each that is not."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.servers.tools_files import read_tools_file
from tests.support.faults.fault_script import tool

TOOLS: list[Any] = [tool("one", vendor={"x": 1}), tool("two"), {"name": "bad"}]


def saved(path: Path) -> ServerSpec:
    return ServerSpec(name="Saved", transport=Transport.FILE, path=str(path))


@pytest.mark.parametrize(
    "content",
    [TOOLS, {"tools": TOOLS}, {"jsonrpc": "2.0", "id": 3, "result": {"tools": TOOLS}}],
    ids=["array", "answer", "message"],
)
def test_each_shape_gives_the_same_tools(tmp_path: Path, content: object) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(content), "utf-8-sig")
    found = read_tools_file(saved(file))
    assert [tool.name for tool in found.tools] == ["one", "two"]
    assert found.tools[0].raw == TOOLS[0]
    assert [(problem.tool, problem.reason) for problem in found.problems] == [("bad", "It has no inputSchema.")]
    assert found.protocol is None


def test_a_page_of_several_says_that_tools_are_missing(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps({"tools": TOOLS[:1], "nextCursor": "2"}))
    assert [problem.reason for problem in read_tools_file(saved(file)).problems] == [
        "The saved answer is one page of several; the tools after it are missing."
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{ not json", "is not JSON: Expecting property name enclosed in double quotes at line 1, column 3"),
        (b'{"servers": []}', "holds no list of tools"),
        (b'"text"', "holds no list of tools"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"[" * 100_000, "nests too deep"),
    ],
)
def test_a_file_that_is_no_tools_file_is_told_why(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "tools.json"
    file.write_bytes(content)
    with pytest.raises(ServerError) as caught:
        read_tools_file(saved(file))
    assert caught.value.fault is ServerFault.TOOLS_FILE
    assert caught.value.message == f"The tools file of Saved, {file}, {words}."


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="is not a file"):
        read_tools_file(saved(tmp_path))


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match=r"none\.json, does not exist"):
        read_tools_file(saved(tmp_path / "none.json"))


def test_the_home_of_somebody_who_is_not_there_is_no_folder() -> None:
    with pytest.raises(ServerError, match=r"~nobody-here/tools\.json, does not exist"):
        read_tools_file(saved(Path("~nobody-here/tools.json")))
