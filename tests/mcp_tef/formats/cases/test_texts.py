"""Files from strangers: too large, in whatever encoding, or made to unfold without end."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import parse_json, parse_yaml, read_text, require_plain, to_yaml, write_text

LAUGHS = "a: &a [ha, ha, ha, ha, ha, ha, ha, ha, ha]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: 1, y: 2}\n" + "".join(
    f"{name}: &{name} {{<<: [{', '.join(['*' + before] * 20)}]}}\n"
    for before, name in zip("abcdefg", "bcdefgh", strict=True)
)


def test_no_text_is_written_over_a_workspace(tmp_path: Path) -> None:
    workspace, report = tmp_path / "work.db", tmp_path / "report.csv"
    with closing(sqlite3.connect(workspace)) as connection:
        connection.execute("CREATE TABLE runs (x)")
    before = workspace.read_bytes()
    with pytest.raises(InputError, match=r"work\.db is a workspace or another database"):
        write_text(workspace, "case,query")
    assert workspace.read_bytes() == before
    for text in ("one", "two"):
        write_text(report, text)
    assert report.read_text("utf-8") == "two"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_marked_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "cases.csv"
    file.write_bytes("query\nWo ist es? – 🔧".encode(encoding))
    assert read_text(file) == "query\nWo ist es? – 🔧"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("query\nCafé".encode("latin-1"), "not UTF-8 text: a byte at line 2"),
        ("good – line\n".encode() + "Café".encode("cp1252"), "not UTF-8 text: a byte at line 2"),
        ("query".encode("utf-16-le"), "not text, or it is UTF-16 without a mark"),
        (b"\xff\xfeq", "not UTF-16 text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is not"),
    ],
)
def test_other_encodings_and_mixtures_are_named(tmp_path: Path, data: bytes, says: str) -> None:
    file = tmp_path / "cases.csv"
    file.write_bytes(data)
    with pytest.raises(InputError, match=says) as caught:
        read_text(file)
    assert "UTF-8" in caught.value.hint


def test_a_file_of_200_megabytes_is_refused_without_being_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    with file.open("wb") as out:
        out.truncate(200 * 1024 * 1024)
    with pytest.raises(InputError, match="larger than 50 MB"):
        read_text(file)


@pytest.mark.parametrize("text", [LAUGHS, MERGES, "a: &a [*a]"])
def test_yaml_that_unfolds_out_of_proportion_is_refused_unread(text: str) -> None:
    with pytest.raises(InputError, match=r"unfolds into far more|not valid YAML"):
        parse_yaml(text, "bomb.yaml")


def test_honest_aliases_are_read() -> None:
    assert parse_yaml("a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}", "x") == {
        "a": {"x": 1},
        "b": {"x": 1},
        "c": {"x": 1, "y": 2},
    }


def test_more_than_10_megabytes_of_yaml_are_refused() -> None:
    with pytest.raises(InputError, match="more than 10 MB"):
        parse_yaml(" " * (10 * 1024 * 1024 + 1), "big.yaml")


@pytest.mark.parametrize("typed", ["2026-11-21", "12:30", "yes", "NO", "on", "007", "1_000", ".inf", "0x1F"])
def test_what_json_has_no_word_for_stays_the_text_that_was_typed(typed: str) -> None:
    assert parse_yaml(f"value: {typed}", "x") == {"value": typed}


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "12:30",
        "1e5",
        "2026-11-21",
        "~",
        "null",
        "0o7",
        "1_000",
        "<<",
        "=",
        "",
        "1.",
        "+1",
        "a\x85b",
        "a\u2028b",
        "\ufeff",
        "\r\n",
    ],
)
def test_text_that_could_be_something_else_is_quoted(text: str) -> None:
    assert parse_yaml(to_yaml({"a": text}), "x") == {"a": text}


@pytest.mark.parametrize("text", ["!!python/object/apply:os.system [ls]", "!!python/name:os.system"])
def test_yaml_builds_nothing_but_plain_values(text: str) -> None:
    with pytest.raises(InputError, match="not valid YAML"):
        parse_yaml(f"a: {text}", "evil.yaml")


@pytest.mark.parametrize("text", ["!!bool maybe", '!!int ""', "!!float ''", "!!timestamp soon", "!!int x"])
def test_yaml_whose_tags_do_not_fit_is_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match="not valid YAML"):
        parse_yaml(f"a: {text}", "tagged.yaml")


@pytest.mark.parametrize("text", ["1: a", "a: !!binary aGk=", "a: !!set {x}", "a: 1e999"])
def test_values_that_json_has_not_are_named(text: str) -> None:
    with pytest.raises(InputError):
        require_plain(parse_yaml(text, "x"))


@pytest.mark.parametrize("text", ["[" * 200_000, "[" * 5000 + "]" * 5000, '{"a": ' * 300 + "1" + "}" * 300])
@pytest.mark.parametrize("read", [parse_json, parse_yaml])
def test_what_nests_too_deep_is_told_as_such(read: Callable[[str, str], object], text: str) -> None:
    with pytest.raises(InputError, match="nests too deep"):
        read(text, "x")


@pytest.mark.parametrize("text", ["{", "1" * 5000, '{"a": tru}'])
def test_json_that_cannot_be_read_is_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match="x is not valid JSON"):
        parse_json(text, "x")
