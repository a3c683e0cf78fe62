"""What the source looks like: sizes, first sentences, names, and where broad excepts may stand."""

import ast
import re
import statistics
from pathlib import Path
from typing import TypeGuard

import pytest

from tests.support.source_modules import ROOT, Function, Module, everything, modules, source

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50
MEDIAN_FUNCTION_LINES = 6
P90_FUNCTION_LINES = 16
BRANCHES_AS_A_RULE = 8
MAX_FUNCTIONS_WITH_MORE_BRANCHES = 60
CORE_CALLS = {"call", "call_long", "value"}
FIRST_WORDS_NEVER = re.compile(r"(What|Which|Whether|How|Whatever|Whoever|Whom|Who|Where|When)\b")
MAX_FIRST_WORDS_NEVER = 5
ROOMLESS = {"utils", "util", "helpers", "helper", "common", "misc", "shared", "tools_misc"}
BROAD_EXCEPT_PLACES = {
    "app/core_link/bridge.py",
    "app/shell/crash_reports.py",
    "mcp_tef/cli/main.py",
    "mcp_tef/workflows/batch_job.py",
}
LINKS = re.compile(r"\bopenUrl\b|\bwebbrowser\b|OpenExternalLinks|linkActivated")
MARKUP = re.compile(r"setHtml|setMarkdown|RichText|AutoText|\b(?:QTextBrowser|QTextEdit|QMessageBox)\b")
READS_ONLY_OUR_OWN = {"app/dialogs/pdf_pages.py", "app/help/page_view.py"}
ASKS_BEFORE_IT_OPENS = "app/shell/workspace_controller.py"
EDITS = re.compile(r"(core|engine)\.((cases|servers)\.(edit|edit_all)|drafts\.(edit|rename|redo|undo))\b")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError|not implemented", re.IGNORECASE)
IN_TESTS_NEVER = re.compile(
    r"\bpatch\(|\.itemAt\(|\btime\.sleep\(|assert True\b|mark\.skip\b|type: ignore(?!\[)|/root/|/work/"
)


def length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def test_every_edit_names_what_it_saw() -> None:
    """Without it, an edit would restore what another program changed since."""
    blind = [
        f"{module.path}:{call.lineno}"
        for module in modules("app", "mcp_tef")
        for call in ast.walk(module.tree)
        if isinstance(call, ast.Call) and EDITS.search(ast.unparse(call.func))
        if not {"seen", None} & {keyword.arg for keyword in call.keywords}
    ]
    assert blind == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [module.path for module in everything() if module.text.strip() and not ast.get_docstring(module.tree)]
    assert silent == []


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    assert [module.path for module in everything() if Path(module.path).stem in ROOMLESS] == []


def test_no_file_is_longer_than_people_read() -> None:
    assert [f"{m.path}: {m.lines}" for m in everything() if m.lines > MAX_FILE_LINES] == []


def test_no_function_is_longer_than_a_screen() -> None:
    long = [
        f"{module.path}:{function.lineno} {function.name}: {length(function)}"
        for module in everything()
        for function in module.functions
        if length(function) > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_functions_are_short_as_a_rule() -> None:
    sizes = sorted(length(function) for module in source() for function in module.functions)
    assert statistics.median(sizes) <= MEDIAN_FUNCTION_LINES
    assert sizes[int(len(sizes) * 0.9)] <= P90_FUNCTION_LINES


def branches(function: Function) -> int:
    """Return the number of branches of a function, boolean operators included, plus one."""
    kinds = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension, ast.Assert,
             ast.match_case)  # fmt: skip
    nodes = list(ast.walk(function))
    operators = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    return 1 + operators + sum(isinstance(node, kinds) for node in nodes)


def test_few_functions_have_many_branches() -> None:
    many = [
        f"{module.path}:{function.lineno} {function.name}"
        for module in source()
        for function in module.functions
        if branches(function) > BRANCHES_AS_A_RULE
    ]
    assert len(many) <= MAX_FUNCTIONS_WITH_MORE_BRANCHES, "\n".join(many)


