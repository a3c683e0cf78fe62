"""Edits of source: found where a text stands once, shown as a diff, written and undone only as found."""

import os
from pathlib import Path

import pytest

from mcp_tef.errors import InputError
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.workflows.source_edits import find_source_edit, source_folder, undo_source_edit, write_source_edit

OLD, NEW = "Looks for words.", "Finds pages that hold words."
SOURCE = f'''@tool(
    description="{OLD}",
)
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


def test_a_text_that_stands_once_is_found_with_its_line_and_diff(folder: Path) -> None:
    edit = find_source_edit(folder, OLD, NEW)
    assert edit is not None
    assert (edit.path, edit.line) == (folder / "main.py", 2)
    assert edit.diff.splitlines() == [
        "--- a/main.py",
        "+++ b/main.py",
        "@@ -1,3 +1,3 @@",
        " @tool(",
        f'-    description="{OLD}",',
        f'+    description="{NEW}",',
        " )",
    ]
    assert (folder / "main.py").read_text() == SOURCE


def test_an_edit_is_written_and_undone_and_keeps_the_mode(folder: Path) -> None:
    edit = find_source_edit(folder, OLD, NEW)
    assert edit is not None
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
    (tmp_path / "main.py").write_text(source)
    edit = find_source_edit(tmp_path, old, new)
    assert edit is not None
    write_source_edit(edit)
    assert (tmp_path / "main.py").read_text() == expected


def test_the_folder_is_that_of_a_program_on_this_machine(folder: Path) -> None:
    script = os.fspath(folder / "main.py")
    stdio = ServerSpec(name="a", transport=Transport.STDIO, command="python3", args=(script,))
    assert source_folder(stdio) == folder
    assert source_folder(ServerSpec(name="a", transport=Transport.STDIO, command="x", cwd=os.fspath(folder))) == folder
    assert source_folder(ServerSpec(name="a", transport=Transport.STDIO, command="npx", args=("-y", "server"))) is None
    assert source_folder(ServerSpec(name="a", transport=Transport.STREAMABLE_HTTP, url="http://a.test")) is None
