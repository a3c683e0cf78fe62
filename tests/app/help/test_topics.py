"""The pages of the help say what is true of the product: pages, pictures, links, verbs, variables and keys exist."""

import argparse
import re
from pathlib import Path

import pytest

from app.core_link.commands import Command
from app.help.topics import FOLDER, ORDER, anchor, find, topics
from app.shell.screen_specs import screens
from mcp_tef import VARIABLES
from mcp_tef.cli.main import parser, with_help
from tests.shots.scenes import PICTURES, SCENES

COMMANDS = {"Everywhere": (Command(id="palette", text="Find a command", keys="Ctrl+K", do=lambda: None),)}
PAGES = {page.key: page for page in topics(COMMANDS)}
TEXTS = {key: page.text for key, page in PAGES.items()}
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)]+)\)")
PICTURE = re.compile(r"!\[([^\]]+)\]\(([^)]+)\)")
MOST_BYTES = 1_500_000


def verbs() -> dict[str, argparse.ArgumentParser]:
    """Every verb of the command line with its parser."""
    actions = [action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(actions[0].choices)


def test_every_page_is_in_the_list_and_no_other() -> None:
    assert sorted(ORDER) == sorted(file.stem for file in FOLDER.glob("*.md"))


def test_every_page_can_be_reached_by_links_from_the_first() -> None:
    seen, ahead = set[str](), [ORDER[0]]
    while ahead:
        key = ahead.pop()
        if key not in seen:
            seen.add(key)
            ahead += [link.partition("#")[0].removesuffix(".md") for link in LINK.findall(TEXTS[key])]
    assert seen == set(ORDER)


@pytest.mark.parametrize("key", ORDER)
def test_every_link_leads_to_a_page_and_a_heading_that_is_there(key: str) -> None:
    for link in LINK.findall(TEXTS[key]):
        page, _, section = link.partition("#")
        assert page.removesuffix(".md") in PAGES, link
        headings = {anchor(heading) for heading, _ in PAGES[page.removesuffix(".md")].sections()}
        assert not section or section in headings, link


def test_every_picture_is_there_shows_a_scene_and_is_shown() -> None:
    shown = {Path(file) for text in TEXTS.values() for _, file in PICTURE.findall(text)}
    assert {file.stem for file in shown} == set(PICTURES)
    assert {FOLDER / file for file in shown} == set((FOLDER / "pictures").glob("*.png"))
    assert set(PICTURES.values()) <= {(scene.name, scene.state) for scene in SCENES}


def test_the_pictures_together_stay_small() -> None:
    assert sum(file.stat().st_size for file in (FOLDER / "pictures").iterdir()) < MOST_BYTES


def whole_help(verb: argparse.ArgumentParser) -> str:
    """The help of a verb and of all below it."""
    groups = [action for action in verb._actions if isinstance(action, argparse._SubParsersAction)]
    return verb.format_help() + "".join(whole_help(sub) for group in groups for sub in group.choices.values())


def test_every_line_for_the_terminal_can_be_read_by_the_command_line() -> None:
    known = verbs()
    lines = re.findall(r"(?<!-)\bmcp-tef ([a-z].*)$", "\n".join(TEXTS.values()).replace("\\\n", " "), re.MULTILINE)
    assert len(lines) > 10
    for line in lines:
        verb, *rest = with_help(re.findall(r"[^\s`]+", line))
        assert verb in known, line
        options = [word for word in rest if word.startswith("--")]
        told = whole_help(known[verb])
        assert [option for option in options if option not in told] == [], line


def test_every_screen_has_its_page_and_every_variable_its_line() -> None:
    assert {place.key for place in screens()} <= set(PAGES)
    lines = TEXTS["settings"].splitlines()
    for one in VARIABLES:
        assert any(line.startswith(f"| `{one.own_name}`") and f"`{one.name}`" in line for line in lines), one.name
    named = set(re.findall(r"\b[A-Z]+_[A-Z_]{3,}\b", "\n".join(TEXTS.values())))
    of_others = {
        "MCP_TEF_",
        "BATCH_A",
        "BATCH_B",
        "OPENAI_API_KEY",
        "GITHUB_STEP_SUMMARY",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
    }
    assert named - {name for one in VARIABLES for name in (one.name, one.own_name)} - of_others == set()


def test_the_shortcuts_are_those_of_the_commands() -> None:
    assert "| Ctrl+K | Find a command |" in TEXTS["shortcuts"]
    assert re.findall(r"\{\{\w+\}\}", "".join(TEXTS.values())) == []


def test_what_is_typed_is_found_with_headings_first() -> None:
    found = find(PAGES.values(), "local MODELS")
    assert found[0].address == "local-models.md#local-models"
    assert all("](" not in one.excerpt for one in found)
    assert find(PAGES.values(), "zzyzx") == []


def test_one_thing_finds_many_and_where_no_section_has_every_word_those_with_most_are_found() -> None:
    assert find(PAGES.values(), "batches")[0] == find(PAGES.values(), "batch")[0]
    assert "runs.md#models-and-keys" in [one.address for one in find(PAGES.values(), "api keys")]
    assert find(PAGES.values(), "undo zzyzx")[0].address == "window.md#undo"
