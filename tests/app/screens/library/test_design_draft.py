"""The form and the JSON of an executor's settings, which always show the same."""

import json
from typing import Any

import pytest

from app.screens.library.design_draft import CONFIGS, SETTINGS, with_setting
from mcp_tef import ExecutorKind

CONFIG: dict[ExecutorKind, dict[str, Any]] = {
    ExecutorKind.ANSWER: {"answer": {"said": ["{city}", 5]}},
    ExecutorKind.PYTHON: {"env": ["HOME", "LANG"], "memory_mb": 64, "seconds": 2.5},
    ExecutorKind.HTTP: {"url": "http://127.0.0.1/{city}", "headers": {"Accept": "text/*"}, "body": "[not JSON"},
    ExecutorKind.SHELL: {"argv": ["printf", "%s, and\nmore", "{city}"]},
    ExecutorKind.MCP: {"server": "Bike shop", "tool": "find", "arguments": {"q": "{city}"}},
    ExecutorKind.SEARCH: {"search": "brave", "count": 3},
}


@pytest.mark.parametrize("executor", ExecutorKind)
def test_what_the_form_shows_reads_back_as_the_same_json(executor: ExecutorKind) -> None:
    for config in (CONFIG[executor], CONFIGS[executor]):
        text = json.dumps(config)
        for setting in SETTINGS[executor]:
            text = with_setting(text, setting, setting.show(config))
        assert json.loads(text) == config


@pytest.mark.parametrize(
    ("executor", "key", "typed", "kept"),
    [
        (ExecutorKind.ANSWER, "answer", "{city}", "{city}"),
        (ExecutorKind.ANSWER, "answer", "5", "5"),
        (ExecutorKind.PYTHON, "seconds", "soon", "soon"),
        (ExecutorKind.PYTHON, "env", "HOME, ", ["HOME"]),
        (ExecutorKind.SHELL, "argv", "echo\nfor {city}", ["echo", "for {city}"]),
        (ExecutorKind.HTTP, "method", "", None),
        (ExecutorKind.MCP, "tool", "", ""),
    ],
)
def test_a_field_changes_one_setting(executor: ExecutorKind, key: str, typed: str, kept: object) -> None:
    (setting,) = (one for one in SETTINGS[executor] if one.key == key)
    changed = json.loads(with_setting(json.dumps(CONFIG[executor]), setting, typed))
    assert changed.pop(key, None) == kept
    assert changed == {name: value for name, value in CONFIG[executor].items() if name != key}
