"""Sound definitions and reasons for the others, from servers and from tools files."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.json import Json
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.servers.definitions import check_definitions, read_tools_file, why_bad
from mcp_tef.servers.sanitizing import DEEPEST, MARK, WholeLines, sanitized
from tests.support.faults.fault_script import tool

SPEC = ServerSpec(name="Shop", transport=Transport.FILE, path="tools.json")


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = {"not": value}
    return value


@pytest.mark.parametrize(
    "definition",
    [
        tool("plain"),
        tool("silent", description=None),
        {"name": "bare", "inputSchema": {}},
        tool("older", inputSchema={"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}),
        tool("ecma", inputSchema={"properties": {"a": {"type": "string", "pattern": r"^\p{L}(?<name>x)$"}}}),
        tool("recursive", inputSchema={"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}}),
        tool("remote", inputSchema={"properties": {"a": {"$ref": "https://elsewhere.example/schema.json"}}}),
        tool("vendor", icons=[1], _meta={"x": None}, anything="goes"),
        tool("returning", outputSchema={"type": "object"}),
        tool("odd name, with spaces and ünïcode 🙂"),
    ],
    ids=lambda definition: definition["name"],
)
def test_a_sound_definition_is_kept_whole(definition: dict[str, Any]) -> None:
    found = check_definitions(SPEC, [definition])
    assert found.problems == ()
    assert found.tools[0].raw == definition
    assert found.tools[0].description == (definition.get("description") or "")


@pytest.mark.parametrize(
    ("definition", "reason"),
    [
        (None, "It is null, not an object."),
        ([], "It is a list, not an object."),
        (True, "It is true or false, not an object."),
        ({"inputSchema": {}}, "It has no name."),
        (tool("x", name=None), "It has no name."),
        (tool("x", name=7), "Its name is a number, not text."),
        (tool(" "), "Its name is empty."),
        (tool("n" * 600), "Its name has 600 characters, more than 512."),
        (tool("\ud800"), "Its name is not valid Unicode."),
        (tool("x", description="\udfff"), "Its description is not valid Unicode."),
        (tool("x", description={"en": "words"}), "Its description is an object, not text."),
        (tool("x", title=[]), "Its title is a list, not text."),
        ({"name": "x"}, "It has no inputSchema."),
        (tool("x", inputSchema=None), "Its inputSchema is null, not an object."),
        (tool("x", inputSchema={"type": "array"}), "Its inputSchema must have the type “object”, not array."),
        (tool("x", outputSchema="text"), "Its outputSchema is text, not an object."),
        (tool("x", inputSchema=nested(200)), "It nests more than 64 levels deep."),
        (tool("x", inputSchema={"enum": [0] * 20_000}), "It holds more than 10000 values."),
        (tool("x", description="word " * 60_000), "It has 300061 bytes, more than 262144."),
        (tool("x", inputSchema={"title": "Half \ud83d"}), "It holds text that is not valid Unicode."),
        (
            tool("x", inputSchema={"enum": [{"n": n} for n in range(2000)], "x-vendor": 1}),
            "Its inputSchema is not a valid JSON Schema: it is too intricate to be checked.",
        ),
        (
            tool("x", inputSchema={"properties": []}),
            "Its inputSchema is not a valid JSON Schema: properties: [] is not of type 'object'.",
        ),
        (
            tool("x", inputSchema={"required": "name"}),
            "Its inputSchema is not a valid JSON Schema: required: 'name' is not of type 'array'.",
        ),
    ],
)
def test_a_bad_definition_has_its_reason(definition: Any, reason: str) -> None:
    assert why_bad(definition) == reason


def test_a_problem_names_its_tool_where_it_has_a_name() -> None:
    found = check_definitions(SPEC, [tool("ok"), {"name": "no schema"}, {"inputSchema": {}}, tool("bad\ud800name")])
    assert [problem.tool for problem in found.problems] == ["no schema", None, "bad?name"]
    assert found.problems[1].reason == "Definition 3: It has no name."


def test_a_problem_keeps_its_place_and_the_definition_unless_that_is_unwieldy() -> None:
    bad, deep = {"name": "bad"}, tool("x", inputSchema=nested(200))
    found = check_definitions(SPEC, [tool("ok"), bad, deep, tool("half\ud83d"), 5])
    assert [(problem.place, problem.raw) for problem in found.problems] == [(1, bad), (2, None), (3, None), (4, None)]


def test_tools_that_are_not_wanted_are_no_problem_either() -> None:
    spec = ServerSpec(name="Shop", transport=Transport.FILE, allowed_tools=("a",), disallowed_tools=("b",))
    found = check_definitions(spec, [tool("a"), tool("b"), {"name": "c"}])
    assert ([item.name for item in found.tools], found.problems) == (["a"], ())


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


WHOLE = st.characters(codec="utf-8", exclude_characters=MARK)  # no half of a surrogate pair, which becomes a mark
TEXTS = st.text(WHOLE) | st.sampled_from(["[", "}", '"', "\\", "\\ud800", "a\\"])
SOUND = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(SOUND, st.booleans())
def test_sound_json_stays_byte_for_byte(value: Json, escaped: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped).encode()
    assert sanitized(text) == text


@given(st.text(st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010) | st.sampled_from("\\u😀")))
def test_half_characters_become_marks_and_whole_ones_stay(text: str) -> None:
    read = from_json(sanitized(json.dumps([text]).encode()))
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\ufffd", MARK)
    assert read == [whole]


@given(st.binary())
def test_bytes_that_are_no_text_become_marks(data: bytes) -> None:
    assert sanitized(data).decode().replace(MARK, "") == data.decode("utf-8", "ignore").replace("\ufffd", "")


@pytest.mark.parametrize("levels", [0, DEEPEST // 2 - 1, DEEPEST - 1, DEEPEST, 5_000])
@pytest.mark.parametrize(("begin", "end"), [(b"[", b"]"), (b'{"a":', b"}"), (b'{"]}":[', b"]}")])
def test_what_nests_too_deep_is_cut_out_and_the_rest_stays(levels: int, begin: bytes, end: bytes) -> None:
    deep = begin * levels + b"1" + end * levels
    read = sanitized(b'[{"name":"[[[["},' + deep + b',"last"]')
    first, _, last = from_json(read)
    assert (first, last) == ({"name": "[[[["}, "last")
    assert (MARK.encode() in read) == (levels * len(end) >= DEEPEST)


@pytest.mark.parametrize("data", [b"[" * 500_000, b"]" * 500_000, b"[{" * 250_000, b"[]" * 250_000, b'"[' * 500_000])
def test_what_is_no_json_is_left_to_its_reader_in_no_time(data: bytes) -> None:
    began = time.thread_time()
    sanitized(data)
    assert time.thread_time() - began < 2


@given(st.lists(st.binary(max_size=5) | st.sampled_from([b"\n", b"\r\n", b"ab\ncd"])))
def test_lines_come_whole_and_nothing_is_lost(chunks: list[bytes]) -> None:
    lines = WholeLines(1_000)
    fed = [lines.feed(chunk) for chunk in chunks]
    assert b"".join([*fed, lines.rest()]) == b"".join(chunks)
    assert all(piece[-1:] in b"\r\n" for piece in fed)


def test_a_line_without_an_end_is_handed_on_when_it_is_too_long() -> None:
    lines = WholeLines(10)
    assert [lines.feed(b"1234"), lines.feed(b"5678"), lines.feed(b"90a"), lines.rest()] == [
        b"",
        b"",
        b"1234567890a",
        b"",
    ]
