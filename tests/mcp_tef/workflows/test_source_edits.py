"""Edits of source: found where a text stands once, shown as a diff, written and undone only as found."""

import os
from pathlib import Path

import pytest

from mcp_tef.errors import InputError
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.workflows.source_edits import (
    CopyOnlyText,
    SourceEdit,
    find_source_edit,
    source_folder,
    undo_source_edit,
    write_source_edit,
)

OLD, NEW = "Looks for words.", "Finds pages that hold words."
SOURCE = f'''@tool(
    description="{OLD}",
)
def look() -> None: ...
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a server, and what lies beside it."""
    made = tmp_path / "server"
    (made / "node_modules").mkdir(parents=True)
    (made / "main.py").write_text(SOURCE)
    (made / "main.py").chmod(0o755)
    (made / "node_modules" / "copy.js").write_text(SOURCE)
    (made / ".cache").write_text(SOURCE)
    (made / "image.bin").write_bytes(b"\0" + OLD.encode())
    (made / "link.py").symlink_to(made / "main.py")
    return made


def edited(folder: Path, before: str, after: str) -> SourceEdit:
    found = find_source_edit(folder, before, after)
    assert isinstance(found, SourceEdit), found
    return found


def test_a_text_that_stands_once_is_found_with_its_line_and_diff(folder: Path) -> None:
    edit = edited(folder, OLD, NEW)
    assert (edit.path, edit.line) == (folder / "main.py", 2)
    assert edit.diff.splitlines() == [
        "--- a/main.py",
        "+++ b/main.py",
        "@@ -1,4 +1,4 @@",
        " @tool(",
        f'-    description="{OLD}",',
        f'+    description="{NEW}",',
        " )",
        " def look() -> None: ...",
    ]
    assert (folder / "main.py").read_text() == SOURCE


def test_an_edit_is_written_and_undone_and_keeps_the_mode(folder: Path) -> None:
    edit = edited(folder, OLD, NEW)
    write_source_edit(edit)
    assert (folder / "main.py").read_text() == SOURCE.replace(OLD, NEW)
    assert (folder / "main.py").stat().st_mode & 0o777 == 0o755
    undo_source_edit(edit)
    assert (folder / "main.py").read_text() == SOURCE
    (folder / "main.py").write_text("changed")
    for write in (write_source_edit, undo_source_edit):
        with pytest.raises(InputError, match=r"main.py was changed meanwhile, so nothing was written"):
            write(edit)
    assert (folder / "main.py").read_text() == "changed"
    (folder / "main.py").unlink()
    with pytest.raises(InputError, match="cannot be written"):
        write_source_edit(edit)


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"a.py": SOURCE, "b.py": SOURCE}, OLD),
        ({"a.py": SOURCE + SOURCE}, OLD),
        ({"a.py": SOURCE}, "Not there at all."),
        ({"a.py": "x = 'Reads.'"}, "Reads."),
        ({f"{number}.txt": "" for number in range(2_000)} | {"a.py": SOURCE}, OLD),
    ],
    ids=["two files", "twice", "missing", "short", "many files"],
)
def test_a_text_in_no_or_several_places_is_not_edited(tmp_path: Path, files: dict[str, str], text: str) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert find_source_edit(tmp_path, text, NEW) is None


@pytest.mark.parametrize(
    ("source", "old", "new", "expected"),
    [
        ('a = "say \\"hi\\" to all"', 'say "hi" to all', 'say "bye"', 'a = "say \\"bye\\""'),
        ("a = 'it\\'s for words'", "it's for words", 'it\'s "more"', "a = 'it\\'s \"more\"'"),
        ('a = "two lines\\nof words"', "two lines\nof words", "now\nthree\nlines", 'a = "now\\nthree\\nlines"'),
        ('a = """Looks for\nwords."""', "Looks for\nwords.", "Finds\npages.", 'a = """Finds\npages."""'),
        ('{"description": "Gr\\u00fc\\u00dfe an alle"}', "Grüße an alle", "Hallo", '{"description": "Hallo"}'),
    ],
)
def test_texts_are_found_and_written_as_strings_of_source(
    tmp_path: Path, source: str, old: str, new: str, expected: str
) -> None:
    name = "tools.json" if source.startswith("{") else "main.py"
    (tmp_path / name).write_text(source)
    write_source_edit(edited(tmp_path, old, new))
    assert (tmp_path / name).read_text() == expected


@pytest.mark.parametrize(
    ("name", "source", "new", "reason"),
    [
        ("a.php", f'<?php $d = "{OLD}";', "{$x[phpinfo()]}", "Only strings in Python, JSON"),
        ("a.sh", f'D="{OLD}"', "$(touch x)", "Only strings in Python, JSON"),
        ("a.js", f"const d = `{OLD}`;", "${process.exit(1)}", "a comment, a template or an f-string"),
        ("a.py", f'd = f"{OLD}"', "{exit()}", "a comment, a template or an f-string"),
        ("a.py", f'# coding: utf-7\nd = "{OLD}"', "+ACI-", "The file is written in utf-7"),
        ("a.py", f'd = "{OLD}"', "a \u202e b", "The new text holds hidden characters"),
    ],
)
def test_elsewhere_a_text_is_only_copied(tmp_path: Path, name: str, source: str, new: str, reason: str) -> None:
    (tmp_path / name).write_text(source)
    found = find_source_edit(tmp_path, OLD, new)
    assert isinstance(found, CopyOnlyText)
    assert (found.path, found.line, found.text) == (tmp_path / name, 1 + source.startswith("#"), new)
    assert reason in found.reason


def test_the_folder_is_that_of_a_program_on_this_machine(folder: Path) -> None:
    script = os.fspath(folder / "main.py")
    stdio = ServerSpec(name="a", transport=Transport.STDIO, command="python3", args=(script,))
    assert source_folder(stdio) == folder
    assert source_folder(ServerSpec(name="a", transport=Transport.STDIO, command="x", cwd=os.fspath(folder))) == folder
    assert source_folder(ServerSpec(name="a", transport=Transport.STDIO, command="npx", args=("-y", "server"))) is None
    assert source_folder(ServerSpec(name="a", transport=Transport.STREAMABLE_HTTP, url="http://a.test")) is None
