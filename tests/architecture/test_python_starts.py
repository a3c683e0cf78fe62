"""No Python that we start imports from the current folder: `-m` and `-c` stand behind `-P` or `-I` in every source."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.support.source_modules import ROOT, modules, source

SAFE = {"-P", "-I"}
NOT_OURS = {
    ("dev.py", "-m", "pytest"): "an option of coverage, which starts nothing",
    ("dev.py", "-m", "unit and not hypothesis"): "an option of pytest",
    ("packaging/bare_root.py", "-m", "USER"): "an option of useradd",
}
LINES = re.compile(r"\bpython[\d.]*\s+((?:-\S+\s+)*)-[mc]\s+(\S+)")
TEXTS = (".github", ".ci", "docs", "resources", "packaging", "README.md", "CONTRIBUTING.md", ".pre-commit-hooks.yaml")
USERS_OWN = ("shop_server", "tests.")
"""Modules of a user's server in examples, and one of the tests, which is for this folder."""


def starts_in(nodes: list[ast.AST]) -> Iterator[tuple[str, str, bool]]:
    """Yield each `-m` or `-c` in a list of arguments, with what follows, and whether something safe precedes it."""
    for node in nodes:
        if not isinstance(node, ast.List | ast.Tuple | ast.Call):
            continue
        words = node.args if isinstance(node, ast.Call) else node.elts
        texts = [one.value if isinstance(one, ast.Constant) else ast.unparse(one) for one in words]
        for place, text in enumerate(texts):
            if text in ("-m", "-c") and isinstance(words[place], ast.Constant):
                yield str(text), str((*texts[place + 1 :], "")[0]), bool(SAFE & set(texts[:place]))


def test_no_source_starts_a_module_or_a_text_that_the_current_folder_can_replace() -> None:
    unsafe = [
        f"{module.path}: {flag} {what}"
        for module in (*source(), *modules("packaging", ".github"))
        for flag, what, is_safe in starts_in(module.nodes)
        if not is_safe and (module.path, flag, what) not in NOT_OURS and not flag_of_another(module.path, flag, what)
    ]
    assert unsafe == []


def flag_of_another(path: str, flag: str, what: str) -> bool:
    """Return True for the options of git, and for the table of options that launchers of servers take."""
    return (flag, what) == ("-c", "core.fsmonitor=false") or (flag == "-c" and path.endswith("command_lines.py"))


def test_no_document_or_workflow_tells_anybody_to_start_a_module_there() -> None:
    files = [
        file for name in TEXTS for file in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*"))
    ]
    told = [
        f"{file.relative_to(ROOT)}: {found[0]}"
        for file in files
        if file.is_file() and file.suffix in ("", ".md", ".yml", ".yaml", ".sh", ".toml", ".desktop")
        for found in LINES.finditer(file.read_text("utf-8", "replace"))
        if not SAFE & set(found[1].split()) and not found[2].startswith(USERS_OWN)
    ]
    assert told == []


@pytest.mark.parametrize("code", ["[python, '-m', 'app']", "run(python, '-c', x)", "(python, '-X', 'utf8', '-c', x)"])
def test_an_unsafe_start_is_seen(code: str) -> None:
    assert [is_safe for *_, is_safe in starts_in(list(ast.walk(ast.parse(code))))] == [False]


def test_a_safe_start_is_seen_as_such() -> None:
    code = "[python, '-I', '-X', 'utf8', '-c', text]"
    assert [is_safe for *_, is_safe in starts_in(list(ast.walk(ast.parse(code))))] == [True]
