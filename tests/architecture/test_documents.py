"""README, CONTRIBUTING, CHANGELOG, SECURITY, the help and the locks agree with the source."""

import re
import tomllib
from pathlib import Path

import pytest

from app.help.topics import anchor
from mcp_tef import VARIABLES
from mcp_tef.cli.main import parser

ROOT = Path(__file__).parents[2]
MAX_README_LINES = 150
MAX_CONTRIBUTING_LINES = 250
KINDS_OF_CHANGES = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def text(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def section(document: str, title: str) -> str:
    """The part of a document below a heading, up to the next heading of that level."""
    _, found, rest = text(document).partition(f"## {title}\n")
    assert found, f"{document} has no section {title}"
    return rest.partition("\n## ")[0]


def first_cells(document: str, title: str) -> list[str]:
    """What stands in backticks in the first column of a section's table; a cell may name several."""
    cells = re.findall(r"^\| (`[^|]+`) \|", section(document, title), re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def dependencies() -> dict[str, str]:
    """Every direct dependency by its plain name, with its requirement."""
    extras = PROJECT["optional-dependencies"]
    locked_elsewhere = ("package", "audit")
    wanted = [
        *PROJECT["dependencies"],
        *(one for extra in extras if extra not in locked_elsewhere for one in extras[extra]),
    ]
    return {re.split(r"[<>=!; ]", requirement)[0]: requirement for requirement in wanted}


def test_readme_is_short_and_shows_the_window_and_the_two_commands_first() -> None:
    lines = text("README.md").splitlines()
    first_screen = "\n".join(lines[:25])
    assert len(lines) <= MAX_README_LINES
    assert re.search(r"^!\[.+\]\(.+\.png\)$", first_screen, re.MULTILINE)
    assert "python3 dev.py run" in first_screen
    assert "python3 dev.py test" in first_screen


@pytest.mark.parametrize(
    "document",
    ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/scale.md", "packaging/README.md"],
)
def test_every_link_to_a_file_leads_to_a_file_and_a_heading(document: str) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text(document)):
        path, _, section = link.partition("#")
        file = (ROOT / document).parent / path
        assert file.exists(), link
        if section:
            headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
            assert section in map(anchor, headings), link


def test_the_python_example_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [example] = re.findall(r"```python\n(.*?)```", text("README.md"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "30 of 30 runs have a verdict.\n"


def test_the_help_names_every_command_and_no_other() -> None:
    listed = re.findall(r"^    ([a-z]+)(?: |$)", parser().format_help().partition("VERB\n")[2], re.MULTILINE)
    assert first_cells("resources/help/ci.md", "Commands") == listed


def test_every_package_is_on_the_map_and_all_that_is_on_it_exists() -> None:
    packages = {
        f"{item.relative_to(ROOT).as_posix()}/"
        for folder in ("app", "app/screens", "mcp_tef")
        for item in (ROOT / folder).iterdir()
        if (item / "__init__.py").exists()
    }
    listed = first_cells("CONTRIBUTING.md", "The map")
    assert packages - {"app/screens/"} - set(listed) == set()
    assert [path for path in listed if not (ROOT / path).exists()] == []


def test_contributing_is_short() -> None:
    assert len(text("CONTRIBUTING.md").splitlines()) <= MAX_CONTRIBUTING_LINES


def test_every_dependency_is_accounted_for_in_one_line() -> None:
    further = PROJECT["optional-dependencies"]
    tools = [re.split(r"[<>=!; ]", tool)[0] for tool in (*further["package"], *further["audit"])]
    assert sorted(first_cells("CONTRIBUTING.md", "Dependencies")) == sorted([*dependencies(), *tools])


def test_the_lock_holds_every_dependency_and_no_address() -> None:
    locked = set(re.findall(r"^([a-z0-9-]+)==", text("requirements.lock"), re.MULTILINE))
    assert set(dependencies()) <= locked
    for folder in ("", "packaging/", "packaging/audit/"):
        assert "://" not in text(f"{folder}requirements.lock")


def test_the_lock_agrees_with_every_exact_version() -> None:
    exact = [requirement for requirement in dependencies().values() if "==" in requirement]
    assert [requirement for requirement in exact if f"\n{requirement} " not in "\n" + text("requirements.lock")] == []


def test_the_lock_of_the_audit_agrees_with_its_exact_version() -> None:
    [audit] = PROJECT["optional-dependencies"]["audit"]
    assert f"\n{audit} " in text("packaging/audit/requirements.lock")


def test_the_changelog_keeps_its_form_and_has_this_version() -> None:
    changelog = text("CHANGELOG.md")
    titles = re.findall(r"^## (.+)$", changelog, re.MULTILINE)
    assert titles[0] == "[Unreleased]"
    assert any(title.startswith(f"[{PROJECT['version']}] - ") for title in titles)
    assert set(re.findall(r"^### (.+)$", changelog, re.MULTILINE)) <= KINDS_OF_CHANGES


def test_no_other_variable_is_read_from_the_environment() -> None:
    known = {one.name for one in VARIABLES}
    named = {
        name
        for folder in ("app", "mcp_tef")
        for file in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"\bMCP_TEF_[A-Z_]+[A-Z]\b", file.read_text("utf-8"))
    }
    assert named - {"MCP_TEF_MAX"} <= known


def test_every_attack_that_the_security_page_lists_is_held_by_a_test() -> None:
    named = re.findall(r"`(test_\w+)` \|$", text("SECURITY.md"), re.MULTILINE)
    tests = "\n".join(file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 20
    assert [name for name in named if f"def {name}(" not in tests] == []