def test_docstrings_start_with_a_verb_or_a_noun() -> None:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    odd = [
        f"{module.path}: {text.splitlines()[0]}"
        for module in source()
        for node in module.nodes
        if isinstance(node, kinds) and FIRST_WORDS_NEVER.match(text := ast.get_docstring(node) or "")
    ]
    assert len(odd) <= MAX_FIRST_WORDS_NEVER, "\n".join(odd)


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for module in source():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(module.path)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_only_presenters_call_the_core() -> None:
    """Pages hand `session.call` to a presenter; only presenters and the core link call it."""
    wrong = [
        f"{module.path}:{node.lineno}"
        for module in modules("app")
        if not module.path.endswith("presenter.py") and not module.path.startswith("app/core_link/")
        for node in module.nodes
        if isinstance(node, ast.Call) and _is_core_call(node.func)
    ]
    assert wrong == []


FILE_LISTERS = {"QFileSystemModel", "QFileIconProvider", "QAbstractFileIconProvider", "QMimeDatabase", "QDirListing"}


def test_one_module_opens_file_dialogs_and_lists_files() -> None:
    """Others may name `QFileDialog` as a type only: a dialog of Qt opens the workspace, which loses SQLite's locks."""
    wrong = [
        f"{module.path}:{node.lineno}"
        for module in modules("app")
        if module.path != "app/widgets/file_dialog.py"
        for node in module.nodes
        if _makes_file_dialog(node)
    ]
    assert wrong == []


def _makes_file_dialog(node: ast.AST) -> TypeGuard[ast.stmt | ast.expr]:
    match node:
        case ast.ImportFrom(module=str(module), names=names) if module.startswith("PySide6"):
            return any(one.name in FILE_LISTERS for one in names)
        case ast.Call(func=ast.Name(id="QFileDialog")) | ast.Attribute(value=ast.Name(id="QFileDialog")):
            return True
        case ast.Attribute(attr=attr):
            return attr == "QFileDialog" or attr in FILE_LISTERS
        case ast.ClassDef(bases=bases):
            return any(isinstance(base, ast.Name) and base.id == "QFileDialog" for base in bases)
    return False


def _is_core_call(function: ast.expr) -> bool:
    if not isinstance(function, ast.Attribute) or function.attr not in CORE_CALLS:
        return False
    owner = function.value.attr if isinstance(function.value, ast.Attribute) else getattr(function.value, "id", "")
    return owner.lstrip("_") in ("session", "bridge")


def test_broad_excepts_stand_only_at_the_outermost_frames() -> None:
    places = {
        module.path
        for module in source()
        for node in module.nodes
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type)
    }
    assert places - BROAD_EXCEPT_PLACES == set()


def _is_broad(caught: ast.expr | None) -> bool:
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(
        name is None or (isinstance(name, ast.Name) and name.id.startswith(("Exception", "Base"))) for name in names
    )


def test_the_window_reads_no_markup_and_opens_addresses_in_one_place() -> None:
    wrong = [
        f"{module.path}:{number}: {line.strip()}"
        for module in modules("app")
        for number, line in enumerate(module.text.splitlines(), 1)
        if (MARKUP.search(line) and module.path not in READS_ONLY_OUR_OWN)
        or (LINKS.search(line) and module.path != ASKS_BEFORE_IT_OPENS)
    ]
    assert wrong == []


def test_the_window_imports_names_from_the_front_door_only() -> None:
    wrong = [
        f"{module.path}:{node.lineno}"
        for module in modules("app")
        for node in module.nodes
        if (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mcp_tef."))
        or (isinstance(node, ast.Import) and any(name.name.startswith("mcp_tef") for name in node.names))
    ]
    assert wrong == []


def test_nothing_is_left_for_later() -> None:
    assert [place for module in source() for place in matches(UNFINISHED, module)] == []


def test_tests_neither_patch_nor_sleep_nor_skip() -> None:
    here = Path(__file__).relative_to(ROOT).as_posix()
    wrong = [place for module in modules("tests") if module.path != here for place in matches(IN_TESTS_NEVER, module)]
    assert wrong == []


def matches(pattern: re.Pattern[str], module: Module) -> list[str]:
    """Return the places where a pattern is found in a module."""
    return [
        f"{module.path}:{module.text.count(chr(10), 0, found.start()) + 1}: {found.group()}"
        for found in pattern.finditer(module.text)
    ]


@pytest.mark.parametrize("folder", ["app", "mcp_tef"])
def test_every_package_is_a_real_package(folder: str) -> None:
    folders = {file.parent for file in (ROOT / folder).rglob("*.py")}
    assert [str(item.relative_to(ROOT)) for item in folders if not (item / "__init__.py").exists()] == []
