"""Which value holds, where it comes from, and what setting and resetting do."""

import pytest

from app.core_link.preferences import LIMITS, RUNS, Origin, Preferences
from app.core_link.settings import Settings

TOOLS = "MCP_TEF_MAX_TOOLS"


def test_the_environment_goes_before_what_was_set_and_that_before_the_default() -> None:
    settings = Settings(None)
    here = Preferences(settings, {})
    assert (here.text(TOOLS), here.origin(TOOLS)) == ("", Origin.DEFAULT)
    assert here.set(TOOLS, " 7 ") == ""
    assert (here.text(TOOLS), here.origin(TOOLS)) == ("7", Origin.HERE)
    surrounded = Preferences(settings, {TOOLS: "9"})
    assert (surrounded.text(TOOLS), surrounded.origin(TOOLS)) == ("9", Origin.ENVIRONMENT)
    assert Preferences(settings, {TOOLS: "many"}).text(TOOLS) == "7"
    assert here.core() == {TOOLS: "7"}


@pytest.mark.parametrize(("name", "text"), [(TOOLS, "0"), ("temperature", "3"), ("model", "gpt"), ("cost_cap", "-1")])
def test_what_cannot_be_meant_is_said_and_changes_nothing(name: str, text: str) -> None:
    here = Preferences(Settings(None), {})
    assert here.set(name, text) == f"Write {here.variable(name).allowed}."
    assert here.origin(name) is Origin.DEFAULT


@pytest.mark.parametrize("name", [one.name for one in (*RUNS, *LIMITS)])
def test_the_default_is_no_setting(name: str) -> None:
    here = Preferences(Settings(None), {})
    default = here.variable(name).default
    assert default == "none" or here.variable(name).fault(default) == ""
    here.set(name, "" if default == "none" else default)
    assert here.origin(name) is Origin.DEFAULT


def test_a_model_that_is_set_is_what_the_next_run_asks_and_none_is_the_baseline() -> None:
    settings = Settings(None)
    here = Preferences(settings, {})
    here.set("model", "openai/gpt-4.1-mini")
    assert settings.get("runs.form", {}) == {"model": "openai/gpt-4.1-mini", "offline": False}
    here.set("model", "")
    assert settings.get("runs.form", {}) == {"offline": True}
    assert Preferences(settings, {"DEFAULT_LLM_MODEL": "ollama/qwen3"}).origin("model") is Origin.ENVIRONMENT


def test_a_reset_leaves_the_workspaces_and_can_be_taken_back() -> None:
    settings = Settings(None)
    here = Preferences(settings, {})
    settings.set("workspaces", ["/one.db"])
    settings.set("theme", "dark")
    here.set(TOOLS, "7")
    before = here.state()
    here.reset()
    assert (here.origin(TOOLS), settings.get("theme", "system")) == (Origin.DEFAULT, "system")
    assert settings.get("workspaces", []) == ["/one.db"]
    here.restore(before)
    assert (here.text(TOOLS), settings.get("theme", "system")) == ("7", "dark")


def test_spoilt_settings_are_defaults() -> None:
    settings = Settings(None)
    settings.set("core", {TOOLS: 7, "LOG_LEVEL": "loud", "PATH": "/"})
    settings.set("runs.form", {"repeats": ["x"], "timeout": "0"})
    here = Preferences(settings, {})
    assert here.core() == {"LOG_LEVEL": "loud"}
    assert {here.text(name) for name in (TOOLS, "LOG_LEVEL", "repeats", "timeout")} == {""}
