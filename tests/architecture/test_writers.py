"""One writer: what creates, changes, renames or removes a file stands in `trust/files.py` or `trust/held_folder.py`.

A new call elsewhere fails here. What is excepted has a reason, and never takes its path from somebody else's file.
"""

import ast
from collections.abc import Iterable, Iterator

import pytest

from tests.support.source_modules import modules

OWNERS = {"mcp_tef/trust/files.py", "mcp_tef/trust/held_folder.py"}
SOURCES = ("mcp_tef", "app", ".github/actions")
METHODS = {
    *("write_text", "write_bytes", "unlink", "mkdir", "rmdir", "touch", "symlink_to", "hardlink_to", "chmod", "lchmod"),
    *("rmtree", "copytree", "copyfile", "copymode", "copystat", "make_archive", "makedirs", "setFileName"),
    *("setOutputFileName", "extractall", "writestr", "mkfifo", "truncate", "symlink", "mkstemp", "mktemp"),
}
"""Names that write whatever they belong to."""
OF_MODULES = {
    "os": {"open", "replace", "rename", "renames", "remove", "removedirs", "link", "fdopen", "fchmod", "truncate"},
    "shutil": {"copy", "copy2", "move", "chown"},
    "tempfile": {"NamedTemporaryFile", "TemporaryFile", "SpooledTemporaryFile"},
}
CLASSES = {
    *("QFile", "QSaveFile", "QTemporaryFile", "QTemporaryDir", "QPrinter", "QImageWriter", "QSettings", "QDir"),
    *("FileHandler", "RotatingFileHandler", "TimedRotatingFileHandler", "NamedTemporaryFile", "TemporaryFile"),
}
EXCEPTIONS = {
    ("mcp_tef/api/temporary_workspace.py", "write_text"): "a private folder that was just made",
    ("mcp_tef/cli/output_files.py", "open"): "a private folder that was just made",
    ("mcp_tef/cli/interruption.py", "os.open"): "the null device",
    ("mcp_tef/cli/standard_streams.py", "os.open"): "the null device",
    ("mcp_tef/cli/standard_streams.py", "open"): "a standard stream, by its number",
    ("mcp_tef/servers/standard_input.py", "os.open"): "the null device",
    ("mcp_tef/servers/standard_input.py", "os.fdopen"): "standard input",
    ("app/shell/crash_reports.py", "RotatingFileHandler"): "opens by open_private, in the user's data folder",
    ("mcp_tef/reports/similarity_tables.py", "open"): "a part of an archive that the writer lends",
    ("mcp_tef/storage/process_locks.py", "rmdir"): "an empty folder of locks",
    ("mcp_tef/storage/workspace_file.py", "unlink"): "the mark of damage beside a workspace, by its name",
    ("mcp_tef/trust/lock_files.py", "os.open"): "locks, without following a link",
    ("mcp_tef/trust/lock_files.py", "unlink"): "locks of ours, by their names",
    ("mcp_tef/trust/own_workspaces.py", "open"): "the index of SQLite's log, for a lock; nothing is written",
    ("mcp_tef/trust/open_files.py", "os.open"): "locks on files that SQLite has open; nothing is written",
    **{
        ("mcp_tef/trust/git_objects.py", name): "a private folder that was just made"
        for name in ("write_text", "mkdir", "rmdir", "symlink_to")
    },
    ("app/core_link/workspaces.py", "rename"): "a question of the window",
    ("app/screens/runs/commands.py", "rename"): "a batch",
    ("app/screens/welcome/page.py", "rename"): "a question of the window",
    ("app/screens/workshop/page.py", "rename"): "a draft",
    ("app/widgets/chart.py", "save"): "a picture in memory",
    ("app/main.py", "QSettings"): "what Qt's file dialog remembers, in the user's settings",
    ("app/widgets/file_dialog.py", "QDir"): "a filter of the dialog",
    (".github/actions/evaluate/evaluate.py", "mkdir"): "the folder that the workflow names",
    (".github/actions/evaluate/evaluate.py", "open"): "the file that the build service names",
}


def written_in(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """Yield what a module writes with, called or handed over, and the line."""
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name in OF_MODULES.get(module, ()):
                yield f"{module}.{name}", node.lineno
            case ast.Attribute(attr=name) if name in METHODS:
                yield name, node.lineno
            case ast.Call(func=ast.Attribute(attr="replace" | "rename" as name), args=[_], keywords=[]):
                yield name, node.lineno  # of a path: that of a text takes two, and that of a value names the fields
            case ast.Call(func=ast.Attribute(attr="save"), args=[_, ast.Constant(value=str())]):
                yield "save", node.lineno
            case ast.Call(func=ast.Attribute(attr="open") | ast.Name(id="open")) if opens_to_write(node):
                yield "open", node.lineno
            case ast.Name(id=name) if name in CLASSES:
                yield name, node.lineno
            case ast.ImportFrom(module=str() as module, names=names) if module in OF_MODULES:
                yield from ((one.name, node.lineno) for one in names if one.name in OF_MODULES[module] | METHODS)


def opens_to_write(call: ast.Call) -> bool:
    """Return True for a mode that writes, and for one that cannot be seen here."""
    given = [*call.args, *(one.value for one in call.keywords if one.arg == "mode")]
    modes = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return any(len(mode) <= 3 and set(mode) & set("wax+") and set(mode) <= set("rwaxbt+") for mode in modes)


def everything_written() -> dict[tuple[str, str], str]:
    """Return where each module of the product and of the action writes, by module and name."""
    return {
        (module.path, name): f"{module.path}:{line} {name}"
        for module in modules(*SOURCES)
        if module.path not in OWNERS
        for name, line in written_in(module.nodes)
    }


def test_nothing_but_the_writer_writes() -> None:
    found = everything_written()
    assert [place for key, place in found.items() if key not in EXCEPTIONS] == []


@pytest.mark.parametrize(
    "code",
    [
        *(
            "path.write_text('x')",
            "run(path.write_bytes, data)",
            "open(path, 'w')",
            "path.open('ab')",
            "path.open('x')",
        ),
        *("open(path, mode='r+')", "os.replace(a, b)", "a.replace(b)", "a.rename(b)", "shutil.copytree(a, b)"),
        *("from shutil import copytree", "from os import rename", "picture.save(name, 'PNG')", "QSaveFile(name)"),
        *(
            "generator.setFileName(name)",
            "folder.mkdir()",
            "path.unlink()",
            "os.open(path, flags)",
            "shutil.move(a, b)",
        ),
    ],
)
def test_each_way_to_write_is_seen(code: str) -> None:
    assert list(written_in(ast.walk(ast.parse(code))))


@pytest.mark.parametrize(
    "code", ["text.replace('a', 'b')", "replace(value, name=1)", "open(path)", "path.open('rb')", "dialog.open()"]
)
def test_what_writes_nothing_is_not_seen(code: str) -> None:
    assert not list(written_in(ast.walk(ast.parse(code))))
